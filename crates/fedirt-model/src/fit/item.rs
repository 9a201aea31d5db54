//! One item of `fit.json`.

use crate::code_set::MergedCode;
use crate::items::{self, ItemModel, Role};
use nalgebra::{DMatrix, DVector};
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One item on the reported scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FitItem {
    /// Column name.
    pub name: String,
    /// Name of its model, one of [`items::MODELS`].
    pub model: String,
    /// Number of categories calibrated.
    pub categories: usize,
    /// The file's code of each calibrated category, lowest first.
    pub codes: Vec<u8>,
    /// Codes that count as one of these, because their categories were merged.
    #[serde(default)]
    pub merged: Vec<MergedCode>,
    /// All parameters by their names, as mirt has them: `a1`, `d`; `a1`, `d1`, `d2`, …; `a1`, `ak0`, `d0`, ….
    #[serde(default)]
    pub parameters: NamedNumbers,
    /// Standard errors of the parameters (`null` where a parameter is fixed).
    #[serde(default)]
    pub se: NamedNumbers,
    /// Discrimination (slope) of a model that has a single one.
    pub a: Option<f64>,
    /// Intercepts, one per step: cumulative for gpcm and pcm, decreasing for grm (mirt's d1, d2, …).
    pub d: Vec<Option<f64>>,
    /// Difficulties, one per step, where the model has such.
    pub b: Vec<Option<f64>>,
    /// Standard error of `a` (`null` where fixed).
    pub se_a: Option<f64>,
    /// Standard errors of `d`.
    pub se_d: Vec<Option<f64>>,
    /// Standard errors of `b`.
    pub se_b: Vec<Option<f64>>,
    /// Answers given.
    pub n: Option<u64>,
    /// Whether the parameters were given, not estimated.
    pub fixed: bool,
    /// How the options of an item with an answer key were chosen, where the files are at hand.
    #[serde(default)]
    pub options: Vec<OptionSummary>,
    /// The items of the files that were merged into this one; none as a rule.
    #[serde(default)]
    pub bundle: Vec<BundlePart>,
}

/// One option of an item with an answer key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OptionSummary {
    /// The option, as it is written first.
    pub option: String,
    /// The code that the key gives it.
    pub code: u8,
    /// Students who chose it.
    pub count: u64,
    /// Those among them in the lower, middle and upper third of students by the mean score in the other items. Students with the
    /// same mean are in the same third, and those without another answer in none.
    pub thirds: [u64; 3],
    /// Correlation between choosing it, among those who chose any, and the mean score in the other items.
    pub item_rest_r: Option<f64>,
}

/// An item that was merged with others into one, whose category is the sum of theirs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundlePart {
    /// Column name.
    pub item: String,
    /// Its codes, lowest first: the lowest adds 0 to the sum, the next one 1.
    pub codes: Vec<u8>,
}

impl FitItem {
    /// An item of the codebook that has not been calibrated.
    pub fn without_estimates(name: &str, model: &str) -> Self {
        Self {
            name: name.to_owned(),
            model: model.to_owned(),
            categories: 0,
            codes: Vec::new(),
            merged: Vec::new(),
            parameters: NamedNumbers::default(),
            se: NamedNumbers::default(),
            a: None,
            d: Vec::new(),
            b: Vec::new(),
            se_a: None,
            se_d: Vec::new(),
            se_b: Vec::new(),
            n: None,
            fixed: false,
            options: Vec::new(),
            bundle: Vec::new(),
        }
    }

    /// What a category is called: the code that the file uses for it, or the codes that were merged (`0–3`).
    pub fn category_name(&self, category: usize) -> String {
        let Some(lowest) = self.codes.get(category) else { return category.to_string() };
        let highest =
            self.merged.iter().filter(|merged| merged.into == *lowest).map(|merged| merged.code).max();
        highest.map_or_else(|| lowest.to_string(), |highest| format!("{lowest}–{highest}"))
    }

