//! The pictures: squares of students for everybody, and rows against rounds for those who want to know more.

use super::condition::Protocol;
use super::summary::Cell;
use fedirt_figures::{Block, Figure, PanelPoint, PanelRow, Panels, RebuiltRows, panels, rebuilt_rows};

/// The attack on a protocol that finds most on average, at the size that stands in the picture.
fn strongest(
    cells: &[Cell],
    protocol: Protocol,
    size: (usize, usize),
    fits: impl Fn(&Cell) -> bool,
) -> Option<&Cell> {
    let all = || cells.iter().filter(|c| c.protocol == protocol && c.decimals.is_none() && fits(c));
    let most = |a: &&Cell, b: &&Cell| a.found.total_cmp(&b.found);
    let same = all().filter(|c| (c.items, c.students) == size).max_by(most);
    same.or_else(|| all().max_by(most))
}

/// One school under three protocols, on average over the data sets.
pub(super) fn at_a_glance(cells: &[Cell]) -> Figure {
    let first = cells.iter().find(|c| c.protocol == Protocol::Published);
    let size = first.map_or((0, 0), |c| (c.items, c.students));
    let block = |c: &Cell, heading: String, sentence: &str| Block {
        heading,
        sentence: sentence.to_owned(),
        rebuilt: c.found.round() as usize,
        guessed: c.guess.round() as usize,
        of: c.rows,
    };
    let mut blocks = Vec::new();
    if let Some(r) = strongest(cells, Protocol::Published, size, |_| true) {
        let sentence = "The server sees this school's log-likelihood and gradient in every round.";
        blocks.push(block(r, format!("As published: one school of {}", r.students), sentence));
    }
    if let Some(r) = strongest(cells, Protocol::Secure, size, |_| true) {
        let sentence =
            "The coordinator sees sums over all schools, and rebuilds rows of all schools together.";
        let heading = format!("Secure: {} schools of {} together", r.sites, r.students);
        blocks.push(block(r, heading, sentence));
    }
    let one = |r: &Cell| r.epsilon == Some(1.0) && r.attack.ends_with("one school");
    if let Some(r) = strongest(cells, Protocol::Private, size, one) {
        let sentence =
            "The coordinator sees two noisy sums, and is even given all rows of the other schools.";
        blocks.push(block(r, format!("Private, ε = 1: one school of {}", r.students), sentence));
    }
    let told: Vec<String> = blocks
        .iter()
        .map(|b| format!("{}: {} of {} rows rebuilt, {} guessed", b.heading, b.rebuilt, b.of, b.guessed))
        .collect();
    rebuilt_rows(&RebuiltRows {
        title: "Whose answers can be rebuilt?".to_owned(),
        description: format!("{}.", told.join(". ")),
        blocks,
        notes: vec![
            "Guessed: rows that are right when one names those that the fitted model makes likeliest, without any attack. Both numbers are means over data sets."
                .to_owned(),
        ],
    })
}

/// Rows against rounds under the published protocol, by students of the school and decimals.
pub(super) fn by_rounds(cells: &[Cell]) -> Figure {
    let mut columns: Vec<String> = Vec::new();
    let mut series: Vec<String> = Vec::new();
    let mut points: Vec<PanelPoint> = Vec::new();
    let place = |list: &mut Vec<String>, name: String| match list.iter().position(|n| *n == name) {
        Some(at) => at,
        None => {
            list.push(name);
            list.len() - 1
        }
    };
    let shown = |c: &&Cell| {
        c.protocol == Protocol::Published
            && c.attack.starts_with("log-likelihoods")
            && c.condition.ends_with("fixed")
    };
    for cell in cells.iter().filter(shown) {
        let column = place(&mut columns, format!("{} items, {} students", cell.items, cell.students));
        let name = match cell.decimals {
            None => "all digits sent".to_owned(),
            Some(decimals) => format!("{decimals} decimals sent"),
        };
        let series = place(&mut series, name);
        // Runs differ in length: the last point stands at their middle.
        let x = (cell.rounds.0 + cell.rounds.1) as f64 / 2.0;
        let error = None;
        points.push(PanelPoint { row: 0, column, series, x, y: 100.0 * cell.share(), error });
    }
    for cell in cells.iter().filter(shown).filter(|c| c.decimals.is_none()) {
        let column = place(&mut columns, format!("{} items, {} students", cell.items, cell.students));
        let series = place(&mut series, "guess from the model".to_owned());
        let x = (cell.rounds.0 + cell.rounds.1) as f64 / 2.0;
        let y = 100.0 * cell.guess / cell.rows.max(1) as f64;
        points.push(PanelPoint { row: 0, column, series, x, y, error: None });
    }
    panels(&Panels {
        title: "Rows rebuilt from the published protocol, by rounds".to_owned(),
        description: "Share of a school's rows that come back from its log-likelihoods and gradients, against the rounds that the attacker uses, by the decimals of what is sent; beside it the share that the fitted model lets one guess.".to_owned(),
        rows: vec![PanelRow { label: "rows rebuilt (%)".to_owned(), log: false, zero: true }],
        columns,
        x_label: "rounds used".to_owned(),
        x_ticks: [1.0, 2.0, 5.0, 10.0, 20.0, 50.0].map(|x| (x, x.to_string())).to_vec(),
        x_log: true,
        series,
        points,
        notes: Vec::new(),
        bars: None,
    })
}
