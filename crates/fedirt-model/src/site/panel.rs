//! A site's answers, laid out for the kernels.
//!
//! Students are sorted into panels. A large set of students who answered the same items is a *complete*
//! panel: its information follows from a few sums. All others share one panel of the items that any of them answered, where
//! missing answers are part of the codes; where they are few, its information follows from the same sums and what the
//! missing ones take away.

use crate::design::Design;
use crate::kernel::aligned::Aligned;
use crate::kernel::codes::Codes;
use crate::kernel::cross::{Answers, cross_table};
use crate::responses::{MISSING, ResponseTable};
use std::collections::HashMap;

/// From this many students on, a set of equal missingness gets a panel of its own.
const OWN_PANEL: usize = 48;

/// Students who are evaluated together.
#[derive(Debug, Clone)]
pub(crate) struct Panel {
    /// Rows of the site's table, in order.
    pub rows: Vec<u32>,
    /// The group that all of them belong to; 0 where there are no groups.
    pub group: usize,
    /// Items of the design that these students could answer.
    pub items: Vec<usize>,
    /// Categories of those items.
    pub categories: Vec<usize>,
    /// First position of each item among the panel's cells (one per category), and at the end their number.
    pub cell_offsets: Vec<usize>,
    /// First position of each item among the panel's parameters, and at the end their number.
    pub offsets: Vec<usize>,
    /// Answers, item by item.
    pub columns: Vec<u8>,
    /// Answers, in groups of items.
    pub codes: Codes,
    /// One weight per student, scaled.
    pub weights: Vec<f64>,
    /// The missing answers, where every item's model is linear in its parameters and they are few.
    pub missing: Option<Missing>,
    /// The cells of the given answers, where they are few.
    pub given: Option<Given>,
}

/// The cells of each student's answers.
#[derive(Debug, Clone)]
pub(crate) struct Given {
    starts: Vec<usize>,
    cells: Vec<u32>,
}

impl Given {
    /// From answers item by item; none where looking up groups of items, given or not, takes fewer steps.
    fn of(columns: &[u8], cell_offsets: &[usize], codes: &Codes, students: usize) -> Option<Self> {
        let items = cell_offsets.len() - 1;
        let answers = columns.iter().filter(|c| **c != MISSING).count();
        if answers > codes.groups.len() * students {
            return None;
        }
        let mut out = Self { starts: vec![0; students + 1], cells: vec![0; answers] };
        let each = |add: &mut dyn FnMut(usize, usize)| {
            for k in 0..items {
                for (i, &c) in columns[k * students..(k + 1) * students].iter().enumerate() {
                    if c != MISSING {
                        add(i, cell_offsets[k] + usize::from(c));
                    }
                }
            }
        };
        each(&mut |i, _| out.starts[i + 1] += 1);
        (0..students).for_each(|i| out.starts[i + 1] += out.starts[i]);
        let mut next = out.starts.clone();
        each(&mut |i, cell| {
            out.cells[next[i]] = cell as u32;
            next[i] += 1;
        });
        Some(out)
    }

    /// Positions, among the panel's cells, of a student's answers.
    pub(crate) fn of_student(&self, i: usize) -> &[u32] {
        &self.cells[self.starts[i]..self.starts[i + 1]]
    }
}

/// Which items each student of a panel left out.
#[derive(Debug, Clone)]
pub(crate) struct Missing {
    starts: Vec<usize>,
    items: Vec<u32>,
}

impl Missing {
    /// From answers item by item; none where the missing are so many that working with the given ones is cheaper: work
    /// grows with the square of either.
    fn of(columns: &[u8], students: usize, items: usize) -> Option<Self> {
        let mut counts = vec![0usize; students];
        for column in columns.chunks_exact(students) {
            for (count, &c) in counts.iter_mut().zip(column) {
                *count += usize::from(c == MISSING);
            }
        }
        let squares: usize = counts.iter().map(|missing| missing * missing).sum();
        let given: usize = counts.iter().map(|missing| (items - missing) * (items - missing)).sum();
        if 4 * squares > given {
            return None;
        }
        let left_out = |i: usize| (0..items).filter(move |k| columns[k * students + i] == MISSING);
        let mut out = Self { starts: vec![0], items: Vec::new() };
        for i in 0..students {
            out.items.extend(left_out(i).map(|k| k as u32));
            out.starts.push(out.items.len());
        }
        Some(out)
    }

    /// Positions, among the panel's items, of those that a student left out.
    pub(crate) fn of_student(&self, i: usize) -> &[u32] {
        &self.items[self.starts[i]..self.starts[i + 1]]
    }

