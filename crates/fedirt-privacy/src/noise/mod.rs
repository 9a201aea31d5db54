//! Noise that is made at the sites, in integers.
//!
//! Clipped rows are vectors on a [`Lattice`] of step γ. Each site adds its own [`NoiseShare`] to its sum; the
//! shares of the honest sites alone are as much noise as the plan says, so that the coordinator and c sites
//! together cannot take it off. Integers, because the low bits of floating-point noise tell what it was added
//! to (Mironov 2012), and because sums modulo 2⁶⁴ are exact.
//!
//! | file | what |
//! | --- | --- |
//! | `bernoulli` | coins of exact probability, the sampling of students among them |
//! | `gaussian` | the discrete Gaussian, exactly |
//! | `lattice` | γ, the shares of one attempt, and what they cost |
//! | `share` | a share: drawn, added, gone |
//!
//! Randomness is always an argument. It must be the operating system's, except in simulations; and it is fresh
//! in every attempt, since a share that is used twice with different cohorts shows a site's numbers.
//!
//! **Not promised:** constant time. The samplers reject, and how often depends on the noise: who can time one
//! draw to the nanosecond at the site learns a little about it.

mod bernoulli;
mod gaussian;
mod lattice;
mod share;

pub use bernoulli::sample;
pub use gaussian::{LARGEST_SD, discrete_gaussian};
pub use lattice::{Lattice, NoiseError, Shares};
pub use share::NoiseShare;

#[cfg(test)]
mod tests;
