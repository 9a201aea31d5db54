//! `fedirt privacy`: what ε a noise gives, and what noise an ε needs.

use crate::args::{EpsilonArgs, NoiseArgs, PrivacyArgs, PrivacyCommand};
use crate::error::CliError;
use crate::output::stdout;
use fedirt_privacy::accountant::{
    ADJACENCY, AccountantError, Conversion, Delta, Epsilon, Mechanism, noise_multiplier, rdp_epsilon,
};
use serde_json::json;
use std::process::ExitCode;

pub(crate) fn run(args: &PrivacyArgs) -> Result<ExitCode, CliError> {
    let text = match &args.command {
        PrivacyCommand::Epsilon(args) => epsilon(args),
        PrivacyCommand::Noise(args) => noise(args),
    };
    stdout::print_raw(&text.map_err(|error| CliError::Usage(error.to_string()))?)?;
    Ok(ExitCode::SUCCESS)
}

/// ε of a mechanism by every accountant.
struct Account {
    pld: f64,
    rdp: f64,
    replaced: f64,
}

impl Account {
    fn of(mechanism: &Mechanism, delta: Delta) -> Result<Self, AccountantError> {
        Ok(Self {
            pld: mechanism.epsilon(delta),
            rdp: rdp_epsilon(std::slice::from_ref(mechanism), delta, Conversion::Improved)?.epsilon,
            replaced: mechanism.epsilon_replaced(delta),
        })
    }

    /// Lines for people: the figure to quote first, then what it is compared with, then what it means.
    fn lines(&self, delta: Delta) -> String {
        format!(
            "  ε = {:.4} at δ = {:e} (tight, by the privacy-loss distribution)\n  \
             ε = {:.4} by Rényi accounting, for comparison\n  \
             ε = {:.4} for replaced answers of a student\n\n{ADJACENCY}\n",
            self.pld,
            delta.value(),
            self.rdp,
            self.replaced
        )
    }
}

fn epsilon(args: &EpsilonArgs) -> Result<String, AccountantError> {
    let sampling = &args.sampling;
    let delta = Delta::new(sampling.delta)?;
    let mechanism = Mechanism::new(sampling.rate, args.noise, sampling.rounds)?;
    let account = Account::of(&mechanism, delta)?;
    if sampling.json {
        let value = json!({
            "epsilon_rdp": account.rdp, "epsilon_pld": account.pld, "epsilon_replaced": account.replaced,
            "delta": delta.value(), "noise_multiplier": args.noise, "sampling_rate": sampling.rate,
            "rounds": sampling.rounds, "adjacency": ADJACENCY,
        });
        return Ok(format!("{value}\n"));
    }
    let heading = format!(
        "Noise multiplier {}, sampling rate {}, {} rounds\n\n",
        args.noise, sampling.rate, sampling.rounds
    );
    Ok(heading + &account.lines(delta))
}

fn noise(args: &NoiseArgs) -> Result<String, AccountantError> {
    let sampling = &args.sampling;
    let (target, delta) = (Epsilon::new(args.epsilon)?, Delta::new(sampling.delta)?);
    let multiplier = noise_multiplier((target, delta), sampling.rate, sampling.rounds)?;
    if sampling.json {
        let value = json!({
            "noise_multiplier": multiplier, "epsilon": args.epsilon, "delta": delta.value(),
            "sampling_rate": sampling.rate, "rounds": sampling.rounds, "adjacency": ADJACENCY,
        });
        return Ok(format!("{value}\n"));
    }
    let account = Account::of(&Mechanism::new(sampling.rate, multiplier, sampling.rounds)?, delta)?;
    let heading = format!(
        "Noise multiplier {multiplier:.6} for {} rounds at sampling rate {}\n\n",
        sampling.rounds, sampling.rate
    );
    Ok(heading + &account.lines(delta))
}
