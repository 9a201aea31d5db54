//! `fedirt privacy audit`: the audit of the private mode, on this program's own code.

use super::columns;
use crate::args::AuditArgs;
use crate::error::CliError;
use crate::output::stdout;
use fedirt_model::private::PrivateMechanism;
use fedirt_privacy::audit::Effort;
use fedirt_protocol::audit::{
    AuditLine, Caught, EPSILON, Fault, SITES, Sites, checks, hostile, machines, plant,
};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use std::process::ExitCode;

/// Maximum numbers of runs for a planted fault; most faults are detected with few.
const PLANTED: (u64, u64) = (1_000, 2_000);
/// Distance between seeds, so that the runs of two seeds are disjoint.
const APART: u64 = 1_000_000_000;

pub(super) fn run(args: &AuditArgs) -> Result<ExitCode, CliError> {
    let mechanisms = args.mechanism.map_or_else(|| PrivateMechanism::ALL.to_vec(), |only| vec![only]);
    let audits = mechanisms.into_iter().map(|mechanism| audit(args, mechanism));
    let audits = audits.collect::<Result<Vec<_>, CliError>>()?;
    let passed = audits.iter().all(Audit::passed);
    if args.json {
        let of = |audit: &Audit| {
            json!({
                "mechanism": audit.mechanism.name(), "checks": audit.lines, "planted": audit.caught,
                "false_alarms": audit.alarms, "passed": audit.passed(),
            })
        };
        let document = json!({
            "epsilon": EPSILON, "sites": SITES, "runs": args.runs, "first_seed": args.first,
            "seeds": args.seeds, "runs_per_seed": per_seed(args),
            "mechanisms": audits.iter().map(of).collect::<Vec<_>>(), "passed": passed,
        });
        stdout::print_raw(&format!("{document}\n"))?;
    } else {
        let texts: Vec<String> = audits.iter().map(|audit| report(args, audit)).collect();
        stdout::print(&texts.join("\n"))?;
    }
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// What was found about a mechanism.
struct Audit {
    mechanism: PrivateMechanism,
    lines: Vec<AuditLine>,
    caught: Vec<Caught>,
    /// Seeds of the sound code with findings.
    alarms: Vec<(u64, Vec<String>)>,
}

impl Audit {
    fn passed(&self) -> bool {
        let sound = self.lines.iter().all(|line| line.findings.is_empty());
        let complete = self.caught.iter().all(|fault| !fault.by.is_empty());
        sound && complete && self.alarms.is_empty()
    }
}

/// Runs with each seed of the false alarm rate.
fn per_seed(args: &AuditArgs) -> u64 {
    (args.runs / 20).max(100)
}

fn audit(args: &AuditArgs, mechanism: PrivateMechanism) -> Result<Audit, CliError> {
    let sites = Sites::by(mechanism).map_err(CliError::because)?;
    // Hidden when standard error is not a terminal.
    let bar = ProgressBar::new(1 + Fault::ALL.len() as u64 + args.seeds);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}, {elapsed}") {
        bar.set_style(style);
    }
    bar.set_message(format!("the program's own mechanism {}", mechanism.name()));
    bar.tick();
    let effort = Effort { noise_runs: args.runs, world_runs: args.runs, seed: args.first };
    let (mut lines, _) = checks(&sites, &hostile(&sites), |sites| sites, effort);
    lines.extend(machines(mechanism, effort).map_err(CliError::because)?);
    bar.inc(1);
    let mut caught = Vec::new();
    for fault in Fault::ALL {
        bar.set_message(format!("planted: {}", fault.name()));
        let (noise_runs, world_runs) = (args.runs.min(PLANTED.0), args.runs.min(PLANTED.1));
        caught.push(plant(&sites, fault, Effort { noise_runs, world_runs, seed: args.first }));
        bar.inc(1);
    }
    let mut alarms = Vec::new();
    let few = per_seed(args);
    for seed in 1..=args.seeds {
        bar.set_message("seeds of sound code");
        let seed = args.first.wrapping_add(seed.wrapping_mul(APART));
        let (lines, found) =
            checks(&sites, &[], |sites| sites, Effort { noise_runs: few, world_runs: few, seed });
        if !found.is_empty() {
            alarms.push((seed, lines.into_iter().flat_map(|line| line.findings).collect::<Vec<_>>()));
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(Audit { mechanism, lines, caught, alarms })
}

fn report(args: &AuditArgs, audit: &Audit) -> String {
    let Audit { mechanism, lines, caught, alarms } = audit;
    let mut out = format!(
        "Private mode of this program: {} at ε = {EPSILON}, δ = 1e-6, {SITES} sites of which 1 colludes, {} runs\n\n",
        mechanism.name(),
        args.runs
    );
    let mut rows = vec![["check", "measured", "limit", "verdict"].map(String::from).to_vec()];
    for line in lines {
        let verdict = if line.findings.is_empty() { "ok" } else { "FOUND" };
        rows.push(vec![line.check.into(), line.measured.clone(), line.limit.clone(), verdict.into()]);
    }
    out += &columns(&rows, &[0, 1, 2, 3]);
    for finding in lines.iter().flat_map(|line| line.findings.iter().take(5)) {
        out += &format!("  found: {finding}\n");
    }
    let mut rows = vec![["planted fault", "detected by"].map(String::from).to_vec()];
    for fault in caught {
        let by = if fault.by.is_empty() { "NOTHING".to_owned() } else { fault.by.join(", ") };
        rows.push(vec![fault.fault.into(), by]);
    }
    out += &format!("\n{}", columns(&rows, &[0, 1]));
    out += &format!(
        "\nFalse alarms: {} in {} seeds of the sound code, {} runs each\n",
        alarms.len(),
        args.seeds,
        per_seed(args)
    );
    for (seed, findings) in alarms {
        out += &format!("  seed {seed}: {}\n", findings.join("; "));
    }
    out += if audit.passed() {
        "\nNo leak was found, and every planted fault was detected. This is evidence, not proof.\n"
    } else {
        "\nThe audit failed: do not use the private mode of this build.\n"
    };
    out
}
