//! A description as plain text, at most 100 columns wide.

use std::collections::BTreeSet;
use std::fmt;

use crate::OptionSummary;
use crate::audience::Audience;
use crate::describe::{Description, ItemSummary, share};
use crate::text::{counted, grouped, shown};

/// Widest line.
const WIDTH: usize = 100;
/// Widest name.
const NAME: usize = 28;
/// Rows of a table that are printed; the rest is summed up in a line.
const MOST_SITES: usize = 40;
const MOST_ITEMS: usize = 400;
/// Entries of a list within a sentence.
const LISTED: usize = 6;

impl fmt::Display for Description {
    /// As somebody reads it who calls a library.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, Audience::Library)
    }
}

/// A description for somebody.
struct Told<'a>(&'a Description, Audience);

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write(f, self.1)
    }
}

impl Description {
    /// The description as text, for somebody.
    pub fn told(&self, audience: Audience) -> String {
        Told(self, audience).to_string()
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, audience: Audience) -> fmt::Result {
        let cells: u64 = self.items.iter().map(|item| item.answered + item.missing).sum();
        let missing: u64 = self.items.iter().map(|item| item.missing).sum();
        writeln!(
            f,
            "{} in {}, {}; {} of the answers are missing.",
            counted(self.rows(), "row", "rows"),
            counted(self.sites.len() as u64, "site", "sites"),
            counted(self.items.len() as u64, "item", "items"),
            percent(missing, cells)
        )?;
        self.write_files(f)?;
        self.write_sites(f)?;
        self.write_items(f)?;
        self.write_options(f)?;
        let notes = self.notes.iter().map(|note| note.told(audience)).collect();
        for (title, lines) in [("To look at", self.remarks()), ("Notes", notes)] {
            if !lines.is_empty() {
                writeln!(f, "\n{title}")?;
            }
            for line in lines {
                write_wrapped(&line, f)?;
            }
        }
        Ok(())
    }

    /// The files, where they are not the sites.
    fn write_files(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one_to_one =
            self.files.iter().all(|file| file.sites == 1) && self.files.len() == self.sites.len();
        if one_to_one {
            return Ok(());
        }
        let mut table = Table::new(&["file", "rows", "sites"]);
        for file in self.files.iter().take(MOST_SITES) {
            table.row(vec![shorten_path(&file.file), grouped(file.rows), grouped(file.sites as u64)]);
        }
        writeln!(f, "\nFiles")?;
        table.write(f)?;
        write_rest(self.files.len(), MOST_SITES, "file", "files", f)
    }

    fn write_sites(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let weighted = self.sites.iter().any(|site| site.weight.is_some());
        let mut titles =
            vec!["site", "rows", "items", "missing", "all highest", "all lowest", "no answer", "constant"];
        if weighted {
            titles.push("weight");
        }
        let mut table = Table::new(&titles);
        for site in self.sites.iter().take(MOST_SITES) {
            let mut row = vec![
                shorten(&site.name, NAME),
                grouped(site.rows),
                grouped(site.items as u64),
                percent(site.missing, site.rows * site.items as u64),
                grouped(site.all_highest),
                grouped(site.all_lowest),
                grouped(site.empty_rows),
                grouped(site.constant_items.len() as u64),
            ];
            row.extend(site.weight.map(|weight| format!("{weight:.1}")));
            table.row(row);
        }
        writeln!(f, "\nSites")?;
        table.write(f)?;
        write_rest(self.sites.len(), MOST_SITES, "site", "sites", f)?;
        let mut rows: Vec<u64> = self.sites.iter().map(|site| site.rows).collect();
        rows.sort_unstable();
        match rows.as_slice() {
            [fewest, .., most] if rows.len() > 4 => {
                let median = grouped(rows[rows.len() / 2]);
                writeln!(f, "  Rows per site: {} to {}, median {median}.", grouped(*fewest), grouped(*most))
            }
            _ => Ok(()),
        }
    }

    fn write_items(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let several = self.sites.len() > 1;
        let mut titles = vec!["item".to_string()];
        titles.extend(several.then(|| "sites".to_string()));
        titles.extend(["answered", "missing", "p", "r"].map(str::to_string));
        let codes: BTreeSet<u8> =
            self.items.iter().flat_map(|item| &item.counts).map(|(code, _)| *code).collect();
        let widest =
            self.items.iter().flat_map(|item| &item.counts).map(|(_, count)| grouped(*count).len()).max();
        let column = widest.unwrap_or(1).max(4) + 2;
        // One column per code where that fits; else the range of codes.
        let columns_fit = NAME + 2 + 7 + 12 + 9 + 14 + codes.len() * column <= WIDTH;
        if columns_fit {
            titles.extend(codes.iter().map(|code| format!("[{code}]")));
        } else {
            titles.extend(["codes".to_string(), "from".to_string(), "to".to_string()]);
        }
        let mut table = Table::new(&titles);
        for item in self.items.iter().take(MOST_ITEMS) {
            let mut row = vec![shorten(&item.name, NAME)];
            row.extend(several.then(|| grouped(item.sites as u64)));
            row.extend([grouped(item.answered), percent(item.missing, item.answered + item.missing)]);
            row.extend([item.classical.p, item.classical.item_rest].map(two_digits));
            if columns_fit {
                row.extend(codes.iter().map(|code| count_of(item, *code)));
            } else {
                let end =
                    |entry: Option<&(u8, u64)>| entry.map(|(code, _)| code.to_string()).unwrap_or_default();
                row.extend([
                    item.counts.len().to_string(),
                    end(item.counts.first()),
                    end(item.counts.last()),
                ]);
            }
            table.row(row);
        }
        let what = if columns_fit { " (answers by code)" } else { "" };
        writeln!(f, "\nItems{what}")?;
        table.write(f)?;
        write_rest(self.items.len(), MOST_ITEMS, "item", "items", f)?;
        writeln!(f, "  p: mean score as a share of the highest; r: item-rest correlation.")?;
        if let Some(alpha) = self.alpha {
            writeln!(
                f,
                "  Alpha: {alpha:.3} ({}).",
                counted(self.complete_rows, "complete row", "complete rows")
            )?;
        }
        Ok(())
    }

