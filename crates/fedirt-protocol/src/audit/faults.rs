//! Faults that end privacy, planted around the sound mechanism: the product has no switch for them.
//!
//! With the same seed, what sites release when nobody is there is their noise; so sums and noise can be taken apart
//! and put together wrongly. Faults of clipping and of the model make their own sums.

use super::sites::Sites;
use crate::private::PrivateRefusal;
use fedirt_model::private::{RowStatistic, each_row_statistic};
use fedirt_privacy::audit::{Claim, RowId, Rows, Subject, Transcript};
use fedirt_privacy::clip::Clipper;

/// What can be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// No noise.
    NoNoise,
    /// Half of it.
    HalfTheNoise,
    /// Noise for rows of norm 1.
    ClipMissingFromNoise,
    /// Both rounds spend 0.7 of μ²: together more than there is.
    WrongSplitOfRounds,
    /// One site adds none.
    OneShareLost,
    /// All sites draw the same noise.
    OneSeedForAllSites,
    /// A second attempt goes out under the noise of the first.
    NoiseReusedInRetry,
    /// One coordinate has none.
    OneCoordinateWithoutNoise,
    /// Rows may have one and a half times the norm.
    ClipAtOneAndAHalf,
    /// Rows may have any norm.
    NoClip,
    /// A site estimates its effect from its rows and scores them at it.
    ProfiledEffect,
    /// Students have weights, which the site divides by their mean.
    WeightsNormalisedAtTheSite,
}

impl Fault {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::NoNoise,
        Self::HalfTheNoise,
        Self::ClipMissingFromNoise,
        Self::WrongSplitOfRounds,
        Self::OneShareLost,
        Self::OneSeedForAllSites,
        Self::NoiseReusedInRetry,
        Self::OneCoordinateWithoutNoise,
        Self::ClipAtOneAndAHalf,
        Self::NoClip,
        Self::ProfiledEffect,
        Self::WeightsNormalisedAtTheSite,
    ];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoNoise => "no noise",
            Self::HalfTheNoise => "half the noise",
            Self::ClipMissingFromNoise => "clipping norm missing from the noise",
            Self::WrongSplitOfRounds => "both rounds spend 0.7 of the budget",
            Self::OneShareLost => "1 of 10 shares lost",
            Self::OneSeedForAllSites => "one noise seed for all sites",
            Self::NoiseReusedInRetry => "noise reused in a retry",
            Self::OneCoordinateWithoutNoise => "one coordinate without noise",
            Self::ClipAtOneAndAHalf => "clip at 1.5 C",
            Self::NoClip => "no clip",
            Self::ProfiledEffect => "site effect profiled from the rows",
            Self::WeightsNormalisedAtTheSite => "weights normalised at the site",
        }
    }
}

/// Sites with a fault.
#[derive(Debug, Clone)]
pub(super) struct Planted {
    /// The sound sites.
    pub sites: Sites,
    /// What is wrong with them.
    pub fault: Fault,
}

impl Planted {
    /// The noise of one release as the fault makes it, from that of all.
    fn noise(&self, all: &Transcript, at: usize) -> Vec<u64> {
        let (released, turns) = (&all.released, self.sites.turns().len());
        let (site, turn) = (at / turns, at % turns);
        let own = &released[at].words;
        let scaled = |factor: f64| own.iter().map(|w| (*w as i64 as f64 * factor) as i64 as u64).collect();
        match self.fault {
            Fault::NoNoise => vec![0; own.len()],
            Fault::HalfTheNoise => scaled(0.5),
            Fault::ClipMissingFromNoise => scaled(1.0 / self.sites.noise(0).lattice.clip()),
            Fault::WrongSplitOfRounds if self.sites.turns()[turn].stage == 0 => scaled((0.3f64 / 0.7).sqrt()),
            Fault::OneShareLost if site == 3 => vec![0; own.len()],
            Fault::OneSeedForAllSites => released[turn].words.clone(),
            Fault::NoiseReusedInRetry if self.sites.turns()[turn].attempt > 1 => {
                released[at - 1].words.clone()
            }
            Fault::OneCoordinateWithoutNoise => {
                own.iter().enumerate().map(|(j, w)| if j == 2 { 0 } else { *w }).collect()
            }
            _ => own.clone(),
        }
    }

