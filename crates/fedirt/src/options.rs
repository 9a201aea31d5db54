//! The options of a calibration, and their validation before any data are read.

use crate::site_weights::SiteWeights;
use fedirt_data::{Audience, BookletItems, CodebookItem, FixedItem};
pub use fedirt_model::centre::PAIRWISE_ITEMS;
use fedirt_model::centre::{AlgorithmKind, Settings};
use fedirt_model::exchange::Effects;
use fedirt_model::items::{self, SlopeRule};
use fedirt_model::population::Family;
use fedirt_model::private::{MissingAnswers, PrivateMethod};
use fedirt_model::quadrature::{GridSpec, Weighting};
use fedirt_model::questions::diagnose::Diagnostic;
use fedirt_privacy::accountant::{AccountantError, Delta, Epsilon};
use std::fmt;

/// How a calibration is carried out. The default: 2PL for items with two categories and generalised partial credit for
/// others, fixed effects where there are several sites, exact sums, Newton's method.
///
/// ```
/// use fedirt::{FitMode, FitOptions};
///
/// let options = FitOptions { model: Some("grm".into()), mode: FitMode::Secure { publish_effects: false }, ..FitOptions::default() };
/// assert!(options.problems().is_empty());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FitOptions {
    /// Model of all items for which nothing else names one.
    pub model: Option<String>,
    /// Models of single items, by name.
    pub item_models: Vec<(String, String)>,
    /// The items with their categories and models; without it, the codebook with which the responses were read, or the items
    /// of the responses.
    pub codebook: Option<Vec<CodebookItem>>,
    /// Merges neighbouring categories of items that are not fixed until each has so many answers, those of all sites counted,
    /// where a codebook says nothing else.
    pub collapse: Option<u64>,
    /// Items with given parameters, which anchor the scale.
    pub fixed_items: Vec<FixedItem>,
    /// Site effects; `None`: fixed ones where there are several sites.
    pub effects: Option<Effects>,
    /// Who would learn what, if coordinator and sites were not in one process.
    pub mode: FitMode,
    /// The grid over ability.
    pub quadrature: GridSpec,
    /// How ability is distributed. The parameters of a family other than the normal are estimated with those of the items.
    pub population: Family,
    /// Algorithm, tolerance, rounds.
    pub settings: Settings,
    /// Whether the model is checked at the estimates.
    pub diagnostics: DiagnosticsWish,
    /// Items that are merged into one: those of each list.
    pub bundles: Vec<Vec<String>>,
    /// How much each site counts.
    pub site_weights: SiteWeights,
    /// How groups of students are compared, where the responses were read with a column of groups.
    pub dif: DifOptions,
}

/// How groups of students are compared.
///
/// ```
/// use fedirt::{DifOptions, FitOptions};
///
/// let dif = DifOptions { reference: Some("girls".into()), ..DifOptions::default() };
/// assert!(dif.purify && FitOptions { dif, ..FitOptions::default() }.problems().is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DifOptions {
    /// The group that the others are compared with; `None`: the largest.
    pub reference: Option<String>,
    /// Whether items that work differently are taken out of the sum score that students are matched by.
    pub purify: bool,
    /// Items (by name) that have parameters of their own in a group, or in every group but the reference; the others anchor the
    /// scale.
    pub free: Vec<(String, Option<String>)>,
    /// Whether likelihood-ratio and Wald tests are made, for which each item is freed in each group in turn; `None`: where that
    /// takes seconds.
    pub refits: Option<bool>,
    /// Whether sites are compared too, with or without groups: heterogeneity by item, which names no site.
    pub sites: bool,
}

impl Default for DifOptions {
    fn default() -> Self {
        Self { reference: None, purify: true, free: Vec::new(), refits: None, sites: false }
    }
}

/// Which diagnostics are wanted.
///
/// ```
/// use fedirt::{DiagnosticsWish, FitOptions};
///
/// let without = FitOptions { diagnostics: DiagnosticsWish::These(Vec::new()), ..FitOptions::default() };
/// assert_ne!(without.diagnostics, DiagnosticsWish::default());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum DiagnosticsWish {
    /// All but the influence of sites; above [`PAIRWISE_ITEMS`] items, not those whose numbers grow with the square of the items either.
    #[default]
    Usual,
    /// These.
    These(Vec<Diagnostic>),
}

