//! From values to pixels, and where the ticks stand.

use crate::text;

/// A tick: where, and what is written beside it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: String,
}

/// A linear or logarithmic scale from a domain to pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    log: bool,
    /// Distance of the ticks, where the ends were chosen by it.
    step: Option<f64>,
}

impl Scale {
    /// A linear scale. A domain that is empty or not finite is widened, so that drawing never divides by zero.
    pub(crate) fn linear(low: f64, high: f64, from: f64, to: f64) -> Self {
        let (mut low, mut high) = if low.is_finite() && high.is_finite() { (low, high) } else { (0.0, 1.0) };
        if high - low <= f64::EPSILON * (low.abs() + high.abs()) {
            let pad = if low == 0.0 { 1.0 } else { low.abs() * 0.01 };
            (low, high) = (low.min(high) - pad, low.max(high) + pad);
        }
        Self { low, high, from, to, log: false, step: None }
    }

    /// A linear scale whose ends are ticks.
    pub(crate) fn nice(low: f64, high: f64, from: f64, to: f64, ticks: usize) -> Self {
        let plain = Self::linear(low, high, from, to);
        let step = nice_step(plain.high - plain.low, ticks);
        let ends = ((plain.low / step).floor() * step, (plain.high / step).ceil() * step);
        Self { step: Some(step), ..Self::linear(ends.0, ends.1, from, to) }
    }

    /// A logarithmic scale over whole decades.
    pub(crate) fn log(low: f64, high: f64, from: f64, to: f64) -> Self {
        let fine = low.is_finite() && high.is_finite() && low > 0.0 && high >= low;
        let (low, high) = if fine { (low.log10().floor(), high.log10().ceil()) } else { (0.0, 1.0) };
        let high = if high > low { high } else { low + 1.0 };
        Self { low, high, from, to, log: true, step: None }
    }

    /// A logarithmic scale that ends near its values, at 1, 2 or 5 times a power of ten: whole decades would waste
    /// most of a small picture.
    pub(crate) fn log_close(low: f64, high: f64, from: f64, to: f64) -> Self {
        let whole = Self::log(low, high, from, to);
        if !(low > 0.0 && high >= low && high.is_finite() && whole.high - whole.low <= FEW_DECADES) {
            return whole;
        }
        let ends = || rungs(whole.low, whole.high);
        let below = ends().filter(|v| *v <= low * 1.000_001).fold(10f64.powf(whole.low), f64::max);
        let above = ends().filter(|v| *v >= high / 1.000_001).fold(10f64.powf(whole.high), f64::min);
        let above = if above > below { above } else { 10.0 * below };
        Self { low: below.log10(), high: above.log10(), ..whole }
    }

