//! Codebooks: what items there are, how many categories each has, and how answers become codes.

use fedirt_model::design::MAX_CATEGORIES;

use crate::HIGHEST_CODE;
use crate::cause::Cause;
use crate::cells::decimal;
use crate::collapse::{Collapse, MergedCategories};
use crate::input::Input;
use crate::item_problem::ItemProblem;
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
    /// Which of its categories become one.
    pub collapse: Option<Collapse>,
    /// Codes that mean "no answer" in this item, beside those of all items.
    pub missing: Vec<String>,
    /// How answers become codes, where they are not the codes themselves.
    pub rule: Option<ScoringRule>,
}

impl CodebookItem {
    /// The categories that are left of those of a plan, whose sites must not decide by their answers which are merged, and the
    /// codes that became one of them. `None` where nothing is merged.
    pub fn merged(&self) -> Result<Option<MergedCategories>, ItemProblem> {
        let name = || self.name.clone();
        let collapse = match &self.collapse {
            None => return Ok(None),
            Some(Collapse::AtLeast(_)) => return Err(ItemProblem::CollapseFromAnswers(name())),
            Some(collapse @ Collapse::Groups(_)) => collapse,
        };
        let codes = self.categories.clone().unwrap_or_default();
        let left = collapse.of(&codes, &[0; HIGHEST_CODE as usize + 1]);
        let left = left.ok_or_else(|| ItemProblem::CollapseOthers { item: name(), codes })?;
        Ok(Some(left))
    }

    /// Whether something says how answers become codes.
    pub(crate) fn has_rule(&self) -> bool {
        self.rule.is_some()
    }
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
/// | `levels` | words of the scale, the lowest first: `never\|sometimes\|always`; or codes with words: `1=never\|2\|3=always` |
/// | `scores` | the scores that occur (`0\|0.5\|1`), or the score of each level |
/// | `key` | right options: `B`, `B\|C`, `A=2\|B=1`; any other option is wrong |
/// | `reverse` | `yes` where a high code stands for little ability |
/// | `collapse` | categories that become one: `0-2\|3\|4,5`, or a number: the fewest answers that all sites together must have to each |
///
/// Other columns are not looked at.
pub fn read_codebook(input: Input<'_>) -> Result<Vec<CodebookItem>, Problems> {
    SmallTable::read(input, |table, complaints| {
        let (model, aliases, missing) =
            (table.column("model"), table.column("aliases"), table.column("missing"));
        let collapse = table.column("collapse");
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
                let collapse = merging(row, collapse, complaints);
                // Groups of categories say which categories there are.
                let categories = categories.or_else(|| match &collapse {
                    Some(Collapse::Groups(groups)) => Some(groups.concat()),
                    Some(Collapse::AtLeast(_)) | None => None,
                });
                CodebookItem {
                    name: name.to_string(),
                    aliases: row.list(aliases),
                    model: table.model(row, model, complaints),
                    categories,
                    collapse,
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

/// What the column `collapse` says.
fn merging(row: &Row, column: Option<usize>, complaints: &mut Complaints<'_>) -> Option<Collapse> {
    let text = row.get(column)?;
    let read = Collapse::read(text);
    if read.is_none() {
        complaints.cell(row.line, "collapse", Cause::BadCollapse(shown(text.as_bytes())));
    }
    read
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
        let most = (HIGHEST_CODE + 1 - first).min(MAX_CATEGORIES as u8);
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
        let column = if levels.is_empty() { "scores" } else { "levels" };
        let levels = match read_levels(if levels.is_empty() { &scores } else { &levels }) {
            Ok(levels) => levels,
            Err(cause) => {
                complaints.cell(row.line, column, cause);
                return None;
            }
        };
        let texts = |level: Level| level.texts.into_iter();
        if scores.is_empty() {
            let codes = levels.into_iter().flat_map(|level| {
                let code = level.code;
                texts(level).map(move |text| (text, code))
            });
            return Some(ScoringRule { codes: codes.collect(), otherwise: None });
        }
        if levels.len() != scores.len() {
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
        let scored =
            levels.into_iter().zip(numbers).flat_map(|(level, score)| texts(level).map(move |t| (t, score)));
        complete.then(|| ScoringRule::of_scores(scored.collect(), false))
    }
}

/// An answer of a scale: what it may be called, and its code.
struct Level {
    texts: Vec<String>,
    code: u8,
}

/// Words of a scale, or codes with words.
fn read_levels(listed: &[String]) -> Result<Vec<Level>, Cause> {
    if listed.len() < 2 || listed.len() > MAX_CATEGORIES {
        return Err(Cause::LevelCount(listed.len()));
    }
    let code = |text: &str| text.trim().parse::<u8>().ok().filter(|code| *code <= HIGHEST_CODE);
    let with_word =
        |text: &str| Some((code(text.split_once('=')?.0)?, text.split_once('=')?.1.trim().to_owned()));
    let coded = listed.iter().any(|text| with_word(text).is_some());
    let mut levels: Vec<Level> = Vec::new();
    for (at, text) in (0..).zip(listed) {
        let level = match (coded, with_word(text), code(text)) {
            (false, ..) => Level { texts: vec![text.clone()], code: at },
            (true, Some((code, word)), _) => Level { texts: vec![code.to_string(), word], code },
            (true, None, Some(code)) => Level { texts: vec![code.to_string()], code },
            (true, None, None) => return Err(Cause::LevelWithoutCode(shown(text.as_bytes()))),
        };
        if levels.last().is_some_and(|last| last.code >= level.code) {
            return Err(Cause::LevelWithoutCode(shown(text.as_bytes())));
        }
        let known =
            |text: &String| levels.iter().flat_map(|level| &level.texts).any(|t| same_answer(t, text));
        // The word of a level may be its code.
        if level.texts.iter().any(known) {
            return Err(Cause::LevelTwice(shown(text.as_bytes())));
        }
        levels.push(level);
    }
    Ok(levels)
}
