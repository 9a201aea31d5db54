//! Which items are linked through common sites.

/// For each item, the linked part it belongs to (parts are numbered in order of appearance). Two items are
/// linked when one site gives both, or through a chain of such sites.
pub fn linked_parts(items: usize, sites: impl Iterator<Item = Vec<usize>>) -> Vec<usize> {
    let mut parent: Vec<usize> = (0..items).collect();
    fn root(parent: &mut [usize], mut x: usize) -> usize {
        while parent[x] != x {
            parent[x] = parent[parent[x]];
            x = parent[x];
        }
        x
    }
    for given in sites {
        for pair in given.windows(2) {
            let (a, b) = (root(&mut parent, pair[0]), root(&mut parent, pair[1]));
            parent[a.max(b)] = a.min(b);
        }
    }
    let mut names: Vec<usize> = Vec::new();
    (0..items)
        .map(|j| {
            let r = root(&mut parent, j);
            names.iter().position(|n| *n == r).unwrap_or_else(|| {
                names.push(r);
                names.len() - 1
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites_link_items() {
        let parts = linked_parts(6, [vec![0, 2], vec![3, 4], vec![2, 5]].into_iter());
        assert_eq!(parts, [0, 1, 0, 2, 2, 0]);
    }
}