    /// The sum of a site's rows as the fault makes it; `None` where the fault is not in the sum.
    fn sum(&self, site: usize, stage: usize, rows: Rows) -> Result<Option<Vec<u64>>, PrivateRefusal> {
        let lattice = &self.sites.noise(stage).lattice;
        let factor = match self.fault {
            Fault::ClipAtOneAndAHalf => 1.5,
            Fault::NoClip => 1e6,
            Fault::ProfiledEffect | Fault::WeightsNormalisedAtTheSite => 1.0,
            _ => return Ok(None),
        };
        let Some((there, table)) = self.sites.table(site, rows) else { return Ok(None) };
        let mut request = self.sites.request(stage).clone();
        request.clip *= factor;
        if self.fault == Fault::ProfiledEffect {
            // Difficulties down by s is ability up by s.
            let (coordinates, effect) = (request.coordinates()?, self.profile(site, stage, rows)?);
            for item in 0..coordinates.design().len() {
                coordinates.difficulties(item).for_each(|at| request.theta[at] -= effect);
            }
        }
        let weight = |row: usize| 1.0 + (row % 3) as f64;
        let mean = there.iter().map(|row| weight(*row)).sum::<f64>() / there.len().max(1) as f64;
        let mut clipper = Clipper::new(factor * lattice.clip(), lattice.step(), request.width()?)?;
        let mut position = 0..;
        each_row_statistic(&table, site, &request, |row| {
            let own = position.next().map_or(1.0, |row| weight(row) / mean);
            let own = if self.fault == Fault::WeightsNormalisedAtTheSite { own } else { 1.0 };
            let scaled: Vec<f64> = row.iter().map(|x| own * x).collect();
            clipper.add(&scaled);
        })?;
        Ok(Some(clipper.finish().exact_sum_for_a_trusted_server()))
    }

    /// One step towards the site's most likely effect: ∂/∂s = −Σ ∂/∂b.
    fn profile(&self, site: usize, stage: usize, rows: Rows) -> Result<f64, PrivateRefusal> {
        let mut request = self.sites.request(stage).clone();
        let coordinates = request.coordinates()?;
        request.statistic = RowStatistic::scores(coordinates.len());
        let difficulties: Vec<usize> =
            (0..coordinates.design().len()).flat_map(|item| coordinates.difficulties(item)).collect();
        let Some((_, table)) = self.sites.table(site, rows) else { return Ok(0.0) };
        let (mut slope, mut information) = (0.0, 1.0);
        each_row_statistic(&table, site, &request, |row| {
            let score = -difficulties.iter().map(|at| row[*at]).sum::<f64>();
            slope += score;
            information += score * score;
        })?;
        Ok(slope / information)
    }
}

impl Subject for Planted {
    fn claim(&self) -> Claim {
        self.sites.claim()
    }

    fn rows(&self) -> Vec<RowId> {
        self.sites.rows()
    }

    fn run(&self, rows: Rows, seed: u64) -> Transcript {
        let (mut out, nobody) = (self.sites.run(rows, seed), self.sites.run(Rows::Nobody, seed));
        let turns = self.sites.turns().len();
        for at in 0..out.released.len().min(nobody.released.len()) {
            let stage = self.sites.turns()[at % turns].stage;
            let honest = &nobody.released[at].words;
            let words = &mut out.released[at].words;
            words.iter_mut().zip(honest).for_each(|(w, n)| *w = w.wrapping_sub(*n));
            match self.sum(at / turns, stage, rows) {
                Ok(Some(sum)) => *words = sum,
                Ok(None) => {}
                Err(refusal) => out.remarks.push(refusal.to_string()),
            }
            words.iter_mut().zip(self.noise(&nobody, at)).for_each(|(w, n)| *w = w.wrapping_add(n));
        }
        out
    }
}
