//! What the flags of `fedirt fit` must fulfil before any file is opened.

use crate::args::{AlgorithmArg, EffectsArg, FitArgs, NoiseArg};
use crate::error::CliError;
use fedirt_model::items::SlopeRule;
use fedirt_privacy::accountant::{Delta, Epsilon};

/// All problems with the flags.
pub(super) fn check(args: &FitArgs) -> Result<(), CliError> {
    let mut problems = Vec::new();
    let mut need = |fine: bool, text: String| {
        if !fine {
            problems.push(text);
        }
    };
    let positive = |x: f64| x.is_finite() && x > 0.0;
    need(
        positive(args.tolerance()),
        format!("--tolerance {}: a number above 0 is needed, such as 1e-6", args.tolerance()),
    );
    if let Some(range) = args.range {
        need(
            positive(range) && range <= 20.0,
            format!("--range {range}: a number above 0 and at most 20 is needed, such as 6"),
        );
    }
    if let Some(rounds) = args.max_rounds {
        need(
            rounds >= 2,
            format!("--max-rounds {rounds}: at least 2 are needed, as the first only finds a start"),
        );
    }
    if let Some(threads) = args.threads {
        need(threads >= 1, format!("--threads {threads}: at least 1 is needed"));
    }
    if let Some(share) = args.client_fraction {
        need(
            share > 0.0 && share <= 1.0,
            format!("--client-fraction {share}: a share above 0 and at most 1 is needed"),
        );
    }
    if let Some(rate) = args.learning_rate {
        need(positive(rate), format!("--learning-rate {rate}: a number above 0 is needed"));
    }
    if let Some(epochs) = args.local_epochs {
        need(epochs >= 1, format!("--local-epochs {epochs}: at least 1 is needed"));
    }
    if args.secure
        && !matches!(args.algorithm, AlgorithmArg::Newton | AlgorithmArg::Em | AlgorithmArg::FedirtDp)
    {
        problems.push(format!(
            "--secure: {} needs each site's own numbers; newton and em need sums alone",
            args.algorithm.name()
        ));
    }
    problems.extend(privacy(args));
    problems.extend(unused(args));
    CliError::usage(problems)
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
    match args.epsilon.map(|epsilon| (epsilon, Epsilon::new(epsilon))) {
        None => problems.push("--epsilon is needed: 1 is strong privacy, 8 weak".to_owned()),
        Some((epsilon, Err(error))) => problems.push(format!("--epsilon {epsilon}: {error}")),
        Some((_, Ok(_))) => {}
    }
    if let Some(delta) = args.delta
        && let Err(error) = Delta::new(delta)
    {
        problems.push(format!("--delta {delta}: {error}"));
    }
    if let Some(sd) = args.site_sd
        && !(sd.is_finite() && sd >= 0.0 && args.effects == Some(EffectsArg::None))
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
    let own = matches!(args.algorithm, AlgorithmArg::Newton | AlgorithmArg::FedirtDp);
    for (given, text) in [
        (!own, "--algorithm: --private has its own (score2), or takes fedirt-dp"),
        (args.effects == Some(EffectsArg::Random), "--effects random: private fits know fixed and none"),
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
        (
            args.model.is_some_and(|m| matches!(m.slope(), SlopeRule::LatentSd | SlopeRule::Common)),
            "--model: 1pl, rasch and pcm estimate one slope or the SD of ability for all items, and private fits do not; use rasch-sd1, 2pl or gpcm",
        ),
        (
            args.model.is_some_and(|m| m.one_slope().is_none()),
            "--model: private fits know models with a single slope only: 2pl, rasch-sd1, gpcm and grm",
        ),
        (args.seed.is_some(), "--seed: the noise must come from the operating system"),
        (args.fixed_items.is_some(), "--fixed-items: private fits know no fixed items"),
        (
            args.private && args.noise == Some(NoiseArg::Central),
            "--noise central: the server would see exact sums; --private means noise made at the sites",
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
