//! Bundles: items that depend on each other, merged into one item of several categories. Its category is the sum of those of its
//! parts, and where an answer to a part is missing, the answer to the bundle is.

use crate::errors::Errors;
use crate::reading::{Responses, SiteResponses};
use fedirt_model::design::MAX_CATEGORIES;
use fedirt_model::fit::{BundlePart, Fit};
use fedirt_model::responses::{MISSING, ResponseTable};

/// A bundle: the name of the merged item, and its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    /// Name of the merged item: those of its parts with `+` between them.
    pub name: String,
    /// The items, each with its codes, lowest first.
    pub parts: Vec<BundlePart>,
}

/// Why items cannot be merged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BundleError {
    /// A bundle of less than two items.
    #[error("bundle {0}: at least two items are needed")]
    TooSmall(String),
    /// No site has the item.
    #[error("bundle {bundle}: there is no item {item}")]
    NoSuchItem {
        /// The bundle.
        bundle: String,
        /// The item.
        item: String,
    },
    /// An item is in two bundles, or twice in one.
    #[error("bundle {bundle}: item {item} is in a bundle already")]
    Twice {
        /// The bundle.
        bundle: String,
        /// The item.
        item: String,
    },
    /// The sum of the categories does not fit.
    #[error("bundle {bundle}: it would have {categories} categories, and {most} are possible")]
    TooManyCategories {
        /// The bundle.
        bundle: String,
        /// Categories of the sum.
        categories: usize,
        /// Most categories of an item.
        most: usize,
    },
    /// A code that the bundle does not know.
    #[error("site {site}, item {item}: the code {code} is unknown, so that the bundle {bundle} has no sum")]
    UnknownCode {
        /// The site.
        site: String,
        /// The item.
        item: String,
        /// The code.
        code: u8,
        /// The bundle.
        bundle: String,
    },
}

impl Bundle {
    /// Bundles of named items, with the codes that occur at any site.
    pub fn find(responses: &Responses, groups: &[Vec<String>]) -> Result<Vec<Self>, Errors<BundleError>> {
        let (mut problems, mut taken, mut out) = (Vec::new(), Vec::new(), Vec::new());
        for group in groups {
            let name = group.join("+");
            if group.len() < 2 {
                problems.push(BundleError::TooSmall(name.clone()));
            }
            let mut parts = Vec::new();
            for item in group {
                let (bundle, item) = (name.clone(), item.clone());
                if taken.contains(&item) {
                    problems.push(BundleError::Twice { bundle, item });
                    continue;
                }
                taken.push(item.clone());
                match codes(responses, &item) {
                    Some(codes) => parts.push(BundlePart { item, codes }),
                    None => problems.push(BundleError::NoSuchItem { bundle, item }),
                }
            }
            let categories = 1 + parts.iter().map(|part| part.codes.len().saturating_sub(1)).sum::<usize>();
            if categories > MAX_CATEGORIES {
                let most = MAX_CATEGORIES;
                problems.push(BundleError::TooManyCategories { bundle: name.clone(), categories, most });
            }
            out.push(Self { name, parts });
        }
        Errors::unless_empty(problems)?;
        Ok(out)
    }

    /// The bundles with which a fit was made.
    pub fn of_fit(fit: &Fit) -> Vec<Self> {
        let bundled = fit.items.iter().filter(|item| !item.bundle.is_empty());
        bundled.map(|item| Self { name: item.name.clone(), parts: item.bundle.clone() }).collect()
    }
}

/// The codes of an item at any site, lowest first; none where no site has it.
fn codes(responses: &Responses, item: &str) -> Option<Vec<u8>> {
    let mut seen: Option<[bool; 256]> = None;
    for site in &responses.sites {
        if let Some(column) = site.items.iter().position(|name| name == item) {
            let seen = seen.get_or_insert([false; 256]);
            site.table.rows().for_each(|row| seen[usize::from(row[column])] = true);
        }
    }
    seen.map(|seen| (0..MISSING).filter(|code| seen[usize::from(*code)]).collect())
}

/// The same answers with the items of each bundle merged into one, behind all others. Items called `without` are left out.
pub fn with_bundles(
    responses: &Responses,
    bundles: &[Bundle],
    without: &[String],
) -> Result<Responses, Errors<BundleError>> {
    let mut problems = Vec::new();
    let sites = responses.sites.iter().map(|site| merged(site, bundles, without, &mut problems)).collect();
    Errors::unless_empty(problems)?;
    Ok(Responses { sites, notes: responses.notes.clone(), said: responses.said.clone() })
}

