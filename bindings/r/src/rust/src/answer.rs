//! Answers to R, and values between JSON and R.

use extendr_api::prelude::*;
use fedirt_bindings::{guarded, Failure, Kind};
use serde_json::{Map, Number, Value};

/// `list(value = …)`, or `list(error = …)` for a failure or a panic.
pub(crate) fn answer(work: impl FnOnce() -> Result<Robj, Failure>) -> Robj {
    let made = guarded(work);
    // A failure is a flat object of texts and numbers, so that its conversion cannot fail in turn.
    match made {
        Ok(value) => List::from_pairs([("value", value)]).into(),
        Err(failure) => {
            let told = from_json(&failure.json()).unwrap_or_else(|_| failure.message.as_str().into());
            List::from_pairs([("error", told)]).into()
        }
    }
}

/// JSON as R has it: objects are named lists, arrays of one kind are vectors in which `null` is `NA`.
pub(crate) fn from_json(text: &str) -> Result<Robj, Failure> {
    let parsed: Result<Value, _> = serde_json::from_str(text);
    parsed.map(|value| robj(&value)).map_err(|error| Failure::new(Kind::Data, error.to_string()))
}

fn robj(value: &Value) -> Robj {
    match value {
        Value::Null => ().into(),
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => number.as_f64().into(),
        Value::String(text) => text.as_str().into(),
        Value::Array(values) => array(values),
        Value::Object(fields) => {
            List::from_pairs(fields.iter().map(|(name, value)| (name.as_str(), robj(value)))).into()
        }
    }
}

fn array(values: &[Value]) -> Robj {
    let all = |fits: fn(&Value) -> bool| values.iter().all(|value| value.is_null() || fits(value));
    if values.is_empty() || values.iter().all(Value::is_null) {
        return values.iter().map(|_| Rfloat::na()).collect::<Doubles>().into();
    }
    if all(Value::is_number) {
        let number = |value: &Value| value.as_f64().map_or_else(Rfloat::na, Rfloat::from);
        return values.iter().map(number).collect::<Doubles>().into();
    }
    if all(Value::is_string) {
        let text = |value: &Value| value.as_str().map_or_else(Rstr::na, Rstr::from);
        return values.iter().map(text).collect::<Strings>().into();
    }
    if all(Value::is_boolean) {
        let flag = |value: &Value| value.as_bool().map_or_else(Rbool::na_value, Rbool::from);
        return values.iter().map(flag).collect::<Logicals>().into();
    }
    List::from_values(values.iter().map(robj)).into()
}

/// A value of R as JSON: vectors of length one are single values, `NULL` and `NA` are `null`.
pub(crate) fn value(robj: &Robj) -> Result<Value, Failure> {
    let one = |values: Vec<Value>| match <[Value; 1]>::try_from(values) {
        Ok([value]) => value,
        Err(values) => Value::Array(values),
    };
    if robj.is_null() {
        return Ok(Value::Null);
    }
    if let Some(list) = robj.as_list() {
        if list.names().is_some() {
            let fields = list.iter().map(|(name, robj)| Ok((name.to_owned(), value(&robj)?)));
            return fields.collect::<Result<Map<_, _>, Failure>>().map(Value::Object);
        }
        let values = list.values().map(|robj| value(&robj));
        return values.collect::<Result<Vec<_>, Failure>>().map(Value::Array);
    }
    if let Some(numbers) = robj.as_real_slice() {
        let number = |x: &f64| Number::from_f64(*x).map_or(Value::Null, Value::Number);
        return Ok(named(robj, numbers.iter().map(number).collect()).unwrap_or_else(one));
    }
    if let Some(numbers) = robj.as_integer_slice() {
        let number = |x: &i32| if x.is_na() { Value::Null } else { Value::from(*x) };
        return Ok(named(robj, numbers.iter().map(number).collect()).unwrap_or_else(one));
    }
    if let Some(flags) = robj.as_logical_slice() {
        let flag = |x: &Rbool| if x.is_na() { Value::Null } else { Value::from(x.is_true()) };
        return Ok(named(robj, flags.iter().map(flag).collect()).unwrap_or_else(one));
    }
    if let Some(texts) = robj.as_str_vector() {
        return Ok(named(robj, texts.into_iter().map(Value::from).collect()).unwrap_or_else(one));
    }
    Err(Failure::new(Kind::Option, format!("an option cannot be of the type {:?}", robj.rtype())))
}

/// The values of a vector that has names, as an object; otherwise the values.
fn named(robj: &Robj, values: Vec<Value>) -> Result<Value, Vec<Value>> {
    match robj.names() {
        Some(names) => Ok(Value::Object(names.map(str::to_owned).zip(values).collect())),
        None => Err(values),
    }
}
