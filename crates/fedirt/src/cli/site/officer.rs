//! The officer at a terminal, or flags in place of one.

use super::ask;
use crate::output::stderr;
use crate::progress::Progress;
use crate::terminal;
use crate::terminal::table::{Column, Table};
use fedirt_agent::{Answer, News, Officer, RosterAnswer};
use fedirt_privacy::secure::SiteId;
use fedirt_protocol::site::{RosterShown, RoundShown};
use std::collections::BTreeSet;

/// Answers from the flags, the policy or the terminal.
#[derive(Debug)]
pub(super) struct AtTheTerminal {
    /// The roster that was compared.
    roster: Option<String>,
    /// The sites whose officers were called.
    called: Vec<String>,
    /// This site.
    site: SiteId,
    /// Whether the policy takes rosters on the coordinator's word.
    trusting: bool,
    progress: Option<Progress>,
    last: String,
}

impl AtTheTerminal {
    pub(super) fn new(roster: Option<String>, called: Vec<String>, site: SiteId, trusting: bool) -> Self {
        Self { roster, called, site, trusting, progress: Some(Progress::new()), last: String::new() }
    }

    /// Hides the progress line while something is printed or asked.
    fn aside<R>(&mut self, act: impl FnOnce() -> R) -> R {
        drop(self.progress.take());
        let result = act();
        self.progress = Some(Progress::new());
        result
    }

    fn say(&mut self, text: &str) {
        if let Some(progress) = &self.progress {
            progress.say(text);
        }
        // Without a terminal, each state is printed once.
        if !ask::can_ask() && self.last != text {
            stderr::note(text);
        }
        text.clone_into(&mut self.last);
    }
}

/// A roster, and what the officer is to do about it.
pub(super) fn roster_table(shown: &RosterShown, known: &BTreeSet<SiteId>, own: &SiteId) -> String {
    let mut table = Table::new(vec![
        Column::words("site"),
        Column::numbers("students"),
        Column::words("fingerprint of its key"),
        Column::words("verified"),
    ]);
    for (site, key, students) in &shown.sites {
        let verified = match () {
            () if site == own => "this site",
            () if known.contains(site) => "yes",
            () => "no",
        };
        table.row(vec![site.to_string(), students.to_string(), key.to_string(), verified.into()]);
    }
    let text = table.render(terminal::width().max(100));
    let text = anstream::adapter::strip_str(&text).to_string();
    let missing = shown.calls.saturating_sub(known.len());
    format!(
        "the coordinator shows this roster:\n{text}\n  Fingerprint of the roster: {}\n\n\
         Call the officers of other sites, at numbers that you know, and compare this fingerprint. {missing} more of them\n\
         must be verified: a coordinator can invent sites, and would know their numbers and their noise.",
        shown.fingerprint
    )
}

impl Officer for AtTheTerminal {
    fn roster(&mut self, shown: &RosterShown, known: &BTreeSet<SiteId>) -> RosterAnswer {
        let (roster, called, trusting) = (self.roster.clone(), self.called.clone(), self.trusting);
        let own = self.site.clone();
        self.aside(|| {
            stderr::note(&roster_table(shown, known, &own));
            if trusting {
                stderr::warning(
                    "approved without comparison, as policy.toml has trust_roster_from_coordinator = true",
                );
                return RosterAnswer::Verified(shown.names());
            }
            let others = || shown.sites.iter().map(|(site, ..)| site).filter(|site| **site != own);
            if let Some(compared) = roster {
                if !shown.fingerprint.matches(&compared) {
                    stderr::warning("this is not the roster that --roster names; it is not approved");
                    return RosterAnswer::NotNow;
                }
                if let Some(name) = called.iter().find(|name| others().all(|site| site.as_str() != **name)) {
                    stderr::warning(&format!("--called {name}: no other site of the roster has this name"));
                    return RosterAnswer::NotNow;
                }
                let named = others().filter(|site| called.iter().any(|name| name == site.as_str()));
                return RosterAnswer::Verified(named.cloned().collect());
            }
            if !ask::can_ask() {
                return RosterAnswer::NotNow;
            }
            let asked = |site: &&SiteId| {
                let question =
                    format!("Has the officer of {site}, whom you called, read you the same fingerprint?");
                ask::yes(&question).unwrap_or(false)
            };
            let verified: BTreeSet<SiteId> =
                others().filter(|site| !known.contains(*site)).filter(asked).cloned().collect();
            let approved = ask::yes("Do you approve this roster?").unwrap_or(false);
            if approved { RosterAnswer::Verified(verified) } else { RosterAnswer::NotNow }
        })
    }

    fn round(&mut self, round: &RoundShown) -> Answer {
        let turn = round.turn;
        let names: Vec<String> =
            round.statistics.iter().map(|(name, size)| format!("{} ({size} numbers)", name.name)).collect();
        self.aside(|| {
            stderr::note(&format!("{turn} asks for {}", names.join(", ")));
            let approved = ask::can_ask() && ask::yes("Answer this round?").unwrap_or(false);
            if approved { Answer::Yes } else { Answer::NotNow }
        })
    }

    fn news(&mut self, news: News<'_>) {
        match news {
            News::Waiting(text) => self.say(text),
            News::Caution(text) => self.aside(|| stderr::warning(text)),
            News::Sent { kind: "join", .. } => self.say("joined; waiting for the other sites"),
            News::Sent { .. } => {}
            News::NotTaken { kind, error } => {
                let text = format!("the {kind} was not taken: {error}; asking how to go on");
                self.aside(|| stderr::note(&text));
            }
            News::Refused { turn, reason } => {
                let place = turn.map_or(String::new(), |turn| format!("{turn}: "));
                let text = format!("refused: {place}{reason}");
                self.aside(|| stderr::warning(&text));
            }
            News::Unreachable { error, pause } => {
                self.say(&format!("{error}; trying again in {} s", pause.as_secs().max(1)));
            }
        }
    }
}
