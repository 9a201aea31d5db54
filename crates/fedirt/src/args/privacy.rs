//! `fedirt privacy`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct PrivacyArgs {
    #[command(subcommand)]
    pub command: PrivacyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PrivacyCommand {
    /// The ε that a noise gives
    Epsilon(EpsilonArgs),
    /// The noise that an ε needs
    Noise(NoiseArgs),
}

/// A mechanism without its noise.
#[derive(Debug, Args)]
pub(crate) struct RoundsOfSampling {
    /// Share of students that take part in a round, each drawn by itself; 1 is all of them
    #[arg(long, value_name = "Q", default_value_t = 1.0)]
    pub rate: f64,
    /// Planned rounds: all count, whether they are used or not
    #[arg(long, value_name = "R")]
    pub rounds: u32,
    /// δ: the chance that ε does not hold; below 1/(10 N)
    #[arg(long, value_name = "D", default_value_t = 1e-6)]
    pub delta: f64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = EPSILON_EXAMPLES)]
pub(crate) struct EpsilonArgs {
    /// Noise multiplier: SD of the noise over the clipping bound
    #[arg(long, value_name = "SIGMA")]
    pub noise: f64,
    #[command(flatten)]
    pub sampling: RoundsOfSampling,
}

#[derive(Debug, Args)]
#[command(after_help = NOISE_EXAMPLES)]
pub(crate) struct NoiseArgs {
    /// ε that must not be exceeded
    #[arg(long, value_name = "E")]
    pub epsilon: f64,
    #[command(flatten)]
    pub sampling: RoundsOfSampling,
}

const EPSILON_EXAMPLES: &str = "Examples:
  fedirt privacy epsilon --noise 22.3 --rounds 100
  fedirt privacy epsilon --noise 1 --rate 0.01 --rounds 100 --delta 1e-6 --json";

const NOISE_EXAMPLES: &str = "Examples:
  fedirt privacy noise --epsilon 1 --rounds 2
  fedirt privacy noise --epsilon 2 --rate 0.1 --rounds 100 --json";
