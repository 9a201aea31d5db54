//! How much results depend on dependent items, or on how much sites count: fits with and without, side by side.

use crate::fit::{Calibration, FitError, fit_with};
use crate::options::{FitMode, FitOptions};
use crate::site_weights::SiteWeights;
use fedirt_data::{Responses, with_bundles};
use fedirt_model::fit::{Fit, Q3};
use fedirt_protocol::in_process::Unobserved;
use rand::CryptoRng;

/// What is varied.
///
/// ```
/// use fedirt::Sensitivity;
///
/// assert_ne!(Sensitivity::Dependence, Sensitivity::Sites);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sensitivity {
    /// Items that go together more than ability explains: merged, and one of each bundle alone.
    Dependence,
    /// How much sites count, and in `plain` without the largest.
    Sites,
}

/// A fit under another choice.
///
/// ```
/// use fedirt::{FitOptions, Input, ReadOptions, Sensitivity, read, sensitivity};
/// use rand::SeedableRng;
///
/// let north = "I1,I2,I3\n1,1,0\n0,1,0\n1,0,0\n1,1,1\n0,0,0\n0,1,1\n";
/// let south = "I1,I2,I3\n1,1,1\n0,1,1\n1,0,0\n0,0,1\n0,1,0\n1,1,0\n";
/// let inputs = [Input::new("north", north.as_bytes()), Input::new("south", south.as_bytes())];
/// let responses = read(inputs, &ReadOptions::default())?;
/// let options = FitOptions { model: Some("rasch".into()), ..FitOptions::default() };
/// let mut random = rand::rngs::ChaCha20Rng::from_seed([7; 32]);
/// let found = sensitivity(&responses, &options, &[Sensitivity::Sites], &mut random)?;
/// assert_eq!(found.variants[0].name, "sites count equally");
/// assert!(found.moves(&found.variants[0]).iter().all(|moved| moved.slope.is_none()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Variant {
    /// What was done.
    pub name: String,
    /// The fit.
    pub fit: Fit,
}

/// An item in the plain fit and in a variant.
///
/// ```
/// let moved = fedirt::Moved { item: "I1".into(), slope: Some([1.0, 1.2, 0.1]), location: None };
/// assert!((moved.largest().expect("a slope") - 2.0).abs() < 1e-9);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Moved {
    /// Name.
    pub item: String,
    /// Slope before and after, and its standard error before.
    pub slope: Option<[f64; 3]>,
    /// The mean of its difficulties before and after, and the standard error of the first of them before.
    pub location: Option<[f64; 3]>,
}

impl Moved {
    /// The largest change, in standard errors of the plain fit.
    pub fn largest(&self) -> Option<f64> {
        let changes = [self.slope, self.location].into_iter().flatten();
        changes.map(|[before, after, se]| (after - before).abs() / se).reduce(f64::max)
    }
}

/// The plain fit and its variants.
///
/// ```
/// # use fedirt::{FitOptions, Input, ReadOptions, Sensitivity, read, sensitivity};
/// # use rand::SeedableRng;
/// # let north = "I1,I2,I3\n1,1,0\n0,1,0\n1,0,0\n1,1,1\n0,0,0\n0,1,1\n";
/// # let responses = read([Input::new("north", north.as_bytes())], &ReadOptions::default())?;
/// # let options = FitOptions { model: Some("rasch".into()), ..FitOptions::default() };
/// # let mut random = rand::rngs::ChaCha20Rng::from_seed([7; 32]);
/// let found = sensitivity(&responses, &options, &[Sensitivity::Sites], &mut random)?;
/// assert!(found.variants.is_empty() && found.notes[0].contains("one site"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SensitivityTable {
    /// The fit as it is.
    pub base: Fit,
    /// The others.
    pub variants: Vec<Variant>,
    /// What was not done, and why.
    pub notes: Vec<String>,
}

impl SensitivityTable {
    /// The items that both fits have, in the order of the plain one.
    pub fn moves(&self, variant: &Variant) -> Vec<Moved> {
        let mean = |b: &[Option<f64>]| -> Option<f64> {
            let all: Option<Vec<f64>> = b.iter().copied().collect();
            all.filter(|all| !all.is_empty()).map(|all| all.iter().sum::<f64>() / all.len() as f64)
        };
        let both = (self.base.items.iter())
            .filter_map(|item| Some((item, variant.fit.items.iter().find(|other| other.name == item.name)?)));
        both.map(|(before, after)| Moved {
            item: before.name.clone(),
            slope: (|| Some([before.a?, after.a?, before.se_a.filter(|se| *se > 0.0)?]))(),
            location: (|| {
                let se = before.se_b.first().copied().flatten().filter(|se| *se > 0.0)?;
                Some([mean(&before.b)?, mean(&after.b)?, se])
            })(),
        })
        .collect()
    }
}

