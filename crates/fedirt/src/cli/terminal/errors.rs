//! Where the standard errors of a private fit come from.

use super::style;
use super::table::{Column, Table, cut};
use super::text::fixed;
use fedirt_model::fit::ErrorSource;

/// Maximum number of parameters that are shown; `fit.json` contains all.
const MOST: usize = 60;

pub(super) fn table(sources: &[ErrorSource], room: usize) -> String {
    let mut table = Table::new(vec![
        Column::words("item"),
        Column::words("parameter"),
        Column::numbers("SE"),
        Column::numbers("sampling"),
        Column::numbers("noise"),
        Column::numbers("prior"),
        Column::words("").styled(style::CAUTION),
    ]);
    let (head, tail) = cut(sources.len(), MOST);
    for (at, source) in sources.iter().enumerate() {
        if at == head && head < tail {
            table.remark(format!("… {} more, use --json", tail - head));
        }
        if at < head || at >= tail {
            let number = |x: f64| fixed(Some(x), 3);
            table.row(vec![
                source.item.clone(),
                source.parameter.clone(),
                number(source.se),
                number(source.sampling),
                number(source.noise),
                number(source.prior),
                if source.leans_on_prior { "leans on the prior".into() } else { String::new() },
            ]);
        }
    }
    table.render(room)
}
