//! Reading that are in memory already, column by column, as a data frame has them.

use std::collections::HashMap;

use crate::HIGHEST_CODE;
use crate::assemble::{Block, Ids, Sites};
use crate::cause::Cause;
use crate::notes::NoteKind;
use crate::notes::add_note;
use crate::options::ReadOptions;
use crate::problems::{Complaints, Problem, Problems};
use crate::reading::{FirstLines, Responses, Said, site_of_file};
use crate::text::shown;
use fedirt_model::responses::MISSING;

/// A table in memory: one entry per row in each column.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResponseColumns {
    /// Items by name, each with the category code of every row; `None` where there is no answer.
    pub items: Vec<(String, Vec<Option<u8>>)>,
    /// The site of each row; without it, all rows are of one site.
    pub site: Option<Vec<String>>,
    /// The identifier of each row.
    pub id: Option<Vec<String>>,
    /// The weight of each row; without it, all rows count once.
    pub weight: Option<Vec<f64>>,
}

impl Responses {
    /// Tables in memory as responses, or everything that is wrong with them; the line of a [`Problem`] is the row, counted
    /// from 1. A table without a site column is the site of its name.
    ///
    /// ```
    /// use fedirt_data::{ResponseColumns, Responses};
    ///
    /// let north = ResponseColumns {
    ///     items: vec![("I1".into(), vec![Some(0), Some(1)]), ("I2".into(), vec![Some(1), None])],
    ///     ..ResponseColumns::default()
    /// };
    /// let responses = Responses::from_columns([("north", north)])?;
    /// assert_eq!(responses.sites[0].items, ["I1", "I2"]);
    /// # Ok::<(), fedirt_data::Problems>(())
    /// ```
    pub fn from_columns<N: Into<String>>(
        tables: impl IntoIterator<Item = (N, ResponseColumns)>,
    ) -> Result<Self, Problems> {
        let (mut problems, mut notes, mut sites) = (Problems::default(), Vec::new(), Sites::default());
        let mut said = Said::default();
        let mut names: Vec<String> = Vec::new();
        for (at, (name, columns)) in tables.into_iter().enumerate() {
            let name = name.into();
            let mut complaints = Complaints { file: &name, problems: &mut problems };
            if names.contains(&name) {
                let site = site_of_file(&name);
                complaints.file(Cause::SameSiteName { site, first: name.clone() });
                continue;
            }
            columns.check(&mut complaints);
            if problems.is_empty() {
                said.first_lines.push((name.clone(), columns.first_rows()));
                for (site, mut block) in columns.blocks(&name) {
                    block.input = at;
                    sites.add(site, block);
                }
                let empty = |(_, codes): &&(String, Vec<Option<u8>>)| codes.iter().all(Option::is_none);
                let empty: Vec<String> = columns.items.iter().filter(empty).map(|(n, _)| n.clone()).collect();
                if !empty.is_empty() {
                    add_note(&mut notes, Some(&name), NoteKind::EmptyItems(empty));
                }
            }
            names.push(name);
        }
        if names.is_empty() {
            problems.add(Problem { file: None, line: None, column: None, cause: Cause::NoFiles });
        }
        match sites.finish(&ReadOptions::default(), &mut problems, &mut notes) {
            Ok(sites) => problems.unless_empty(Self { sites, notes, said }),
            Err(error) => {
                let cause = Cause::Unreadable(error.to_string());
                problems.add(Problem { file: None, line: None, column: None, cause });
                Err(problems)
            }
        }
    }
}

impl ResponseColumns {
    fn check(&self, complaints: &mut Complaints<'_>) {
        if self.items.len() < 2 {
            let (items, columns) = (self.items.len(), self.items.len().max(2));
            complaints.file(Cause::TooFewItems { items, columns });
        }
        let rows = self.items.first().map_or(0, |(_, codes)| codes.len());
        if rows == 0 {
            complaints.file(Cause::NoRows);
        }
        let lengths = self.items.iter().map(|(name, codes)| (name.as_str(), codes.len()));
        let others = [
            ("site", self.site.as_ref().map(Vec::len)),
            ("id", self.id.as_ref().map(Vec::len)),
            ("weight", self.weight.as_ref().map(Vec::len)),
        ];
        let others = others.into_iter().filter_map(|(name, length)| Some((name, length?)));
        for (name, found) in lengths.chain(others).filter(|(_, found)| *found != rows) {
            complaints.column(name, Cause::ColumnLength { expected: rows, found });
        }
        let mut positions: HashMap<&str, usize> = HashMap::new();
        for (position, (name, codes)) in self.items.iter().enumerate() {
            if name.is_empty() {
                complaints.file(Cause::UnnamedColumn(position + 1));
            }
            if let Some(before) = positions.insert(name, position) {
                complaints.column(name, Cause::DuplicateColumn(before + 1, position + 1));
            }
            for (row, code) in codes.iter().enumerate() {
                if let Some(code) = code.filter(|code| *code > HIGHEST_CODE) {
                    complaints.cell(row as u64 + 1, name, Cause::TooLarge(code.to_string()));
                }
            }
        }
        for (column, texts, cause) in
            [("site", &self.site, Cause::EmptySite), ("id", &self.id, Cause::EmptyId)]
        {
            let empty = texts.iter().flatten().enumerate().filter(|(_, text)| text.is_empty());
            empty.for_each(|(row, _)| complaints.cell(row as u64 + 1, column, cause.clone()));
        }
        for (row, weight) in self.weight.iter().flatten().enumerate() {
            if !(weight.is_finite() && *weight >= 0.0) {
                let cause = Cause::BadWeight(shown(weight.to_string().as_bytes()));
                complaints.cell(row as u64 + 1, "weight", cause);
            }
        }
    }

