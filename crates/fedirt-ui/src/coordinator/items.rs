//! The page of one item: its characteristic curves with observed proportions, its information, its parameters.

use super::results::{Cell, open, parts};
use super::{App, Page, frame, words};
use crate::figure::{Numbers, figure};
use crate::{Frame, Html, Link, PageError, Visitor, render};
use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use fedirt_figures::{characteristic_curves, item_information};

#[derive(Template)]
#[template(path = "item.html")]
struct ItemPage {
    frame: Frame,
    name: String,
    subtitle: String,
    parts: Vec<Link>,
    item: String,
    model: String,
    codes: String,
    n: String,
    a: Cell,
    steps: Vec<(usize, Cell, Cell)>,
    figures: Vec<Html>,
    previous: Option<usize>,
    next: Option<usize>,
    number: usize,
    all: usize,
    withheld: bool,
}

/// `GET …/results/items/{item}`. Items are addressed by number, because their names may contain any character.
pub(super) async fn show(
    State(app): App,
    Path((name, number)): Path<(String, String)>,
    Extension(visitor): Extension<Visitor>,
) -> Page {
    let (seen, fit) = match open(&app, &name, &visitor)? {
        Ok(found) => found,
        Err(none) => return Ok(none),
    };
    let index = number.parse::<usize>().ok().and_then(|n| n.checked_sub(1)).filter(|n| *n < fit.items.len());
    let Some(index) = index else {
        let text = format!("The fit has items 1 to {}.", fit.items.len());
        return Err(PageError::not_found(text).leading(&format!("/studies/{name}/results"), "See all items"));
    };
    let item = &fit.items[index];
    let at = |list: &[Option<f64>], step: usize| list.get(step).copied().flatten();
    let step = |step: usize| {
        let b = Cell::new(at(&item.b, step), at(&item.se_b, step), item.fixed);
        (step + 1, b, Cell::new(at(&item.d, step), at(&item.se_d, step), item.fixed))
    };
    let codes: Vec<String> = item.codes.iter().map(u8::to_string).collect();
    Ok(render(&ItemPage {
        frame: frame(&visitor, &seen, &item.name, "/results"),
        subtitle: words::subtitle(&seen),
        parts: parts(&name, "items"),
        item: item.name.clone(),
        model: words::model(&item.model),
        codes: codes.join(", "),
        n: item.n.map_or_else(|| words::NONE.into(), words::count),
        a: Cell::new(item.a, item.se_a, true),
        steps: (0..item.d.len()).map(step).collect(),
        figures: vec![
            figure("item-curves", &characteristic_curves(&fit, index), Numbers::Folded),
            figure("item-information", &item_information(&fit, index), Numbers::Folded),
        ],
        previous: (index > 0).then_some(index),
        next: (index + 1 < fit.items.len()).then_some(index + 2),
        number: index + 1,
        all: fit.items.len(),
        withheld: words::is_private(&fit),
        name,
    }))
}
