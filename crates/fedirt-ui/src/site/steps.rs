//! The officer's way through a study, as one line of steps. Where a study stands on it follows from its state and from what the
//! officer chose, here and nowhere else; every page shows the same line.

use super::officer_settings::OfficerSettings;
use super::{SiteStudy, at};
use fedirt_agent::StudyState;

/// A step of the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    /// Reading and approving the plan.
    Plan,
    /// Choosing the file, and saying what its columns are.
    File,
    /// Checking it.
    Check,
    /// Seeing what will be sent.
    Sent,
    /// Approving that.
    Approve,
    /// Comparing the roster, and taking part.
    Roster,
    /// Over: results, or an end without.
    Done,
}

impl Step {
    /// All steps, in order.
    pub(crate) const ALL: [Self; 7] =
        [Self::Plan, Self::File, Self::Check, Self::Sent, Self::Approve, Self::Roster, Self::Done];

    /// Where a study stands. Looking at what will be sent changes nothing that is kept, so that a study whose file was described
    /// stands at the check until it is approved.
    pub(crate) fn of(state: StudyState, settings: &OfficerSettings) -> Self {
        match state {
            StudyState::KeyMade | StudyState::KeyPosted => Self::Plan,
            StudyState::Enrolled if settings.file.is_none() || !settings.mapped => Self::File,
            // After an approval that was followed by another choice of columns, the file is checked again.
            StudyState::Enrolled => Self::Check,
            StudyState::Consented if settings.approved_by.is_none() => {
                if settings.file.is_some() && settings.mapped { Self::Check } else { Self::File }
            }
            StudyState::Consented
            | StudyState::Joined
            | StudyState::RosterApproved
            | StudyState::RosterSigned
            | StudyState::InRound(_)
            | StudyState::ResultsDue => Self::Roster,
            StudyState::Finished | StudyState::Ended | StudyState::Withdrawn { .. } => Self::Done,
        }
    }

    /// The heading that says where a study stands.
    pub(crate) fn heading(self, state: StudyState) -> &'static str {
        match (self, state) {
            (Self::Plan, StudyState::KeyPosted) => "Your key waits for the courier",
            (Self::Plan, _) => "The plan waits for your approval",
            (Self::File, _) => "Your file is needed",
            (Self::Check | Self::Sent | Self::Approve, _) => "Your file waits for your approval",
            (Self::Roster, _) => "This site takes part",
            (Self::Done, StudyState::Withdrawn { .. }) => "This site has withdrawn",
            (Self::Done, StudyState::Ended) => "The study ended without results",
            (Self::Done, _) => "The study is finished",
        }
    }

    /// Its name in the line of steps.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plan => "Plan",
            Self::File => "File",
            Self::Check => "Check",
            Self::Sent => "What will be sent",
            Self::Approve => "Approve",
            Self::Roster => "Roster",
            Self::Done => "Done",
        }
    }

    /// What is done there.
    pub(crate) fn task(self) -> &'static str {
        match self {
            Self::Plan => "Read and approve the plan",
            Self::File => "Choose your file, and say what its columns are",
            Self::Check => "Check the file",
            Self::Sent => "See what will be sent",
            Self::Approve => "Approve it",
            Self::Roster => "Compare the roster, take part",
            Self::Done => "Your results",
        }
    }

    /// The page of the step.
    pub(crate) fn address(self, seen: &SiteStudy, state: StudyState) -> String {
        let described = seen.settings.file.is_none() || seen.settings.mapped;
        let path = match self {
            // Who is not enrolled pastes the invitation again.
            Self::Plan if matches!(state, StudyState::KeyMade) => return "/".to_owned(),
            Self::Plan => "/plan",
            Self::File if described => "/file",
            Self::File => "/columns",
            Self::Check => "/check",
            Self::Sent => "/preview",
            Self::Approve => "/approve",
            Self::Roster => "/running",
            Self::Done => "/results",
        };
        at(&seen.study, path)
    }

    /// The last step whose page can be opened: what is checked can be seen and approved at once.
    fn reach(self) -> Self {
        match self {
            Self::Check | Self::Sent => Self::Approve,
            Self::Plan | Self::File | Self::Approve | Self::Roster | Self::Done => self,
        }
    }
}

/// A step in the line on a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepShown {
    /// Its name.
    pub text: &'static str,
    /// Its page, if it can be opened now.
    pub href: Option<String>,
    /// Whether it is behind the officer.
    pub done: bool,
    /// Whether it is the one that the page is about.
    pub here: bool,
}

/// The line of steps for a page about one of them.
pub(super) fn line(seen: &SiteStudy, state: StudyState, here: Step) -> Vec<StepShown> {
    let stands = Step::of(state, &seen.settings);
    let shown = |step: Step| StepShown {
        text: step.name(),
        href: (step <= stands.reach() && step != here).then(|| step.address(seen, state)),
        done: step < stands,
        here: step == here,
    };
    Step::ALL.map(shown).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fedirt_protocol::message::Turn;

    /// Every state of a study with every choice of the officer is one step with one heading.
    #[test]
    fn every_state_is_one_step_with_one_heading() {
        let nothing = OfficerSettings::default();
        let chosen = OfficerSettings { file: Some("a.csv".into()), ..nothing.clone() };
        let mapped = OfficerSettings { mapped: true, ..chosen.clone() };
        let approved = OfficerSettings { approved_by: Some("Ada".into()), ..mapped.clone() };
        let all = [&nothing, &chosen, &mapped, &approved];
        use Step::{Check, Done, File, Plan, Roster};
        let turn = Turn { round: 1, attempt: 1 };
        for (state, steps, heading) in [
            (StudyState::KeyMade, [Plan; 4], "The plan waits for your approval"),
            (StudyState::KeyPosted, [Plan; 4], "Your key waits for the courier"),
            (StudyState::Enrolled, [File, File, Check, Check], "Your file is needed"),
            (StudyState::Consented, [File, File, Check, Roster], "Your file is needed"),
            (StudyState::Joined, [Roster; 4], "This site takes part"),
            (StudyState::RosterApproved, [Roster; 4], "This site takes part"),
            (StudyState::RosterSigned, [Roster; 4], "This site takes part"),
            (StudyState::InRound(turn), [Roster; 4], "This site takes part"),
            (StudyState::ResultsDue, [Roster; 4], "This site takes part"),
            (StudyState::Finished, [Done; 4], "The study is finished"),
            (StudyState::Ended, [Done; 4], "The study ended without results"),
            (StudyState::Withdrawn { joined: false }, [Done; 4], "This site has withdrawn"),
            (StudyState::Withdrawn { joined: true }, [Done; 4], "This site has withdrawn"),
        ] {
            assert_eq!(all.map(|settings| Step::of(state, settings)), steps, "{state:?}");
            assert_eq!(steps[0].heading(state), heading, "{state:?}");
        }
    }
}
