//! Tables as columns, from which data frames are made.

use fedirt::results::tables::{self, Cell, Table};
use fedirt::{Calibration, Description, Fit, Scores, curves};
use fedirt_data::Audience;

/// The cells of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Cells {
    /// Texts.
    Text(Vec<String>),
    /// Whole numbers.
    Count(Vec<Option<u64>>),
    /// Numbers.
    Number(Vec<Option<f64>>),
    /// Yes or no.
    Flag(Vec<bool>),
}

/// Columns under their names, all of one length.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Frame {
    /// The columns.
    pub columns: Vec<(String, Cells)>,
}

impl Frame {
    /// The columns of rows. Where cells of a column differ in kind, they become texts.
    pub fn of_rows(headers: Vec<String>, rows: impl IntoIterator<Item = Vec<Cell>>) -> Self {
        let mut columns: Vec<Option<Cells>> = vec![None; headers.len()];
        for row in rows {
            for (column, cell) in columns.iter_mut().zip(row) {
                add(column, cell);
            }
        }
        let columns = columns.into_iter().map(|column| column.unwrap_or(Cells::Text(Vec::new())));
        Self { columns: headers.into_iter().zip(columns).collect() }
    }

    /// Adds a column.
    pub(crate) fn with(mut self, name: &str, cells: Cells) -> Self {
        self.columns.push((name.to_owned(), cells));
        self
    }
}

impl From<Table> for Frame {
    fn from(table: Table) -> Self {
        Self::of_rows(table.headers, table.rows)
    }
}

fn add(column: &mut Option<Cells>, cell: Cell) {
    match (column.as_mut(), cell) {
        (None, Cell::Text(text)) => *column = Some(Cells::Text(vec![text])),
        (None, Cell::Count(count)) => *column = Some(Cells::Count(vec![count])),
        (None, Cell::Number(number)) => *column = Some(Cells::Number(vec![number])),
        (None, Cell::Flag(flag)) => *column = Some(Cells::Flag(vec![flag])),
        (Some(Cells::Text(cells)), cell) => cells.push(words(&cell)),
        (Some(Cells::Count(cells)), Cell::Count(count)) => cells.push(count),
        (Some(Cells::Number(cells)), Cell::Number(number)) => cells.push(number),
        (Some(Cells::Flag(cells)), Cell::Flag(flag)) => cells.push(flag),
        (Some(Cells::Count(_) | Cells::Number(_) | Cells::Flag(_)), cell) => {
            let mut texts = column.take().map_or_else(Vec::new, texts);
            texts.push(words(&cell));
            *column = Some(Cells::Text(texts));
        }
    }
}

fn texts(cells: Cells) -> Vec<String> {
    match cells {
        Cells::Text(texts) => texts,
        Cells::Count(counts) => counts.into_iter().map(|count| words(&Cell::Count(count))).collect(),
        Cells::Number(numbers) => numbers.into_iter().map(|number| words(&Cell::Number(number))).collect(),
        Cells::Flag(flags) => flags.into_iter().map(|flag| words(&Cell::Flag(flag))).collect(),
    }
}

/// A cell as people read it.
fn words(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => text.clone(),
        Cell::Count(count) => count.map_or_else(String::new, |count| count.to_string()),
        Cell::Number(number) => number.map_or_else(String::new, shown),
        Cell::Flag(flag) => if *flag { "yes" } else { "no" }.to_owned(),
    }
}

/// A number with at most three decimals, or a power of ten where that would show nothing of it.
fn shown(number: f64) -> String {
    if number != 0.0 && number.abs() < 5e-4 { format!("{number:.1e}") } else { format!("{:.3}", number) }
}

/// The tables of a fit, by name; those after `summary` are there where the model was checked for them.
pub const TABLES: [&str; 12] = [
    "items",
    "sites",
    "rounds",
    "summary",
    "item_fit",
    "pairs",
    "score_table",
    "dimensions",
    "latent",
    "influence",
    "dif",
    "site_heterogeneity",
];

/// A table of a fit by its name (one of [`TABLES`]). `None` for another name, and where the fit has nothing of it.
pub fn fit_table(fit: &Fit, name: &str) -> Option<Frame> {
    let diagnostics = fit.diagnostics.as_ref();
    let table = match name {
        "items" => tables::items(fit),
        "sites" => tables::sites(&fit.sites),
        "rounds" => tables::rounds(fit),
        "summary" => tables::summary(fit, &[]),
        "item_fit" => tables::item_fit(diagnostics?.item_fit.as_ref()?),
        "pairs" => tables::pairs(diagnostics?.q3.as_ref()?),
        "score_table" => tables::score_table(diagnostics?.score_table.as_ref()?),
        "dimensions" => tables::dimensions(diagnostics?.dimensionality.as_ref()?),
        "latent" => tables::latent(diagnostics?.latent.as_ref()?),
        "influence" => tables::influence(diagnostics?.influence.as_ref()?.sites.as_deref()?),
        "dif" => tables::dif(diagnostics?.dif.as_ref()?),
        "site_heterogeneity" => tables::site_heterogeneity(diagnostics?.site_heterogeneity.as_ref()?),
        _ => return None,
    };
    Some(table.into())
}

