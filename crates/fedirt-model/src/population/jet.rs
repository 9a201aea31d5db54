//! Numbers with their first two derivatives: forward-mode automatic differentiation (Griewank & Walther 2008, chapter 13).
//!
//! A population writes its log weights once, in these numbers, and gradient and Hessian in its parameters follow
//! exactly. A handful of parameters and some sixty nodes cost nothing beside one pass over the students.

use std::ops::{Add, Mul, Sub};

/// A value that depends on some parameters.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Jet {
    pub value: f64,
    /// ∂/∂φ_h.
    pub first: Vec<f64>,
    /// ∂²/∂φ_h∂φ_l, row by row.
    pub second: Vec<f64>,
}

impl Jet {
    /// A number that depends on none of `parameters` parameters.
    pub(super) fn constant(value: f64, parameters: usize) -> Self {
        Self { value, first: vec![0.0; parameters], second: vec![0.0; parameters * parameters] }
    }

    /// The parameter at a position among `parameters`.
    pub(super) fn parameter(value: f64, at: usize, parameters: usize) -> Self {
        let mut out = Self::constant(value, parameters);
        out.first[at] = 1.0;
        out
    }

    /// f(x) from the value of f and its first two derivatives at x.
    fn chain(&self, f: f64, f1: f64, f2: f64) -> Self {
        let k = self.first.len();
        let second = |hl: usize| f1 * self.second[hl] + f2 * self.first[hl / k] * self.first[hl % k];
        Self {
            value: f,
            first: self.first.iter().map(|x| f1 * x).collect(),
            second: (0..k * k).map(second).collect(),
        }
    }

    pub(super) fn exp(&self) -> Self {
        let f = self.value.exp();
        self.chain(f, f, f)
    }

    pub(super) fn ln(&self) -> Self {
        let x = self.value;
        self.chain(x.ln(), 1.0 / x, -1.0 / (x * x))
    }

    pub(super) fn sin(&self) -> Self {
        let (sin, cos) = self.value.sin_cos();
        self.chain(sin, cos, -sin)
    }

    pub(super) fn cos(&self) -> Self {
        let (sin, cos) = self.value.sin_cos();
        self.chain(cos, -sin, -cos)
    }

    /// The same without its dependence on the last parameter.
    pub(super) fn without_last(&self) -> Self {
        let k = self.first.len();
        let kept = |hl: usize| self.second[hl / (k - 1) * k + hl % (k - 1)];
        Self {
            value: self.value,
            first: self.first[..k - 1].to_vec(),
            second: (0..(k - 1) * (k - 1)).map(kept).collect(),
        }
    }

    pub(super) fn scale(&self, factor: f64) -> Self {
        self.chain(factor * self.value, factor, 0.0)
    }

    /// log Σ exp, with the largest term taken out.
    pub(super) fn log_sum_exp(terms: &[Self]) -> Self {
        let top = terms.iter().map(|x| x.value).fold(f64::NEG_INFINITY, f64::max);
        let parameters = terms.first().map_or(0, |x| x.first.len());
        let shift = Self::constant(top, parameters);
        let zero = Self::constant(0.0, parameters);
        let sum = terms.iter().fold(zero, |sum, x| &sum + &(x - &shift).exp());
        &sum.ln() + &shift
    }

    fn zip(&self, other: &Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let both = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| f(*x, *y)).collect();
        Self {
            value: f(self.value, other.value),
            first: both(&self.first, &other.first),
            second: both(&self.second, &other.second),
        }
    }
}

impl Add for &Jet {
    type Output = Jet;

    fn add(self, other: Self) -> Jet {
        self.zip(other, |x, y| x + y)
    }
}

impl Sub for &Jet {
    type Output = Jet;

    fn sub(self, other: Self) -> Jet {
        self.zip(other, |x, y| x - y)
    }
}

impl Mul for &Jet {
    type Output = Jet;

    fn mul(self, other: Self) -> Jet {
        let (x, y, k) = (self, other, self.first.len());
        let second = |hl: usize| {
            let (h, l) = (hl / k, hl % k);
            x.second[hl] * y.value
                + x.first[h] * y.first[l]
                + x.first[l] * y.first[h]
                + x.value * y.second[hl]
        };
        Jet {
            value: x.value * y.value,
            first: x.first.iter().zip(&y.first).map(|(a, b)| a * y.value + x.value * b).collect(),
            second: (0..k * k).map(second).collect(),
        }
    }
}
