//! What a site computes in a private round: the whitened score of each of its rows.
//!
//! A row's score depends on that row and on the request, on nothing else: no quantity that students share (an
//! effect fitted at the site, a normalised weight) may enter it, or one student would move everybody's. Clipping,
//! rounding and noise come after, and hold for any numbers that come out here.

use super::PrivateError;
use super::coordinates::Coordinates;
use super::counts::Counts;
use super::plan::{MissingAnswers, check_booklets, check_grid};
use super::row_statistic::{RowStatistic, bound};
use super::scorer::Scorer;
use crate::design::Design;
use crate::exchange::Effects;
use crate::quadrature::{Grid, GridSpec};
use crate::responses::{MISSING, ResponseTable};
use serde::{Deserialize, Serialize};

/// The question of a private round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScoreRequest {
    /// Items.
    pub design: Design,
    /// Fixed site effects or none.
    pub effects: Effects,
    /// Number of sites.
    pub sites: usize,
    /// Without effects: SD between sites.
    pub site_sd: f64,
    /// Grid over standardised ability.
    pub grid: GridSpec,
    /// Whether shares of constant rows are parameters, the last two of θ.
    pub mixture: bool,
    /// Item sets that students were given.
    pub booklets: Vec<Vec<usize>>,
    /// Rows that lack answers.
    pub missing: MissingAnswers,
    /// Where scores are taken.
    pub theta: Vec<f64>,
    /// What becomes of a row's score.
    pub statistic: RowStatistic,
    /// C: no row's statistic may be longer.
    pub clip: f64,
}

impl ScoreRequest {
    /// The coordinates of θ.
    pub fn coordinates(&self) -> Result<Coordinates, PrivateError> {
        Coordinates::new(&self.design, self.effects, self.sites, self.mixture)
    }

    /// Numbers per row: the coordinates, and the counts of complete rows.
    pub fn width(&self) -> Result<usize, PrivateError> {
        Ok(self.coordinates()?.len().saturating_add(self.counts().len()))
    }

    fn counts(&self) -> Counts {
        Counts::new(self.missing, self.effects, self.sites, self.booklets.len())
    }

    /// Checks that the parts fit together. No value of θ, statistic or C is refused: rows bear them all.
    fn check(&self, site: usize) -> Result<Coordinates, PrivateError> {
        let coordinates = self.coordinates()?;
        if site >= self.sites {
            return Err(PrivateError::Request("there are fewer sites than this one's number"));
        }
        if self.theta.len() != coordinates.len() || !self.statistic.fits(&coordinates) {
            return Err(PrivateError::Request("parameters or statistic have the wrong length"));
        }
        Ok(coordinates)
    }
}

/// How the rows of one site are scored: everything that the score of a row depends on, besides the row itself.
#[derive(Debug, Clone, Copy)]
pub struct RowScoring<'a> {
    /// The parameters and their order.
    pub coordinates: &'a Coordinates,
    /// Their values. The contrasts between sites among them are not used: see `effect`.
    pub theta: &'a [f64],
    /// The site's effect, which is the mean ability of its students.
    pub effect: f64,
    /// Standard deviation of ability within the site.
    pub ability_sd: f64,
    /// Grid over standardised ability.
    pub grid: GridSpec,
    /// Item sets that students were given.
    pub booklets: &'a [Vec<usize>],
    /// Rows that lack answers.
    pub missing: MissingAnswers,
}

impl RowScoring<'_> {
    /// Calls `each` once for every row of the table, in order: with the row's booklet and its score, or with `None` if
    /// the row does not count. The score is the gradient of the row's log-likelihood with respect to the parameters of
    /// the items, the effect of the site (where there are effects), and the shares of constant rows (where they are
    /// parameters).
    ///
    /// Malformed questions and weighted tables are refused before any row is read. Nothing panics or fails because of
    /// a row or because of the values of the parameters: hostile values give NaN or huge numbers.
    pub fn each_score(
        &self,
        table: &ResponseTable,
        mut each: impl FnMut(Option<(usize, &[f64])>),
    ) -> Result<(), PrivateError> {
        let design = self.coordinates.design();
        check_booklets(design, self.booklets).map_err(PrivateError::Request)?;
        check_grid(self.grid).map_err(PrivateError::Request)?;
        if design.items().iter().any(|item| item.column >= table.items()) {
            return Err(PrivateError::Request("an item is not in the codebook"));
        }
        if table.weights().is_some() {
            return Err(PrivateError::Weights);
        }
        let grid = Grid::new(self.grid);
        let scorer = Scorer::at_effect(self.coordinates, self.theta, self.effect, self.ability_sd, &grid);
        let reader = RowReader::new(design, self.booklets, self.missing);
        let (width, items) = (scorer.len(), design.len());
        /// Rows that are scored together.
        const CHUNK: usize = 64;
        let mut cells = vec![MISSING; CHUNK * items];
        let mut booklets = [None; CHUNK];
        let (mut scores, mut log_marginal) = (vec![0.0; CHUNK * width], [0.0; CHUNK]);
        let mut rows = table.rows();
        while rows.len() > 0 {
            let n = rows.len().min(CHUNK);
            for (i, row) in rows.by_ref().take(n).enumerate() {
                booklets[i] = reader.read(row, &mut cells[i * items..(i + 1) * items]);
            }
            scorer.score(&cells[..n * items], width, &mut scores[..n * width], &mut log_marginal[..n]);
            for (score, booklet) in scores.chunks_exact(width).zip(&booklets[..n]) {
                each(booklet.map(|booklet| (booklet, score)));
            }
        }
        Ok(())
    }
}

