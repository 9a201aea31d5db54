//! What leaves a site in a study, and in which form: derived from the plan's own questions before anything is sent ([`of_plan`]), and
//! from a message that is sent ([`of_message`]). The officer's pages make their sentences of it. A test captures the messages of whole
//! studies and compares the two.

use crate::declaration::{Declaration, DeclarationError};
use crate::message::{Broadcast, Sums, ToCoordinator};
use crate::preview::RoundPreview;
use crate::terms::Terms;
use fedirt_model::statistics::{Combination, Mode};
use std::collections::BTreeSet;

/// In which form something leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// As it is, beside the site's name.
    Open,
    /// Under masks that only the sum over all sites takes off.
    Masked,
    /// With noise, under masks.
    MaskedNoisy,
}

/// Something that leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Leaf {
    /// The public key of the site.
    SiteKey,
    /// How many students take part.
    Students,
    /// Which of the plan's items the site's students were given. Of their codes the plan's are told, not those that occur.
    ItemsGiven,
    /// Which codes of each item occur.
    CodesThatOccur,
    /// How many rows there are of each booklet.
    BookletRows,
    /// Which groups of students the site has.
    Groups,
    /// The sum of the students' weights, and a bound on them.
    Weights,
    /// The site's signature under the roster.
    RosterSignature,
    /// A public key for the masks of a round.
    RoundKey,
    /// Sums over the students, by the statistic's name and meaning.
    Statistic(&'static str, &'static str),
    /// A refusal to answer a round, with its reason.
    Refusal,
}

/// Something that leaves, in its form.
pub type Leaves = BTreeSet<(Leaf, Form)>;

impl Form {
    /// The form of numbers that are added up, in this mode.
    pub fn of_sums(mode: Mode) -> Self {
        match mode {
            Mode::Plain => Self::Open,
            Mode::Secure => Self::Masked,
            Mode::Private => Self::MaskedNoisy,
        }
    }

    /// In words, after what leaves.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Open => "readable, with this site's name",
            Self::Masked => "masked: only the sum over all sites can be read",
            Self::MaskedNoisy => {
                "masked and with noise: only the sum over all sites can be read, and it has noise"
            }
        }
    }
}

impl Leaf {
    /// What it is, in words.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::SiteKey => "the public key of this site",
            Self::Students => "how many students take part",
            Self::ItemsGiven => "which items of the plan your students were given",
            Self::CodesThatOccur => "which codes of each item occur",
            Self::BookletRows => "how many students were given each booklet",
            Self::Groups => "which groups of students this site has",
            Self::Weights => "the sum of the students' weights and a bound on them",
            Self::RosterSignature => "this site's signature under the list of sites",
            Self::RoundKey => "a public key for the masks of each round",
            Self::Statistic(_, meaning) => meaning,
            Self::Refusal => "a refusal of a round, with its reason",
        }
    }

    /// Whether the other sites are told it too. In `plain` sites need not know one another.
    pub fn is_shared(self, mode: Mode) -> bool {
        match self {
            Self::Students
            | Self::ItemsGiven
            | Self::CodesThatOccur
            | Self::BookletRows
            | Self::Groups
            | Self::Weights => mode != Mode::Plain,
            Self::Refusal => true,
            Self::SiteKey | Self::RosterSignature | Self::RoundKey => mode != Mode::Plain,
            Self::Statistic(..) => false,
        }
    }

    /// Whether it depends on the students and their answers.
    pub fn is_of_students(self) -> bool {
        match self {
            Self::SiteKey | Self::RosterSignature | Self::RoundKey | Self::Refusal => false,
            Self::Students
            | Self::ItemsGiven
            | Self::CodesThatOccur
            | Self::BookletRows
            | Self::Groups
            | Self::Weights
            | Self::Statistic(..) => true,
        }
    }
}

/// What a declaration tells.
fn declared(terms: &Terms, own: &Declaration) -> Leaves {
    let codes = match terms.mode {
        Mode::Plain => Leaf::CodesThatOccur,
        Mode::Secure | Mode::Private => Leaf::ItemsGiven,
    };
    let mut all = vec![Leaf::Students, codes];
    all.extend((own.booklets.len() > 1).then_some(Leaf::BookletRows));
    all.extend((own.groups != 0).then_some(Leaf::Groups));
    all.extend(own.weighted.then_some(Leaf::Weights));
    all.into_iter().map(|leaf| (leaf, Form::Open)).collect()
}

/// What leaves a site in a whole study, if it declares this and its [rounds](crate::preview::rounds) are these. A round that a site refuses
/// is not foreseen.
pub fn of_plan(terms: &Terms, own: &Declaration, rounds: &[RoundPreview]) -> Leaves {
    let mut all = declared(terms, own);
    all.insert((Leaf::SiteKey, Form::Open));
    // In `plain` there is nothing to hide: no roster is signed, and no masks are agreed on.
    if terms.mode != Mode::Plain {
        all.extend([(Leaf::RosterSignature, Form::Open), (Leaf::RoundKey, Form::Open)]);
    }
    for statistic in rounds.iter().flat_map(|round| &round.statistics) {
        let form = if statistic.by_name { Form::Open } else { Form::of_sums(terms.mode) };
        all.insert((Leaf::Statistic(statistic.name, statistic.meaning), form));
    }
    all
}

/// What leaves with a message; `question` is what an upload answers.
pub fn of_message(
    terms: &Terms,
    message: &ToCoordinator,
    question: Option<&Broadcast>,
) -> Result<Leaves, DeclarationError> {
    let one = |leaf| Leaves::from([(leaf, Form::Open)]);
    Ok(match message {
        ToCoordinator::Enrol(_) => one(Leaf::SiteKey),
        ToCoordinator::Join(signed) => declared(terms, &Declaration::read(signed)?),
        ToCoordinator::Approve { .. } => one(Leaf::RosterSignature),
        ToCoordinator::Hello(_) => one(Leaf::RoundKey),
        ToCoordinator::Refuse { .. } => one(Leaf::Refusal),
        ToCoordinator::Upload { sums, .. } => {
            // What is sent says its form; that it has noise, only the question can.
            let summed = match sums {
                Sums::Plain(_) => Form::Open,
                Sums::Masked(_) if terms.mode == Mode::Private => Form::MaskedNoisy,
                Sums::Masked(_) => Form::Masked,
            };
            let statistics = question.map(|told| told.question.statistics()).unwrap_or_default();
            let form = |combination| match combination {
                Combination::Sum => summed,
                Combination::BySite => Form::Open,
            };
            statistics
                .into_iter()
                .map(|(s, _)| (Leaf::Statistic(s.name, s.meaning), form(s.combination)))
                .collect()
        }
    })
}