    /// What was chosen in keyed items: a distractor should be chosen by students of little ability.
    fn write_options(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keyed: Vec<&ItemSummary> =
            self.items.iter().filter(|item| !item.classical.options.is_empty()).collect();
        if keyed.is_empty() {
            return Ok(());
        }
        let mut table =
            Table::new(&["item", "option", "category", "chosen", "share", "lower", "middle", "upper", "r"]);
        for item in keyed.iter().take(MOST_ITEMS / 4) {
            let options = &item.classical.options;
            let all: u64 = options.iter().map(|option| option.count).sum();
            let thirds =
                [0, 1, 2].map(|third| options.iter().map(|option| option.thirds[third]).sum::<u64>());
            let third = |option: &OptionSummary, at: usize| percent(option.thirds[at], thirds[at]);
            for (at, option) in options.iter().enumerate() {
                table.row(vec![
                    if at == 0 { shorten(&item.name, NAME) } else { String::new() },
                    shorten(&option.option, 12),
                    option.code.to_string(),
                    grouped(option.count),
                    percent(option.count, all),
                    third(option, 0),
                    third(option, 1),
                    third(option, 2),
                    two_digits(option.item_rest_r),
                ]);
            }
        }
        writeln!(
            f,
            "\nOptions of keyed items (lower, middle, upper: shares in each third of students by the mean score in\n  the other items; r: between choosing the option and that score)"
        )?;
        table.write(f)?;
        write_rest(keyed.len(), MOST_ITEMS / 4, "item", "items", f)
    }

    /// What deserves a look, each in a sentence.
    fn remarks(&self) -> Vec<String> {
        let mut out = Vec::new();
        let constant: Vec<&str> =
            self.items.iter().filter(|item| item.constant()).map(|item| item.name.as_str()).collect();
        if !constant.is_empty() {
            out.push(format!(
                "The same answer in every row, so that nothing can be estimated: {}.",
                list(&constant)
            ));
        }
        let at_sites: Vec<&str> = self
            .sites
            .iter()
            .filter(|site| site.constant_items.iter().any(|item| !constant.contains(&item.as_str())))
            .map(|site| site.name.as_str())
            .collect();
        if !at_sites.is_empty() {
            let sites = counted(at_sites.len() as u64, "site has", "sites have");
            out.push(format!(
                "{sites} items with the same answer in every row, which is harmless if other sites differ: {}.",
                list(&at_sites)
            ));
        }
        let few: Vec<&str> = self.few_sites().map(|item| item.name.as_str()).collect();
        if !few.is_empty() {
            let items = counted(few.len() as u64, "item is", "items are");
            out.push(format!("{items} given by fewer than half of the sites: {}.", list(&few)));
        }
        out
    }
}

/// A table with aligned columns: the first to the left, the others to the right.
struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    fn new<T: ToString>(titles: &[T]) -> Self {
        Self { rows: vec![titles.iter().map(T::to_string).collect()] }
    }

    fn row(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let mut line = String::from("  ");
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                match column {
                    0 => line.push_str(&format!("{cell:<width$}")),
                    _ => line.push_str(&format!("  {cell:>width$}")),
                }
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

fn count_of(item: &ItemSummary, code: u8) -> String {
    let count = item.counts.iter().find(|(other, _)| *other == code);
    // A dot, so that a category that nobody used can be told from one with few answers at a glance.
    count.map_or("·".to_string(), |(_, count)| grouped(*count))
}

fn two_digits(value: Option<f64>) -> String {
    value.map_or("·".to_string(), |value| format!("{value:.2}"))
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.1} %", 100.0 * share(part, whole))
}

fn shorten(name: &str, most: usize) -> String {
    let name = shown(name.as_bytes());
    if name.chars().count() <= most { name } else { name.chars().take(most - 1).chain(['…']).collect() }
}

/// The end of a path says more than its beginning.
fn shorten_path(path: &str) -> String {
    let length = path.chars().count();
    if length <= 60 {
        path.to_string()
    } else {
        ['…'].into_iter().chain(path.chars().skip(length - 59)).collect()
    }
}

fn list(names: &[&str]) -> String {
    let mut out: Vec<String> = names.iter().take(LISTED).map(|name| shorten(name, NAME)).collect();
    if names.len() > LISTED {
        out.push(format!("and {} more", grouped((names.len() - LISTED) as u64)));
    }
    out.join(", ")
}

fn write_rest(all: usize, most: usize, one: &str, many: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match all.saturating_sub(most) as u64 {
        0 => Ok(()),
        rest => writeln!(f, "  … and {}", counted(rest, &format!("more {one}"), &format!("more {many}"))),
    }
}

/// A bullet, broken between words.
fn write_wrapped(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut line = String::from("  -");
    for word in text.split(' ') {
        if line.chars().count() + 1 + word.chars().count() > WIDTH && line.trim().len() > 1 {
            writeln!(f, "{line}")?;
            line = String::from("   ");
        }
        line.push(' ');
        line.push_str(word);
    }
    writeln!(f, "{line}")
}