/// Fits as the options say, and again under every other choice.
///
/// ```
/// # use fedirt::{FitOptions, Input, ReadOptions, Sensitivity, read, sensitivity};
/// # use rand::SeedableRng;
/// # let north = "I1,I2,I3\n1,1,0\n0,1,0\n1,0,0\n1,1,1\n0,0,0\n0,1,1\n";
/// # let responses = read([Input::new("north", north.as_bytes())], &ReadOptions::default())?;
/// # let options = FitOptions { model: Some("rasch".into()), ..FitOptions::default() };
/// # let mut random = rand::rngs::ChaCha20Rng::from_seed([7; 32]);
/// let found = sensitivity(&responses, &options, &[Sensitivity::Dependence], &mut random)?;
/// assert_eq!(found.base.n, 6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn sensitivity(
    responses: &Responses,
    options: &FitOptions,
    varied: &[Sensitivity],
    random: &mut impl CryptoRng,
) -> Result<SensitivityTable, FitError> {
    let mut fitted = |responses: &Responses, options: &FitOptions| -> Result<Fit, FitError> {
        let Calibration { fit, .. } = fit_with(responses, options, random, &mut Unobserved)?;
        Ok(fit)
    };
    let mut out =
        SensitivityTable { base: fitted(responses, options)?, variants: Vec::new(), notes: Vec::new() };
    if varied.contains(&Sensitivity::Dependence) {
        let q3 = out.base.diagnostics.as_ref().and_then(|diagnostics| diagnostics.q3.as_ref());
        let bundles = q3.map(bundles_of).unwrap_or_default();
        if bundles.is_empty() {
            out.notes.push(match q3 {
                Some(_) => {
                    "no pair of items goes together more than ability explains: there is nothing to vary"
                        .to_owned()
                }
                None => "dependent items are found by Q3, which this fit does not have".to_owned(),
            });
        } else {
            let names: Vec<String> = bundles.iter().map(|bundle| bundle.join("+")).collect();
            let merged = FitOptions { bundles: bundles.clone(), ..options.clone() };
            let fit = fitted(responses, &merged)?;
            out.variants.push(Variant { name: format!("merged: {}", names.join(", ")), fit });
            let left: Vec<String> = bundles.iter().flat_map(|bundle| bundle[1..].iter().cloned()).collect();
            let fewer = with_bundles(responses, &[], &left)?;
            let fit = fitted(&fewer, options)?;
            out.variants.push(Variant { name: format!("without {}", left.join(", ")), fit });
        }
    }
    if varied.contains(&Sensitivity::Sites) {
        if responses.sites.len() < 2 {
            out.notes.push("there is one site: there is nothing to vary".to_owned());
            return Ok(out);
        }
        let mut sizes: Vec<u64> = responses.sites.iter().map(|site| site.table.students() as u64).collect();
        sizes.sort_unstable();
        let middle = sizes[sizes.len() / 2].max(1);
        for (weights, name) in [
            (SiteWeights::Equal, "sites count equally".to_owned()),
            (SiteWeights::Capped(middle), format!("no site counts as more than {middle} students")),
            (SiteWeights::Effective(0.2), "sites count by their effective number of students".to_owned()),
        ] {
            let fit = fitted(responses, &FitOptions { site_weights: weights, ..options.clone() })?;
            out.variants.push(Variant { name, fit });
        }
        let largest = (0..responses.sites.len()).max_by_key(|at| responses.sites[*at].table.students());
        match (&options.mode, largest) {
            (FitMode::Plain, Some(largest)) => {
                let name = format!("without {}, the largest site", responses.sites[largest].name);
                let mut fewer = responses.clone();
                fewer.sites.remove(largest);
                let fit = fitted(&fewer, options)?;
                out.variants.push(Variant { name, fit });
            }
            _ => out.notes.push("the fit without the largest site is left out: beside the fit with it, it would show that site's own sums, which this mode hides".to_owned()),
        }
    }
    Ok(out)
}

/// Items that are connected by flagged pairs.
fn bundles_of(q3: &Q3) -> Vec<Vec<String>> {
    let mut bundles: Vec<Vec<String>> = Vec::new();
    for (first, second, _) in &q3.flagged {
        let (mut joined, apart): (Vec<_>, Vec<_>) = std::mem::take(&mut bundles)
            .into_iter()
            .partition(|bundle: &Vec<String>| bundle.contains(first) || bundle.contains(second));
        let mut bundle: Vec<String> = joined.drain(..).flatten().collect();
        for item in [first, second] {
            if !bundle.contains(item) {
                bundle.push(item.clone());
            }
        }
        bundles = apart;
        bundles.push(bundle);
    }
    // In the order of the items, whatever the order of the pairs.
    let place = |item: &String| q3.items.iter().position(|known| known == item);
    bundles.iter_mut().for_each(|bundle| bundle.sort_by_key(place));
    bundles.sort_by_key(|bundle| bundle.first().and_then(place));
    bundles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connected_pairs_are_one_bundle() {
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned(), 0.4);
        let q3 = Q3 {
            items: (1..=6).map(|j| format!("I{j}")).collect(),
            matrix: Vec::new(),
            mean: 0.0,
            critical: 0.2,
            critical_se: 0.01,
            seed: 1,
            replications: 100,
            flagged: vec![pair("I6", "I5"), pair("I1", "I2"), pair("I3", "I4"), pair("I4", "I2")],
        };
        assert_eq!(bundles_of(&q3), [vec!["I1", "I2", "I3", "I4"], vec!["I5", "I6"]]);
    }
}
