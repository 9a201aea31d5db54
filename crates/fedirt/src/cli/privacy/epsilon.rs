//! `fedirt privacy epsilon` and `fedirt privacy noise`.

use crate::args::{EpsilonArgs, NoiseArgs, RoundsOfSampling};
use crate::error::CliError;
use crate::output::stdout;
use crate::usage::UsageError;
use fedirt_data::files;
use fedirt_figures::{EpsilonAt, Rounds, epsilon_by_rounds};
use fedirt_privacy::accountant::{
    ADJACENCY, AccountantError, Conversion, Delta, Epsilon, Mechanism, noise_multiplier, rdp_epsilon,
};
use rayon::prelude::*;
use serde_json::json;
use std::process::ExitCode;

/// Number of points of the plotted curve.
const POINTS: u32 = 60;

/// ε of a mechanism by several accountants.
struct Account {
    pld: f64,
    rdp: f64,
    replaced: f64,
}

impl Account {
    fn of(mechanism: &Mechanism, delta: Delta) -> Result<Self, AccountantError> {
        Ok(Self {
            pld: mechanism.epsilon(delta),
            rdp: rdp(mechanism, delta)?,
            replaced: mechanism.epsilon_replaced(delta),
        })
    }

    /// The values of ε in words, the one to report first.
    fn lines(&self, delta: Delta) -> String {
        format!(
            "  ε = {:.4} at δ = {:e} (tight, by the privacy-loss distribution)\n  \
             ε = {:.4} by Rényi accounting, for comparison\n  \
             ε ≤ {:.4} for replaced answers of a student (exact without sampling)\n\n{ADJACENCY}\n",
            self.pld,
            delta.value(),
            self.rdp,
            self.replaced
        )
    }
}

fn rdp(mechanism: &Mechanism, delta: Delta) -> Result<f64, AccountantError> {
    Ok(rdp_epsilon(std::slice::from_ref(mechanism), delta, Conversion::Improved)?.epsilon)
}

pub(super) fn of_noise(args: &EpsilonArgs) -> Result<ExitCode, CliError> {
    let sampling = &args.sampling;
    check_plot(sampling)?;
    let delta = Delta::new(sampling.delta).map_err(CliError::because)?;
    let mechanism = Mechanism::new(sampling.rate, args.noise, sampling.rounds).map_err(CliError::because)?;
    let account = Account::of(&mechanism, delta).map_err(CliError::because)?;
    plot(sampling, &mechanism, delta)?;
    if sampling.json {
        let value = json!({
            "epsilon_rdp": account.rdp, "epsilon_pld": account.pld, "epsilon_replaced": account.replaced,
            "delta": delta.value(), "noise_multiplier": args.noise, "sampling_rate": sampling.rate,
            "rounds": sampling.rounds, "adjacency": ADJACENCY,
        });
        stdout::print_raw(&format!("{value}\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let heading = format!(
        "Noise multiplier {}, sampling rate {}, {} rounds\n\n",
        args.noise, sampling.rate, sampling.rounds
    );
    stdout::print(&(heading + &account.lines(delta) + &drawn(sampling)))?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn noise_for(args: &NoiseArgs) -> Result<ExitCode, CliError> {
    let sampling = &args.sampling;
    check_plot(sampling)?;
    let target = Epsilon::new(args.epsilon).map_err(CliError::because)?;
    let delta = Delta::new(sampling.delta).map_err(CliError::because)?;
    let multiplier =
        noise_multiplier((target, delta), sampling.rate, sampling.rounds).map_err(CliError::because)?;
    let mechanism = Mechanism::new(sampling.rate, multiplier, sampling.rounds).map_err(CliError::because)?;
    plot(sampling, &mechanism, delta)?;
    if sampling.json {
        let value = json!({
            "noise_multiplier": multiplier, "epsilon": args.epsilon, "delta": delta.value(),
            "sampling_rate": sampling.rate, "rounds": sampling.rounds, "adjacency": ADJACENCY,
        });
        stdout::print_raw(&format!("{value}\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let account = Account::of(&mechanism, delta).map_err(CliError::because)?;
    let heading = format!(
        "Noise multiplier {multiplier:.6} for {} rounds at sampling rate {}\n\n",
        sampling.rounds, sampling.rate
    );
    stdout::print(&(heading + &account.lines(delta) + &drawn(sampling)))?;
    Ok(ExitCode::SUCCESS)
}

/// Checks the plot file before the computation: it must be SVG, in a folder that exists.
fn check_plot(sampling: &RoundsOfSampling) -> Result<(), CliError> {
    let Some(path) = &sampling.plot else { return Ok(()) };
    let say = |needed| Err(UsageError::value("--plot", path.display(), needed).into());
    if !path.extension().is_some_and(|e| e.eq_ignore_ascii_case("svg")) {
        return say("plots are SVG; give a file name that ends in .svg");
    }
    match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) if !parent.is_dir() => say("the folder does not exist"),
        _ if path.is_dir() => say("this is a folder; give a file name"),
        _ => Ok(()),
    }
}

fn drawn(sampling: &RoundsOfSampling) -> String {
    sampling
        .plot
        .as_ref()
        .map_or_else(String::new, |path| format!("\nWrote the plot to {}\n", path.display()))
}

fn plot(sampling: &RoundsOfSampling, mechanism: &Mechanism, delta: Delta) -> Result<(), CliError> {
    let Some(path) = &sampling.plot else { return Ok(()) };
    let planned = u64::from(mechanism.rounds());
    let most = u64::from(POINTS).min(planned);
    let mut rounds: Vec<u32> =
        (0..most).map(|i| (1 + i * (planned - 1) / most.saturating_sub(1).max(1)) as u32).collect();
    rounds.dedup();
    let points = rounds
        .into_par_iter()
        .map(|rounds| {
            let some = mechanism.with_rounds(rounds)?;
            Ok(EpsilonAt { rounds, pld: some.epsilon(delta), rdp: rdp(&some, delta)? })
        })
        .collect::<Result<Vec<_>, AccountantError>>()
        .map_err(CliError::because)?;
    let figure = epsilon_by_rounds(
        Rounds {
            sampling_rate: mechanism.sampling_rate(),
            noise_multiplier: mechanism.noise_multiplier(),
            delta: delta.value(),
        },
        &points,
    );
    Ok(files::replace(path, |out| out.write_all(figure.standalone().as_bytes()))?)
}
