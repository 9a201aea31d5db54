//! Sum scores of students who answered every item, and what the model expects at the site's own effect.

use crate::diagnostics::sum_scores::{SumScores, highest};
use crate::quadrature::Grid;
use crate::responses::MISSING;
use crate::site::SiteData;

/// Students by sum score, and answers by sum score.
pub(crate) struct ScoreTables {
    /// Students with each sum score.
    pub scores: Vec<f64>,
    /// Students with each sum score in each category, a row per score.
    pub answers: Vec<f64>,
}

/// What the model expects of them.
pub(crate) struct ExpectedTables {
    /// N_s P(x_j = c | s), a row per score.
    pub answers: Vec<f64>,
    /// By score: N P(s), and N P(s) E(t | s), N P(s) E(t² | s) with the ability t.
    pub scores: Vec<f64>,
}

impl ScoreTables {
    /// Whether they are about nobody, or about so many students.
    pub(crate) fn may_be_told(&self, fewest: usize) -> bool {
        let students: f64 = self.scores.iter().sum();
        students == 0.0 || students >= fewest as f64
    }

    /// The same tables of nobody.
    pub(crate) fn emptied(mut self) -> Self {
        self.scores.fill(0.0);
        self.answers.fill(0.0);
        self
    }
}

impl SiteData {
    /// Counts over the students who answered every item of the design.
    pub(crate) fn score_tables(&self) -> ScoreTables {
        self.count_scores(highest(&self.design), |_| true)
    }

    /// The same by the sum score over certain items, of which `top` is the highest.
    pub(crate) fn count_scores(&self, top: usize, matched: impl Fn(usize) -> bool) -> ScoreTables {
        let cells = self.design.cells();
        let mut out = ScoreTables { scores: vec![0.0; top + 1], answers: vec![0.0; (top + 1) * cells] };
        for panel in self.panels.iter().filter(|panel| panel.items.len() == self.design.len()) {
            let counted: Vec<usize> = (0..panel.items.len()).filter(|k| matched(panel.items[*k])).collect();
            for (i, w) in panel.weights.iter().enumerate() {
                let answer = |k: usize| panel.column(k)[i];
                if (0..panel.items.len()).any(|k| answer(k) == MISSING) {
                    continue;
                }
                let score: usize = counted.iter().map(|k| usize::from(answer(*k))).sum();
                out.scores[score] += w;
                for (k, &j) in panel.items.iter().enumerate() {
                    let cell = self.design.cell_offset(j) + usize::from(answer(k));
                    out.answers[score * cells + cell] += w;
                }
            }
        }
        out
    }
}

impl ExpectedTables {
    /// What is expected of nobody, in tables of the same size.
    pub(crate) fn none(of: &ScoreTables) -> Self {
        Self { answers: vec![0.0; of.answers.len()], scores: vec![0.0; 3 * of.scores.len()] }
    }

    /// Adds what is expected of others.
    pub(crate) fn add(&mut self, other: &Self) {
        self.answers.iter_mut().zip(&other.answers).for_each(|(x, y)| *x += y);
        self.scores.iter_mut().zip(&other.scores).for_each(|(x, y)| *x += y);
    }

    /// For so many students of each score, at school effect s.
    pub(crate) fn new(data: (&crate::design::Design, &[f64]), s: f64, grid: &Grid, students: &[f64]) -> Self {
        let (design, psi) = data;
        let chances = SumScores::new(design, psi, s, grid);
        let total: f64 = students.iter().sum();
        let cells = design.cells();
        let mut answers = vec![0.0; students.len() * cells];
        for (score, n) in students.iter().enumerate().filter(|(_, n)| **n > 0.0) {
            // At parameters that rule a score out nothing is expected of those who have it; a site that could not answer would tell
            // that it has some.
            if chances.score[score] <= 0.0 {
                continue;
            }
            for (cell, joint) in chances.joint.iter().enumerate() {
                answers[score * cells + cell] = n * joint[score] / chances.score[score];
            }
        }
        let scores = (0..students.len())
            .flat_map(|s| [chances.score[s], chances.first[s], chances.second[s]].map(|x| total * x))
            .collect();
        Self { answers, scores }
    }
}
