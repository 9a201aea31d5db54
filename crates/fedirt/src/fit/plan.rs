//! From flags to the plan of a calibration.

use crate::args::{AlgorithmArg, EffectsArg, FitArgs, MissingAnswersArg, QuadratureArg};
use fedirt_model::centre::{AlgorithmKind, ItemPlan, Plan, Secrecy, Settings};
use fedirt_model::exchange::Effects;
use fedirt_model::private::MissingAnswers;
use fedirt_model::quadrature::{GridSpec, Weighting};
use fedirt_protocol::private::PrivateTerms;

/// The plan for some items and a number of sites.
pub(super) fn plan(args: &FitArgs, items: Vec<ItemPlan>, sites: usize) -> Plan {
    let effects = match args.effects {
        Some(EffectsArg::None) => Effects::None,
        Some(EffectsArg::Fixed) => Effects::Fixed,
        Some(EffectsArg::Random) => Effects::Random,
        None if sites > 1 => Effects::Fixed,
        None => Effects::None,
    };
    let grid = match args.quadrature {
        QuadratureArg::Density => GridSpec::default(),
        QuadratureArg::Paper => GridSpec { nodes: 21, range: 5.0, weighting: Weighting::Paper },
    };
    let grid = GridSpec {
        nodes: args.nodes.map_or(grid.nodes, usize::from),
        range: args.range.unwrap_or(grid.range),
        ..grid
    };
    Plan {
        items,
        effects,
        grid,
        settings: settings(args),
        publish_effects: !args.secure || args.publish_effects,
        secrecy: Secrecy::BySite,
    }
}

/// What a private run, or one of the published algorithm, promises.
pub(super) fn private(args: &FitArgs) -> PrivateTerms {
    PrivateTerms {
        epsilon: args.epsilon.unwrap_or(1.0),
        delta: args.delta.unwrap_or(1e-6),
        mixture: args.mixture,
        missing: match args.missing_answers {
            Some(MissingAnswersArg::Wrong) => MissingAnswers::Wrong,
            Some(MissingAnswersArg::Counted) | None => MissingAnswers::Counted,
        },
        site_sd: args.site_sd.unwrap_or(0.0),
        booklets: Vec::new(),
        seed: 1,
    }
}

fn settings(args: &FitArgs) -> Settings {
    let defaults = Settings::default();
    Settings {
        algorithm: match args.algorithm {
            // Noisy sums have algorithms of their own.
            AlgorithmArg::Newton | AlgorithmArg::FedirtDp => AlgorithmKind::Newton,
            AlgorithmArg::Em => AlgorithmKind::Em,
            AlgorithmArg::Bfgs => AlgorithmKind::Bfgs,
            AlgorithmArg::Fedsgd => AlgorithmKind::Fedsgd,
            AlgorithmArg::Fedavg => AlgorithmKind::Fedavg,
            AlgorithmArg::Meta => AlgorithmKind::Meta,
        },
        tolerance: args.tolerance(),
        max_rounds: args.max_rounds.unwrap_or(defaults.max_rounds),
        local_epochs: args.local_epochs.unwrap_or(defaults.local_epochs),
        client_fraction: args.client_fraction.unwrap_or(defaults.client_fraction),
        learning_rate: args.learning_rate.unwrap_or(defaults.learning_rate),
        seed: args.seed.unwrap_or(defaults.seed),
    }
}
