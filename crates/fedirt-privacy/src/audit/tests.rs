//! Sound code raises no alarm; each planted fault raises its own.

use super::*;
use crate::clip::{ClippedSum, Clipper};
use crate::noise::{Lattice, NoiseShare, Shares};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

const SITES: usize = 10;
const COLLUDERS: usize = 1;
const WIDTH: usize = 4;
const STUDENTS: usize = 4;
const CLIP: f64 = 3.0;
/// (round, attempt): two rounds, the second with a retry.
const TURNS: [(u64, u64); 3] = [(1, 1), (2, 1), (2, 2)];
/// μ of a run is 1.53: ε = 8 at δ = 1e-6.
const SIGMA: f64 = 1.1309;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    NoNoise,
    HalfTheNoise,
    ClipMissingFromNoise,
    OneShareLost,
    OneSeedForAllSites,
    NoiseReusedInRetry,
    OneCoordinateWithoutNoise,
    ClipAtOneAndAHalf,
    NoClip,
    // Toy forms of what only a model can do.
    ProfiledEffect,
    WeightsNormalisedAtTheSite,
    WarningAboutRows,
}

use Fault::*;

/// Sites whose rows are drawn once, with the crate's own clipper and noise.
struct Sites {
    fault: Fault,
    data: Vec<Vec<Vec<f64>>>,
    lattice: Lattice,
    shares: Shares,
}

impl Sites {
    fn new(fault: Fault) -> Self {
        let mut random = ChaCha20Rng::seed_from_u64(77);
        let mut uniform = move || random.next_u32() as f64 / f64::from(u32::MAX) - 0.5;
        let mut row = |k: usize, i: usize| -> Vec<f64> {
            let scale = 0.5 * (1 + 3 * i + k) as f64;
            let mut row: Vec<f64> = (0..WIDTH).map(|_| scale * uniform()).collect();
            match (k, i) {
                (0, 0) => row = vec![9.0; WIDTH],
                (0, 1) => row[2] = f64::NAN,
                (1, 1) => row[0] = f64::INFINITY,
                (2, 1) => row[1] = -1e300,
                _ => {}
            }
            row
        };
        let data = (0..SITES).map(|k| (0..STUDENTS).map(|i| row(k, i)).collect()).collect();
        let lattice = Lattice::new(CLIP, SIGMA).unwrap();
        let enrolled = (SITES * STUDENTS) as u64;
        let shares = lattice.shares(WIDTH as u32, enrolled, SITES as u32, COLLUDERS as u32).unwrap();
        Self { fault, data, lattice, shares }
    }

    fn clipper(&self) -> Clipper {
        let clip = match self.fault {
            ClipAtOneAndAHalf => 1.5 * CLIP,
            NoClip => 1e9,
            _ => CLIP,
        };
        Clipper::new(clip, self.lattice.step(), WIDTH).unwrap()
    }

    fn clipped(&self, site: usize, rows: Rows) -> ClippedSum {
        let mut clipper = self.clipper();
        let there: Vec<&Vec<f64>> = (0..STUDENTS)
            .filter(|&row| rows.have(RowId { site, row }))
            .map(|row| &self.data[site][row])
            .collect();
        for row in &there {
            let finite = |r: &&&Vec<f64>| r.iter().all(|x| x.abs() < 1e10);
            let mean = |j: usize| there.iter().filter(finite).map(|r| r[j]).sum::<f64>() / there.len() as f64;
            let changed: Vec<f64> = match self.fault {
                ProfiledEffect => (0..WIDTH).map(|j| row[j] - mean(j)).collect(),
                WeightsNormalisedAtTheSite => row.iter().map(|x| x / there.len() as f64).collect(),
                _ => row.to_vec(),
            };
            clipper.add(&changed);
        }
        clipper.finish()
    }

    fn share(&self, seed: u64, site: usize, turn: usize) -> NoiseShare {
        let site_of_seed = if self.fault == OneSeedForAllSites { 0 } else { site };
        let turn_of_seed = if self.fault == NoiseReusedInRetry && turn == 2 { 1 } else { turn };
        let mut random = ChaCha20Rng::seed_from_u64(seed);
        random.set_stream((100 * site_of_seed + turn_of_seed) as u64);
        let sd = match self.fault {
            NoNoise => 0,
            HalfTheNoise => self.shares.sd() / 2,
            ClipMissingFromNoise => (self.shares.sd() as f64 / CLIP) as u64,
            OneShareLost if site == 3 => 0,
            _ => self.shares.sd(),
        };
        NoiseShare::draw(&mut random, sd, WIDTH)
    }
}

impl Subject for Sites {
    fn claim(&self) -> Claim {
        Claim {
            norm_square: self.lattice.norm_square(),
            share_sd: self.shares.sd() as f64,
            colluders: COLLUDERS,
            mu: (TURNS.len() as f64).sqrt() / SIGMA,
        }
    }

    fn rows(&self) -> Vec<RowId> {
        (0..SITES).flat_map(|site| (0..STUDENTS).map(move |row| RowId { site, row })).collect()
    }

