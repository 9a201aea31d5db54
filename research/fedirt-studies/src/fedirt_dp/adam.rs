//! Adam (Kingma & Ba 2014): steps of about the learning rate, whatever the size of the gradient.

const FIRST: f64 = 0.9;
const SECOND: f64 = 0.999;
const TINY: f64 = 1e-8;

/// Running means of the gradient and of its square.
#[derive(Debug, Clone)]
pub(super) struct Adam {
    first: Vec<f64>,
    second: Vec<f64>,
    round: i32,
}

impl Adam {
    /// For that many parameters.
    pub(super) fn new(parameters: usize) -> Self {
        Self { first: vec![0.0; parameters], second: vec![0.0; parameters], round: 0 }
    }

    /// Moves `theta` uphill: with m ← 0.9 m + 0.1 g and v ← 0.999 v + 0.001 g², by
    /// η·m/(1 − 0.9^t)/(√(v/(1 − 0.999^t)) + 10⁻⁸).
    pub(super) fn climb(&mut self, gradient: &[f64], rates: impl Iterator<Item = f64>, theta: &mut [f64]) {
        self.round += 1;
        let (unbias_first, unbias_second) = (1.0 - FIRST.powi(self.round), 1.0 - SECOND.powi(self.round));
        for (r, (g, rate)) in gradient.iter().zip(rates).enumerate() {
            self.first[r] = FIRST * self.first[r] + (1.0 - FIRST) * g;
            self.second[r] = SECOND * self.second[r] + (1.0 - SECOND) * g * g;
            theta[r] +=
                rate * (self.first[r] / unbias_first) / ((self.second[r] / unbias_second).sqrt() + TINY);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_steps_by_hand() {
        let (mut adam, mut x) = (Adam::new(1), [0.0]);
        adam.climb(&[2.0], [0.1].into_iter(), &mut x);
        // m = 0.2, v = 0.004: unbiased 2 and 4.
        assert!((x[0] - 0.1).abs() < 1e-9);
        adam.climb(&[-2.0], [0.1].into_iter(), &mut x);
        // m = 0.18 − 0.2 = −0.02, over 0.19; v = 0.007996, over 0.001999: 4.
        let second = 0.1 - 0.1 * (0.02 / 0.19) / 2.0;
        assert!((x[0] - second).abs() < 1e-9, "{}", x[0]);
        adam.climb(&[0.0], [0.1].into_iter(), &mut x);
        // m = −0.018, over 0.271; v = 0.007996·0.999, over 1 − 0.999³.
        let third = second - 0.1 * (0.018 / 0.271) / (0.007996f64 * 0.999 / (1.0 - 0.999f64.powi(3))).sqrt();
        assert!((x[0] - third).abs() < 1e-9, "{}", x[0]);
    }
}