impl DiagnosticsWish {
    /// What sites are asked for.
    pub(crate) fn of(&self, items: usize) -> Vec<Diagnostic> {
        match self {
            Self::Usual if items > PAIRWISE_ITEMS => {
                Diagnostic::USUAL.into_iter().filter(|diagnostic| !diagnostic.grows_with_square()).collect()
            }
            Self::Usual => Diagnostic::USUAL.to_vec(),
            Self::These(wanted) => wanted.clone(),
        }
    }
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            model: None,
            item_models: Vec::new(),
            codebook: None,
            collapse: None,
            fixed_items: Vec::new(),
            effects: None,
            mode: FitMode::Plain,
            quadrature: GridSpec::default(),
            population: Family::Normal,
            settings: Settings::default(),
            diagnostics: DiagnosticsWish::default(),
            bundles: Vec::new(),
            site_weights: SiteWeights::Students,
            dif: DifOptions::default(),
        }
    }
}

/// Who learns what.
///
/// ```
/// use fedirt::{FitMode, FitOptions, OptionProblem, PrivateOptions};
///
/// let private = PrivateOptions { epsilon: -1.0, ..PrivateOptions::default() };
/// let options = FitOptions { mode: FitMode::Private(private), ..FitOptions::default() };
/// assert!(matches!(options.problems()[..], [OptionProblem::Epsilon(epsilon, _)] if epsilon == -1.0));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum FitMode {
    /// The coordinator sees each site's sums.
    Plain,
    /// The coordinator sees sums over all sites, of which there are three or more.
    Secure {
        /// Whether sites give their effects by name.
        publish_effects: bool,
    },
    /// The coordinator sees sums with noise that protects each student.
    Private(PrivateOptions),
}

/// What a private calibration promises.
///
/// ```
/// use fedirt::{FitMode, FitOptions, PrivateOptions};
///
/// let private = PrivateOptions { epsilon: 2.0, delta: 1e-5, ..PrivateOptions::default() };
/// let options = FitOptions { mode: FitMode::Private(private), ..FitOptions::default() };
/// assert!(options.problems().is_empty());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PrivateOptions {
    /// ε, the privacy loss: 1 is strong, 8 weak.
    pub epsilon: f64,
    /// δ, the chance that ε does not hold: below 1/(10 N).
    pub delta: f64,
    /// Number of sites that may collude with the coordinator; the noise of the others compensates for theirs.
    pub colluders: usize,
    /// Whether rows that are all lowest or all highest are modelled separately, as a mixture.
    pub mixture: bool,
    /// The booklets, where students were given different items.
    pub booklets: Vec<BookletItems>,
    /// How rows that lack an answer are treated.
    pub missing_answers: MissingAnswers,
    /// SD of ability between sites, in a fit without site effects.
    pub site_sd: f64,
    /// What is summed, and what is believed about difficulties before any data.
    pub method: PrivateMethod,
}

impl Default for PrivateOptions {
    /// ε = 1 and δ = 10⁻⁶.
    fn default() -> Self {
        Self {
            epsilon: 1.0,
            delta: 1e-6,
            colluders: 0,
            mixture: false,
            booklets: Vec::new(),
            missing_answers: MissingAnswers::Counted,
            site_sd: 0.0,
            method: PrivateMethod::default(),
        }
    }
}