/// The covariances of a calibration's estimates: their names, and the matrix row by row. What is not known, such as between items
/// of a large bank, is NaN.
pub fn covariance(calibration: &Calibration) -> (Vec<String>, Vec<f64>) {
    let covariance = &calibration.covariance;
    let size = covariance.names.len();
    let known: usize = covariance.blocks.iter().map(|block| block.nrows()).sum();
    if known == 0 {
        return (Vec::new(), Vec::new());
    }
    let mut matrix = vec![f64::NAN; size * size];
    let mut first = 0;
    for block in &covariance.blocks {
        for r in 0..block.nrows() {
            for c in 0..block.ncols() {
                matrix[(first + r) * size + first + c] = block[(r, c)];
            }
        }
        first += block.nrows();
    }
    (covariance.names.clone(), matrix)
}

/// Scores, a row per student in the order of the tables.
pub fn scores_frame(scores: &Scores) -> Frame {
    Frame::of_rows(tables::score_headers(scores), tables::score_rows(scores))
}

/// Probabilities, information and expected scores at given abilities: a row per item, category and ability.
pub fn curves_table(fit: &Fit, abilities: &[f64]) -> Frame {
    let header = ["item", "category", "theta", "probability", "information", "expected_score"];
    let codes =
        |name: &str| fit.items.iter().find(|item| item.name == name).map(|item| item.codes.as_slice());
    let rows = curves(fit, abilities).into_iter().flat_map(|curve| {
        let mut rows = Vec::new();
        for (category, probability) in curve.probability.iter().enumerate() {
            let code = codes(&curve.item).and_then(|codes| codes.get(category)).map(|code| u64::from(*code));
            for (n, theta) in abilities.iter().enumerate() {
                let numbers = [*theta, probability[n], curve.information[n], curve.expected[n]];
                let mut row = vec![Cell::Text(curve.item.clone()), Cell::Count(code)];
                row.extend(numbers.map(|number| Cell::Number(Some(number))));
                rows.push(row);
            }
        }
        rows
    });
    Frame::of_rows(header.map(str::to_owned).to_vec(), rows)
}

/// What is in tables: the items, the sites, and in words everything that is remarkable.
pub fn check_tables(found: &Description) -> (Frame, Frame, String) {
    let items = &found.items;
    let count = |of: &dyn Fn(&fedirt_data::ItemSummary) -> u64| {
        Cells::Count(items.iter().map(|item| Some(of(item))).collect())
    };
    let number =
        |of: &dyn Fn(&fedirt_data::ItemSummary) -> Option<f64>| Cells::Number(items.iter().map(of).collect());
    let codes = |item: &fedirt_data::ItemSummary| {
        item.counts.iter().map(|(code, count)| format!("{code}: {count}")).collect::<Vec<_>>().join(", ")
    };
    let of_items = Frame::default()
        .with("item", Cells::Text(items.iter().map(|item| item.name.clone()).collect()))
        .with("sites", count(&|item| item.sites as u64))
        .with("answered", count(&|item| item.answered))
        .with("missing", count(&|item| item.missing))
        .with("p", number(&|item| item.classical.p))
        .with("item_rest_r", number(&|item| item.classical.item_rest))
        .with("codes", Cells::Text(items.iter().map(codes).collect()));
    let sites = &found.sites;
    let site_count = |of: &dyn Fn(&fedirt_data::SiteSummary) -> u64| {
        Cells::Count(sites.iter().map(|site| Some(of(site))).collect())
    };
    let of_sites = Frame::default()
        .with("site", Cells::Text(sites.iter().map(|site| site.name.clone()).collect()))
        .with("rows", site_count(&|site| site.rows))
        .with("items", site_count(&|site| site.items as u64))
        .with("missing", site_count(&|site| site.missing))
        .with("empty_rows", site_count(&|site| site.empty_rows));
    (of_items, of_sites, found.told(Audience::Library))
}

/// A fit in lines of text, the warnings first.
pub fn summary_text(fit: &Fit) -> String {
    let mut out = String::new();
    for warning in &fit.warnings {
        out.push_str(&format!("Warning: {}\n", warning.message));
    }
    let lines = ["version", "codebook_hash", "warning", "time", "command", "file"];
    for row in tables::summary(fit, &[]).rows {
        let [name, value] = [0, 1].map(|at| row.get(at).map(words).unwrap_or_default());
        if !value.is_empty() && !lines.contains(&name.as_str()) {
            out.push_str(&format!("{name:<22} {value}\n"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_keep_their_kind_or_become_texts() {
        let rows = vec![
            vec![Cell::Count(Some(1)), Cell::Number(Some(0.5)), Cell::Number(Some(2e-7))],
            vec![Cell::Count(None), Cell::Number(None), Cell::Text("none".into())],
        ];
        let frame = Frame::of_rows(vec!["n".into(), "x".into(), "mixed".into()], rows);
        assert_eq!(frame.columns[0].1, Cells::Count(vec![Some(1), None]));
        assert_eq!(frame.columns[1].1, Cells::Number(vec![Some(0.5), None]));
        assert_eq!(frame.columns[2].1, Cells::Text(vec!["2.0e-7".into(), "none".into()]));
    }
}
