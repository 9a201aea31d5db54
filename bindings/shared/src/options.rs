//! Options as JSON objects. They are read field by field, so that every complaint names its field and all come at once.

use crate::failure::{Failure, Found, Kind};
use fedirt::Errors;
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// The options of a call, by name. A value that is `null` is not given.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options(Map<String, Value>);

/// What is wrong with an option.
#[derive(Debug, Clone, PartialEq)]
pub enum OptionProblem {
    /// The value is of another kind than is needed.
    Value {
        /// The option.
        option: String,
        /// The value, as JSON.
        value: String,
        /// What is needed.
        needed: String,
    },
    /// The option is not used by what is asked for.
    Unused {
        /// The option.
        option: String,
        /// What uses it, such as `mode = "private"`.
        needs: &'static str,
    },
    /// The option is needed.
    Missing {
        /// The option.
        option: &'static str,
        /// Why.
        reason: &'static str,
    },
    /// The option cannot be given along with what is asked for.
    Excluded {
        /// The option.
        option: &'static str,
        /// Why.
        reason: &'static str,
    },
    /// There is no such option.
    Unknown(String),
}

impl OptionProblem {
    /// The problem with its fields.
    pub(crate) fn found(&self) -> Found {
        let (option, value) = match self {
            Self::Value { option, value, .. } => (option.clone(), Some(value.clone())),
            Self::Unused { option, .. } | Self::Unknown(option) => (option.clone(), None),
            Self::Missing { option, .. } | Self::Excluded { option, .. } => ((*option).to_owned(), None),
        };
        Found { option: Some(option), value, message: self.to_string(), ..Found::default() }
    }
}

impl std::fmt::Display for OptionProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Value { option, value, needed } => write!(f, "`{option}` {value}: {needed} is needed"),
            Self::Unused { option, needs } => write!(f, "`{option}`: this belongs to {needs}"),
            Self::Missing { option, reason } => write!(f, "`{option}` is needed: {reason}"),
            Self::Excluded { option, reason } => write!(f, "`{option}`: {reason}"),
            Self::Unknown(option) => write!(f, "there is no option `{option}`"),
        }
    }
}

impl Options {
    /// The options of a JSON object.
    pub fn from_json(text: &str) -> Result<Self, Failure> {
        serde_json::from_str(text).map(Self).map_err(|error| Failure::new(Kind::Option, error.to_string()))
    }

    /// The options of a JSON value.
    pub fn of(fields: Map<String, Value>) -> Self {
        Self(fields)
    }

    /// Reads the options: `read` takes every field that it knows. Fields that it did not take do not exist.
    pub fn read<T>(&self, read: impl FnOnce(&Fields<'_>) -> T) -> Result<T, Failure> {
        let fields = Fields::of(&self.0);
        let value = read(&fields);
        let taken = fields.taken.into_inner();
        let mut problems = fields.problems.into_inner();
        let unknown = self.0.keys().filter(|name| !taken.contains(name.as_str()));
        problems.extend(unknown.cloned().map(OptionProblem::Unknown));
        Errors::unless_empty(problems)?;
        Ok(value)
    }

    /// The options that are given, each as a text.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (String, String)> {
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        self.0
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(move |(name, value)| (name.clone(), text(value)))
    }
}

/// A text, or several.
fn texts(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Array(values) => values.iter().map(|value| value.as_str().map(str::to_owned)).collect(),
        one => one.as_str().map(|text| vec![text.to_owned()]),
    }
}

/// The fields of options while they are read.
#[derive(Debug)]
pub struct Fields<'a> {
    given: &'a Map<String, Value>,
    taken: RefCell<BTreeSet<&'static str>>,
    problems: RefCell<Vec<OptionProblem>>,
}

impl<'a> Fields<'a> {
    fn of(given: &'a Map<String, Value>) -> Self {
        Self { given, taken: RefCell::default(), problems: RefCell::default() }
    }

