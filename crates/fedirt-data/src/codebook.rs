//! Codebooks: what items there are, how many categories each has, and how answers become codes.

use crate::HIGHEST_CODE;
use crate::cause::Cause;
use crate::cells::decimal;
use crate::input::Input;
use crate::key::key_rule;
use crate::problems::{Complaints, Problems};
use crate::scoring_rule::{ScoringRule, same_answer};
use crate::small_table::{Row, SmallTable};
use crate::text::shown;

/// An item as a codebook has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CodebookItem {
    /// The item's name.
    pub name: String,
    /// Other names that files have for it.
    pub aliases: Vec<String>,
    /// Its model, if the codebook says; a name that `fedirt_model::items::model` knows.
    pub model: Option<String>,
    /// Its category codes, if the codebook says how many there are: 0, 1, …, or from the lowest that it names.
    pub categories: Option<Vec<u8>>,
    /// Codes that mean "no answer" in this item, beside those of all items.
    pub missing: Vec<String>,
    /// How answers become codes, where they are not the codes themselves.
    pub rule: Option<ScoringRule>,
}

/// Columns of a codebook that say how answers become codes.
struct RuleColumns {
    levels: Option<usize>,
    scores: Option<usize>,
    key: Option<usize>,
    reverse: Option<usize>,
    categories: Option<usize>,
    lowest: Option<usize>,
}

/// Reads a codebook: a CSV file with the column `item` and, if wanted, any of these:
///
/// | column | content |
/// | --- | --- |
/// | `model` | the item's model |
/// | `categories`, `lowest` | the number of categories, and the lowest code (0 unless told otherwise) |
/// | `aliases` | other names that files have for the item: `a1\|A_1` |
/// | `missing` | codes that mean "no answer" in this item: `8\|9` |
/// | `levels` | words of the scale, the lowest first: `never\|sometimes\|always` |
/// | `scores` | the scores that occur (`0\|0.5\|1`), or the score of each level |
/// | `key` | right options: `B`, `B\|C`, `A=2\|B=1`; any other option is wrong |
/// | `reverse` | `yes` where a high code stands for little ability |
///
/// Other columns are not looked at.
pub fn read_codebook(input: Input<'_>) -> Result<Vec<CodebookItem>, Problems> {
    SmallTable::read(input, |table, complaints| {
        let (model, aliases, missing) =
            (table.column("model"), table.column("aliases"), table.column("missing"));
        let columns = RuleColumns {
            levels: table.column("levels"),
            scores: table.column("scores"),
            key: table.column("key"),
            reverse: table.column("reverse"),
            categories: table.column("categories"),
            lowest: table.column("lowest"),
        };
        let items = table.items(complaints);
        let book: Vec<CodebookItem> = items
            .iter()
            .map(|(row, name)| {
                let (rule, categories) = columns.read(row, complaints);
                CodebookItem {
                    name: name.to_string(),
                    aliases: row.list(aliases),
                    model: table.model(row, model, complaints),
                    categories,
                    missing: row.list(missing),
                    rule,
                }
            })
            .collect();
        for ((row, _), item) in items.iter().zip(&book) {
            for alias in &item.aliases {
                let another = book.iter().find(|other| {
                    other.name != item.name && (other.name == *alias || other.aliases.contains(alias))
                });
                if let Some(other) = another {
                    let (name, other) = (shown(alias.as_bytes()), shown(other.name.as_bytes()));
                    complaints.cell(row.line, "aliases", Cause::NameOfTwoItems { name, other });
                }
            }
        }
        book
    })
}

impl RuleColumns {
    /// The rule and the categories of a row.
    fn read(&self, row: &Row, complaints: &mut Complaints<'_>) -> (Option<ScoringRule>, Option<Vec<u8>>) {
        let categories = self.categories(row, complaints);
        let mut rule = self.rule(row, complaints);
        match row.get(self.reverse).map(str::to_lowercase).as_deref() {
            None | Some("no" | "0" | "false") => {}
            Some("yes" | "1" | "true") => {
                let codes = || categories.iter().flatten().map(|code| (code.to_string(), *code)).collect();
                let turned = rule.take().unwrap_or_else(|| ScoringRule { codes: codes(), otherwise: None });
                if turned.codes.is_empty() {
                    complaints.cell(row.line, "reverse", Cause::ReverseWithoutCategories);
                }
                rule = Some(turned.reversed());
            }
            Some(other) => complaints.cell(row.line, "reverse", Cause::NotYesOrNo(shown(other.as_bytes()))),
        }
        let of_rule = rule.as_ref().map(ScoringRule::categories);
        if let (Some(stated), Some(found)) = (&categories, &of_rule)
            && stated != found
        {
            let cause = Cause::CategoriesAndRule { stated: stated.len(), found: found.len() };
            complaints.cell(row.line, "categories", cause);
        }
        (rule, of_rule.or(categories))
    }

    fn categories(&self, row: &Row, complaints: &mut Complaints<'_>) -> Option<Vec<u8>> {
        let text = row.get(self.categories)?;
        let first = match row.get(self.lowest) {
            None => 0,
            Some(text) => match text.parse::<u8>() {
                Ok(first) if first < HIGHEST_CODE => first,
                _ => {
                    complaints.cell(row.line, "lowest", Cause::BadLowestCode(shown(text.as_bytes())));
                    return None;
                }
            },
        };
        let most = HIGHEST_CODE + 1 - first;
        let count = text.parse::<u8>().ok().filter(|count| (2..=most).contains(count));
        if count.is_none() {
            complaints.cell(row.line, "categories", Cause::BadCategoryCount(shown(text.as_bytes())));
        }
        count.map(|count| (first..first + count).collect())
    }

    /// What `levels`, `scores` and `key` say.
    fn rule(&self, row: &Row, complaints: &mut Complaints<'_>) -> Option<ScoringRule> {
        let (levels, scores) = (row.list(self.levels), row.list(self.scores));
        if let Some(text) = row.get(self.key) {
            if !(levels.is_empty() && scores.is_empty()) {
                complaints.cell(row.line, "key", Cause::KeyAndLevels);
            }
            return key_rule(text, row.line, complaints);
        }
        if levels.is_empty() && scores.is_empty() {
            return None;
        }
        let texts = if levels.is_empty() { &scores } else { &levels };
        let column = if levels.is_empty() { "scores" } else { "levels" };
        if texts.len() < 2 || texts.len() > usize::from(HIGHEST_CODE) + 1 {
            complaints.cell(row.line, column, Cause::LevelCount(texts.len()));
            return None;
        }
        let twice =
            texts.iter().enumerate().find(|(at, text)| texts[..*at].iter().any(|t| same_answer(t, text)));
        if let Some((_, text)) = twice {
            complaints.cell(row.line, column, Cause::LevelTwice(shown(text.as_bytes())));
        }
        if scores.is_empty() {
            let codes = levels.into_iter().zip(0..).collect();
            return Some(ScoringRule { codes, otherwise: None });
        }
        if !levels.is_empty() && levels.len() != scores.len() {
            let cause = Cause::ScoresAndLevels { scores: scores.len(), levels: levels.len() };
            complaints.cell(row.line, "scores", cause);
            return None;
        }
        let numbers: Vec<f64> = scores
            .iter()
            .filter_map(|score| {
                let number = decimal(score);
                if number.is_none() {
                    complaints.cell(row.line, "scores", Cause::BadNumber(shown(score.as_bytes())));
                }
                number
            })
            .collect();
        let complete = numbers.len() == scores.len();
        complete.then(|| ScoringRule::of_scores(texts.iter().cloned().zip(numbers).collect(), false))
    }
}
