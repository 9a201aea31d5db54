//! From flags to the options of a calibration.

use super::origin::Origin;
use crate::args::FitArgs;
use crate::error::CliError;
use fedirt::{
    DiagnosticsWish, DifOptions, FitMode, FitOptions, GridSpec, MissingAnswers, PrivateMethod,
    PrivateOptions, Problems, ReadOptions, Settings, Weighting, read_booklets, read_fixed_items,
};
use fedirt_model::items::{self, ItemModel};
use fedirt_protocol::plan::PrivacyLevel;

/// The options from flags, without the files that the flags name.
pub(super) fn of_flags(args: &FitArgs) -> FitOptions {
    let grid = match args.quadrature {
        Weighting::Density => GridSpec::default(),
        Weighting::Paper => GridSpec { nodes: 21, range: 5.0, weighting: Weighting::Paper },
    };
    FitOptions {
        model: args.model.map(|model| named(args, model)),
        item_models: args
            .item_model
            .iter()
            .map(|(item, model)| (item.clone(), named(args, *model)))
            .collect(),
        codebook: None,
        collapse: args.collapse,
        fixed_items: Vec::new(),
        effects: args.effects,
        mode: mode(args),
        quadrature: GridSpec {
            nodes: args.nodes.map_or(grid.nodes, usize::from),
            range: args.range.unwrap_or(grid.range),
            ..grid
        },
        population: args.population,
        settings: settings(args),
        diagnostics: if args.no_diagnostics || !args.diagnostics.is_empty() {
            DiagnosticsWish::These(args.diagnostics.clone())
        } else {
            DiagnosticsWish::Usual
        },
        bundles: args.bundle.clone(),
        site_weights: args.site_weights,
        dif: DifOptions {
            reference: args.reference_group.clone(),
            purify: !args.no_purify,
            free: args.free.clone(),
            refits: args.dif_tests.then_some(true),
            sites: args.compare_sites,
        },
    }
}

/// The name of a model; with `--latent-sd 1` that of the one that holds the SD of ability at 1.
fn named(args: &FitArgs, model: &dyn ItemModel) -> String {
    let held = args.latent_sd.and_then(|_| items::with_sd_of_one(model));
    held.map_or(model.name(), |held| held.name()).to_owned()
}

/// The options from flags and the files that they name; problems with the files are added to the errors.
pub(super) fn with_files(args: &FitArgs, errors: &mut Vec<CliError>, origin: &Origin) -> FitOptions {
    let mut options = of_flags(args);
    let mut keep = |problems: Problems| errors.push(problems.into());
    if let Some(path) = &args.fixed_items {
        options.fixed_items = read_fixed_items(origin.open(path)).map_err(&mut keep).unwrap_or_default();
    }
    if let (FitMode::Private(private), Some(path)) = (&mut options.mode, &args.booklets) {
        private.booklets = read_booklets(origin.open(path)).map_err(&mut keep).unwrap_or_default();
    }
    options
}

/// What the flags say about the files of answers; what is wrong with the files that they name is added to the errors.
pub(super) fn reading(args: &FitArgs, errors: &mut Vec<CliError>, origin: &Origin) -> ReadOptions {
    let mut options = args.columns.read_options();
    options.weight.clone_from(&args.weight);
    options.group.clone_from(&args.group);
    // A private fit knows booklets, and counts missing answers itself.
    options.missing_is_wrong = args.missing_answers == Some(MissingAnswers::Wrong) && !args.hides_students();
    args.answers.add_to(&mut options, errors, &|path| origin.open(path));
    options
}

fn mode(args: &FitArgs) -> FitMode {
    if args.hides_students() {
        let usual = PrivateOptions::default();
        return FitMode::Private(PrivateOptions {
            epsilon: args.level.map(PrivacyLevel::epsilon).or(args.epsilon).unwrap_or(usual.epsilon),
            delta: args.delta.unwrap_or(usual.delta),
            colluders: args.colluders.unwrap_or(usual.colluders),
            mixture: args.mixture,
            missing_answers: args.missing_answers.unwrap_or(usual.missing_answers),
            site_sd: args.site_sd.unwrap_or(usual.site_sd),
            booklets: Vec::new(),
            method: PrivateMethod {
                mechanism: args.mechanism.unwrap_or(usual.method.mechanism),
                difficulty_sd: args.difficulty_sd.unwrap_or(usual.method.difficulty_sd),
            },
        });
    }
    if args.secure { FitMode::Secure { publish_effects: args.publish_effects } } else { FitMode::Plain }
}

fn settings(args: &FitArgs) -> Settings {
    let defaults = Settings::default();
    Settings {
        // fedirt-dp does not use this setting.
        algorithm: args.algorithm.kind().unwrap_or(defaults.algorithm),
        tolerance: args.tolerance(),
        max_rounds: args.max_rounds.unwrap_or(defaults.max_rounds),
        starts: args.starts.map_or(defaults.starts, usize::from),
        local_epochs: args.local_epochs.unwrap_or(defaults.local_epochs),
        client_fraction: args.client_fraction.unwrap_or(defaults.client_fraction),
        learning_rate: args.learning_rate.unwrap_or(defaults.learning_rate),
        seed: args.seed.unwrap_or(defaults.seed),
        pairwise_items: defaults.pairwise_items,
    }
}