    /// The pixel of a value, kept on the scale.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let v = if self.log { value.max(f64::MIN_POSITIVE).log10() } else { value };
        let share = ((v - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        if share.is_finite() { self.from + share * (self.to - self.from) } else { self.from }
    }

    /// Whether a value lies on the scale.
    pub(crate) fn holds(&self, value: f64) -> bool {
        let v = if self.log { value.log10() } else { value };
        v.is_finite() && v >= self.low - 1e-9 && v <= self.high + 1e-9
    }

    /// Lowest and highest value.
    pub(crate) fn domain(&self) -> (f64, f64) {
        if self.log { (10f64.powf(self.low), 10f64.powf(self.high)) } else { (self.low, self.high) }
    }

    /// About `count` ticks at round values; those of a nice scale stand where its ends were found.
    pub(crate) fn ticks(&self, count: usize) -> Vec<Tick> {
        if self.log {
            return self.decades(count);
        }
        let step = self.step.unwrap_or_else(|| nice_step(self.high - self.low, count));
        let decimals = (-(step.log10() + 1e-9).floor()).clamp(0.0, 9.0) as usize;
        let (first, last) = ((self.low / step - 1e-6).ceil(), (self.high / step + 1e-6).floor());
        let number = ((last - first) as usize).min(50);
        (0..=number)
            .map(|i| {
                let value = (first + i as f64) * step;
                Tick { value, label: text::reading(value, decimals) }
            })
            .collect()
    }

    fn decades(&self, count: usize) -> Vec<Tick> {
        if self.high - self.low < 1.7 || self.low.fract() != 0.0 || self.high.fract() != 0.0 {
            return self.rungs_within(count);
        }
        let span = (self.high - self.low).round() as usize;
        let every = span.div_ceil(count.max(1)).max(1);
        (0..=span)
            .step_by(every)
            .map(|i| {
                let power = self.low as i32 + i as i32;
                Tick { value: 10f64.powi(power), label: power_of_ten(power) }
            })
            .collect()
    }

    /// Ticks at 1, 2 and 5, or at 1 alone where those would be too many.
    fn rungs_within(&self, count: usize) -> Vec<Tick> {
        let all: Vec<f64> = rungs(self.low, self.high).filter(|v| self.holds(*v)).collect();
        let whole: Vec<f64> =
            all.iter().copied().filter(|v| (v.log10() - v.log10().round()).abs() < 1e-9).collect();
        let shown = if all.len() > 2 * count && whole.len() > 1 { whole } else { all };
        shown.into_iter().map(|value| Tick { value, label: log_label(value) }).collect()
    }
}

/// Up to this many decades a logarithmic axis may end within one.
const FEW_DECADES: f64 = 4.0;

/// 1, 2 and 5 times the powers of ten between two of them.
fn rungs(low: f64, high: f64) -> impl Iterator<Item = f64> {
    (low.floor() as i32..=high.ceil() as i32).flat_map(|power| [1.0, 2.0, 5.0].map(|f| f * 10f64.powi(power)))
}

/// A label of a logarithmic axis: plain where that is short.
fn log_label(value: f64) -> String {
    if (0.999e-3..0.999e4).contains(&value) {
        return text::brief(value);
    }
    let power = (value.log10() + 1e-9).floor() as i32;
    match (value / 10f64.powi(power)).round() {
        1.0 => power_of_ten(power),
        factor => format!("{factor}·{}", power_of_ten(power)),
    }
}

/// 1, 2 or 5 times a power of ten, such that about `count` steps fill the span.
fn nice_step(span: f64, count: usize) -> f64 {
    let raw = span / count.max(1) as f64;
    let power = 10f64.powf(raw.log10().floor());
    let factor = match raw / power {
        f if f <= 1.0 + 1e-9 => 1.0,
        f if f <= 2.0 + 1e-9 => 2.0,
        f if f <= 5.0 + 1e-9 => 5.0,
        _ => 10.0,
    };
    factor * power
}

fn power_of_ten(power: i32) -> String {
    match power {
        0 => "1".to_owned(),
        1 => "10".to_owned(),
        _ => {
            let power = power.to_string();
            let digits = power.chars().map(|c| match c {
                '-' => '⁻',
                '1' => '¹',
                '2' => '²',
                '3' => '³',
                // The other superscript digits stand in a row in Unicode.
                c => char::from_u32(0x2070 + c.to_digit(10).unwrap_or(0)).unwrap_or(c),
            });
            "10".chars().chain(digits).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|t| t.label.as_str()).collect()
    }

    #[test]
    fn linear_ticks_are_round() {
        let scale = Scale::linear(-4.0, 4.0, 0.0, 100.0);
        assert_eq!(labels(&scale.ticks(8)), ["−4", "−3", "−2", "−1", "0", "1", "2", "3", "4"]);
        let unit = Scale::linear(0.0, 1.0, 100.0, 0.0);
        assert_eq!(labels(&unit.ticks(5)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(unit.at(0.25), 75.0);
        assert_eq!(unit.at(7.0), 0.0, "kept on the scale");
    }

    #[test]
    fn nice_scales_end_at_ticks() {
        let scale = Scale::nice(0.0, 8.7, 0.0, 1.0, 5);
        assert_eq!(scale.domain(), (0.0, 10.0));
        assert_eq!(labels(&Scale::nice(-2.1, 2.2, 0.0, 1.0, 3).ticks(3)), ["−4", "−2", "0", "2", "4"]);
    }

    #[test]
    fn log_ticks_are_decades() {
        let scale = Scale::log(3e-7, 0.2, 0.0, 70.0);
        assert_eq!(scale.domain().1, 1.0);
        assert_eq!(labels(&scale.ticks(4)), ["10⁻⁷", "10⁻⁵", "10⁻³", "10⁻¹"]);
        assert!((scale.at(1e-7) - 0.0).abs() < 1e-9 && (scale.at(1.0) - 70.0).abs() < 1e-9);
        assert!(!scale.holds(0.0) && !scale.holds(-1.0));
    }

    #[test]
    fn close_log_scales_end_near_their_values() {
        let scale = Scale::log_close(0.024, 0.17, 0.0, 1.0);
        assert_eq!(labels(&scale.ticks(4)), ["0.02", "0.05", "0.1", "0.2"]);
        let bytes = Scale::log_close(3.0e4, 1.6e5, 0.0, 1.0);
        assert_eq!(labels(&bytes.ticks(4)), ["2·10⁴", "5·10⁴", "10⁵", "2·10⁵"]);
        assert_eq!(Scale::log_close(1e-7, 1.0, 0.0, 1.0).domain().1, 1.0);
        assert_eq!(Scale::log_close(1.0, 1.0, 0.0, 1.0).domain(), (1.0, 10.0));
    }

    #[test]
    fn empty_and_wild_domains_stay_finite() {
        for scale in [
            Scale::linear(2.0, 2.0, 0.0, 10.0),
            Scale::linear(0.0, 0.0, 0.0, 10.0),
            Scale::linear(f64::NAN, 1.0, 0.0, 10.0),
            Scale::nice(-3604.75, -3604.75, 0.0, 10.0, 4),
            Scale::log(0.0, 0.0, 0.0, 10.0),
            Scale::log(1e-9, 1e-9, 0.0, 10.0),
            Scale::log_close(0.0, f64::NAN, 0.0, 10.0),
            Scale::log_close(3e-9, 3e-9, 0.0, 10.0),
        ] {
            for value in [f64::NAN, f64::INFINITY, -1.0, 0.0, 2.0] {
                assert!(scale.at(value).is_finite(), "{scale:?} at {value}");
            }
            assert!(!scale.ticks(5).is_empty());
            assert!(scale.ticks(5).iter().all(|t| t.value.is_finite()));
        }
    }
}
