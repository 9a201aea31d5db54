//! Whether two messages are the same but for rounding errors.

use serde::Serialize;
use serde_json::Value;

/// Largest difference between two numbers, relative to their size where that exceeds one. Rounding errors of the centre's
/// linear algebra are many orders smaller; another starting point or another step is larger.
const TOLERANCE: f64 = 1e-6;

/// Whether two messages have the same shape, the same words and whole numbers, and fractions that differ by rounding
/// errors only.
pub(super) fn resembles<T: Serialize>(a: &T, b: &T) -> bool {
    let values = serde_json::to_value(a).and_then(|a| Ok((a, serde_json::to_value(b)?)));
    values.is_ok_and(|(a, b)| values_resemble(&a, &b))
}

fn values_resemble(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) if x.is_f64() && y.is_f64() => {
            let (Some(x), Some(y)) = (x.as_f64(), y.as_f64()) else { return false };
            (x - y).abs() <= TOLERANCE * x.abs().max(y.abs()).max(1.0)
        }
        (Value::Array(x), Value::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| values_resemble(x, y))
        }
        (Value::Object(x), Value::Object(y)) => {
            x.len() == y.len() && x.iter().all(|(key, x)| y.get(key).is_some_and(|y| values_resemble(x, y)))
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_errors_are_passed_over_and_nothing_else() {
        let here = (vec![1.0, -3e5, 0.0], 7u32, "newton", Some(true));
        let near = (vec![1.0f64.next_up(), -3e5 * (1.0 + 1e-12), 1e-15], 7u32, "newton", Some(true));
        assert!(resembles(&here, &near));
        assert!(resembles(&f64::NAN, &f64::NAN));
        for other in [
            (vec![1.0 + 1e-5, -3e5, 0.0], 7, "newton", Some(true)),
            (vec![1.0, -3e5], 7, "newton", Some(true)),
            (vec![1.0, -3e5, 0.0], 8, "newton", Some(true)),
            (vec![1.0, -3e5, 0.0], 7, "em", Some(true)),
            (vec![1.0, -3e5, 0.0], 7, "newton", None),
            (vec![1.0, -3e5, f64::NAN], 7, "newton", Some(true)),
        ] {
            assert!(!resembles(&here, &other), "{other:?}");
        }
    }
}
