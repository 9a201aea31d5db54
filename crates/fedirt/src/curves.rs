//! The curves of a fit's items at given abilities.

use fedirt_model::fit::Fit;
use fedirt_model::items::{Curves, Order};

/// The curves of one item, with a number for each of the abilities that were asked about.
///
/// ```
/// # use fedirt::{FitOptions, Input, ReadOptions, fit, read};
/// # let text = "I1,I2,I3\n1,1,0\n0,1,0\n1,0,0\n1,1,1\n0,0,0\n0,1,1\n";
/// # let responses = read([Input::new("north.csv", text.as_bytes())], &ReadOptions::default())?;
/// # let fit = fit(&responses, &FitOptions { model: Some("rasch".into()), ..FitOptions::default() })?.fit;
/// use fedirt::{ItemCurves, curves};
///
/// let first: &ItemCurves = &curves(&fit, &[-1.0, 0.0, 1.0])[0];
/// assert!(first.expected[0] < first.expected[2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ItemCurves {
    /// The item.
    pub item: String,
    /// For each category, lowest first, its probability.
    pub probability: Vec<Vec<f64>>,
    /// Fisher information about ability.
    pub information: Vec<f64>,
    /// Expected score, the lowest category counting 0.
    pub expected: Vec<f64>,
}

/// The curves of all items of a fit that have estimates, at the given abilities on the reported scale. The information of a test
/// is the sum over its items.
///
/// ```
/// # use fedirt::{FitOptions, Input, ReadOptions, curves, fit, read};
/// # let text = "I1,I2,I3\n1,1,0\n0,1,0\n1,0,0\n1,1,1\n0,0,0\n0,1,1\n";
/// # let responses = read([Input::new("north.csv", text.as_bytes())], &ReadOptions::default())?;
/// let fit = fit(&responses, &FitOptions { model: Some("rasch".into()), ..FitOptions::default() })?.fit;
/// let b = fit.items[0].b[0].expect("a difficulty");
/// let at_its_difficulty = &curves(&fit, &[b])[0];
/// assert!((at_its_difficulty.probability[1][0] - 0.5).abs() < 1e-12);
/// assert!((at_its_difficulty.information[0] - 0.25).abs() < 1e-12, "p(1 - p) with a slope of 1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn curves(fit: &Fit, abilities: &[f64]) -> Vec<ItemCurves> {
    let nodes = 0..abilities.len();
    let of_item = |item: &fedirt_model::fit::FitItem| {
        let (model, psi) = item.estimates()?;
        let curves = Curves::new(model, item.categories, &psi, abilities, Order::Score);
        let category = |c| curves.log_p(c).iter().map(|log_p| log_p.exp()).collect();
        Some(ItemCurves {
            item: item.name.clone(),
            probability: (0..curves.categories()).map(category).collect(),
            information: nodes.clone().map(|n| curves.information(n)).collect(),
            expected: nodes.clone().map(|n| curves.expected_score(n)).collect(),
        })
    };
    fit.items.iter().filter_map(of_item).collect()
}
