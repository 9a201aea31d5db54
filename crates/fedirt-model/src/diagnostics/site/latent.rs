//! How ability is distributed among the students: posterior weights by node, and the score of skewness and kurtosis.

use crate::items::Order;
use crate::kernel::lanes;
use crate::population::Population;
use crate::site::{LookUp, SiteData, Tables};
use nalgebra::DMatrix;

/// The departures from the normal that are tested: He₃/6 and He₄/24, whose coefficients in the density are skewness and excess
/// kurtosis (Kendall & Stuart 1977, section 6.20).
pub(crate) const SHAPES: usize = 2;

/// The shapes at a standardised ability.
pub(crate) fn shapes(v: f64) -> [f64; SHAPES] {
    [v * (v * v - 3.0) / 6.0, ((v * v - 6.0) * v * v + 3.0) / 24.0]
}

/// Posterior weights of students who all weigh one.
pub(crate) struct AbilityMass {
    /// Σ_i P_i(n).
    pub mass: Vec<f64>,
    /// Σ_i P_i(n)².
    pub squares: Vec<f64>,
    /// Σ_i (E_i h − E h) of each shape h: the score of the shapes. It is summed apart from the weights, because far from the middle
    /// shapes are large and would magnify what the weights lack in digits.
    pub score: [f64; SHAPES],
}

impl AbilityMass {
    /// Nobody's.
    pub(crate) fn none(nodes: usize) -> Self {
        Self { mass: vec![0.0; nodes], squares: vec![0.0; nodes], score: [0.0; SHAPES] }
    }
}

impl SiteData {
    /// Posterior weights at school effect s, of students of one population.
    pub(crate) fn ability_mass(&self, psi: &[f64], s: f64, population: &Population) -> AbilityMass {
        let tables = Tables::new(&self.design, psi, s, population, Order::Probability);
        let mut out = AbilityMass::none(tables.width);
        for panel in &self.panels {
            LookUp::new(&self.design, panel, &tables).posteriors(0..panel.students(), |_, rows, _| {
                for row in rows.chunks_exact(tables.width) {
                    lanes::axpy(1.0, row, &mut out.mass);
                    out.squares.iter_mut().zip(row).for_each(|(sum, p)| *sum += p * p);
                }
            });
        }
        let students = self.students as f64;
        let grid = &tables.priors[0].grid;
        for ((v, w), mass) in grid.nodes().iter().zip(grid.log_weights()).zip(&out.mass) {
            let departure = mass - students * w.exp();
            out.score.iter_mut().zip(shapes(*v)).for_each(|(score, h)| *score += departure * h);
        }
        out.mass.truncate(population.nodes);
        out.squares.truncate(population.nodes);
        out
    }

    /// Σ_i v_i v_iᵀ of students without an effect, where v is the student's score of (ψ, s, shapes). The mean of a shape in the
    /// population is taken off.
    pub(crate) fn shape_products(&self, psi: &[f64], population: &Population) -> DMatrix<f64> {
        let (own, size) = (psi.len() + 1, psi.len() + 1 + SHAPES);
        let mut scores = DMatrix::zeros(size, self.students);
        let mut student = 0;
        self.each_student_score(psi, 0.0, population, |_, score| {
            scores.column_mut(student).rows_mut(0, own).copy_from_slice(score);
            student += 1;
        });
        let tables = Tables::new(&self.design, psi, 0.0, population, Order::Probability);
        let mut functions = vec![0.0; SHAPES * tables.width];
        let mut means = [0.0; SHAPES];
        let grid = &tables.priors[0].grid;
        for (n, (v, w)) in grid.nodes().iter().zip(grid.log_weights()).enumerate() {
            for (k, h) in shapes(*v).into_iter().enumerate() {
                functions[k * tables.width + n] = h;
                means[k] += w.exp() * h;
            }
        }
        // The students come in the same order as above.
        student = 0;
        for panel in &self.panels {
            LookUp::new(&self.design, panel, &tables).posteriors(0..panel.students(), |_, rows, _| {
                for row in rows.chunks_exact(tables.width) {
                    for (k, h) in functions.chunks_exact(tables.width).enumerate() {
                        scores[(own + k, student)] = lanes::dot(row, h) - means[k];
                    }
                    student += 1;
                }
            });
        }
        &scores * scores.transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::items::Curves;
    use crate::responses::ResponseTable;
    use crate::site::tests::design;

    /// The score of the shapes, which follows from the posterior weights, against differences of the log-likelihood with the density
    /// moved along them.
    #[test]
    fn posterior_weights_give_the_score_of_the_shapes() {
        let design = design(&[("2pl", 2), ("gpcm", 3), ("grm", 3), ("2pl", 2), ("2pl", 2)]);
        let rows: Vec<Vec<u8>> = (0..90usize)
            .map(|i| [i % 2, (i / 2) % 3, (i / 5) % 3, usize::from(i % 7 < 3), usize::from(i % 5 < 4)])
            .map(|row| row.map(|x| x as u8).to_vec())
            .collect();
        let psi = vec![1.0, 0.2, 0.8, 0.5, -0.3, 1.2, 0.7, -0.4, 0.9, -0.3, 1.1, 0.4];
        let population = Population::default();
        let grid = population.at(&[]);
        let curves: Vec<Curves> = (0..5)
            .map(|j| {
                let own = &psi[design.span(j)];
                Curves::new(design.model(j), design.categories(j), own, grid.nodes(), Order::Probability)
            })
            .collect();
        let loglik = |gamma: [f64; SHAPES]| -> f64 {
            let moved = |n: usize| {
                grid.log_weights()[n]
                    + shapes(grid.nodes()[n]).iter().zip(gamma).map(|(h, g)| h * g).sum::<f64>()
            };
            let total = (0..grid.len()).map(|n| moved(n).exp()).sum::<f64>().ln();
            let of = |row: &Vec<u8>| -> f64 {
                let at = |n: usize| {
                    let answers = row.iter().zip(&curves).map(|(c, item)| item.log_p(usize::from(*c))[n]);
                    (moved(n) - total + answers.sum::<f64>()).exp()
                };
                (0..grid.len()).map(at).sum::<f64>().ln()
            };
            rows.iter().map(of).sum()
        };
        let table = ResponseTable::new(90, 5, rows.concat()).unwrap();
        let data = SiteData::new(&table, &design, 1.0);
        let AbilityMass { score, .. } = data.ability_mass(&psi, 0.0, &population);
        let products = data.shape_products(&psi, &population);
        assert_eq!(products.nrows(), psi.len() + 3);
        for k in 0..SHAPES {
            let step = |by: f64| std::array::from_fn(|l| if l == k { by } else { 0.0 });
            let want = (loglik(step(1e-4)) - loglik(step(-1e-4))) / 2e-4;
            let got = score[k];
            assert!((got - want).abs() < 1e-5, "{k}: {got} {want}");
            assert!(products[(psi.len() + 1 + k, psi.len() + 1 + k)] > 0.0);
        }
    }
}
