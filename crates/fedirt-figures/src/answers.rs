//! What is in a file of answers: for the person who looks it over before anything is computed from it.

use crate::canvas::{Anchor, Canvas, Ink, Readout, TEXT};
use crate::figure::{Figure, Table, Width};
use crate::frame::{Frame, ticks_across};
use crate::rows::Rows;
use crate::scale::Scale;
use crate::text;

/// How an item was answered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ItemAnswers {
    /// Item.
    pub name: String,
    /// Answers of each category, the lowest first, by its code.
    pub counts: Vec<(u8, u64)>,
    /// Students without an answer.
    pub missing: u64,
}

/// Where answers are missing: blocks of neighbouring rows of the file, by item.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MissingMap {
    /// Items.
    pub items: Vec<String>,
    /// First and last row of each block, counted from 1.
    pub blocks: Vec<(usize, usize)>,
    /// Share of missing answers, a row of blocks for each item.
    pub shares: Vec<Vec<f64>>,
}

/// Widest name beside a row.
const NAME: f64 = 110.0;

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn share(part: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { part as f64 / of as f64 }
}

/// Room for the names of rows.
fn beside<'a>(names: impl Iterator<Item = &'a String>) -> f64 {
    names.map(|name| text::width(name, TEXT).min(NAME)).fold(20.0, f64::max) + 14.0
}

/// The share of each category by item: a bar of full length, the lowest category at the left, what is missing hollow.
pub fn category_shares(items: &[ItemAnswers]) -> Figure {
    let title = "Answers by item".to_owned();
    if items.is_empty() {
        return Figure::without(title, "The file has no answers to items of the plan.".into());
    }
    let most = items.iter().map(|item| item.counts.len()).max().unwrap_or(0);
    let description = format!(
        "Share of each category for {}; what is missing is left blank.",
        text::counted(items.len() as u64, "item", "items")
    );
    let mut table = Table::new("Answers by item", &["Item", "Category", "Answers", "Share"]);
    for item in items {
        let all = item.counts.iter().map(|(_, n)| n).sum::<u64>() + item.missing;
        for (code, count) in &item.counts {
            let row = [item.name.clone(), code.to_string(), text::count(*count), percent(share(*count, all))];
            table.rows.push(row.to_vec());
        }
        let row = [
            item.name.clone(),
            "missing".into(),
            text::count(item.missing),
            percent(share(item.missing, all)),
        ];
        table.rows.push(row.to_vec());
    }
    Figure::drawn(title, description.clone(), |width| draw_shares(items, most, width, &description))
        .note("From the lowest category at the left (light) to the highest (dark); the empty end of a bar is missing answers.")
        .table(table)
}

fn draw_shares(items: &[ItemAnswers], most: usize, width: Width, description: &str) -> String {
    let w = width.pixels();
    let rows = Rows::new(14.0, items.len());
    let (left, right) = (beside(items.iter().map(|item| &item.name)), w - 16.0);
    let mut canvas = Canvas::new(w, rows.bottom() + 46.0);
    let frame = share_axis(left, right, &rows, &mut canvas, width, "Share of students (%)");
    for (row, item) in items.iter().enumerate() {
        let (y, half) = (rows.at(row), 0.36 * rows.pitch);
        let all = item.counts.iter().map(|(_, n)| n).sum::<u64>() + item.missing;
        let mut from = 0.0;
        for (place, (_, count)) in item.counts.iter().enumerate() {
            let to = from + 100.0 * share(*count, all);
            let strength = if most < 2 { 0.6 } else { 0.22 + 0.68 * place as f64 / (most - 1) as f64 };
            canvas.shade((frame.x.at(from), y - half), (frame.x.at(to), y + half), Ink::Accent, strength);
            from = to;
        }
        if from < 100.0 {
            let (a, b) = (frame.x.at(from), frame.x.at(100.0));
            let around = [(a, y - half), (b, y - half), (b, y + half), (a, y + half)];
            canvas.outline(&around, Ink::Paper, Ink::Muted, 0.6);
        }
        name_row(&mut canvas, &rows, row, left, &item.name);
    }
    canvas.finish(description)
}

/// An axis from 0 to 100 under rows.
fn share_axis(left: f64, right: f64, rows: &Rows, canvas: &mut Canvas, width: Width, name: &str) -> Frame {
    let x = Scale::linear(0.0, 100.0, left, right);
    let frame =
        Frame { left, right, top: rows.top, bottom: rows.bottom(), x, y: Scale::linear(0.0, 1.0, 0.0, 1.0) };
    frame.horizontal(canvas, name, ticks_across(width) / 2 + 1);
    frame
}

fn name_row(canvas: &mut Canvas, rows: &Rows, row: usize, left: f64, name: &str) {
    if rows.labelled(row) {
        let name = text::shorten(name, TEXT, NAME);
        canvas.text((left - 8.0, rows.at(row) + 4.0), Anchor::End, Ink::Text, &name);
    }
}

/// Where answers are missing: items down, rows of the file across, dark where everything is missing.
pub fn missing_map(map: &MissingMap) -> Figure {
    let title = "Missing answers".to_owned();
    let all = map.shares.iter().flatten();
    let missing = all.clone().sum::<f64>() / (all.count().max(1) as f64);
    if missing == 0.0 {
        return Figure::without(title, "No answer is missing.".into());
    }
    let description =
        format!("Where answers are missing, by item and row of the file: {} in all.", percent(missing));
    let mut table = Table::new("Share of missing answers", &["Item", "Rows", "Missing"]);
    for (item, shares) in map.items.iter().zip(&map.shares) {
        for ((first, last), share) in map.blocks.iter().zip(shares).filter(|(_, share)| **share > 0.0) {
            table.rows.push(vec![item.clone(), format!("{first} to {last}"), percent(*share)]);
        }
    }
    Figure::drawn(title, description.clone(), |width| draw_map(map, width, &description))
        .note("Each field is a stretch of neighbouring rows; the darker, the more answers are missing. A dark column is a stretch of rows without answers, a dark row an item that was hardly given.")
        .table(table)
}

