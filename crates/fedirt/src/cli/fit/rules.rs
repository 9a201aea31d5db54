//! What the flags of `fedirt fit` must fulfil before any file is opened.

use super::options;
use crate::args::{AlgorithmArg, EffectsArg, FitArgs, NoiseArg};
use crate::error::CliError;

/// All problems with the flags: values that cannot be, and flags that do not go together.
pub(super) fn check(args: &FitArgs) -> Result<(), CliError> {
    let mut errors: Vec<CliError> =
        options::of_flags(args).problems().into_iter().map(CliError::Flag).collect();
    let mut problems = Vec::new();
    if let Some(threads) = args.threads.filter(|threads| *threads < 1) {
        problems.push(format!("--threads {threads}: at least 1 is needed"));
    }
    problems.extend(privacy(args));
    problems.extend(unused(args));
    errors.extend(problems.into_iter().map(CliError::Usage));
    CliError::unless_empty(errors)
}

/// What --private and fedirt-dp need, and what they rule out: all before a file is opened.
fn privacy(args: &FitArgs) -> Vec<String> {
    let mut problems = Vec::new();
    let published = args.algorithm == AlgorithmArg::FedirtDp;
    if !(args.private || published) {
        for (flag, given) in [
            ("--epsilon", args.epsilon.is_some()),
            ("--delta", args.delta.is_some()),
            ("--colluders", args.colluders.is_some()),
            ("--missing-answers", args.missing_answers.is_some()),
            ("--site-sd", args.site_sd.is_some()),
            ("--booklets", args.booklets.is_some()),
        ] {
            if given {
                problems.push(format!("{flag} is used with --private or --algorithm fedirt-dp only"));
            }
        }
        return problems;
    }
    if args.epsilon.is_none() {
        problems.push("--epsilon is needed: 1 is strong privacy, 8 weak".to_owned());
    }
    if let Some(sd) = args.site_sd
        && sd == 0.0
        && args.effects != Some(EffectsArg::None)
    {
        problems.push(format!("--site-sd {sd}: a number of 0 or more is needed, and --effects none"));
    }
    if let Some(clip) = args.clip
        && !(clip.is_finite() && clip > 0.0)
    {
        problems.push(format!("--clip {clip}: a number above 0 is needed"));
    }
    if let Some(rate) = args.sampling_rate
        && !(rate > 0.0 && rate <= 1.0)
    {
        problems.push(format!("--sampling-rate {rate}: a share above 0 and at most 1 is needed"));
    }
    for (given, text) in [
        (
            args.weight.is_some(),
            "--weight: weights cannot be kept private: one student's would move everybody's sums",
        ),
        (
            args.tolerance.is_some(),
            "--tolerance: private fits do not test for convergence, which would tell of the answers",
        ),
        (
            args.max_rounds.is_some() && !published,
            "--max-rounds: a private fit has two rounds; --algorithm fedirt-dp has as many as you say",
        ),
        (
            args.publish_effects,
            "--publish-effects belongs to --secure: effects of private fits have noise, and are published",
        ),
        (args.seed.is_some(), "--seed: the noise must come from the operating system"),
        (args.fixed_items.is_some(), "--fixed-items: private fits know no fixed items"),
        (
            args.private && args.noise == Some(NoiseArg::Central),
            "--noise central: the server would see exact sums; --private means noise made at the sites",
        ),
        (
            published && !cfg!(feature = "studies"),
            "--algorithm fedirt-dp: this program was built without the feature `studies`, which has it",
        ),
        (published && args.mixture, "--mixture belongs to score2, not to fedirt-dp"),
        (
            args.transcript && published,
            "--transcript: fedirt-dp runs in one process without the protocol, and sends no messages",
        ),
        (args.secure && published, "--secure: fedirt-dp adds noise of its own; use --private"),
    ] {
        if given {
            problems.push(text.to_owned());
        }
    }
    problems
}

/// Flags that the chosen algorithm does not use.
fn unused(args: &FitArgs) -> Vec<String> {
    use AlgorithmArg::{Fedavg, FedirtDp, Fedsgd};
    let flags: [(&str, bool, &[AlgorithmArg]); 8] = [
        ("--local-epochs", args.local_epochs.is_some(), &[Fedavg]),
        ("--client-fraction", args.client_fraction.is_some(), &[Fedsgd, Fedavg]),
        ("--learning-rate", args.learning_rate.is_some(), &[Fedsgd, Fedavg, FedirtDp]),
        ("--noise", args.noise.is_some(), &[FedirtDp]),
        ("--preset", args.preset.is_some(), &[FedirtDp]),
        ("--sampling-rate", args.sampling_rate.is_some(), &[FedirtDp]),
        ("--clip", args.clip.is_some(), &[FedirtDp]),
        ("--seed", args.seed.is_some() && !args.private, &[Fedsgd, Fedavg, FedirtDp]),
    ];
    flags
        .into_iter()
        .filter(|(_, given, users)| *given && !users.contains(&args.algorithm))
        .map(|(flag, _, users)| {
            let users: Vec<String> = users.iter().map(|a| format!("--algorithm {}", a.name())).collect();
            let chosen = args.algorithm.name();
            format!("{flag} is used by {} only, and the algorithm is {chosen}", users.join(" and "))
        })
        .collect()
}