    /// Whether nobody left out any.
    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

/// Whether an item's model is linear in its parameters, so that information follows from cross tables.
fn is_linear(design: &Design, item: usize) -> bool {
    design.model(item).category_weights(design.categories(item)).is_some()
}

impl Panel {
    fn new(
        design: &Design,
        cells: &[u8],
        group: usize,
        rows: Vec<u32>,
        items: Vec<usize>,
        weights: Vec<f64>,
    ) -> Self {
        let (j_all, students) = (design.len(), rows.len());
        let mut columns = vec![0u8; items.len() * students];
        // Blocks of students keep both sides of the transposition in cache.
        for start in (0..students).step_by(256) {
            let block = &rows[start..(start + 256).min(students)];
            for (k, &j) in items.iter().enumerate() {
                let out = &mut columns[k * students + start..][..block.len()];
                for (out, &row) in out.iter_mut().zip(block) {
                    *out = cells[row as usize * j_all + j];
                }
            }
        }
        let categories: Vec<usize> = items.iter().map(|&j| design.categories(j)).collect();
        let (mut cell_offsets, mut offsets) = (vec![0], vec![0]);
        let (mut cells, mut parameters) = (0, 0);
        for &j in &items {
            cells += design.categories(j);
            cell_offsets.push(cells);
            parameters += design.span(j).len();
            offsets.push(parameters);
        }
        let codes = Codes::new(&columns, students, &categories);
        let linear = items.iter().all(|&j| is_linear(design, j));
        let missing = if linear { Missing::of(&columns, students, items.len()) } else { None };
        let given = Given::of(&columns, &cell_offsets, &codes, students);
        Self {
            rows,
            group,
            items,
            categories,
            cell_offsets,
            offsets,
            columns,
            codes,
            weights,
            missing,
            given,
        }
    }

    /// Tables of rows to look up: one for each group of items with a row for every combination of its answers, or one with a row
    /// for every cell.
    pub(crate) fn tables<'a>(&self, width: usize, row: impl Fn(usize, usize) -> &'a [f64]) -> Vec<Aligned> {
        if self.given.is_none() {
            return self.codes.tables(width, &self.categories, row);
        }
        let mut table = Aligned::zeros(self.cells() * width);
        for (k, categories) in self.categories.iter().enumerate() {
            for c in 0..*categories {
                table[(self.cell_offsets[k] + c) * width..][..width].copy_from_slice(row(k, c));
            }
        }
        vec![table]
    }

    /// Number of students.
    pub(crate) fn students(&self) -> usize {
        self.rows.len()
    }

    /// Number of cells of the panel's items.
    pub(crate) fn cells(&self) -> usize {
        self.cell_offsets[self.items.len()]
    }

    /// Number of parameters of the panel's items.
    pub(crate) fn parameters(&self) -> usize {
        self.offsets[self.items.len()]
    }

    /// Number of parameters of the panel's k-th item.
    pub(crate) fn item_parameters(&self, k: usize) -> usize {
        self.offsets[k + 1] - self.offsets[k]
    }

    /// Answers to the panel's k-th item.
    pub(crate) fn column(&self, k: usize) -> &[u8] {
        &self.columns[k * self.students()..(k + 1) * self.students()]
    }

    /// Σ_i w_i z_i z_iᵀ over the panel's one-hot answers.
    pub(crate) fn cross_table(&self, weights: &[f64]) -> Vec<f64> {
        let answers = Answers {
            columns: &self.columns,
            students: self.students(),
            categories: &self.categories,
            offsets: &self.cell_offsets,
            codes: &self.codes,
        };
        cross_table(&answers, weights)
    }

    /// Where each of the panel's parameters stands in the design.
    pub(crate) fn positions(&self, design: &Design) -> Vec<usize> {
        self.items.iter().flat_map(|&j| design.span(j)).collect()
    }

    /// Where each of the panel's cells stands in the design.
    pub(crate) fn cell_positions(&self, design: &Design) -> Vec<usize> {
        self.items.iter().flat_map(|&j| design.cell_span(j)).collect()
    }
}

/// A site's answers to the items of a design.
#[derive(Debug, Clone)]
pub struct SiteData {
    pub(crate) design: Design,
    pub(crate) panels: Vec<Panel>,
    pub(crate) students: usize,
    pub(crate) total_weight: f64,
    pub(crate) weighted: bool,
}