fn merged(
    site: &SiteResponses,
    bundles: &[Bundle],
    without: &[String],
    problems: &mut Vec<BundleError>,
) -> SiteResponses {
    let bundled = |name: &String| bundles.iter().flat_map(|b| &b.parts).any(|part| part.item == *name);
    let kept: Vec<usize> = (0..site.items.len())
        .filter(|c| !bundled(&site.items[*c]) && !without.contains(&site.items[*c]))
        .collect();
    // A bundle is given where all of its parts are.
    let given: Vec<(&Bundle, Vec<usize>)> = (bundles.iter())
        .filter_map(|bundle| {
            let column = |part: &BundlePart| site.items.iter().position(|name| *name == part.item);
            Some((bundle, bundle.parts.iter().map(column).collect::<Option<Vec<usize>>>()?))
        })
        .collect();
    let mut cells = Vec::with_capacity(site.table.students() * (kept.len() + given.len()));
    for row in site.table.rows() {
        cells.extend(kept.iter().map(|column| row[*column]));
        for (bundle, columns) in &given {
            let mut sum = Some(0);
            for (part, column) in bundle.parts.iter().zip(columns) {
                let code = row[*column];
                let category = part.codes.iter().position(|known| *known == code);
                if category.is_none() && code != MISSING {
                    let unknown = BundleError::UnknownCode {
                        site: site.name.clone(),
                        item: part.item.clone(),
                        code,
                        bundle: bundle.name.clone(),
                    };
                    if !problems.contains(&unknown) {
                        problems.push(unknown);
                    }
                }
                sum = sum.zip(category).map(|(sum, category)| sum + category);
            }
            cells.push(sum.map_or(MISSING, |sum| sum as u8));
        }
    }
    let items: Vec<String> = (kept.iter().map(|column| site.items[*column].clone()))
        .chain(given.iter().map(|(bundle, _)| bundle.name.clone()))
        .collect();
    let table = ResponseTable::new(site.table.students(), items.len(), cells)
        .expect("a cell was made for each student and item");
    let table = match site.table.weights() {
        Some(weights) => {
            table.with_weights(weights.to_vec()).expect("the weights belonged to as many students")
        }
        None => table,
    };
    SiteResponses { items, table, ..site.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Input, ReadOptions, read};

    fn responses(text: &'static str) -> Responses {
        read([Input::new("north", text.as_bytes())], &ReadOptions::default()).expect("a table")
    }

    #[test]
    fn parts_are_added_up_and_replaced() {
        let responses = responses("I1,I2,I3,I4\n1,1,2,0\n0,,3,1\n1,0,1,1\n");
        let group = vec!["I3".to_owned(), "I1".to_owned(), "I2".to_owned()];
        let bundles = Bundle::find(&responses, &[group]).expect("a bundle");
        assert_eq!(bundles[0].parts[0].codes, [1, 2, 3]);
        let merged = with_bundles(&responses, &bundles, &[]).expect("merged");
        let site = &merged.sites[0];
        assert_eq!(site.items, ["I4", "I3+I1+I2"]);
        let rows: Vec<&[u8]> = site.table.rows().collect();
        // The lowest code of I3 counts 0.
        assert_eq!(rows, [&[0, 3][..], &[1, MISSING], &[1, 1]]);
    }

    #[test]
    fn what_cannot_be_merged_is_said_all_at_once() {
        let responses = responses("I1,I2\n1,1\n0,1\n");
        let groups = [vec!["I1".to_owned(), "I9".to_owned()], vec!["I1".to_owned()]];
        let Err(Errors(problems)) = Bundle::find(&responses, &groups) else { panic!("these are no bundles") };
        assert_eq!(problems.len(), 3, "{problems:?}");
        let known = vec![
            BundlePart { item: "I1".into(), codes: vec![0] },
            BundlePart { item: "I2".into(), codes: vec![1] },
        ];
        let bundle = Bundle { name: "I1+I2".into(), parts: known };
        let refused = with_bundles(&responses, &[bundle], &[]).expect_err("1 is unknown");
        assert!(refused.to_string().contains("site north, item I1: the code 1"), "{refused}");
    }
}
