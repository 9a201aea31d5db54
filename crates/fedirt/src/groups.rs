//! Groups of students that are compared: from the labels of a column to the codes of the tables.

use crate::options::DifOptions;
use fedirt_data::Responses;
use fedirt_data::text::listed;
use fedirt_model::centre::ItemPlan;
use fedirt_model::comparison::Freed;
use fedirt_model::fit::Warning;
use fedirt_model::population::MAX_GROUPS;
use fedirt_model::responses::{MISSING, ResponseTable, TableError};
use std::collections::BTreeMap;
use std::fmt;

/// Smaller groups are not compared: their means and SDs could not be estimated.
const FEWEST_STUDENTS: usize = 20;

/// Why groups cannot be compared.
///
/// ```
/// use fedirt::{FitError, FitOptions, GroupProblem, Input, ReadOptions, fit, read};
///
/// let text = "sex,I1,I2,I3\nf,1,1,0\nf,0,1,0\nf,1,0,0\nf,1,1,1\n";
/// let options = ReadOptions { group: Some("sex".into()), ..ReadOptions::default() };
/// let responses = read([Input::new("north.csv", text.as_bytes())], &options)?;
/// let refused = fit(&responses, &FitOptions::default());
/// assert!(matches!(refused, Err(FitError::Groups(GroupProblem::Few { .. }))));
/// # Ok::<(), fedirt::Problems>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GroupProblem {
    /// Fewer than two groups with enough students.
    Few {
        /// Groups with their students.
        sizes: Vec<(String, usize)>,
    },
    /// More groups than are compared.
    Many(usize),
    /// The reference group does not exist, or is too small.
    NoReference {
        /// Its name.
        name: String,
        /// The groups that there are.
        groups: Vec<String>,
    },
    /// A site's rows come without groups, and another's with.
    Missing(String),
    /// An item that is to be free in a group does not exist, or has given parameters.
    NoSuchItem(String),
    /// All items are free in a group: none is left to anchor its scale.
    NoAnchor(String),
    /// Items are to be free in groups, and no column of groups was read.
    NoGroups,
    /// Private fits compare no groups.
    Private,
    /// Fixed effects of sites, each of which has one group only: they cannot be told from the groups' means.
    SiteEffects,
    /// Groups have normal distributions; another family was asked for, or an algorithm or weights that know one population only.
    OnePopulation,
}

impl fmt::Display for GroupProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Few { sizes } => {
                let sizes: Vec<String> = sizes.iter().map(|(name, n)| format!("{name}: {n}")).collect();
                write!(
                    f,
                    "two groups of {FEWEST_STUDENTS} students or more are needed for a comparison; the column has {}",
                    if sizes.is_empty() { "none".to_owned() } else { sizes.join(", ") }
                )
            }
            Self::Many(n) => write!(f, "{n} groups: at most {MAX_GROUPS} are compared; is the column one of groups?"),
            Self::NoReference { name, groups } => {
                let groups: Vec<&str> = groups.iter().map(String::as_str).collect();
                write!(f, "there is no group {name:?} with {FEWEST_STUDENTS} students or more; there are {}", listed(&groups))
            }
            Self::Missing(site) => write!(f, "{site} has no column of groups, and other sites have one"),
            Self::NoSuchItem(name) => write!(f, "{name} cannot be free in a group: there is no such item without given parameters"),
            Self::NoAnchor(group) => write!(
                f,
                "all items would be free in {group}: one at least must have the same parameters in all groups, or their abilities have no common scale"
            ),
            Self::NoGroups => f.write_str("items can be free in groups only where a column of groups is read"),
            Self::Private => f.write_str(
                "private fits compare no groups: every further sum over students would cost more of the privacy budget",
            ),
            Self::SiteEffects => f.write_str(
                "each site has students of one group only: fixed site effects and the groups' means cannot be told apart; use no effects or random ones",
            ),
            Self::OnePopulation => f.write_str(
                "groups have normal distributions, each its own: another population, quadrature or algorithm than newton and em cannot be combined with them",
            ),
        }
    }
}

impl std::error::Error for GroupProblem {}

/// The groups that are compared.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Groups {
    /// Names, the reference group first; none where nothing is compared.
    pub(crate) names: Vec<String>,
    /// Whether each site has students of one group only.
    pub(crate) by_site: bool,
    pub(crate) warnings: Vec<Warning>,
}