/// An invalid option.
///
/// ```
/// use fedirt::{Audience, FitOptions, Settings};
///
/// let options =
///     FitOptions { settings: Settings { tolerance: 0.0, ..Settings::default() }, ..FitOptions::default() };
/// let problem = &options.problems()[0];
/// assert!(problem.told(Audience::CommandLine).starts_with("--tolerance 0:"));
/// assert!(problem.told(Audience::Library).starts_with("`tolerance` 0:"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum OptionProblem {
    /// The tolerance is not a number above 0.
    Tolerance(f64),
    /// The range of the grid is not a number above 0 and at most 20.
    Range(f64),
    /// Fewer than five nodes, or more than 501.
    Nodes(usize),
    /// Fewer than two rounds.
    MaxRounds(usize),
    /// The share of sites is not above 0 and at most 1.
    ClientFraction(f64),
    /// The step size is not a number above 0.
    LearningRate(f64),
    /// There are no local steps.
    LocalEpochs(usize),
    /// The algorithm needs each site's own numbers, which `secure` hides.
    SecureAlgorithm(AlgorithmKind),
    /// The algorithm, the weights of the grid or the mode knows the normal population only.
    NormalOnly(Family, &'static str),
    /// ε is out of range.
    Epsilon(f64, AccountantError),
    /// δ is out of range.
    Delta(f64, AccountantError),
    /// The SD between sites is negative or not finite, or there are site effects too.
    SiteSd(f64),
    /// A private fit has an algorithm of its own.
    PrivateAlgorithm(AlgorithmKind),
    /// Private fits support fixed effects or none.
    PrivateEffects,
    /// A private fit estimates neither one slope for all items nor the SD of ability.
    PrivateModel(String),
    /// Private fits support only models with a single slope.
    PrivateSlopes(String),
    /// Private fits do not support fixed items.
    PrivateFixedItems,
    /// Bundles have no categories in a codebook, which private fits need.
    BundlesOfCodebook,
    /// Private fits do not support weights, and separate fits are averaged by their errors.
    NoSiteWeights(SiteWeights),
}

impl OptionProblem {
    /// What is wrong, in the words of the audience.
    pub fn told(&self, audience: Audience) -> String {
        let named = |flag: &str, name: &str| match audience {
            Audience::CommandLine => format!("--{flag}"),
            Audience::Library | Audience::Page => format!("`{name}`"),
        };
        match self {
            Self::Tolerance(x) => {
                format!("{} {x}: a number above 0 is needed, such as 1e-6", named("tolerance", "tolerance"))
            }
            Self::Range(x) => format!(
                "{} {x}: a number above 0 and at most 20 is needed, such as 6",
                named("range", "range")
            ),
            Self::Nodes(n) => {
                format!("{} {n}: a whole number from 5 to 501 is needed", named("nodes", "nodes"))
            }
            Self::MaxRounds(n) => format!(
                "{} {n}: at least 2 are needed, as the first only finds a start",
                named("max-rounds", "max_rounds")
            ),
            Self::ClientFraction(x) => format!(
                "{} {x}: a share above 0 and at most 1 is needed",
                named("client-fraction", "client_fraction")
            ),
            Self::LearningRate(x) => {
                format!("{} {x}: a number above 0 is needed", named("learning-rate", "learning_rate"))
            }
            Self::LocalEpochs(n) => {
                format!("{} {n}: at least 1 is needed", named("local-epochs", "local_epochs"))
            }
            Self::SecureAlgorithm(algorithm) => format!(
                "{}: {} needs each site's own numbers; newton and em need sums alone",
                named("secure", "mode"),
                algorithm.name()
            ),
            Self::NormalOnly(family, who) => {
                format!("{} {family}: {who} the normal population only", named("population", "population"))
            }
            Self::Epsilon(x, error) => format!("{} {x}: {error}", named("epsilon", "epsilon")),
            Self::Delta(x, error) => format!("{} {x}: {error}", named("delta", "delta")),
            Self::SiteSd(x) => {
                let none = match audience {
                    Audience::CommandLine => "--effects none",
                    Audience::Library | Audience::Page => "no site effects",
                };
                format!("{} {x}: a number of 0 or more is needed, and {none}", named("site-sd", "site_sd"))
            }
            Self::PrivateAlgorithm(_) => match audience {
                Audience::CommandLine => {
                    "--algorithm: --private has its own (--mechanism), or takes fedirt-dp".to_owned()
                }
                Audience::Library | Audience::Page => {
                    "`algorithm`: a private fit has its own (`method.mechanism`)".to_owned()
                }
            },
            Self::PrivateEffects => {
                format!("{} random: private fits support fixed and none", named("effects", "effects"))
            }
            Self::PrivateModel(_) => format!(
                "{}: 1pl, rasch and pcm estimate one slope or the SD of ability for all items, and private fits do not; use rasch-sd1, 2pl or gpcm",
                named("model", "model")
            ),
            Self::PrivateSlopes(_) => format!(
                "{}: private fits support only models with a single slope: 2pl, rasch-sd1, gpcm and grm",
                named("model", "model")
            ),
            Self::BundlesOfCodebook => format!(
                "{}: items can be merged where their categories come from the answers, not with a codebook or in a private fit",
                named("bundle", "bundles")
            ),
            Self::NoSiteWeights(weights) => format!(
                "{} {weights}: private fits and the averages of separate fits know no weights",
                named("site-weights", "site_weights")
            ),
            Self::PrivateFixedItems => {
                format!("{}: private fits do not support fixed items", named("fixed-items", "fixed_items"))
            }
        }
    }
}