    /// For each item its codes, with the row in which each occurs first.
    fn first_rows(&self) -> FirstLines {
        let first = |codes: &Vec<Option<u8>>| {
            let mut first: Vec<(u8, u64)> = Vec::new();
            for (code, row) in codes.iter().zip(1..).filter_map(|(code, row)| Some(((*code)?, row))) {
                if !first.iter().any(|(known, _)| *known == code) {
                    first.push((code, row));
                }
            }
            first
        };
        self.items.iter().map(|(name, codes)| (name.clone(), first(codes))).collect()
    }

    /// The rows of each site, in order of first appearance.
    fn blocks(&self, name: &str) -> Vec<(String, Block)> {
        let rows = self.items.first().map_or(0, |(_, codes)| codes.len());
        let mut blocks: Vec<(String, Block)> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        let own = site_of_file(name);
        for row in 0..rows {
            let site = self.site.as_ref().map_or(own.as_str(), |sites| sites[row].as_str());
            let place = *places.entry(site).or_insert_with(|| {
                let block = Block {
                    file: name.to_owned(),
                    items: self.items.iter().map(|(name, _)| name.clone()).collect(),
                    ids: self.id.is_some().then(|| Ids::new("id")),
                    weights: self.weight.is_some().then(Vec::new),
                    ..Block::default()
                };
                blocks.push((site.to_owned(), block));
                blocks.len() - 1
            });
            let block = &mut blocks[place].1;
            block.rows += 1;
            block.lines.push(row as u64 + 1);
            block.cells.extend(self.items.iter().map(|(_, codes)| codes[row].unwrap_or(MISSING)));
            if let (Some(ids), Some(given)) = (&mut block.ids, &self.id) {
                ids.ids.push(given[row].clone());
            }
            if let (Some(weights), Some(given)) = (&mut block.weights, &self.weight) {
                weights.push(given[row]);
            }
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> ResponseColumns {
        ResponseColumns {
            items: vec![
                ("a".into(), vec![Some(0), Some(1), None]),
                ("b".into(), vec![Some(2), Some(0), Some(1)]),
            ],
            site: Some(["x", "y", "x"].map(String::from).to_vec()),
            id: Some(["1", "2", "3"].map(String::from).to_vec()),
            weight: Some(vec![1.0, 2.0, 0.5]),
        }
    }

    #[test]
    fn rows_go_to_their_sites() {
        let responses = Responses::from_columns([("exam", table())]).unwrap();
        let x = &responses.sites[0];
        assert_eq!((x.name.as_str(), x.ids.as_deref()), ("x", Some(&["1".to_owned(), "3".to_owned()][..])));
        assert_eq!(x.table.rows().collect::<Vec<_>>(), [[0, 2], [MISSING, 1]]);
        assert_eq!(x.table.weights(), Some(&[1.0, 0.5][..]));
        assert_eq!(responses.sites[1].table.students(), 1);
    }

    #[test]
    fn everything_that_is_wrong_is_told_with_row_and_column() {
        let mut bad = table();
        bad.items[0].1[1] = Some(64);
        bad.items[1].1.pop();
        bad.id = Some(["1", "", "3"].map(String::from).to_vec());
        bad.weight = Some(vec![1.0, f64::NAN, -1.0]);
        let problems = Responses::from_columns([("exam", bad)]).unwrap_err();
        let places: Vec<_> =
            problems.iter().map(|p| (p.line, p.column.clone().unwrap_or_default())).collect();
        let expected =
            [(None, "b"), (Some(2), "a"), (Some(2), "id"), (Some(2), "weight"), (Some(3), "weight")];
        assert_eq!(places, expected.map(|(line, column)| (line, column.to_owned())));
        let mut twice = table();
        twice.id = Some(["1", "2", "1"].map(String::from).to_vec());
        let problems = Responses::from_columns([("exam", twice)]).unwrap_err();
        assert!(matches!(problems.iter().next().unwrap().cause, Cause::DuplicateId { first_line: 1, .. }));
        assert!(Responses::from_columns([("a", table()), ("a", table())]).is_err());
        assert!(Responses::from_columns::<&str>([]).is_err());
    }
}
