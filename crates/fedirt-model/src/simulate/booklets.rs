//! Planned missing answers: which items stand in which booklet.

/// Which items (columns) each booklet (row) holds.
///
/// The items stand in as many blocks as there are booklets, on a ring; a booklet holds half of the blocks, at
/// least two, beginning with its own. So neighbouring booklets overlap and all are linked. Two booklets
/// share the middle third.
pub fn booklets(number: usize, items: usize) -> Vec<Vec<bool>> {
    let blocks = number.max(3);
    let held = number.div_ceil(2).max(2);
    let block = |item: usize| item * blocks / items;
    (0..number)
        .map(|booklet| (0..items).map(|j| (block(j) + blocks - booklet) % blocks < held).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_booklets_leave_out_half() {
        for items in [10, 15, 50] {
            let held: usize = booklets(4, items).iter().flatten().filter(|h| **h).count();
            assert_eq!(held, 2 * items, "{items} items");
        }
    }

    #[test]
    fn neighbours_overlap_and_no_item_is_left_out() {
        for number in 2..9 {
            let all = booklets(number, 12);
            assert_eq!(all.len(), number);
            assert!((0..12).all(|j| all.iter().any(|b| b[j])), "{number} booklets");
            for b in 1..number {
                assert!((0..12).any(|j| all[b - 1][j] && all[b][j]), "{number} booklets");
            }
        }
    }
}