    /// Fills in estimates from the parameters on the reported scale, and standard errors by the delta method where
    /// their covariance is known. `free` says which parameters are estimated: the others have no error.
    pub fn set_estimates(
        &mut self,
        model: &dyn ItemModel,
        psi: &[f64],
        covariance: Option<&DMatrix<f64>>,
        free: &[bool],
    ) {
        let error = |gradient: &[f64]| -> Option<f64> {
            let moves = gradient.iter().zip(free).any(|(g, free)| *g != 0.0 && *free);
            let direction = DVector::from_row_slice(gradient);
            let variance = direction.dot(&(covariance? * &direction));
            (moves && variance.is_finite()).then(|| variance.max(0.0).sqrt())
        };
        let unit = |r: usize| (0..psi.len()).map(|k| f64::from(u8::from(k == r))).collect::<Vec<_>>();
        let reported = model.reported(psi);
        let finite = |x: f64| x.is_finite().then_some(x);
        self.parameters = reported.iter().map(|r| (r.name.clone(), finite(r.value))).collect();
        self.se = reported.iter().map(|r| (r.name.clone(), error(&r.gradient))).collect();
        let roles = model.parameters(self.categories);
        let intercepts: Vec<usize> =
            (0..psi.len()).filter(|r| matches!(roles[*r].role, Role::Intercept { .. })).collect();
        self.d = intercepts.iter().map(|r| Some(psi[*r])).collect();
        self.se_d = intercepts.iter().map(|r| error(&unit(*r))).collect();
        let Some(steps) = model.one_slope() else { return };
        let (a, d) = (psi[0], &psi[1..]);
        self.a = Some(a);
        self.se_a = error(&unit(0));
        self.b = steps.difficulties(a, d).into_iter().map(finite).collect();
        self.se_b = (1..psi.len())
            .map(|step| {
                let mut gradient = vec![0.0; psi.len()];
                for (r, w) in steps.difficulty_weights(step) {
                    gradient[r] = -w / a;
                    gradient[0] += w * d[r - 1] / (a * a);
                }
                error(&gradient)
            })
            .collect();
    }

    /// Leaves all estimates empty, under the names that the model gives them: the item has no finite ones.
    pub fn withhold(&mut self, model: &dyn ItemModel, psi: &[f64]) {
        self.set_estimates(model, psi, None, &vec![false; psi.len()]);
        self.parameters.forget();
        self.a = None;
        self.d.fill(None);
        self.b.fill(None);
    }

    /// The item's model and its parameters as the model lays them out, where all of them are there and allowed.
    pub fn estimates(&self) -> Option<(&'static dyn ItemModel, Vec<f64>)> {
        let model = items::model(&self.model)?;
        let psi = model.read_reported(self.categories, &|name| self.parameters.get(name))?;
        let fine = self.categories > 1 && psi.iter().all(|x| x.is_finite()) && model.admissible(&psi);
        fine.then_some((model, psi))
    }

    /// Whether `a`, `d` and `b` do not say all: the model has more than one slope, or none that is called `a`.
    pub fn has_more_parameters(&self) -> bool {
        items::model(&self.model).is_some_and(|model| model.one_slope().is_none())
            && !self.parameters.is_empty()
    }

    /// Names the parameters of an item of one slope that has `a` and `d` alone.
    pub fn name_parameters(&mut self) {
        if !self.parameters.is_empty() {
            return;
        }
        let named = |a: Option<f64>, d: &[Option<f64>]| -> NamedNumbers {
            let numbers = std::iter::once(a).chain(d.iter().copied());
            items::reported_names(self.d.len() + 1).into_iter().zip(numbers).collect()
        };
        if !self.d.is_empty() {
            (self.parameters, self.se) = (named(self.a, &self.d), named(self.se_a, &self.se_d));
        }
    }
}

/// Numbers under names, in an order that is kept: an object in JSON.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NamedNumbers(Vec<(String, Option<f64>)>);

impl NamedNumbers {
    /// The number of that name, where there is one.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(n, _)| n == name).and_then(|(_, x)| *x)
    }

    /// Names and numbers in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Option<f64>)> {
        self.0.iter().map(|(name, x)| (name.as_str(), *x))
    }

    /// Whether there are no names.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Keeps the names without their numbers.
    pub fn forget(&mut self) {
        self.0.iter_mut().for_each(|(_, x)| *x = None);
    }
}

impl FromIterator<(String, Option<f64>)> for NamedNumbers {
    fn from_iter<I: IntoIterator<Item = (String, Option<f64>)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

impl Serialize for NamedNumbers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, x) in &self.0 {
            map.serialize_entry(name, x)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for NamedNumbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = NamedNumbers;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("numbers under names")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<NamedNumbers, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(NamedNumbers(pairs))
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}
