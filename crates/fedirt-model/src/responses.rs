//! The response table of one site: a byte per answer, and nothing that could send it away.
//!
//! The table has no `Serialize` and no accessor that hands out the whole of it in a serialisable form:
//! rows never leave a site, only what `site` makes of them does.

/// The cell of an answer that was not given (not reached, omitted, not in this booklet).
pub const MISSING: u8 = u8::MAX;

/// Answers of N students to J items, row by row, one byte each; optionally a weight and a group per student.
///
/// Cells hold category codes 0, 1, … or [`MISSING`]; so do groups, where a missing one means that the student belongs to none
/// that the study compares. Such students are left out of every sum.
///
/// ```compile_fail
/// fn sendable<T: serde::Serialize>() {}
/// sendable::<fedirt_model::responses::ResponseTable>(); // rows never leave a site
/// ```
#[derive(Clone, PartialEq)]
pub struct ResponseTable {
    students: usize,
    items: usize,
    cells: Vec<u8>,
    weights: Option<Vec<f64>>,
    groups: Option<Vec<u8>>,
    fewest_in_group: usize,
}

/// Sizes only: rows must not reach a log.
impl std::fmt::Debug for ResponseTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ResponseTable({} students × {} items)", self.students, self.items)
    }
}

/// Why a table cannot be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TableError {
    /// The number of cells is not students × items.
    #[error("{cells} cells do not fill {students} students × {items} items")]
    Shape {
        /// Number of cells given.
        cells: usize,
        /// Number of students given.
        students: usize,
        /// Number of items given.
        items: usize,
    },
    /// There is not one weight per student, or a weight is negative, infinite or not a number.
    #[error("weights must be one finite, non-negative number per student (student {student})")]
    Weight {
        /// Zero-based row at fault.
        student: usize,
    },
    /// There is not one group per student.
    #[error("{groups} groups for {students} students")]
    Groups {
        /// Groups given.
        groups: usize,
        /// Students.
        students: usize,
    },
}

impl ResponseTable {
    /// A table from its cells, row by row.
    pub fn new(students: usize, items: usize, cells: Vec<u8>) -> Result<Self, TableError> {
        if cells.len() != students * items {
            return Err(TableError::Shape { cells: cells.len(), students, items });
        }
        Ok(Self { students, items, cells, weights: None, groups: None, fewest_in_group: 0 })
    }

    /// The same table with one weight per student (a weight of 2 counts as two copies of the row).
    pub fn with_weights(mut self, weights: Vec<f64>) -> Result<Self, TableError> {
        if weights.len() != self.students {
            return Err(TableError::Weight { student: weights.len().min(self.students) });
        }
        if let Some(student) = weights.iter().position(|w| !w.is_finite() || *w < 0.0) {
            return Err(TableError::Weight { student });
        }
        self.weights = Some(weights);
        Ok(self)
    }

    /// The same table with the group of each student: 0 for the reference group, 1, … for the others, [`MISSING`] for none.
    pub fn with_groups(mut self, groups: Vec<u8>) -> Result<Self, TableError> {
        if groups.len() != self.students {
            return Err(TableError::Groups { groups: groups.len(), students: self.students });
        }
        self.groups = Some(groups);
        Ok(self)
    }

    /// The same table without the groups of fewer students than this: they belong to none from here on. Sums over a group
    /// are told of so many students or of none.
    #[must_use]
    pub fn without_rare_groups(mut self, fewest: usize) -> Self {
        if let Some(groups) = &mut self.groups {
            let mut sizes = [0usize; 256];
            groups.iter().for_each(|g| sizes[usize::from(*g)] += 1);
            groups.iter_mut().filter(|g| sizes[usize::from(**g)] < fewest).for_each(|g| *g = MISSING);
        }
        self.fewest_in_group = fewest;
        self
    }

    /// The same students with other answers: weights and groups stay.
    pub fn with_cells(&self, items: usize, cells: Vec<u8>) -> Result<Self, TableError> {
        let Self { weights, groups, fewest_in_group, .. } = self;
        let fewest_in_group = *fewest_in_group;
        let table = Self::new(self.students, items, cells)?;
        Ok(Self { weights: weights.clone(), groups: groups.clone(), fewest_in_group, ..table })
    }

    /// The rows of several tables with the same columns in one. Their order depends on what is in the tables, and not on the
    /// order in which these are given.
    pub fn joined<'a>(tables: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut tables: Vec<&Self> = tables.into_iter().collect();
        let weights = |table: &Self| table.weights.clone().unwrap_or_else(|| vec![1.0; table.students]);
        tables.sort_by(|a, b| {
            let by_weight = || {
                let (a, b) = (weights(a), weights(b));
                let different = a.iter().zip(&b).map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne());
                different.unwrap_or_else(|| a.len().cmp(&b.len()))
            };
            a.cells.cmp(&b.cells).then_with(by_weight).then_with(|| a.groups.cmp(&b.groups))
        });
        Self {
            students: tables.iter().map(|table| table.students).sum(),
            items: tables.first().map_or(0, |table| table.items),
            cells: tables.iter().map(|table| table.cells.as_slice()).collect::<Vec<&[u8]>>().concat(),
            weights: (tables.iter().any(|table| table.weights.is_some()))
                .then(|| tables.iter().flat_map(|table| weights(table)).collect()),
            groups: (tables.iter().any(|table| table.groups.is_some())).then(|| {
                let of =
                    |table: &&Self| table.groups.clone().unwrap_or_else(|| vec![MISSING; table.students]);
                tables.iter().flat_map(of).collect()
            }),
            fewest_in_group: tables.iter().map(|table| table.fewest_in_group).max().unwrap_or(0),
        }
    }

    /// Number of rows.
    pub fn students(&self) -> usize {
        self.students
    }

    /// Number of columns.
    pub fn items(&self) -> usize {
        self.items
    }

    /// One student's answers.
    pub fn row(&self, student: usize) -> &[u8] {
        &self.cells[student * self.items..(student + 1) * self.items]
    }

    /// All rows in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        // `max(1)`: a table without items has no cells, and chunks of zero are not allowed.
        self.cells.chunks_exact(self.items.max(1))
    }

    /// One weight per student, where the file had them.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// Σw and Σw² over the students; without weights each weighs 1.
    pub fn weight_moments(&self) -> (f64, f64) {
        self.weights.as_deref().map_or((self.students as f64, self.students as f64), |weights| {
            (weights.iter().sum(), weights.iter().map(|w| w * w).sum())
        })
    }

    /// The group of each student, where the table has groups.
    pub fn groups(&self) -> Option<&[u8]> {
        self.groups.as_deref()
    }

    /// Whether a student counts: one without a group does not where students are compared by group.
    pub fn counts(&self, student: usize) -> bool {
        let weight = self.weights.as_ref().is_none_or(|w| w[student] > 0.0);
        weight && self.groups.as_ref().is_none_or(|groups| groups[student] != MISSING)
    }

    /// Fewest students of a group about whom sums are told.
    pub fn fewest_in_group(&self) -> usize {
        self.fewest_in_group
    }
}
