//! How item parameters change with the coordinates.

use super::{NaturalGradient, OGIVE, Structure, Tie};
use nalgebra::{DMatrix, DVector};

impl Structure {
    /// The entries of ∂ψ/∂y that can differ from zero, as (row, column, value), row by row.
    pub(crate) fn slopes(&self, y: &DVector<f64>) -> Vec<(usize, usize, f64)> {
        let mut entries = Vec::with_capacity(2 * self.ties.len());
        for (r, tie) in self.ties.iter().enumerate() {
            match *tie {
                Tie::OwnSlope(_) | Tie::LinearSlope(_) | Tie::CommonSlope(_) | Tie::Sd(_) | Tie::Fixed(_) => {
                    let slope = self.slope(y, r);
                    entries.extend(slope.at.map(|u| (r, u, slope.first)));
                }
                Tie::OwnIntercept { at, slope, .. } => {
                    let slope = self.intercept_slope(y, slope);
                    let root = (OGIVE + slope.a * slope.a).sqrt();
                    entries.push((r, at, root));
                    entries.extend(slope.at.map(|u| (r, u, y[at] * slope.a * slope.first / root)));
                }
                Tie::Given { pull, .. } => entries.extend(self.mean.map(|m| (r, m, pull))),
                Tie::Population { at, .. } => entries.push((r, at, 1.0)),
            }
        }
        entries
    }

    /// ∂ψ/∂y.
    pub(crate) fn jacobian(&self, y: &DVector<f64>) -> DMatrix<f64> {
        let mut t = DMatrix::zeros(self.ties.len(), self.size);
        self.slopes(y).into_iter().for_each(|(r, c, x)| t[(r, c)] = x);
        t
    }

    /// The gradient in the coordinates, from that in ψ.
    pub(crate) fn pulled_back(&self, y: &DVector<f64>, gradient: &[f64]) -> DVector<f64> {
        let mut g = DVector::zeros(self.size);
        self.slopes(y).into_iter().for_each(|(r, c, x)| g[c] += x * gradient[r]);
        g
    }

    /// Σ_r g_r ∂²ψ_r/∂y∂y'.
    pub(crate) fn curvature(&self, y: &DVector<f64>, gradient: &[f64]) -> DMatrix<f64> {
        let mut s = DMatrix::zeros(self.size, self.size);
        for (r, tie) in self.ties.iter().enumerate() {
            match *tie {
                Tie::OwnSlope(_) | Tie::LinearSlope(_) | Tie::CommonSlope(_) | Tie::Sd(_) | Tie::Fixed(_) => {
                    let slope = self.slope(y, r);
                    if let Some(u) = slope.at {
                        s[(u, u)] += gradient[r] * slope.second;
                    }
                }
                Tie::OwnIntercept { at: v, slope, .. } => {
                    let slope = self.intercept_slope(y, slope);
                    let Some(u) = slope.at else { continue };
                    let (a, a1, a2) = (slope.a, slope.first, slope.second);
                    let root = (OGIVE + a * a).sqrt();
                    let root1 = a * a1 / root;
                    let root2 = (a1 * a1 + a * a2) / root - (a * a1).powi(2) / root.powi(3);
                    s[(u, u)] += gradient[r] * y[v] * root2;
                    s[(u, v)] += gradient[r] * root1;
                    s[(v, u)] += gradient[r] * root1;
                }
                Tie::Given { .. } | Tie::Population { .. } => {}
            }
        }
        s
    }

    /// The gradient in (ψ of free items, σ, μ), leaving out coordinates that are held at a bound.
    pub(crate) fn natural_gradient(&self, gradient: &[f64], held: &[usize]) -> NaturalGradient {
        let (mut sd, mut mean, mut common) = (0.0, 0.0, None);
        let mut items = vec![0.0f64; self.design.len()];
        for j in 0..self.design.len() {
            for r in self.design.span(j) {
                match self.ties[r] {
                    Tie::OwnSlope(at) | Tie::LinearSlope(at) | Tie::OwnIntercept { at, .. } => {
                        if !held.contains(&at) {
                            items[j] = items[j].max(gradient[r].abs());
                        }
                    }
                    Tie::CommonSlope(at) => {
                        if !held.contains(&at) {
                            common = Some(common.unwrap_or(0.0) + gradient[r]);
                        }
                    }
                    Tie::Sd(factor) => sd += factor * gradient[r],
                    Tie::Fixed(_) => {}
                    Tie::Given { pull, .. } => mean += pull * gradient[r],
                    Tie::Population { .. } => {}
                }
            }
        }
        let shape = self.ties.iter().zip(gradient).filter_map(|(tie, g)| match tie {
            Tie::Population { at, .. } => (!held.contains(at)).then_some(*g),
            Tie::OwnSlope(_)
            | Tie::LinearSlope(_)
            | Tie::CommonSlope(_)
            | Tie::Sd(_)
            | Tie::Fixed(_)
            | Tie::OwnIntercept { .. }
            | Tie::Given { .. } => None,
        });
        let population = self.sd.map(|_| sd).into_iter().chain(self.mean.map(|_| mean)).chain(common);
        let population = population.chain(shape).collect();
        NaturalGradient { items, population }
    }

