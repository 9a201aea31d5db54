//! How far the private methods agree with FedIRT, over all draws of their noise.

use super::page::{Read, Shown, difficulties, effects, slopes};
use super::{Empirical, MethodRun};
use crate::publish::brief;

/// Of the pairs of which both are finite.
fn correlation(x: &[f64], y: &[f64]) -> Option<f64> {
    let pairs: Vec<(f64, f64)> =
        x.iter().copied().zip(y.iter().copied()).filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
    let n = pairs.len() as f64;
    let (mx, my) = (pairs.iter().map(|p| p.0).sum::<f64>() / n, pairs.iter().map(|p| p.1).sum::<f64>() / n);
    let sum = |f: &dyn Fn(f64, f64) -> f64| pairs.iter().map(|(x, y)| f(x - mx, y - my)).sum::<f64>();
    let (xx, yy, xy) = (sum(&|x, _| x * x), sum(&|_, y| y * y), sum(&|x, y| x * y));
    (xx > 0.0 && yy > 0.0).then(|| xy / (xx * yy).sqrt())
}

/// Root mean square of what is finite.
fn root_mean_square(values: impl Iterator<Item = f64>) -> Option<f64> {
    let squares: Vec<f64> = values.filter(|x| x.is_finite()).map(|x| x * x).collect();
    (!squares.is_empty()).then(|| (squares.iter().sum::<f64>() / squares.len() as f64).sqrt())
}

/// Smallest and largest of what is finite.
fn ends(values: &[Shown]) -> String {
    let finite = || values.iter().map(|s| s.value).filter(|x| x.is_finite());
    match (finite().reduce(f64::min), finite().reduce(f64::max)) {
        (Some(low), Some(high)) => format!("{} to {}", brief(low, 2), brief(high, 2)),
        _ => "–".into(),
    }
}

/// Mean and range over draws: `0.89 (0.78 to 0.96)`.
fn over_draws(values: &[f64]) -> String {
    let (low, high) = (values.iter().copied().reduce(f64::min), values.iter().copied().reduce(f64::max));
    let (Some(low), Some(high)) = (low, high) else { return "–".into() };
    let mean = brief(values.iter().sum::<f64>() / values.len() as f64, 2);
    if values.len() == 1 { mean } else { format!("{mean} ({} to {})", brief(low, 2), brief(high, 2)) }
}

fn values(record: &MethodRun, read: Read) -> Vec<f64> {
    read(&record.estimates).into_iter().map(|(value, _)| value).collect()
}

impl Empirical {
    /// What was found, in words: what was left out first.
    pub(super) fn findings(&self, records: &[MethodRun], [a, b, s]: [&[Vec<Shown>]; 3]) -> Vec<String> {
        let mut out = self.data.remarks.clone();
        out.extend(self.without_effect(s));
        if self.data.frame.items.iter().any(|(_, model, _)| model == "gpcm") {
            out.push("Items with more than two answers are fitted by the generalised partial credit model: their difficulties are step parameters. FedIRT-DP for them is an extension of the paper, which has it for two answers only.".into());
        }
        for (method, entry) in self.methods.iter().enumerate() {
            out.push(format!(
                "{}{}: discriminations {}, difficulties {}, school effects {}.",
                entry.label,
                if method > 0 { " (first draw of the noise)" } else { "" },
                ends(&a[method]),
                ends(&b[method]),
                ends(&s[method])
            ));
        }
        let Some(own) = records.iter().find(|r| r.method == 0) else { return out };
        let spread = |r: &MethodRun| root_mean_square(values(r, effects).into_iter());
        let error = |r: &MethodRun| root_mean_square(r.estimates.se_s.iter().copied().flatten());
        for (method, entry) in self.methods.iter().enumerate().skip(1) {
            let draws = |f: &dyn Fn(&MethodRun) -> Option<f64>| {
                over_draws(&records.iter().filter(|r| r.method == method).filter_map(f).collect::<Vec<f64>>())
            };
            let with = |read: Read| draws(&|r| correlation(&values(own, read), &values(r, read)));
            let of = match self.options.draws {
                1 => "one draw".to_owned(),
                n => format!("mean and range over {n} draws"),
            };
            out.push(format!(
                "{} correlates with FedIRT ({of} of the noise): {} for discriminations, {} for difficulties, {} for schools; its school effects spread {} around zero, those of FedIRT {}.",
                entry.label,
                with(slopes),
                with(difficulties),
                with(effects),
                draws(&spread),
                spread(own).map_or("–".into(), |x| brief(x, 2))
            ));
            let private = draws(&error);
            if let Some(own) = error(own).filter(|_| private != "–") {
                out.push(format!(
                    "A school effect has a standard error of {} without privacy, and of {private} under {}.",
                    brief(own, 2),
                    entry.label
                ));
            }
        }
        out.push("Noise comes from a seed here, so that the study can be repeated. These estimates are not a private release: fedirt fit --private makes one.".into());
        out
    }

    /// Schools for which FedIRT has no finite effect.
    fn without_effect(&self, s: &[Vec<Shown>]) -> Option<String> {
        let own = s.first()?;
        let names: Vec<&str> = self
            .data
            .frame
            .sites
            .iter()
            .zip(own)
            .filter(|(_, shown)| !shown.value.is_finite())
            .map(|((name, _), _)| name.as_str())
            .collect();
        (!names.is_empty()).then(|| {
            format!(
                "FedIRT has no finite effect for {}, where all answers are the highest, or all the lowest: it is left out of FedIRT's effects, their spread and the correlations.",
                names.join(", ")
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_finite_is_left_out() {
        let x = [1.0, 2.0, f64::NAN, 3.0];
        assert!((correlation(&x, &[2.0, 4.0, 100.0, 6.0]).expect("pairs") - 1.0).abs() < 1e-12);
        assert_eq!(root_mean_square([3.0, f64::NAN, 3.0].into_iter()), Some(3.0));
        assert_eq!(root_mean_square([f64::NAN].into_iter()), None);
    }

    #[test]
    fn draws_have_a_mean_and_a_range() {
        assert_eq!(over_draws(&[0.25, 0.75]), "0.50 (0.25 to 0.75)");
        assert_eq!(over_draws(&[0.25]), "0.25");
        assert_eq!(over_draws(&[]), "–");
    }
}
