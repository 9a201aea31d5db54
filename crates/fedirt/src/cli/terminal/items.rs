//! The table of items: one line per item, and one more for each further step.

use super::style;
use super::table::{Column, Table, cut};
use super::text::{NONE, count, fixed};
use fedirt_model::fit::{Fit, FitItem};

/// Maximum number of items that are shown; `items.csv` contains all.
const MOST: usize = 60;

pub(super) fn table(fit: &Fit, room: usize) -> String {
    let steps = fit.items.iter().any(|item| item.d.len() > 1);
    let mut columns = vec![
        Column::words("item"),
        Column::words("model").styled(style::FAINT).expendable(2),
        Column::numbers("n").expendable(1),
        Column::numbers("a"),
        Column::numbers("SE").styled(style::FAINT),
    ];
    if steps {
        columns.push(Column::numbers("step"));
    }
    columns.extend([
        Column::numbers("d").expendable(3),
        Column::numbers("SE").styled(style::FAINT).expendable(3),
        Column::numbers("b"),
        Column::numbers("SE").styled(style::FAINT),
    ]);
    let mut table = Table::new(columns);
    // With several lines per item, fewer items are shown.
    let longest = fit.items.iter().map(|item| item.d.len()).max().unwrap_or(1).max(1);
    let (head, tail) = cut(fit.items.len(), (MOST / longest).max(20));
    for (j, item) in fit.items.iter().enumerate() {
        if j == head && head < tail {
            table.remark(format!("… {} more, use --out", tail - head));
        }
        if j < head || j >= tail {
            add(&mut table, item, steps);
        }
    }
    table.render(room)
}

fn add(table: &mut Table, item: &FitItem, steps: bool) {
    let at = |values: &[Option<f64>], step: usize| fixed(values.get(step).copied().flatten(), 3);
    let name = match item.fixed {
        true => format!("{} (fixed)", item.name),
        false => item.name.clone(),
    };
    for step in 0..item.d.len().max(1) {
        let mut cells = if step == 0 {
            let n = item.n.map_or_else(|| NONE.to_owned(), count);
            vec![name.clone(), item.model.clone(), n, fixed(item.a, 3), fixed(item.se_a, 3)]
        } else {
            vec![String::new(); 5]
        };
        if steps {
            cells.push((step + 1).to_string());
        }
        cells.extend([at(&item.d, step), at(&item.se_d, step), at(&item.b, step), at(&item.se_b, step)]);
        table.row(cells);
    }
    if item.has_more_parameters() {
        let slopes = item.parameters.iter().filter(|(name, _)| name.starts_with("bock_a"));
        let slopes: Vec<String> = slopes.map(|(_, slope)| fixed(slope, 3)).collect();
        table.remark(format!(
            "{}: slopes of the categories, which sum to 0: {}",
            item.name,
            slopes.join(", ")
        ));
    }
}
