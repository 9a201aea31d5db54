//! How a question declares the numbers of its reply: one [`Tensor`] for each named group of numbers.

use crate::design::Design;
use crate::exchange::triangle;
use crate::statistics::{Combination, Statistic};

/// What a site must give to stand behind a number.
///
/// A sum that only one site fills is that site's number. So in `secure` every site counts, number by number, how many
/// sites of the cohort stand behind it, from what all sites have declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Need {
    /// Nothing: every site stands behind the number.
    Nothing,
    /// One item of the design.
    Item(usize),
    /// Two items, the smaller first.
    Pair(usize, usize),
    /// Any item of a linked part.
    Part(usize),
    /// Every item of the design.
    All,
    /// A group of students.
    Group(usize),
    /// A group, and one item or two of the design (twice the same, or the smaller first).
    InGroup(usize, usize, usize),
    /// A group, and every item of the design.
    AllInGroup(usize),
}

impl Need {
    /// What a site must give to stand behind an entry of a matrix, from the needs of its row and its column.
    ///
    /// An item says more than the part that it belongs to. A site belongs to one part, so entries between two parts are
    /// zero at every site and either part will do.
    fn and(self, other: Self) -> Self {
        match (self.group(), other.group()) {
            (None, None) => self.of_items(other),
            (Some((g, base)), None) => base.of_items(other).in_group(g),
            (None, Some((g, base))) => self.of_items(base).in_group(g),
            // A student is in one group: between two groups every number is zero.
            (Some((g, base)), Some((_, other))) => base.of_items(other).in_group(g),
        }
    }

    /// The group, and what else is needed.
    fn group(self) -> Option<(usize, Self)> {
        match self {
            Self::Group(g) => Some((g, Self::Nothing)),
            Self::InGroup(g, j, l) => Some((g, if j == l { Self::Item(j) } else { Self::Pair(j, l) })),
            Self::AllInGroup(g) => Some((g, Self::All)),
            Self::Nothing | Self::Item(_) | Self::Pair(..) | Self::Part(_) | Self::All => None,
        }
    }

    fn in_group(self, group: usize) -> Self {
        match self {
            // Parts are of sites, and groups are in every part.
            Self::Nothing | Self::Part(_) => Self::Group(group),
            Self::Item(j) => Self::InGroup(group, j, j),
            Self::Pair(j, l) => Self::InGroup(group, j, l),
            Self::All => Self::AllInGroup(group),
            Self::Group(_) | Self::InGroup(..) | Self::AllInGroup(_) => self,
        }
    }

    fn of_items(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, need) | (need, Self::Nothing) => need,
            (Self::All, _) | (_, Self::All) => Self::All,
            (pair @ Self::Pair(..), _) | (_, pair @ Self::Pair(..)) => pair,
            (Self::Item(j), Self::Item(l)) if j == l => Self::Item(j),
            (Self::Item(j), Self::Item(l)) => Self::Pair(j.min(l), j.max(l)),
            (item @ Self::Item(_), Self::Part(_)) | (Self::Part(_), item @ Self::Item(_)) => item,
            (Self::Part(a), Self::Part(b)) => Self::Part(a.max(b)),
            // `and` takes groups off first.
            (group @ (Self::Group(_) | Self::InGroup(..) | Self::AllInGroup(_)), _)
            | (_, group @ (Self::Group(_) | Self::InGroup(..) | Self::AllInGroup(_))) => group,
        }
    }
}

/// What a position of an index is about, so that people can be told what a number says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum About {
    /// Its place, counted from 0, among numbers of no item.
    Place(usize),
    /// An item.
    Item(usize),
    /// A parameter of an item, counted from 0.
    Parameter(usize, usize),
    /// A category of an item, counted from 0.
    Category(usize, usize),
    /// A linked part of the design.
    Part(usize),
    /// A group of students.
    Group(usize),
}

/// What one index of a tensor runs over: for each position, what a site must give to stand behind it, and what it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis(Vec<Need>, Vec<About>);

impl Axis {
    /// Positions that every site stands behind.
    pub fn shared(len: usize) -> Self {
        Self(vec![Need::Nothing; len], (0..len).map(About::Place).collect())
    }

    /// Positions for which a site must give every item of the design.
    pub fn complete(len: usize) -> Self {
        Self(vec![Need::All; len], (0..len).map(About::Place).collect())
    }

    /// The items.
    pub fn items(design: &Design) -> Self {
        Self((0..design.len()).map(Need::Item).collect(), (0..design.len()).map(About::Item).collect())
    }

    /// The item parameters, item after item.
    pub fn parameters(design: &Design) -> Self {
        (0..design.len()).fold(Self::shared(0), |axis, j| axis.then(Self::item_parameters(design, j)))
    }

    /// The parameters of one item.
    pub fn item_parameters(design: &Design, item: usize) -> Self {
        let len = design.span(item).len();
        Self(vec![Need::Item(item); len], (0..len).map(|k| About::Parameter(item, k)).collect())
    }

    /// The categories, item after item.
    pub fn cells(design: &Design) -> Self {
        let of_item = |j: usize| (0..design.cell_span(j).len()).map(move |c| About::Category(j, c));
        Self(
            (0..design.len()).flat_map(|j| design.cell_span(j).map(move |_| Need::Item(j))).collect(),
            (0..design.len()).flat_map(of_item).collect(),
        )
    }