    fn value(&self, name: &'static str) -> Option<&'a Value> {
        self.taken.borrow_mut().insert(name);
        self.given.get(name).filter(|value| !value.is_null())
    }

    /// Adds a problem.
    pub fn complain(&self, problem: OptionProblem) {
        self.problems.borrow_mut().push(problem);
    }

    /// The value that `read` makes of a field.
    fn read<T>(&self, name: &'static str, needed: &str, read: impl Fn(&'a Value) -> Option<T>) -> Option<T> {
        let value = self.value(name)?;
        let found = read(value);
        if found.is_none() {
            self.refuse(name, value, needed);
        }
        found
    }

    fn refuse(&self, name: &str, value: &Value, needed: &str) {
        let (option, value, needed) = (name.to_owned(), value.to_string(), needed.to_owned());
        self.complain(OptionProblem::Value { option, value, needed });
    }

    /// Whether a field is given.
    pub fn has(&self, name: &'static str) -> bool {
        self.value(name).is_some()
    }

    /// A text.
    pub fn text(&self, name: &'static str) -> Option<String> {
        self.read(name, "a text", |value| value.as_str().map(str::to_owned))
    }

    /// A number.
    pub fn number(&self, name: &'static str) -> Option<f64> {
        self.read(name, "a number", Value::as_f64)
    }

    /// A whole number that is not negative; a number such as `5.0` is one.
    pub fn whole(&self, name: &'static str) -> Option<u64> {
        self.read(name, "a whole number of 0 or more", whole)
    }

    /// Yes or no.
    pub fn flag(&self, name: &'static str) -> Option<bool> {
        self.read(name, "true or false", Value::as_bool)
    }

    /// Yes or no, where a field may be something else too.
    pub fn switch(&self, name: &'static str) -> Option<bool> {
        self.value(name).and_then(Value::as_bool)
    }

