//! Names that are near to a mistyped one.

/// Up to three of the names that may have been meant, the nearest first.
pub fn near_names<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let wanted = fold(wanted);
    let allowed = (wanted.len() / 3).max(1);
    let mut found: Vec<(usize, &str)> = names
        .into_iter()
        .filter_map(|name| {
            let folded = fold(name);
            let contains = wanted.len() >= 3 && folded.len() >= 3;
            let inside = contains && (folded_contains(&folded, &wanted) || folded_contains(&wanted, &folded));
            match distance(&wanted, &folded) {
                steps if steps <= allowed => Some((steps, name)),
                _ if inside => Some((allowed + 1, name)),
                _ => None,
            }
        })
        .collect();
    found.sort_by_key(|(steps, _)| *steps);
    found.into_iter().take(3).map(|(_, name)| name.to_string()).collect()
}

/// Case and punctuation are what people get wrong first.
fn fold(name: &str) -> Vec<char> {
    // Names are compared in quadratic time: a column name of a megabyte must not matter.
    name.chars().filter(|c| c.is_alphanumeric()).take(64).flat_map(char::to_lowercase).collect()
}

fn folded_contains(long: &[char], short: &[char]) -> bool {
    long.windows(short.len()).any(|window| window == short)
}

/// Letters to add, drop, replace or exchange with their neighbour.
fn distance(from: &[char], to: &[char]) -> usize {
    let mut steps = vec![vec![0; to.len() + 1]; from.len() + 1];
    for i in 0..=from.len() {
        for j in 0..=to.len() {
            steps[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = steps[i - 1][j - 1] + usize::from(from[i - 1] != to[j - 1]);
                let best = replaced.min(steps[i - 1][j] + 1).min(steps[i][j - 1] + 1);
                let exchanged = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
                if exchanged { best.min(steps[i - 2][j - 2] + 1) } else { best }
            };
        }
    }
    steps[from.len()][to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_and_case_are_near() {
        assert_eq!(near_names("scool", ["I1", "school", "age"]), ["school"]);
        assert_eq!(near_names("aeg", ["a", "age", "b"]), ["age"]);
        assert_eq!(near_names("Site_ID", ["siteid", "I1"]), ["siteid"]);
        assert_eq!(near_names("school", ["idschool", "I1", "I2"]), ["idschool"]);
        assert!(near_names("weight", ["I1", "I2"]).is_empty());
    }
}