impl Groups {
    /// The groups of the responses.
    pub(crate) fn of(responses: &Responses, options: &DifOptions) -> Result<Self, GroupProblem> {
        let with: Vec<_> = responses.sites.iter().filter(|site| site.groups.is_some()).collect();
        if with.is_empty() {
            return Ok(Self::default());
        }
        if let Some(without) =
            responses.sites.iter().find(|site| site.groups.is_none() && site.table.students() > 0)
        {
            return Err(GroupProblem::Missing(without.name.clone()));
        }
        let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
        let labels = || with.iter().flat_map(|site| site.groups.iter().flatten());
        labels().filter(|label| !label.is_empty()).for_each(|label| *sizes.entry(label).or_default() += 1);
        let (large, small): (Vec<_>, Vec<_>) = sizes.into_iter().partition(|(_, n)| *n >= FEWEST_STUDENTS);
        let named = |of: Vec<(&str, usize)>| -> Vec<(String, usize)> {
            of.into_iter().map(|(name, n)| (name.to_owned(), n)).collect()
        };
        let (mut large, small) = (named(large), named(small));
        if large.len() < 2 {
            large.extend(small);
            return Err(GroupProblem::Few { sizes: large });
        }
        if large.len() > usize::from(MAX_GROUPS) {
            return Err(GroupProblem::Many(large.len()));
        }
        // By default the largest is the reference; of equally large ones the first by name.
        let reference = match &options.reference {
            Some(name) => large.iter().position(|(group, _)| group == name).ok_or_else(|| {
                let groups = large.iter().map(|(group, _)| group.clone()).collect();
                GroupProblem::NoReference { name: name.clone(), groups }
            })?,
            None => (0..large.len()).rev().max_by_key(|g| large[*g].1).unwrap_or(0),
        };
        let first = large.remove(reference);
        large.insert(0, first);
        let names: Vec<String> = large.into_iter().map(|(name, _)| name).collect();
        let of_site = |site: &&&fedirt_data::SiteResponses| {
            let mut own: Vec<&String> =
                site.groups.iter().flatten().filter(|label| names.contains(label)).collect();
            own.sort_unstable();
            own.dedup();
            own.len() <= 1
        };
        let by_site = with.iter().filter(of_site).count() == with.len();
        let mut warnings = Vec::new();
        let left_out = labels().filter(|label| !names.contains(label)).count();
        if left_out > 0 {
            let mut why: Vec<String> = small.iter().map(|(name, n)| format!("{name}: {n}")).collect();
            let without = labels().filter(|label| label.is_empty()).count();
            why.extend((without > 0).then(|| format!("without a group: {without}")));
            warnings.push(Warning {
                code: "groups_left_out".into(),
                message: format!(
                    "{left_out} rows are left out of the calibration, because they belong to no group of {FEWEST_STUDENTS} students or more ({})",
                    why.join(", ")
                ),
            });
        }
        Ok(Self { names, by_site, warnings })
    }

    /// The items that are free in groups, as places in the plan.
    pub(crate) fn freed(&self, items: &[ItemPlan], options: &DifOptions) -> Result<Vec<Freed>, GroupProblem> {
        let mut freed = Vec::new();
        if !options.free.is_empty() && self.names.is_empty() {
            return Err(GroupProblem::NoGroups);
        }
        for (name, group) in &options.free {
            let item = items.iter().position(|item| item.name == *name && item.anchor.is_none());
            let item = item.ok_or_else(|| GroupProblem::NoSuchItem(name.clone()))?;
            let groups = match group {
                None => 1..self.names.len(),
                Some(group) => {
                    let unknown =
                        || GroupProblem::NoReference { name: group.clone(), groups: self.names.clone() };
                    let at = self.names.iter().position(|other| other == group).ok_or_else(unknown)?;
                    at..at + 1
                }
            };
            freed.extend(
                groups
                    .map(|group| Freed { item, group })
                    .filter(|new| !freed.contains(new))
                    .collect::<Vec<_>>(),
            );
        }
        for (group, name) in self.names.iter().enumerate() {
            if freed.iter().filter(|freed| freed.group == group).count() == items.len() {
                return Err(GroupProblem::NoAnchor(name.clone()));
            }
        }
        Ok(freed)
    }

    /// A site's table with the codes of its groups.
    pub(crate) fn code(
        &self,
        labels: Option<&Vec<String>>,
        table: ResponseTable,
    ) -> Result<ResponseTable, TableError> {
        let Some(labels) = labels.filter(|_| !self.names.is_empty()) else { return Ok(table) };
        let code = |label: &String| {
            self.names
                .iter()
                .position(|name| name == label)
                .map_or(MISSING, |g| u8::try_from(g).unwrap_or(MISSING))
        };
        table.with_groups(labels.iter().map(code).collect())
    }
}
