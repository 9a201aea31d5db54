//! The officer at a terminal, or flags in place of one.

use super::ask;
use crate::output::stderr;
use crate::progress::Progress;
use crate::terminal;
use crate::terminal::table::{Column, Table};
use fedirt_agent::{Answer, News, Officer};
use fedirt_privacy::secure::{Fingerprint, SiteId};
use fedirt_protocol::site::RoundShown;

/// Answers from the flags, the policy or the terminal.
#[derive(Debug)]
pub(super) struct AtTheTerminal {
    /// The fingerprint of the approved roster, if a flag gives it.
    pub(super) roster: Option<String>,
    /// Whether the policy accepts rosters without comparison.
    pub(super) trusting: bool,
    progress: Option<Progress>,
    last: String,
}

impl AtTheTerminal {
    pub(super) fn new(roster: Option<String>, trusting: bool) -> Self {
        Self { roster, trusting, progress: Some(Progress::new()), last: String::new() }
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

impl Officer for AtTheTerminal {
    fn roster(&mut self, fingerprint: Fingerprint, sites: &[(SiteId, Fingerprint, u64)]) -> Answer {
        let (roster, trusting) = (self.roster.clone(), self.trusting);
        self.aside(|| {
            let mut table = Table::new(vec![
                Column::words("site"),
                Column::numbers("students"),
                Column::words("fingerprint of its key"),
            ]);
            for (site, key, students) in sites {
                table.row(vec![site.to_string(), students.to_string(), key.to_string()]);
            }
            let text = table.render(terminal::width().max(100));
            let text = anstream::adapter::strip_str(&text).to_string();
            stderr::note(&format!(
                "the coordinator shows this roster:\n{text}\n  Fingerprint of the roster: {fingerprint}\n\n\
                 Call the officers of the other sites, at numbers that you know, and compare this fingerprint.\n\
                 A coordinator that shows each site a different roster could read this site's numbers."
            ));
            if let Some(compared) = roster {
                if fingerprint.matches(&compared) {
                    return Answer::Yes;
                }
                stderr::warning("this is not the roster that --roster names; it is not approved");
                return Answer::NotNow;
            }
            if trusting {
                stderr::warning("approved without comparison, as policy.toml has trust_roster_from_coordinator = true");
                return Answer::Yes;
            }
            let approved = ask::can_ask()
                && ask::yes("Do the other sites have the same fingerprint, and do you approve the roster?").unwrap_or(false);
            if approved { Answer::Yes } else { Answer::NotNow }
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