    /// ∂σ/∂y as a row, where σ is free.
    pub(crate) fn sd_row(&self, y: &DVector<f64>) -> Option<DVector<f64>> {
        self.sd.map(|at| {
            let mut row = DVector::zeros(self.size);
            row[at] = y[at].exp();
            row
        })
    }

    /// ∂μ/∂y as a row, where μ is free.
    pub(crate) fn mean_row(&self) -> Option<DVector<f64>> {
        self.mean.map(|at| {
            let mut row = DVector::zeros(self.size);
            row[at] = 1.0;
            row
        })
    }

    /// A vector w with ∂σ = w·∂ψ, where σ is free: read off one slope that follows it.
    pub(crate) fn sd_from_psi(&self) -> Vec<f64> {
        let mut out = Vec::new();
        if self.sd.is_some() {
            out = vec![0.0; self.ties.len()];
            let follower = self.ties.iter().enumerate().find_map(|(r, tie)| match tie {
                Tie::Sd(factor) => (*factor != 0.0).then_some((r, *factor)),
                Tie::OwnSlope(_)
                | Tie::LinearSlope(_)
                | Tie::CommonSlope(_)
                | Tie::Fixed(_)
                | Tie::OwnIntercept { .. }
                | Tie::Given { .. }
                | Tie::Population { .. } => None,
            });
            if let Some((r, factor)) = follower {
                out[r] = 1.0 / factor;
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::super::Anchor;
    use super::*;
    use crate::exchange::Effects;
    use crate::population::{Family, Population};
    use crate::site::tests::design;

    fn cases() -> Vec<(Structure, DVector<f64>)> {
        let mixed = design(&[("gpcm", 3), ("2pl", 2), ("grm", 3), ("rasch-sd1", 2), ("nrm", 3)]);
        let rasch = design(&[("rasch", 2), ("pcm", 3), ("2pl", 2)]);
        let anchor = |a: f64, d: &[f64]| Some(Anchor::one_slope(a, d));
        let linked = design(&[("2pl", 2), ("gpcm", 3), ("2pl", 2), ("1pl", 2), ("1pl", 3)]);
        let normal = Population::default();
        let mixture = Population { family: Family::Mixture { components: 2 }, ..normal };
        let structures = [
            Structure::new(&mixed, &[], Effects::None, &normal),
            Structure::new(&mixed, &[], Effects::Fixed, &mixture),
            Structure::new(&rasch, &[], Effects::Fixed, &normal),
            Structure::new(
                &linked,
                &[anchor(1.2, &[0.3]), anchor(-0.7, &[0.4, -0.2]), None],
                Effects::None,
                &mixture,
            ),
        ];
        structures
            .into_iter()
            .map(|s| {
                let y = DVector::from_fn(s.size(), |k, _| 0.4 * ((k * 7 % 5) as f64 - 1.7));
                (s, y)
            })
            .collect()
    }

    #[test]
    fn jacobian_and_curvature_agree_with_differences() {
        let h = 1e-6;
        for (s, y) in cases() {
            let t = s.jacobian(&y);
            let g: Vec<f64> = (0..s.parameters()).map(|r| 0.3 + 0.1 * r as f64).collect();
            let curvature = s.curvature(&y, &g);
            for k in 0..s.size() {
                let (mut up, mut down) = (y.clone(), y.clone());
                up[k] += h;
                down[k] -= h;
                for r in 0..g.len() {
                    let want = (s.psi(&up)[r] - s.psi(&down)[r]) / (2.0 * h);
                    assert!((t[(r, k)] - want).abs() < 1e-8);
                }
                let gradient = |y: &DVector<f64>| s.jacobian(y).transpose() * DVector::from_row_slice(&g);
                let want = (gradient(&up) - gradient(&down)) / (2.0 * h);
                for l in 0..s.size() {
                    assert!((curvature[(l, k)] - want[l]).abs() < 1e-7, "{l},{k}");
                }
            }
            let back = s.coordinates(&s.psi(&y), s.sd(&y), s.mean(&y));
            assert!((back - y).abs().max() < 1e-12);
        }
    }
}
