//! Two fits side by side: items of the same name, their differences, and how large those are for their errors.

use crate::fit::{Fit, FitItem};

/// A number of an item and its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ItemValue {
    /// The estimate.
    pub value: f64,
    /// Its standard error, where it has one.
    pub se: Option<f64>,
}

impl ItemValue {
    /// The difference over its standard error, if the two are independent.
    pub fn z(self, other: Self) -> Option<f64> {
        let se = self.se?.hypot(other.se?);
        (se > 0.0 && se.is_finite()).then(|| (self.value - other.value) / se)
    }
}

/// An item of both fits.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemPair {
    /// Its name.
    pub name: String,
    /// Its slope in both fits.
    pub slope: [Option<ItemValue>; 2],
    /// The mean of its difficulties in both fits.
    pub location: [Option<ItemValue>; 2],
}

/// Two fits side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Items of both, in the order of the first.
    pub items: Vec<ItemPair>,
    /// Items of the first alone.
    pub only_first: Vec<String>,
    /// Items of the second alone.
    pub only_second: Vec<String>,
}

/// A difference of more than this many standard errors comes once in a hundred items by chance.
const FAR: f64 = 2.576;

impl Comparison {
    /// Items that have a difficulty in both fits, with the two.
    pub fn located(&self) -> impl Iterator<Item = (&str, ItemValue, ItemValue)> {
        self.items.iter().filter_map(|item| Some((item.name.as_str(), item.location[0]?, item.location[1]?)))
    }

    /// Items whose difficulties differ by more than 2.58 standard errors.
    pub fn far(&self) -> usize {
        self.located().filter(|(_, one, two)| one.z(*two).is_some_and(|z| z.abs() > FAR)).count()
    }

    /// By how much difficulties are higher in the first fit, on average.
    pub fn mean_difference(&self) -> Option<f64> {
        let n = self.located().count();
        (n > 0).then(|| self.located().map(|(_, one, two)| one.value - two.value).sum::<f64>() / n as f64)
    }

    /// The correlation of difficulties; `None` for fewer than three items.
    pub fn correlation(&self) -> Option<f64> {
        let points: Vec<(f64, f64)> = self.located().map(|(_, one, two)| (one.value, two.value)).collect();
        let n = points.len() as f64;
        if points.len() < 3 {
            return None;
        }
        let (mx, my) =
            (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
        let sum = |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|p| of(p.0 - mx, p.1 - my)).sum::<f64>();
        Some(sum(&|x, y| x * y) / (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt().max(f64::MIN_POSITIVE))
    }
}

fn slope(item: &FitItem) -> Option<ItemValue> {
    item.a.filter(|a| a.is_finite()).map(|value| ItemValue { value, se: item.se_a })
}

/// The mean of the difficulties stands for an item.
fn location(item: &FitItem) -> Option<ItemValue> {
    let b: Option<Vec<f64>> = item.b.iter().copied().collect();
    let b = b.filter(|b| !b.is_empty() && b.iter().all(|v| v.is_finite()))?;
    let se = if b.len() == 1 { item.se_b.first().copied().flatten() } else { None };
    Some(ItemValue { value: b.iter().sum::<f64>() / b.len() as f64, se })
}

/// Compares the items of two fits by name. Nothing is linked: numbers are comparable where both fits are on one scale
/// ([`super::link`] finds the line between two scales).
pub fn compare(first: &Fit, second: &Fit) -> Comparison {
    let find = |fit: &'_ Fit, name: &str| fit.items.iter().position(|item| item.name == name);
    let only = |one: &Fit, other: &Fit| {
        let missing = one.items.iter().filter(|item| find(other, &item.name).is_none());
        missing.map(|item| item.name.clone()).collect()
    };
    let pair = |one: &FitItem| {
        let two = &second.items[find(second, &one.name)?];
        Some(ItemPair {
            name: one.name.clone(),
            slope: [slope(one), slope(two)],
            location: [location(one), location(two)],
        })
    };
    Comparison {
        items: first.items.iter().filter_map(pair).collect(),
        only_first: only(first, second),
        only_second: only(second, first),
    }
}