    fn run(&self, rows: Rows, seed: u64) -> Transcript {
        let mut transcript = Transcript { released: Vec::new(), remarks: vec!["40 enrolled".into()] };
        for site in 0..SITES {
            if self.fault == WarningAboutRows && rows.have(RowId { site, row: 1 }) && site == 0 {
                transcript.remarks.push("a row has missing answers".into());
            }
            for (turn, (round, attempt)) in TURNS.into_iter().enumerate() {
                let (sum, share) = (self.clipped(site, rows), self.share(seed, site, turn));
                let words = if self.fault == OneCoordinateWithoutNoise {
                    let (mut words, mut noise) = (sum.exact_sum_for_a_trusted_server(), vec![0; WIDTH]);
                    share.add_to(&mut noise).unwrap();
                    noise[2] = 0;
                    crate::fixed_point::add(&mut words, &noise);
                    words
                } else {
                    sum.with_noise(share).unwrap().into_words()
                };
                transcript.released.push(Released { site, round, attempt, words });
            }
        }
        transcript
    }
}

/// The quick form. Two worlds with 4,000 runs have a standard error of 0.025 at μ = 1.53.
const QUICK: Effort = Effort { noise_runs: 2_000, world_runs: 4_000, seed: 1 };

#[test]
fn every_planted_fault_is_found() {
    for (fault, by) in [
        (NoNoise, vec![Check::Moments, Check::Distribution, Check::TwoWorlds]),
        (HalfTheNoise, vec![Check::Moments, Check::Distribution, Check::TwoWorlds]),
        (ClipMissingFromNoise, vec![Check::Moments, Check::Distribution, Check::TwoWorlds]),
        (OneShareLost, vec![Check::Moments, Check::Distribution]),
        (OneSeedForAllSites, vec![Check::Correlation]),
        (NoiseReusedInRetry, vec![Check::Correlation]),
        (OneCoordinateWithoutNoise, vec![Check::Moments, Check::Distribution, Check::TwoWorlds]),
        (ClipAtOneAndAHalf, vec![Check::Norm, Check::TwoWorlds]),
        (NoClip, vec![Check::Norm, Check::TwoWorlds]),
        (ProfiledEffect, vec![Check::Coupling]),
        (WeightsNormalisedAtTheSite, vec![Check::Coupling]),
        (WarningAboutRows, vec![Check::Norm, Check::Coupling]),
    ] {
        let mut found: Vec<Check> = audit(&Sites::new(fault), QUICK).iter().map(|f| f.check).collect();
        found.sort_unstable();
        found.dedup();
        assert!(by.iter().all(|check| found.contains(check)), "{fault:?}: {found:?}");
    }
}

/// A lost share is 5 % of inflation, which needs the full number of runs in two worlds.
#[test]
fn two_worlds_see_a_lost_share() {
    assert!(two_worlds(&Sites::new(OneShareLost), Effort::FULL.world_runs, 5).is_err());
    let sound = two_worlds(&Sites::new(None), Effort::FULL.world_runs, 5).unwrap();
    assert!((sound.mu - Sites::new(None).claim().mu).abs() < 3.0 * sound.se, "{sound:?}");
}

#[test]
fn sound_code_raises_no_alarm() {
    let subject = Sites::new(None);
    for seed in 0..30 {
        let effort = Effort { seed: seed * 1_000_000, noise_runs: 1_000, world_runs: 2_000 };
        let findings = audit(&subject, effort);
        assert!(findings.is_empty(), "seed {seed}: {findings:?}");
    }
}

#[test]
fn estimates_are_of_mu() {
    // N(0, 1) and N(1.5, 1) by their quantiles, in two coordinates of different scale; the second says nothing.
    let mut random = ChaCha20Rng::seed_from_u64(3);
    let mut world = |shift: f64| -> Vec<Vec<f64>> {
        let mut draw = |sd: u64| crate::noise::discrete_gaussian(&mut random, sd) as f64;
        (0..20_000).map(|_| vec![draw(1000) + 1000.0 * shift, draw(7)]).collect()
    };
    let (with, without) = (world(1.5), world(0.0));
    let found = estimate(&with, &without, &[1500.0, 0.0]);
    assert!((found.mu - 1.5).abs() < 3.0 * found.se && found.se < 0.02, "{found:?}");
    let certain: Vec<Vec<f64>> = with.iter().map(|y| vec![y[0], 0.0]).collect();
    assert_eq!(estimate(&certain, &certain, &[1500.0, 1.0]).mu, f64::INFINITY);
}

#[test]
fn small_noise_is_compared_with_the_exact_probabilities() {
    /// Noise of sd 1, where a rounded normal is not a discrete Gaussian.
    struct Small(bool);
    impl Subject for Small {
        fn claim(&self) -> Claim {
            Claim { norm_square: 1, share_sd: 1.0, colluders: 0, mu: 1.0 }
        }
        fn rows(&self) -> Vec<RowId> {
            Vec::new()
        }
        fn run(&self, _: Rows, seed: u64) -> Transcript {
            let mut random = ChaCha20Rng::seed_from_u64(seed);
            let mut fine = || crate::noise::discrete_gaussian(&mut random, 1_000_000) as f64 / 1e6;
            let words = if self.0 {
                (0..40).map(|_| fine().round() as i64 as u64).collect()
            } else {
                (0..40).map(|_| crate::noise::discrete_gaussian(&mut random, 1) as u64).collect()
            };
            let released = vec![Released { site: 0, round: 1, attempt: 1, words }];
            Transcript { released, remarks: Vec::new() }
        }
    }
    assert_eq!(noise(&Small(false), 5_000, 1), []);
    assert!(noise(&Small(true), 5_000, 1).iter().any(|f| f.check == Check::Distribution));
}
