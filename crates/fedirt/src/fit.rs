//! `fedirt fit`.

use crate::args::{AlgorithmArg, EffectsArg, FitArgs, QuadratureArg};
use crate::codebook;
use crate::error::CliError;
use fedirt_model::centre::{AlgorithmKind, Plan, Settings};
use fedirt_model::exchange::Effects;
use fedirt_model::quadrature::{GridSpec, Weighting};
use fedirt_protocol::in_process;
use std::process::ExitCode;

pub(crate) fn run(args: &FitArgs) -> Result<ExitCode, CliError> {
    let options = fedirt_site::ReadOptions {
        site: args.columns.site.clone(),
        id: args.columns.id.clone(),
        weight: args.weight.clone(),
        ignore: args.columns.ignore.clone(),
        missing: args.columns.missing.clone(),
    };
    let reading = fedirt_site::read(&args.files, &options)?;
    let items = codebook::plan_items(args, &reading)?;
    let effects = match args.effects {
        Some(EffectsArg::None) => Effects::None,
        Some(EffectsArg::Fixed) => Effects::Fixed,
        Some(EffectsArg::Random) => Effects::Random,
        None if reading.sites.len() > 1 => Effects::Fixed,
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
    let defaults = Settings::default();
    let settings = Settings {
        algorithm: match args.algorithm {
            AlgorithmArg::Newton => AlgorithmKind::Newton,
            AlgorithmArg::Em => AlgorithmKind::Em,
            AlgorithmArg::Bfgs => AlgorithmKind::Bfgs,
            AlgorithmArg::Fedsgd => AlgorithmKind::Fedsgd,
            AlgorithmArg::Fedavg => AlgorithmKind::Fedavg,
            AlgorithmArg::Meta => AlgorithmKind::Meta,
        },
        tolerance: args.tolerance,
        max_rounds: args.max_rounds.unwrap_or(defaults.max_rounds),
        local_epochs: args.local_epochs.unwrap_or(defaults.local_epochs),
        client_fraction: args.client_fraction.unwrap_or(defaults.client_fraction),
        learning_rate: args.learning_rate.unwrap_or(defaults.learning_rate),
        seed: args.seed.unwrap_or(defaults.seed),
    };
    let plan = Plan { items, effects, grid, settings, publish_effects: true };
    let sites = reading
        .sites
        .into_iter()
        .map(|site| codebook::align(site, &plan.items))
        .collect::<Result<Vec<_>, _>>()?;
    let (finished, _tables) = in_process::run(plan, sites, &mut in_process::Unobserved)?;
    println!("{}", serde_json::to_string_pretty(&finished.fit).unwrap_or_default());
    Ok(if finished.fit.converged == Some(true) { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
