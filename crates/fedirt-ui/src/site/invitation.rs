//! An invitation: it is pasted, its plan is fetched and shown, and the officer approves it or leaves it.

use super::{App, Name, Page, aside, site_frame, studies, told, words};
use crate::{Fields, Frame, Link, PageError, Visitor, render};
use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect};
use data_encoding::HEXLOWER;
use fedirt_agent::{self as agent, AgentError, Home, Https, Offer};
use fedirt_model::items::default_model;
use fedirt_protocol::forecast;
use fedirt_protocol::invitation::Invitation;
use fedirt_protocol::plan::PlanItem;
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Maximum number of pasted invitations that are not yet answered.
const MOST: usize = 50;

/// Invitations that were pasted, by study. They contain a secret and are kept in memory only.
#[derive(Debug, Default)]
pub(crate) struct Offers(Mutex<BTreeMap<String, Invitation>>);

impl Offers {
    fn put(&self, invitation: Invitation) {
        let mut offers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if offers.len() >= MOST {
            offers.pop_first();
        }
        offers.insert(invitation.study.clone(), invitation);
    }

    fn get(&self, study: &str) -> Option<Invitation> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(study).cloned()
    }

    fn take(&self, study: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(study);
    }
}

#[derive(Template)]
#[template(path = "officer_invitation.html")]
struct InvitationPage {
    frame: Frame,
    study: String,
    site: String,
    address: String,
    purpose: String,
    items: usize,
    models: String,
    sites: String,
    rounds: u32,
    learns: &'static str,
    epsilon: Option<String>,
    words: Vec<String>,
    refusals: Vec<String>,
    expires: String,
    plan_hash: String,
    text: String,
    administers: bool,
}

fn fetch(home: &Home, invitation: Invitation) -> Result<(Offer, Https), AgentError> {
    let policy = home.policy()?;
    let mut https = Https::new(&invitation.address, invitation.authority.as_deref())?;
    let offer = agent::look(invitation, &policy, &mut https, home.now())?;
    Ok((offer, https))
}

/// `POST /`: takes an invitation that was pasted.
pub(super) async fn look(
    State(app): App,
    Extension(visitor): Extension<Visitor>,
    Extension(fields): Extension<Fields>,
) -> Page {
    let pasted = fields.get("invitation");
    let invitation = match Invitation::from_text(pasted) {
        Ok(invitation) => invitation,
        Err(error) => return studies::refuse(&app, &visitor, pasted, &error.into()),
    };
    let study = invitation.study.clone();
    let kept = invitation.clone();
    let home = app.home.clone();
    // The plan is fetched here too, so that problems are reported at once.
    if let Err(error) = aside(move || fetch(&home, invitation)).await? {
        return studies::refuse(&app, &visitor, pasted, &error);
    }
    app.offers.put(kept);
    Ok(Redirect::to(&format!("/invitation/{study}")).into_response())
}

fn gone() -> PageError {
    PageError::not_found(
        "This invitation was answered, or the program was started again since it was pasted. Paste it again.",
    )
    .leading("/", "Paste the invitation")
}

/// `GET /invitation/{study}`.
pub(super) async fn show(State(app): App, Path(name): Name, Extension(visitor): Extension<Visitor>) -> Page {
    let invitation = app.offers.get(&name).ok_or_else(gone)?;
    let home = app.home.clone();
    let looked = aside(move || {
        let (offer, _) = fetch(&home, invitation)?;
        let expected = forecast::in_words(&offer.plan);
        Ok((offer, expected))
    });
    let (offer, expected) = looked.await?.map_err(told)?;
    let plan = &offer.plan;
    let mut plan_words = plan.in_words().split_off(1);
    plan_words.extend(expected);
    let model = |item: &PlanItem| {
        item.model.clone().unwrap_or_else(|| default_model(item.categories.len()).name().to_owned())
    };
    let mut models: Vec<String> = plan.items.iter().map(model).collect();
    models.sort_unstable();
    models.dedup();
    Ok(render(&InvitationPage {
        frame: site_frame(&visitor, &format!("Invitation to {name}"), "")
            .under(vec![Link::new("/", "Studies")]),
        study: name,
        site: offer.invitation.site.clone(),
        address: offer.invitation.address.to_string(),
        purpose: plan.purpose.trim().to_owned(),
        items: plan.items.len(),
        models: models.join(", "),
        sites: plan.cohort.sites.join(", "),
        rounds: plan.most_rounds(),
        learns: words::who_learns_what(plan),
        epsilon: words::epsilon_in_words(plan),
        words: plan_words,
        refusals: offer.refusals.iter().map(ToString::to_string).collect(),
        expires: offer.invitation.expires.to_string(),
        plan_hash: HEXLOWER.encode(&offer.invitation.plan_hash),
        text: offer.text.clone(),
        administers: visitor.administers(),
    }))
}

/// `POST /invitation/{study}`: approves the plan, makes a key and enrols it.
pub(super) async fn accept(State(app): App, Path(name): Name, Extension(fields): Extension<Fields>) -> Page {
    let invitation = app.offers.get(&name).ok_or_else(gone)?;
    let shown = (fields.get("plan_sha256"), fields.get("address"));
    if shown != (HEXLOWER.encode(&invitation.plan_hash).as_str(), invitation.address.to_string().as_str()) {
        let text = "Another invitation to a study of this name was pasted meanwhile. Nothing was done. Read its plan first.";
        return Err(PageError::bad(text).leading(&format!("/invitation/{name}"), "Read the plan"));
    }
    let home = app.home.clone();
    let enrol = move || {
        let (offer, mut https) = fetch(&home, invitation)?;
        agent::accept(&home, &offer, &mut https, &mut UnwrapErr(SysRng))
    };
    aside(enrol).await?.map_err(told)?;
    app.offers.take(&name);
    Ok(Redirect::to(&format!("/studies/{name}/file?enrolled")).into_response())
}