    /// The linked parts of the design.
    pub fn parts(count: usize) -> Self {
        Self((0..count).map(Need::Part).collect(), (0..count).map(About::Part).collect())
    }

    /// The groups.
    pub fn groups(count: usize) -> Self {
        Self((0..count).map(Need::Group).collect(), (0..count).map(About::Group).collect())
    }

    /// This axis for the students of one group.
    #[must_use]
    pub fn in_group(mut self, group: usize) -> Self {
        self.0.iter_mut().for_each(|need| *need = need.and(Need::Group(group)));
        self
    }

    /// This axis with another one behind it.
    #[must_use]
    pub fn then(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self.1.extend(other.1);
        self
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no positions.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The shape of a tensor: how many numbers, in which order, and who stands behind each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// One number per position.
    Vector(Axis),
    /// A matrix, row by row.
    Matrix(Axis, Axis),
    /// The lower triangle of a symmetric matrix, row by row.
    Triangle(Axis),
    /// The lower triangles of the blocks along the diagonal of a symmetric matrix, block by block.
    Blocks(Vec<Axis>),
}

impl Shape {
    /// One number that every site stands behind.
    pub fn scalar() -> Self {
        Self::Vector(Axis::shared(1))
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        match self {
            Self::Vector(axis) => axis.len(),
            Self::Matrix(rows, columns) => rows.len() * columns.len(),
            Self::Triangle(axis) => triangle(axis.len()),
            Self::Blocks(blocks) => blocks.iter().map(|axis| triangle(axis.len())).sum(),
        }
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What a site must give to stand behind each entry.
    pub fn needs(&self) -> Vec<Need> {
        let mut needs = Vec::with_capacity(self.len());
        let lower = |axis: &Axis, needs: &mut Vec<Need>| {
            for (r, row) in axis.0.iter().enumerate() {
                needs.extend(axis.0[..=r].iter().map(|column| row.and(*column)));
            }
        };
        match self {
            Self::Vector(axis) => needs.extend(&axis.0),
            Self::Matrix(rows, columns) => {
                for row in &rows.0 {
                    needs.extend(columns.0.iter().map(|column| row.and(*column)));
                }
            }
            Self::Triangle(axis) => lower(axis, &mut needs),
            Self::Blocks(blocks) => blocks.iter().for_each(|axis| lower(axis, &mut needs)),
        }
        needs
    }
}

impl Shape {
    /// What each entry is about: one position of a vector, two of a matrix.
    pub fn about(&self) -> Vec<(About, Option<About>)> {
        let lower = |axis: &Axis, all: &mut Vec<(About, Option<About>)>| {
            for (r, row) in axis.1.iter().enumerate() {
                all.extend(axis.1[..=r].iter().map(|column| (*row, Some(*column))));
            }
        };
        let mut all = Vec::with_capacity(self.len());
        match self {
            Self::Vector(axis) => all.extend(axis.1.iter().map(|about| (*about, None))),
            Self::Matrix(rows, columns) => {
                for row in &rows.1 {
                    all.extend(columns.1.iter().map(|column| (*row, Some(*column))));
                }
            }
            Self::Triangle(axis) => lower(axis, &mut all),
            Self::Blocks(blocks) => blocks.iter().for_each(|axis| lower(axis, &mut all)),
        }
        all
    }
}

/// What a bound on a number is counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Per {
    /// Each student of weight one adds at most the bound.
    Student,
    /// Each site adds at most the bound, whatever its size.
    Site,
    /// Each student adds at most the bound times the square of the weight.
    SquaredWeight,
    /// Each pair of students of a site adds at most the bound.
    StudentPair,
}

/// How large one contribution to a number can be. The sum over the cohort must fit into a fixed-point word, so these
/// bounds are generous: ability stays within ±26 (nodes to 6, effects to 20) and parameters within a site's policy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// Largest absolute contribution.
    pub largest: f64,
    /// Of what.
    pub per: Per,
}

impl Bound {
    /// A bound on what a student of weight one adds.
    pub fn per_student(largest: f64) -> Self {
        Self { largest, per: Per::Student }
    }

    /// A bound on what a site adds.
    pub fn per_site(largest: f64) -> Self {
        Self { largest, per: Per::Site }
    }
}

/// The highest score of any item of the design.
pub(crate) fn top_score(design: &Design) -> f64 {
    (0..design.len()).map(|j| design.categories(j) - 1).max().unwrap_or(1) as f64
}

/// How a number depends on a site as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteTerm {
    /// A sum over the site's students, or a number that tells nothing more about the site than such sums do.
    Plain,
    /// A product of the site's totals. With few sites the sums of such products determine the terms of each site (two or
    /// three unknown integers have one solution), so a site's policy restricts them in `secure`.
    Product {
        /// Whether each site rounds its terms to three significant digits.
        rounded: bool,
    },
}

/// A named group of numbers in a reply: everything that masking, policies and the officer's words need to know of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// What the numbers are.
    pub statistic: Statistic,
    /// How many there are, in which order, and who stands behind each.
    pub shape: Shape,
    /// How large they can be.
    pub bound: Bound,
    /// How they depend on a site as a whole.
    pub term: SiteTerm,
}

impl Tensor {
    /// The number of entries.
    pub fn len(&self) -> usize {
        self.shape.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.shape.is_empty()
    }

    /// Whether the coordinator adds it up over sites; otherwise it is kept beside the site's name.
    pub fn summed(&self) -> bool {
        self.statistic.combination == Combination::Sum
    }
}
