//! The linking design: which site gives which items, and where the link between the items is weakest.
//!
//! Two items are linked by the students of the sites that give both. How well two parts of the test are linked to a common
//! scale is limited by the weakest link on the best path between them: the smallest edge of a maximum spanning tree.

use fedirt_figures::escape;
use fedirt_figures::{Figure, Table};
use fedirt_protocol::declaration::Declaration;
use std::collections::BTreeMap;

/// Items that are given by the same sites.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    /// Positions of the items in the plan.
    pub(super) items: Vec<usize>,
    /// Positions of the sites.
    pub(super) sites: Vec<usize>,
}

/// The weakest link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Weakest {
    /// Students who were given items of both sides.
    pub(super) students: u64,
    /// Sites that give both.
    pub(super) sites: usize,
    /// Items on the smaller side.
    pub(super) apart: Vec<usize>,
}

/// The linking design that follows from the declarations of the sites.
pub(super) struct Links {
    pub(super) groups: Vec<Group>,
    pub(super) weakest: Option<Weakest>,
    /// Items that no site gives.
    pub(super) nobody: Vec<usize>,
}

fn gives(site: &Declaration, item: usize) -> bool {
    site.codes.get(item).is_some_and(|codes| !codes.is_empty())
}

/// The linking design of `items` items.
pub(super) fn links(items: usize, sites: &[&Declaration]) -> Links {
    let mut by_sites: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    for item in 0..items {
        let own: Vec<usize> = (0..sites.len()).filter(|s| gives(sites[*s], item)).collect();
        by_sites.entry(own).or_default().push(item);
    }
    let nobody = by_sites.remove(&Vec::new()).unwrap_or_default();
    let mut groups: Vec<Group> = by_sites.into_iter().map(|(sites, items)| Group { items, sites }).collect();
    groups.sort_by_key(|group| group.items[0]);
    let weakest = weakest(&groups, sites);
    Links { groups, weakest, nobody }
}

fn shared(a: &Group, b: &Group, sites: &[&Declaration]) -> (u64, usize) {
    let both = a.sites.iter().filter(|site| b.sites.binary_search(site).is_ok());
    both.fold((0, 0), |(students, count), site| (students + sites[*site].students, count + 1))
}

/// The smallest edge of a maximum spanning tree of the groups, by Prim's algorithm, and the items that it separates from the
/// others.
fn weakest(groups: &[Group], sites: &[&Declaration]) -> Option<Weakest> {
    let n = groups.len();
    if n < 2 {
        return None;
    }
    let mut best: Vec<((u64, usize), usize)> =
        (0..n).map(|g| (shared(&groups[0], &groups[g], sites), 0)).collect();
    let mut parent = vec![usize::MAX; n];
    let mut weight = vec![(u64::MAX, usize::MAX); n];
    let mut inside = vec![false; n];
    let mut order = vec![0];
    inside[0] = true;
    while order.len() < n {
        let next = (0..n).filter(|g| !inside[*g]).max_by_key(|g| (best[*g].0, std::cmp::Reverse(*g)))?;
        (inside[next], weight[next], parent[next]) = (true, best[next].0, best[next].1);
        order.push(next);
        for g in (0..n).filter(|g| !inside[*g]) {
            let link = shared(&groups[next], &groups[g], sites);
            if link > best[g].0 {
                best[g] = (link, next);
            }
        }
    }
    let thin = (1..n).map(|k| order[k]).min_by_key(|g| weight[*g])?;
    // Everything below the edge, in the order in which the tree was built.
    let mut below = vec![false; n];
    below[thin] = true;
    for g in order.into_iter().filter(|g| parent[*g] != usize::MAX) {
        below[g] = below[g] || below[parent[g]];
    }
    let side = |wanted: bool| -> Vec<usize> {
        let own = groups.iter().zip(&below).filter(|(_, b)| **b == wanted);
        own.flat_map(|(group, _)| group.items.iter().copied()).collect()
    };
    let (one, other) = (side(true), side(false));
    let mut apart = if one.len() <= other.len() { one } else { other };
    apart.sort_unstable();
    Some(Weakest { students: weight[thin].0, sites: weight[thin].1, apart })
}

/// Maximum number of rows of the picture.
const MOST: usize = 60;

/// The matrix of item groups by sites, as a picture with its table.
pub(super) fn picture(links: &Links, names: &[String], sites: &[(String, u64)]) -> Figure {
    let headers = ["Items", "How many", "Sites", "Students"].map(String::from).to_vec();
    let label = |group: &Group| match group.items.len() {
        1 => names[group.items[0]].clone(),
        n => format!("{} … {} ({n})", names[group.items[0]], names[group.items[n - 1]]),
    };
    let rows = links.groups.iter().map(|group| {
        let students: u64 = group.sites.iter().map(|s| sites[*s].1).sum();
        vec![label(group), group.items.len().to_string(), group.sites.len().to_string(), students.to_string()]
    });
    let table = Table { caption: "Items by the sites that give them".into(), headers, rows: rows.collect() };
    let description = format!(
        "{} groups of items that are given by the same sites, against {} sites that have joined.",
        links.groups.len(),
        sites.len()
    );
    let mut figure = Figure {
        title: "Which site gives which item".into(),
        description: description.clone(),
        svg: String::new(),
        narrow: String::new(),
        tables: vec![table],
        notes: vec![
            "Items that are given by the same sites share a row. A filled cell means that the site gives them.".into(),
        ],
        missing: None,
    };
    if links.groups.is_empty() {
        figure.missing =
            Some("No site has joined yet. Sites declare which items they give when they join.".into());
    } else if links.groups.len() > MOST {
        figure.missing = Some(format!(
            "{} groups of items are too many for a picture; the table lists them.",
            links.groups.len()
        ));
    } else {
        figure.svg = draw(links, &label, sites, 600.0, &description);
        figure.narrow = draw(links, &label, sites, 360.0, &description);
    }
    figure
}

