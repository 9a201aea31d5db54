//! How well one student's answers fit the model at a given ability.

use super::{RowScorer, ScoringError};

/// Person-fit statistics; `None` where fewer than two items are answered or a variance is zero.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PersonFit {
    /// Standardised log-likelihood (mirt's Zh): low = an unlikely row.
    pub lz: Option<f64>,
    /// Information-weighted mean square: about 1; high = erratic answers near the student's level.
    pub infit: Option<f64>,
    /// Unweighted mean square: about 1; high = surprising answers far from the student's level.
    pub outfit: Option<f64>,
}

impl RowScorer<'_> {
    /// Person fit at an ability, over the answered items.
    ///
    /// lz = (l − Σ_j E_j)/√(Σ_j V_j), l = Σ_j log p_{x_j}, E_j = Σ_c p_c log p_c,
    /// V_j = Σ_c p_c (log p_c)² − E_j² (Drasgow, Levine & Williams 1985, for any number of categories).
    /// outfit = (1/n)·Σ_j (x_j − μ_j)²/σ_j², infit = Σ_j (x_j − μ_j)²/Σ_j σ_j², with μ_j and σ_j² the mean and
    /// variance of the category score c = 0..=m (Wright & Masters 1982, ch. 5).
    /// mirt raises variances below 0.0032 to that value first, so its mean squares of extreme students differ.
    ///
    /// At the true ability lz has mean 0 and variance 1 and, for long tests, is about normal. At an *estimated*
    /// ability it is not standard normal: its variance is below 1 and normal cut-offs flag too few (Molenaar &
    /// Hoijtink 1990; Snijders 2001). V_j is summed around the mean, so it does not cancel.
    pub fn person_fit(&mut self, row: &[u8], ability: f64) -> Result<PersonFit, ScoringError> {
        let answers = self.scorer.check(row)?;
        if !ability.is_finite() {
            return Err(ScoringError::Ability { ability });
        }
        if answers < 2 {
            return Ok(PersonFit::default());
        }
        let node = &mut self.node;
        let (mut surprise, mut spread) = (0.0, 0.0);
        let (mut squares, mut variances, mut standardised) = (0.0, 0.0, 0.0);
        for (item, x) in self.scorer.answers(row) {
            item.model.along_ability(&item.psi, ability, node);
            let log_p = &node.log_p[..item.categories];
            let (mut entropy, mut mean) = (0.0, 0.0);
            for (c, &log_p) in log_p.iter().enumerate() {
                entropy += log_p.exp() * log_p;
                mean += log_p.exp() * c as f64;
            }
            let mut variance = 0.0;
            for (c, &log_p) in log_p.iter().enumerate() {
                spread += log_p.exp() * (log_p - entropy).powi(2);
                variance += log_p.exp() * (c as f64 - mean).powi(2);
            }
            surprise += log_p[x] - entropy;
            let square = (x as f64 - mean).powi(2);
            squares += square;
            variances += variance;
            standardised += square / variance;
        }
        let finite = |x: f64| x.is_finite().then_some(x);
        Ok(PersonFit {
            lz: finite(surprise / spread.sqrt()),
            infit: finite(squares / variances),
            outfit: finite(standardised / answers as f64),
        })
    }
}