/// Calls `each` with the statistic of every row of the table, in order and before any clipping; rows that do not count give
/// zeros.
///
/// Where complete rows are counted, their counts follow: a row that counts has a 1 in that of its site and booklet.
///
/// Nothing here panics or fails because of a row or of the values of θ, statistic and C: hostile ones give NaN or huge
/// numbers, which the clipper turns into a row of zeros or of length C. Malformed requests are refused before a row
/// is looked at, so are weighted tables.
pub fn each_row_statistic(
    table: &ResponseTable,
    site: usize,
    request: &ScoreRequest,
    mut each: impl FnMut(&[f64]),
) -> Result<(), PrivateError> {
    let coordinates = request.check(site)?;
    let scoring = RowScoring {
        coordinates: &coordinates,
        theta: &request.theta,
        effect: if coordinates.contrasts() > 0 { coordinates.effect(&request.theta, site) } else { 0.0 },
        ability_sd: if request.effects == Effects::None { request.site_sd.hypot(1.0) } else { 1.0 },
        grid: request.grid,
        booklets: &request.booklets,
        missing: request.missing,
    };
    let (d, counts) = (coordinates.len(), request.counts());
    let mut statistic = request.statistic.at_site(&coordinates, site, bound(request.clip, counts.any()));
    let mut out = vec![0.0; d + counts.len()];
    scoring.each_score(table, |row| {
        out.fill(0.0);
        if let Some((booklet, score)) = row {
            statistic.of(score, &mut out[..d]);
            if counts.any() {
                out[d + counts.of(site, booklet)] = 1.0;
            }
        }
        each(&out);
    })
}

/// Turns a row of codes into categories of the booklet that the student was given.
struct RowReader<'a> {
    columns: Vec<(usize, [u8; 256])>,
    booklets: &'a [Vec<usize>],
    held: Vec<Vec<bool>>,
    missing: MissingAnswers,
}

impl<'a> RowReader<'a> {
    fn new(design: &Design, booklets: &'a [Vec<usize>], missing: MissingAnswers) -> Self {
        let columns = design.items().iter().map(|item| {
            let mut map = [MISSING; 256];
            for (category, &code) in item.codes.iter().enumerate() {
                map[usize::from(code)] = category as u8;
            }
            (item.column, map)
        });
        let holds = |b: &Vec<usize>| (0..design.len()).map(|j| b.binary_search(&j).is_ok()).collect();
        let held = booklets.iter().map(holds).collect();
        Self { columns: columns.collect(), booklets, held, missing }
    }

    /// Writes the row's categories; its booklet, if it counts.
    fn read(&self, row: &[u8], cells: &mut [u8]) -> Option<usize> {
        for (cell, (column, map)) in cells.iter_mut().zip(&self.columns) {
            *cell = map[usize::from(row[*column])];
        }
        let answers = cells.iter().filter(|c| **c != MISSING).count();
        let covers = |held: &[bool]| cells.iter().zip(held).all(|(c, held)| *held || *c == MISSING);
        match self.missing {
            MissingAnswers::Counted => {
                self.booklets.iter().zip(&self.held).position(|(b, held)| b.len() == answers && covers(held))
            }
            // The smallest booklet that holds all answers: for complete rows it is their own.
            MissingAnswers::Wrong => {
                let fitting = (0..self.booklets.len()).filter(|b| covers(&self.held[*b]));
                let booklet = fitting.min_by_key(|b| self.booklets[*b].len())?;
                for &j in &self.booklets[booklet] {
                    if cells[j] == MISSING {
                        cells[j] = 0;
                    }
                }
                Some(booklet)
            }
        }
    }
}