fn draw(
    links: &Links,
    label: &dyn Fn(&Group) -> String,
    sites: &[(String, u64)],
    width: f64,
    description: &str,
) -> String {
    let left = width * 0.3;
    let shown = sites.len();
    let step = ((width - left - 4.0) / shown as f64).min(34.0);
    let named = step >= 14.0;
    let longest = sites.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).min(16);
    let (top, row) = (if named { 14.0 + longest as f64 * 6.2 } else { 22.0 }, 20.0);
    let height = top + row * links.groups.len() as f64 + 6.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height:.0}\" width=\"{width}\" height=\"{height:.0}\" \
         role=\"img\" aria-label=\"{}\" font-size=\"12\" font-family=\"system-ui, sans-serif\">",
        escape(description)
    );
    for (s, (name, _)) in sites.iter().enumerate().filter(|_| named) {
        let (x, y) = (left + (s as f64 + 0.65) * step, top - 6.0);
        let name: String = name.chars().take(16).collect();
        out += &format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" transform=\"rotate(-90 {x:.1} {y:.1})\" fill=\"var(--muted,#5b636d)\">{}</text>",
            escape(&name)
        );
    }
    for (g, group) in links.groups.iter().enumerate() {
        let y = top + g as f64 * row;
        let most = (left / 6.6) as usize;
        let mut text = label(group);
        if text.chars().count() > most {
            text = text.chars().take(most.saturating_sub(1)).chain(['…']).collect();
        }
        out += &format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"var(--ink,#1b1f24)\">{}</text>",
            left - 8.0,
            y + 14.0,
            escape(&text)
        );
        // Neighbouring cells of the same kind are drawn as one shape, which keeps the picture of 500 sites small.
        let mut s = 0;
        while s < shown {
            let given = group.sites.binary_search(&s).is_ok();
            let run = (s..shown).take_while(|n| group.sites.binary_search(n).is_ok() == given).count();
            let gap = if step > 6.0 { 2.0 } else { 0.0 };
            let ink = if given { "var(--accent,#0b5f8a)" } else { "var(--rule,#e4e6e9)" };
            let parts = if gap > 0.0 { run } else { 1 };
            for part in 0..parts {
                let x = left + (s + part) as f64 * step;
                let w = (if gap > 0.0 { step } else { run as f64 * step }) - gap;
                out += &format!("<path d=\"M{x:.1} {:.1}h{w:.1}v16h-{w:.1}z\" fill=\"{ink}\"/>", y + 2.0);
            }
            s += run;
        }
    }
    out += "</svg>";
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(students: u64, gives: &[bool]) -> Declaration {
        Declaration {
            students,
            codes: gives.iter().map(|gives| (0..2).filter(|_| *gives).collect()).collect(),
            booklets: Vec::new(),
            groups: 0,
            weighted: false,
            total_weight: students as f64,
            largest_weight: 1.0,
        }
    }

    #[test]
    fn the_weakest_link_is_found() {
        // Items 0 and 1 at the first two sites, 2 and 3 at the last; only the small one gives 1 and 2 together.
        let sites = [
            site(100, &[true, true, false, false, false]),
            site(7, &[false, true, true, false, false]),
            site(50, &[false, false, true, true, false]),
        ];
        let all: Vec<&Declaration> = sites.iter().collect();
        let links = links(5, &all);
        assert_eq!(links.nobody, [4]);
        assert_eq!(links.weakest, Some(Weakest { students: 7, sites: 1, apart: vec![2, 3] }));
        let names: Vec<String> = (0..5).map(|j| format!("<i{j}>")).collect();
        let named: Vec<(String, u64)> = sites.iter().map(|s| ("\"&".to_owned(), s.students)).collect();
        let figure = picture(&links, &names, &named);
        assert!(figure.svg.contains("&lt;i0&gt;") && !figure.svg.contains("<i0"), "{}", figure.svg);
    }

    #[test]
    fn parts_that_nothing_links_have_a_link_of_no_student() {
        let sites = [site(10, &[true, false]), site(10, &[false, true])];
        let all: Vec<&Declaration> = sites.iter().collect();
        assert_eq!(links(2, &all).weakest.map(|w| (w.students, w.sites)), Some((0, 0)));
        let same = [site(10, &[true, true])];
        assert_eq!(links(2, &same.iter().collect::<Vec<_>>()).weakest, None);
    }
}
