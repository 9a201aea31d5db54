//! Warnings of a private run about its own fit: all of them functions of the noisy sums.

use super::machine::PrivateResult;
use crate::fit::Warning;

/// A share of incomplete rows that deserves a word.
const MANY: f64 = 0.05;
/// Standard errors that it must be away from none.
const SURE: f64 = 3.0;

fn warning(code: &str, message: String) -> Option<Warning> {
    Some(Warning { code: code.into(), message })
}

/// A list for people, cut after a few.
fn list(names: &[String]) -> String {
    const MOST: usize = 8;
    let mut text = names.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > MOST {
        text.push_str(&format!(" and {} more", names.len() - MOST));
    }
    text
}

impl PrivateResult {
    /// The fit went on for as long as it may.
    pub(super) fn unfinished(&self) -> Option<Warning> {
        if self.converged {
            return None;
        }
        let steps = self.steps.last().copied().unwrap_or(0);
        warning(
            "no_convergence",
            format!(
                "the fit of the noisy sums did not come to rest within {steps} steps: the estimates may not be the best ones, and their standard errors are rough"
            ),
        )
    }

    /// Parameters that the sums would have beyond what is allowed.
    pub(super) fn on_a_bound(&self, items: &[String], sites: &[String]) -> Option<Warning> {
        let coordinates = &self.coordinates;
        let of_item = |j: usize| coordinates.span(j).any(|r| self.on_bound.contains(&r));
        let mut names: Vec<String> = (0..coordinates.design().len())
            .filter(|j| of_item(*j))
            .map(|j| items.get(j).cloned().unwrap_or_else(|| format!("item {}", j + 1)))
            .collect();
        // A contrast has several sites in it.
        let contrasts = self.on_bound.iter().filter(|r| coordinates.contrast_span().contains(r));
        names.extend(contrasts.filter_map(|r| sites.get(r - coordinates.items() + 1).cloned()));
        if names.is_empty() {
            return None;
        }
        warning(
            "on_a_bound",
            format!(
                "{}: estimates lie on a bound of the search, where the noisy sums say next to nothing; their standard errors are too small",
                list(&names)
            ),
        )
    }

    /// Items about whose difficulty the prior says much of what is known.
    pub(super) fn leaning(&self, items: &[String]) -> Option<Warning> {
        let those = (0..self.coordinates.design().len()).filter(|j| self.leans_on_prior(*j));
        let names: Vec<String> =
            those.map(|j| items.get(j).cloned().unwrap_or_else(|| format!("item {}", j + 1))).collect();
        if names.is_empty() {
            return None;
        }
        warning(
            "leans_on_prior",
            format!(
                "{}: difficulties lean on the prior (it says more than a tenth of what is known about them, or has drawn them by more than a fifth of their standard error): they are too near 0, and their intervals hold the truth less often than they say",
                list(&names)
            ),
        )
    }

    /// Rows that count for nothing.
    pub(super) fn incomplete(&self, sites: &[String]) -> Option<Warning> {
        let complete = self.complete.as_ref()?;
        let many = |(share, se): (f64, f64)| 1.0 - share > MANY && 1.0 - share > SURE * se;
        let percent = |share: f64| 100.0 * (1.0 - share).clamp(0.0, 1.0);
        let named: Vec<String> = (complete.by_site.iter().zip(sites))
            .filter(|(share, _)| many(**share))
            .map(|(share, name)| format!("{name} {:.0} %", percent(share.0)))
            .collect();
        if !many(complete.share) && named.is_empty() {
            return None;
        }
        let by_site = if named.is_empty() { String::new() } else { format!(" ({})", list(&named)) };
        warning(
            "incomplete_rows",
            format!(
                "about {:.0} % of the rows lack an answer and count for nothing{by_site}: the results are of the others, and of all only if whether a row is complete has nothing to do with its answers",
                percent(complete.share.0)
            ),
        )
    }
}