impl fmt::Display for OptionProblem {
    /// In the words of a caller of the library.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told(Audience::Library))
    }
}

impl std::error::Error for OptionProblem {}

impl FitOptions {
    /// All problems that do not depend on the responses.
    pub fn problems(&self) -> Vec<OptionProblem> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let share = |x: f64| x > 0.0 && x <= 1.0;
        let (grid, settings) = (&self.quadrature, &self.settings);
        let mut problems = Vec::new();
        let mut need = |fine: bool, problem: OptionProblem| {
            if !fine {
                problems.push(problem);
            }
        };
        need(positive(settings.tolerance), OptionProblem::Tolerance(settings.tolerance));
        need(positive(grid.range) && grid.range <= 20.0, OptionProblem::Range(grid.range));
        need((5..=501).contains(&grid.nodes), OptionProblem::Nodes(grid.nodes));
        need(settings.max_rounds >= 2, OptionProblem::MaxRounds(settings.max_rounds));
        need(share(settings.client_fraction), OptionProblem::ClientFraction(settings.client_fraction));
        need(positive(settings.learning_rate), OptionProblem::LearningRate(settings.learning_rate));
        need(settings.local_epochs >= 1, OptionProblem::LocalEpochs(settings.local_epochs));
        let algorithm = settings.algorithm;
        let private = matches!(self.mode, FitMode::Private(_));
        need(
            self.bundles.is_empty() || !(private || self.codebook.is_some()),
            OptionProblem::BundlesOfCodebook,
        );
        let weighted = self.site_weights != SiteWeights::Students;
        need(
            !weighted || !(private || algorithm == AlgorithmKind::Meta),
            OptionProblem::NoSiteWeights(self.site_weights),
        );
        let sums = matches!(algorithm, AlgorithmKind::Newton | AlgorithmKind::Em);
        let normal = |who| OptionProblem::NormalOnly(self.population, who);
        if self.population != Family::Normal {
            need(sums, normal("other algorithms than newton and em know"));
            need(grid.weighting == Weighting::Density, normal("the weights of the paper know"));
            need(!matches!(self.mode, FitMode::Private(_)), normal("private fits know"));
        }
        match &self.mode {
            FitMode::Plain => {}
            FitMode::Secure { .. } => {
                need(sums, OptionProblem::SecureAlgorithm(algorithm));
            }
            FitMode::Private(private) => {
                if let Err(error) = Epsilon::new(private.epsilon) {
                    need(false, OptionProblem::Epsilon(private.epsilon, error));
                }
                if let Err(error) = Delta::new(private.delta) {
                    need(false, OptionProblem::Delta(private.delta, error));
                }
                let sd = private.site_sd;
                let alone = sd == 0.0 || self.effects == Some(Effects::None);
                need(sd.is_finite() && sd >= 0.0 && alone, OptionProblem::SiteSd(sd));
                need(algorithm == AlgorithmKind::Newton, OptionProblem::PrivateAlgorithm(algorithm));
                need(self.effects != Some(Effects::Random), OptionProblem::PrivateEffects);
                if let Some(model) = self.model.as_deref().and_then(items::model) {
                    let name = || model.name().to_owned();
                    let shared = matches!(model.slope(), SlopeRule::LatentSd | SlopeRule::Common);
                    need(!shared, OptionProblem::PrivateModel(name()));
                    need(model.one_slope().is_some(), OptionProblem::PrivateSlopes(name()));
                }
                need(self.fixed_items.is_empty(), OptionProblem::PrivateFixedItems);
            }
        }
        problems
    }
}