fn draw_map(map: &MissingMap, width: Width, description: &str) -> String {
    let w = width.pixels();
    let rows = Rows::new(14.0, map.items.len());
    let (left, right) = (beside(map.items.iter()), w - 16.0);
    let mut canvas = Canvas::new(w, rows.bottom() + 46.0);
    let last = map.blocks.last().map_or(1, |(_, last)| *last) as f64;
    let x = Scale::linear(0.0, last, left, right);
    let frame =
        Frame { left, right, top: rows.top, bottom: rows.bottom(), x, y: Scale::linear(0.0, 1.0, 0.0, 1.0) };
    frame.horizontal(&mut canvas, "Row of the file", ticks_across(width) / 2 + 1);
    for (row, shares) in map.shares.iter().enumerate() {
        let (top, bottom) = (rows.at(row) - 0.45 * rows.pitch, rows.at(row) + 0.45 * rows.pitch);
        canvas.shade((left, top), (right, bottom), Ink::Rule, 0.5);
        for ((first, last), share) in map.blocks.iter().zip(shares).filter(|(_, share)| **share > 0.0) {
            let (from, to) = (x.at(*first as f64 - 1.0), x.at(*last as f64));
            canvas.shade((from, top), (to, bottom), Ink::Alarm, 0.15 + 0.8 * share);
        }
        name_row(&mut canvas, &rows, row, left, &map.items[row]);
    }
    canvas.finish(description)
}

/// How many students have which sum score: `counts[score]`.
pub fn score_histogram(counts: &[u64]) -> Figure {
    let title = "Sum scores".to_owned();
    let students: u64 = counts.iter().sum();
    if students == 0 {
        return Figure::without(title, "No student has answered anything.".into());
    }
    let sum: f64 = counts.iter().enumerate().map(|(score, n)| score as f64 * *n as f64).sum();
    let description = format!(
        "Sum scores of {}, between 0 and {}; the mean is {:.2}.",
        text::counted(students, "student", "students"),
        counts.len() - 1,
        sum / students as f64
    );
    let mut table = Table::new("Students by sum score", &["Score", "Students"]);
    table.rows.extend(counts.iter().enumerate().map(|(s, n)| vec![s.to_string(), text::count(*n)]));
    Figure::drawn(title, description.clone(), |width| draw_histogram(counts, width, &description))
        .note("The sum over the items that a student has answered, the lowest category counting 0. A pile at either end is worth a look: answers may be keyed the wrong way round.")
        .table(table)
}

fn draw_histogram(counts: &[u64], width: Width, description: &str) -> String {
    let (w, h) = (width.pixels(), 230.0);
    let (left, right, top, bottom) = (52.0, w - 16.0, 30.0, h - 48.0);
    let highest = counts.iter().copied().max().unwrap_or(1).max(1) as f64;
    let x = Scale::linear(-0.5, counts.len() as f64 - 0.5, left, right);
    let y = Scale::nice(0.0, highest, bottom, top, 4);
    let mut canvas = Canvas::new(w, h);
    let frame = Frame { left, right, top, bottom, x, y };
    frame.vertical(&mut canvas, "Students", 4);
    frame.horizontal(&mut canvas, "Sum score", ticks_across(width));
    let gap = if (right - left) / counts.len() as f64 > 4.0 { 0.08 } else { 0.0 };
    for (score, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let score = score as f64;
        let (from, to) = (x.at(score - 0.5 + gap), x.at(score + 0.5 - gap));
        canvas.bar((from, y.at(*count as f64)), (to, bottom), Ink::Accent);
    }
    let last = counts.len() as f64 - 1.0;
    canvas.readout(Readout { axis: 'x', first: x.at(0.0), last: x.at(last), rows: counts.len() });
    canvas.finish(description)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_fill_the_bar_and_missing_is_told() {
        let items = [
            ItemAnswers { name: "<i1>".into(), counts: vec![(0, 25), (1, 50)], missing: 25 },
            ItemAnswers::default(),
        ];
        let figure = category_shares(&items);
        assert_eq!(figure.tables[0].rows[2], ["<i1>", "missing", "25", "25.0 %"]);
        assert!(!figure.svg.contains("<i1>") && figure.svg.contains("&lt;i1&gt;"));
        assert!(category_shares(&[]).missing.is_some());
    }

    #[test]
    fn the_map_shows_where() {
        let map = MissingMap {
            items: vec!["a".into(), "b".into()],
            blocks: vec![(1, 10), (11, 20)],
            shares: vec![vec![0.0, 0.5], vec![0.0, 0.0]],
        };
        let figure = missing_map(&map);
        assert_eq!(figure.tables[0].rows, [["a", "11 to 20", "50.0 %"]]);
        assert!(figure.description.contains("12.5 %"));
        let none = MissingMap { shares: vec![vec![0.0; 2]; 2], ..map };
        assert_eq!(missing_map(&none).missing.as_deref(), Some("No answer is missing."));
    }

    #[test]
    fn scores_are_counted() {
        let figure = score_histogram(&[1, 0, 3]);
        assert!(
            figure.description.contains("4 students, between 0 and 2; the mean is 1.50"),
            "{}",
            figure.description
        );
        assert_eq!(figure.svg.matches("fill-opacity=\"0.55\"").count(), 2);
        assert!(score_histogram(&[0, 0]).missing.is_some());
    }
}
