//! `--algorithm fedirt-dp`: the published private algorithm, a baseline that runs in one process only.

use crate::args::{FitArgs, NoiseArg, PresetArg};
use crate::error::CliError;
use fedirt::{Calibration, Prepared};
use fedirt_protocol::in_process::SiteAfter;
use fedirt_studies::fedirt_dp::{LearningRates, NoiseAt, Settings, calibrate};
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;

/// Runs FedIRT-DP over the sites' tables.
pub(super) fn run(args: &FitArgs, mut prepared: Prepared) -> Result<Calibration, CliError> {
    let sites = std::mem::take(&mut prepared.sites);
    let students = sites.iter().map(|(_, table)| table.students() as u64).sum();
    let noise = if args.private || args.noise == Some(NoiseArg::Distributed) {
        NoiseAt::Sites { colluders: args.colluders.unwrap_or(0) }
    } else {
        NoiseAt::Server
    };
    let private = prepared.setting.private.as_ref().ok_or(CliError::NoPrivateTerms)?;
    let settings = (settings(args, students, private.epsilon), noise);
    let finished = calibrate(&prepared.plan, private, settings, &sites, &mut UnwrapErr(SysRng))
        .map_err(CliError::because)?;
    let after = sites.into_iter().map(|(_, table)| SiteAfter { table, own_effect: None }).collect();
    Ok(prepared.finish(finished, after))
}

/// Settings of FedIRT-DP.
fn settings(args: &FitArgs, students: u64, epsilon: f64) -> Settings {
    let mut settings = match args.preset {
        Some(PresetArg::Tuned) => Settings::tuned(students, epsilon),
        Some(PresetArg::Study3) => Settings::study3(),
        Some(PresetArg::Published) | None => Settings::published(),
    };
    settings.rounds = args.max_rounds.unwrap_or(settings.rounds);
    settings.clip = args.clip.unwrap_or(settings.clip);
    settings.sampling_rate = args.sampling_rate.unwrap_or(settings.sampling_rate);
    if let Some(rate) = args.learning_rate {
        settings.learning_rates = LearningRates::all(rate);
    }
    settings
}