    /// Texts; one of them may stand alone, and a whole number is the text of its digits.
    pub fn texts(&self, name: &'static str) -> Vec<String> {
        let one = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(
                number
                    .as_f64()
                    .filter(|x| x.fract() == 0.0)
                    .map_or_else(|| number.to_string(), |x| format!("{x:.0}")),
            ),
            _ => None,
        };
        let needed = "a text, a number or a list of them";
        let texts = self.read(name, needed, |value| match value {
            Value::Array(values) => values.iter().map(one).collect::<Option<Vec<String>>>(),
            other => one(other).map(|text| vec![text]),
        });
        texts.unwrap_or_default()
    }

    /// Numbers; one of them may stand alone.
    pub fn numbers(&self, name: &'static str) -> Option<Vec<f64>> {
        self.read(name, "a number or a list of numbers", |value| match value {
            Value::Array(values) => values.iter().map(Value::as_f64).collect(),
            other => other.as_f64().map(|number| vec![number]),
        })
    }

    /// Texts under names.
    pub fn named_texts(&self, name: &'static str) -> Vec<(String, String)> {
        let pairs = self.read(name, "texts under names", |value| {
            let pairs = value.as_object()?.iter();
            pairs
                .map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
                .collect::<Option<Vec<_>>>()
        });
        pairs.unwrap_or_default()
    }

    /// One or several texts under names.
    pub fn named_lists(&self, name: &'static str) -> Vec<(String, Vec<String>)> {
        let pairs = self.read(name, "texts under names", |value| {
            let pairs = value.as_object()?.iter();
            pairs.map(|(name, value)| Some((name.clone(), texts(value)?))).collect::<Option<Vec<_>>>()
        });
        pairs.unwrap_or_default()
    }

    /// Items that belong together: lists of names, or texts such as `i1+i2`.
    pub fn bundles(&self, name: &'static str) -> Vec<Vec<String>> {
        let bundle = |value: &Value| {
            let items = match value {
                Value::String(joined) => joined.split('+').map(|item| item.trim().to_owned()).collect(),
                other => texts(other)?,
            };
            (items.len() > 1 && items.iter().all(|item| !item.is_empty())).then_some(items)
        };
        let needed = "lists of two items or more, or texts such as i1+i2,";
        let bundles = self.read(name, needed, |value| match value {
            Value::Array(bundles) => bundles.iter().map(bundle).collect::<Option<Vec<_>>>(),
            one => bundle(one).map(|bundle| vec![bundle]),
        });
        bundles.unwrap_or_default()
    }

    /// Lists of whole numbers from 1 to `most`, which are counted from 0 then.
    pub fn sets(&self, name: &'static str, most: usize) -> Vec<Vec<usize>> {
        let place = |value: &Value| {
            whole(value).map(|number| number as usize).filter(|n| (1..=most).contains(n)).map(|n| n - 1)
        };
        let set = |value: &Value| match value {
            Value::Array(places) => places.iter().map(place).collect(),
            one => place(one).map(|place| vec![place]),
        };
        let needed = format!("lists of whole numbers from 1 to {most}");
        let sets = self.read(name, &needed, |value| value.as_array()?.iter().map(set).collect::<Option<_>>());
        sets.unwrap_or_default()
    }

    /// Numbers under names that must all be there.
    pub fn named_numbers<const N: usize>(&self, name: &'static str, names: [&str; N]) -> Option<[f64; N]> {
        let needed = format!("numbers called {}", names.join(" and "));
        self.read(name, &needed, |value| {
            let fields = value.as_object().filter(|fields| fields.len() == N)?;
            let mut numbers = [0.0; N];
            for (place, name) in numbers.iter_mut().zip(names) {
                *place = fields.get(name)?.as_f64()?;
            }
            Some(numbers)
        })
    }

    /// One of several values, by its name.
    pub fn choice<T: Copy>(
        &self,
        name: &'static str,
        choices: &[T],
        named: impl Fn(T) -> &'static str,
    ) -> Option<T> {
        let value = self.value(name)?;
        self.choose(name, value, choices, named)
    }

    /// Several of several values, by their names.
    pub fn choices<T: Copy>(
        &self,
        name: &'static str,
        choices: &[T],
        named: impl Fn(T) -> &'static str,
    ) -> Option<Vec<T>> {
        match self.value(name)? {
            Value::Array(values) => {
                values.iter().map(|value| self.choose(name, value, choices, &named)).collect()
            }
            value => self.choose(name, value, choices, &named).map(|found| vec![found]),
        }
    }

    fn choose<T: Copy>(
        &self,
        name: &str,
        value: &Value,
        choices: &[T],
        named: impl Fn(T) -> &'static str,
    ) -> Option<T> {
        let found =
            value.as_str().and_then(|text| choices.iter().copied().find(|choice| named(*choice) == text));
        if found.is_none() {
            let names: Vec<&str> = choices.iter().map(|choice| named(*choice)).collect();
            self.refuse(name, value, &format!("one of {}", names.join(", ")));
        }
        found
    }

    /// What a text stands for.
    pub fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(&self, name: &'static str) -> Option<T> {
        let text = self.text(name)?;
        match text.parse() {
            Ok(value) => Some(value),
            Err(error) => {
                let needed = format!("another value ({error})");
                self.refuse(name, &Value::String(text), &needed);
                None
            }
        }
    }
}

fn whole(value: &Value) -> Option<u64> {
    let of_float = |x: f64| (x.fract() == 0.0 && (0.0..9e15).contains(&x)).then_some(x as u64);
    value.as_u64().or_else(|| value.as_f64().and_then(of_float))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(text: &str) -> Options {
        Options::from_json(text).unwrap()
    }

    #[test]
    fn all_problems_come_at_once_and_name_their_option() {
        let given = options(
            r#"{"nodes": 3.5, "model": 2, "sites": "school", "missing": [9, "x", -1.0], "seed": 7.0}"#,
        );
        let failure = given
            .read(|fields| {
                assert_eq!(fields.texts("missing"), ["9", "x", "-1"]);
                assert_eq!(fields.whole("seed"), Some(7));
                (fields.whole("nodes"), fields.text("model"))
            })
            .unwrap_err();
        let named: Vec<_> = failure.problems.iter().map(|found| found.option.clone().unwrap()).collect();
        assert_eq!(named, ["nodes", "model", "sites"]);
        assert_eq!(failure.problems[0].message, "`nodes` 3.5: a whole number of 0 or more is needed");
        assert_eq!(failure.problems[0].value.as_deref(), Some("3.5"));
    }

    #[test]
    fn null_is_not_given() {
        let read = options(r#"{"model": null}"#).read(|fields| fields.text("model")).unwrap();
        assert_eq!(read, None);
    }
}