impl SiteData {
    /// Recodes a table by the codes of a design. Weights are multiplied by `weight_scale`; students without
    /// an answer to a calibrated item, or of weight zero, are left out.
    pub fn new(table: &ResponseTable, design: &Design, weight_scale: f64) -> Self {
        let (cells, mut patterns) = recode(table, design);
        let weight_of = |row: u32| table.weights().map_or(1.0, |w| w[row as usize]) * weight_scale;
        patterns.retain(|(pattern, _)| pattern.iter().any(|word| *word != 0));
        let mut panels = Vec::new();
        let groups = table
            .groups()
            .map_or(1, |of| of.iter().filter(|g| **g != MISSING).max().map_or(0, |g| usize::from(*g) + 1));
        let in_group =
            |row: u32, group: usize| table.groups().is_none_or(|of| usize::from(of[row as usize]) == group);
        for group in 0..groups {
            let mut rest: Vec<u32> = Vec::new();
            for (pattern, rows) in &patterns {
                let counts = |row: &u32| weight_of(*row) > 0.0 && in_group(*row, group);
                let rows: Vec<u32> = rows.iter().copied().filter(counts).collect();
                let given: Vec<usize> =
                    (0..design.len()).filter(|j| pattern[j / 64] >> (j % 64) & 1 == 1).collect();
                let fast = given.iter().all(|&j| is_linear(design, j));
                if fast && rows.len() >= OWN_PANEL {
                    let weights = rows.iter().map(|&r| weight_of(r)).collect();
                    panels.push(Panel::new(design, &cells, group, rows, given, weights));
                } else {
                    rest.extend(rows);
                }
            }
            if !rest.is_empty() {
                rest.sort_unstable();
                let weights = rest.iter().map(|&r| weight_of(r)).collect();
                let j_all = design.len();
                let given = |j: &usize| rest.iter().any(|row| cells[*row as usize * j_all + j] != MISSING);
                let items = (0..j_all).filter(given).collect();
                panels.push(Panel::new(design, &cells, group, rest, items, weights));
            }
        }
        let students = panels.iter().map(Panel::students).sum();
        let total_weight = panels.iter().flat_map(|p| &p.weights).sum();
        // Weights of one need no multiplication.
        let weighted = panels.iter().flat_map(|p| &p.weights).any(|w| *w != 1.0);
        Self { design: design.clone(), panels, students, total_weight, weighted }
    }

    /// The students of one group alone.
    pub(crate) fn of_group(&self, group: usize) -> Self {
        let panels: Vec<Panel> = self.panels.iter().filter(|panel| panel.group == group).cloned().collect();
        let students = panels.iter().map(Panel::students).sum();
        let total_weight = panels.iter().flat_map(|p| &p.weights).sum();
        Self { design: self.design.clone(), panels, students, total_weight, weighted: self.weighted }
    }

    /// Students with at least one answer to a calibrated item.
    pub fn students(&self) -> usize {
        self.students
    }

    /// Sum of their scaled weights.
    pub fn total_weight(&self) -> f64 {
        self.total_weight
    }

    /// The calibrated items.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// Weighted count of each category of each item.
    pub(crate) fn category_counts(&self) -> Vec<f64> {
        let mut counts = vec![0.0; self.design.cells()];
        for panel in &self.panels {
            for (k, &j) in panel.items.iter().enumerate() {
                for (&cell, w) in panel.column(k).iter().zip(&panel.weights) {
                    if cell != MISSING {
                        counts[self.design.cell_offset(j) + usize::from(cell)] += w;
                    }
                }
            }
        }
        counts
    }

    /// Whether every answer stands at the abler end of its item, or every one at the other end: then no finite school
    /// effect maximises the likelihood. Before there are parameters, the highest category of an item with ordered
    /// categories counts as its abler end.
    pub(crate) fn no_finite_effect(&self, psi: Option<&[f64]>) -> bool {
        let (mut top, mut bottom) = (true, true);
        let counts = self.category_counts();
        for j in 0..self.design.len() {
            let (model, cells) = (self.design.model(j), self.design.cell_span(j));
            let ends = match psi {
                Some(psi) => model.end_categories(&psi[self.design.span(j)]),
                None => model.one_slope().map(|_| (0, cells.len() - 1)),
            };
            for (c, cell) in cells.enumerate() {
                if counts[cell] > 0.0 {
                    top &= ends.is_some_and(|(_, high)| c == high);
                    bottom &= ends.is_some_and(|(low, _)| c == low);
                }
            }
        }
        top || bottom
    }
}

/// Cells as categories of the design, and the rows of each pattern of answered items, in order of appearance.
type Patterns = Vec<(Vec<u64>, Vec<u32>)>;

fn recode(table: &ResponseTable, design: &Design) -> (Vec<u8>, Patterns) {
    let maps: Vec<[u8; 256]> = design
        .items()
        .iter()
        .map(|item| {
            let mut map = [MISSING; 256];
            for (category, &code) in item.codes.iter().enumerate() {
                map[usize::from(code)] = category as u8;
            }
            map
        })
        .collect();
    let words = design.len().div_ceil(64);
    let mut cells = Vec::with_capacity(table.students() * design.len());
    let mut index: HashMap<Vec<u64>, usize> = HashMap::new();
    let mut patterns: Patterns = Vec::new();
    let mut pattern = vec![0u64; words];
    let mut last: Option<usize> = None;
    for (i, row) in table.rows().enumerate() {
        pattern.fill(0);
        for (j, (item, map)) in design.items().iter().zip(&maps).enumerate() {
            let cell = map[usize::from(row[item.column])];
            pattern[j / 64] |= u64::from(cell != MISSING) << (j % 64);
            cells.push(cell);
        }
        // Most rows repeat the pattern of the row before.
        let at = match last {
            Some(at) if patterns[at].0 == pattern => at,
            _ => *index.entry(pattern.clone()).or_insert_with(|| {
                patterns.push((pattern.clone(), Vec::new()));
                patterns.len() - 1
            }),
        };
        patterns[at].1.push(i as u32);
        last = Some(at);
    }
    (cells, patterns)
}
