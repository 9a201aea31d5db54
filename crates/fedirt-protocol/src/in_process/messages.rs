//! Both machines in one process: messages go from one to the other without a network.

use super::{Observer, RunError, Sent, SiteAfter, names};
use crate::coordinator::{Aggregator, Coordinator, Finished, Input, Output, Rejection};
use crate::declaration::{Bounds, Declaration};
use crate::encoding::{self, Precision};
use crate::message::{Broadcast, Question, Sums, ToCoordinator, ToSite, Turn};
use crate::policy::Policy;
use crate::site::{SiteMachine, SiteOutput};
use crate::terms::Terms;
use crate::{SiteId, Timestamp, codec};
use fedirt_model::responses::ResponseTable;
use fedirt_model::statistics::Combination;
use fedirt_privacy::secure::Identity;
use rand::rngs::ChaCha20Rng;
use rand::{CryptoRng, SeedableRng};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Nothing in one process depends on the time.
const NOW: Timestamp = Timestamp(0);

/// Runs a calibration to its end.
pub(super) fn run(
    terms: Terms,
    aggregator: Box<dyn Aggregator>,
    sites: Vec<(String, ResponseTable)>,
    random: &mut impl CryptoRng,
    observer: &mut dyn Observer,
) -> Result<(Finished, Vec<SiteAfter>), RunError> {
    let names = names(&sites);
    if let Some(protection) = terms.protection() {
        protection.check_size(names.len())?;
    }
    let ids: Vec<SiteId> = terms.sites.keys().cloned().collect();
    let mut machines = Vec::with_capacity(ids.len());
    for (id, (name, table)) in ids.iter().zip(sites) {
        if observer.wants_numbers() {
            observer.declared(&name, &Declaration::of(&table, &terms));
        }
        let identity = Identity::generate(random);
        let mut machine = SiteMachine::new(id.clone(), identity, terms.clone(), Policy::unlimited(), table)?;
        machine.introduce();
        machines.push((machine, ChaCha20Rng::from_rng(random)));
    }
    let mut coordinator = Coordinator::new(terms, NOW).with_aggregator(aggregator);
    let mut inbox: BTreeMap<SiteId, Arc<ToSite>> = BTreeMap::new();
    let mut open: Option<(Turn, Bounds, Box<Question>)> = None;
    loop {
        let answers = site_outputs(&mut machines, &mut inbox);
        let quiet = answers.iter().all(Vec::is_empty);
        for (k, outputs) in answers.into_iter().enumerate() {
            for message in outputs {
                if observer.wants_numbers()
                    && let (ToCoordinator::Upload { sums, by_name, .. }, Some((turn, bounds, question))) =
                        (&*message, &open)
                {
                    show(observer, &names[k], *turn, *bounds, question, sums, by_name);
                }
                let input = Input::Message { from: ids[k].clone(), message: Arc::unwrap_or_clone(message) };
                match coordinator.handle(NOW, input) {
                    // Others' refusals may come after the one that ended it.
                    Ok(()) | Err(Rejection::Over) => {}
                    Err(rejection) => return Err(RunError::Stuck(rejection.to_string())),
                }
            }
        }
        if observer.wants_to_stop() {
            return Err(RunError::Stopped);
        }
        let mut idle = quiet;
        while let Some(output) = coordinator.poll() {
            idle = false;
            match output {
                Output::Persist { .. } => {}
                Output::Progress(entry) => observer.round(&entry),
                Output::Send { to, message } => {
                    if let Some((turn, broadcast)) = message.notice.opens()
                        && open.as_ref().is_none_or(|(known, ..)| *known != turn)
                    {
                        let told: Broadcast = codec::decode(broadcast)?;
                        open = Some((turn, told.bounds, Box::new(told.question)));
                    }
                    inbox.insert(to, message);
                }
                Output::Finished(result) => {
                    let finished = (*result)?;
                    // The last notices close the sites.
                    site_outputs(&mut machines, &mut inbox);
                    let after = machines.into_iter().map(|(machine, _)| SiteAfter {
                        own_effect: machine.own_effect(),
                        table: machine.into_table(),
                    });
                    return Ok((finished, after.collect()));
                }
            }
        }
        if idle {
            return Err(RunError::Stuck("coordinator and sites wait for each other".into()));
        }
    }
}

/// What the sites have to say to their messages, site by site. All work with rows happens here, in parallel.
fn site_outputs(
    machines: &mut [(SiteMachine, ChaCha20Rng)],
    inbox: &mut BTreeMap<SiteId, Arc<ToSite>>,
) -> Vec<Vec<Arc<ToCoordinator>>> {
    let mail: Vec<Option<Arc<ToSite>>> =
        machines.iter().map(|(machine, _)| inbox.remove(machine.name())).collect();
    machines
        .par_iter_mut()
        .zip(mail)
        .map(|((machine, random), message)| {
            if let Some(message) = message {
                machine.handle(NOW, random, &message);
            }
            let mut sent = Vec::new();
            // All sites are in the same hands here, and nothing leaves them.
            while let Some(output) = machine.poll() {
                match output {
                    SiteOutput::Send(message) => sent.push(message),
                    SiteOutput::RosterShown(shown) => {
                        machine.approve_roster(shown.fingerprint, &shown.names())
                    }
                    SiteOutput::Debit(release) => machine.debited(NOW, random, release.turn, Ok(())),
                    // Nothing is kept in one process, and what ends here the coordinator's machine says.
                    SiteOutput::Persist(_)
                    | SiteOutput::RoundShown(_)
                    | SiteOutput::Refused { .. }
                    | SiteOutput::Finished(_)
                    | SiteOutput::Ended { .. } => {}
                }
            }
            sent
        })
        .collect()
}

fn show(
    observer: &mut dyn Observer,
    site: &str,
    turn: Turn,
    bounds: Bounds,
    question: &Question,
    sums: &Sums,
    by_name: &[u64],
) {
    match (sums, question) {
        (Sums::Masked(bytes), _) => observer.sent(site, turn, question, Sent::Masked(bytes)),
        (Sums::Plain(_), Question::Scores { .. }) => {}
        (Sums::Plain(words), Question::Sums(request)) => {
            let decode =
                |combination, words| encoding::decode(request, bounds, Precision::Full, combination, words);
            if let (Ok(mut numbers), Ok(named)) =
                (decode(Combination::Sum, words), decode(Combination::BySite, by_name))
            {
                numbers.extend(named);
                observer.sent(site, turn, question, Sent::Numbers(&numbers));
            }
        }
    }
}
