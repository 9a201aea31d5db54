//! Checks of the flags of `fedirt fit`, before any file is opened.

use super::options;
use crate::args::{AlgorithmArg, FitArgs, NoiseArg};
use crate::error::CliError;
use crate::usage::UsageError;
use fedirt::Effects;
use fedirt_model::items;

/// All problems with the flags: invalid values and contradictory flags.
pub(super) fn check(args: &FitArgs) -> Result<(), CliError> {
    let mut errors: Vec<CliError> =
        options::of_flags(args).problems().into_iter().map(CliError::Flag).collect();
    let threads = args.threads.filter(|threads| *threads < 1);
    let threads = threads.map(|threads| UsageError::value("--threads", threads, "at least 1 is needed"));
    let problems = threads
        .into_iter()
        .chain(latent_sd(args))
        .chain(scores(args))
        .chain(privacy(args))
        .chain(unused(args));
    errors.extend(problems.map(CliError::Usage));
    CliError::unless_empty(errors)
}

/// An SD of ability that no model takes.
fn latent_sd(args: &FitArgs) -> Option<UsageError> {
    let flag = "--latent-sd";
    let sd = args.latent_sd?;
    if sd != 1.0 {
        let needed = "the SD of ability is estimated by rasch and pcm, and is 1 in all other models";
        return Some(UsageError::value(flag, sd, needed));
    }
    let models = args.model.iter().chain(args.item_model.iter().map(|(_, model)| model));
    let used = models.into_iter().any(|model| items::with_sd_of_one(*model).is_some());
    (!used).then_some(UsageError::OnlyWith { flag, with: "--model rasch or --model pcm" })
}

/// Flags about scores.csv where none is written.
fn scores(args: &FitArgs) -> Vec<UsageError> {
    let flags =
        [("--prior", args.score_scale.prior.is_some()), ("--scale", args.score_scale.scale.is_some())];
    let written = args.out.is_some() && !args.no_scores;
    let unused = flags.into_iter().filter(|(_, given)| *given && !written);
    let reason = "it is about scores.csv, which is written with --out and without --no-scores";
    unused.map(|(flag, _)| UsageError::Excluded { flag, reason }).collect()
}

/// Flags that --private and fedirt-dp require or exclude.
fn privacy(args: &FitArgs) -> Vec<UsageError> {
    let mut problems = Vec::new();
    let published = args.algorithm == AlgorithmArg::FedirtDp;
    if !(args.private || published) {
        for (flag, given) in [
            ("--epsilon", args.epsilon.is_some()),
            ("--delta", args.delta.is_some()),
            ("--colluders", args.colluders.is_some()),
            ("--site-sd", args.site_sd.is_some()),
            ("--booklets", args.booklets.is_some()),
        ] {
            if given {
                problems.push(UsageError::OnlyWith { flag, with: "--private or --algorithm fedirt-dp" });
            }
        }
        return problems;
    }
    if args.epsilon.is_none() && args.level.is_none() {
        let reason = "1 is strong privacy, 8 weak; or --level strict, standard or light";
        problems.push(UsageError::Missing { flag: "--epsilon", reason });
    }
    if let Some(sd) = args.site_sd
        && sd == 0.0
        && args.effects != Some(Effects::None)
    {
        problems.push(UsageError::value(
            "--site-sd",
            sd,
            "a number of 0 or more is needed, and --effects none",
        ));
    }
    if let Some(sd) = args.difficulty_sd
        && !(sd.is_finite() && sd > 0.0)
    {
        problems.push(UsageError::value("--difficulty-sd", sd, "a number above 0 is needed"));
    }
    if let Some(clip) = args.clip
        && !(clip.is_finite() && clip > 0.0)
    {
        problems.push(UsageError::value("--clip", clip, "a number above 0 is needed"));
    }
    if let Some(rate) = args.sampling_rate
        && !(rate > 0.0 && rate <= 1.0)
    {
        problems.push(UsageError::value("--sampling-rate", rate, "a share above 0 and at most 1 is needed"));
    }
    for (given, flag, reason) in [
        (
            args.weight.is_some(),
            "--weight",
            "weights cannot be kept private: one student's would move everybody's sums",
        ),
        (
            args.compare_sites,
            "--compare-sites",
            "every further sum over students would cost more of the privacy budget",
        ),
        (
            args.group.is_some(),
            "--group",
            "every further sum over students would cost more of the privacy budget",
        ),
        (
            args.tolerance.is_some(),
            "--tolerance",
            "private fits do not test for convergence, which would reveal something about the answers",
        ),
        (
            args.max_rounds.is_some() && !published,
            "--max-rounds",
            "a private fit has two rounds; --algorithm fedirt-dp has as many as you say",
        ),
        (
            args.collapse.is_some(),
            "--collapse",
            "which categories are thin would tell of the answers; list the groups in the codebook's column `collapse`",
        ),
        (
            args.publish_effects,
            "--publish-effects",
            "this belongs to --secure; effects of private fits have noise, and are published",
        ),
        (args.starts.is_some(), "--starts", "private fits have starting values of their own"),
        (args.seed.is_some(), "--seed", "the noise must come from the operating system"),
        (args.fixed_items.is_some(), "--fixed-items", "private fits do not support fixed items"),
        (
            args.private && args.noise == Some(NoiseArg::Central),
            "--noise central",
            "the server would see exact sums; with --private the sites add the noise",
        ),
        (
            published && !cfg!(feature = "studies"),
            "--algorithm fedirt-dp",
            "this program was built without the feature `studies`, which has it",
        ),
        (
            published && args.mixture,
            "--mixture",
            "this belongs to the program's own mechanisms, not to fedirt-dp",
        ),
        (
            args.transcript && published,
            "--transcript",
            "fedirt-dp runs in one process without the protocol, and sends no messages",
        ),
        (args.secure && published, "--secure", "fedirt-dp adds noise of its own; use --private"),
    ] {
        if given {
            problems.push(UsageError::Excluded { flag, reason });
        }
    }
    problems
}

/// Flags that the chosen algorithm does not use.
fn unused(args: &FitArgs) -> Vec<UsageError> {
    use AlgorithmArg::{Fedavg, FedirtDp, Fedsgd};
    let flags: [(&str, bool, &'static [AlgorithmArg]); 8] = [
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
        .map(|(flag, _, users)| UsageError::Unused { flag, users, chosen: args.algorithm })
        .collect()
}
