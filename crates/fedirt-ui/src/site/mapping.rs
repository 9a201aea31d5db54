//! What the officer says about the columns of a file: proposed at first, then as it was said, and checked as a whole.

use super::officer_settings::{Answers, OfficerSettings};
use super::remembered::Remembered;
use crate::Fields;
use crate::complaints::Complaints;
use fedirt_data::{ColumnValues, Likeness, Proposal, near_names, propose};
use fedirt_protocol::plan::{PlanItem, StudyPlan};
use std::collections::BTreeSet;

/// The choice for an item of which nothing is said yet.
pub(super) const UNSAID: &str = "";
/// The choice for an item that the file does not have.
pub(super) const NO_COLUMN: &str = "-";
/// The columns of a file with a line for each answer: student, item, answer.
pub(super) const LONG_FIELDS: [&str; 3] = ["long-id", "long-item", "long-response"];

/// What is entered on the page of columns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Mapping {
    /// For each item of the plan: a column, [`NO_COLUMN`] or [`UNSAID`].
    pub(super) columns: Vec<String>,
    pub(super) id: String,
    pub(super) weight: String,
    pub(super) group: String,
    /// The columns of [`LONG_FIELDS`].
    pub(super) long: [String; 3],
    pub(super) answers: Answers,
    /// Codes that mean "no answer".
    pub(super) missing: Vec<String>,
    pub(super) key: String,
    pub(super) levels: String,
    pub(super) codebook: String,
    /// Items that are scored in reverse.
    pub(super) reversed: Vec<String>,
}

/// Whether a file has a line for each answer.
pub(super) fn is_long(columns: &[String]) -> bool {
    let has = |name: &str| columns.iter().any(|column| column.eq_ignore_ascii_case(name));
    has("item") && (has("resp") || has("response"))
}

impl Mapping {
    /// What is probable about a file of which nothing was said.
    pub(super) fn proposed(
        plan: &StudyPlan,
        values: &[ColumnValues],
        before: &Remembered,
    ) -> (Self, Vec<Proposal>) {
        let names: Vec<String> = values.iter().map(|column| column.column.clone()).collect();
        let items: Vec<&str> = plan.items.iter().map(|item| item.name.as_str()).collect();
        let proposals = propose(&names, &items, &before.columns);
        let proposed = |item: &str| proposals.iter().find(|p| p.item == item).map(|p| p.column.clone());
        let taken = |name: &String| proposals.iter().any(|p| p.column == *name);
        let free: Vec<&String> = names.iter().filter(|name| !taken(name)).collect();
        let called = |wanted: &str| {
            free.iter()
                .find(|name| name.eq_ignore_ascii_case(wanted))
                .map_or_else(String::new, |n| (*n).clone())
        };
        let column = |item: &&str| {
            proposed(item).unwrap_or_else(|| {
                // Where a name is near and no proposal is unambiguous, the officer must say.
                let near = !near_names(item, free.iter().map(|name| name.as_str())).is_empty();
                if near { UNSAID } else { NO_COLUMN }.to_owned()
            })
        };
        let mapping = Self {
            columns: items.iter().map(column).collect(),
            id: called("id"),
            group: if plan.groups.is_some() { called("group") } else { String::new() },
            ..Self::default()
        };
        let answers = mapping.guess(values);
        let mapping = Self { answers, ..mapping };
        // What meant "no answer" in another file is proposed only where it is no answer of this plan.
        let odd = mapping.odd(plan, values).into_iter().map(|odd| odd.text);
        let missing = odd.filter(|text| before.missing.contains(text)).collect();
        (Self { missing, ..mapping }, proposals)
    }

    /// How the answers in the chosen columns probably stand: by most of them.
    fn guess(&self, values: &[ColumnValues]) -> Answers {
        let (mut numbers, mut options, mut words) = (0, 0, 0);
        for (text, count) in self.texts(values) {
            match text {
                _ if text.parse::<f64>().is_ok() => numbers += count,
                "NA" | "." => {}
                _ if text.chars().count() <= 2 => options += count,
                _ => words += count,
            }
        }
        if options > numbers.max(words) {
            Answers::Options
        } else if words > numbers {
            Answers::Words
        } else {
            Answers::Numbers
        }
    }

    fn texts<'a>(&'a self, values: &'a [ColumnValues]) -> impl Iterator<Item = (&'a str, u64)> {
        let chosen = values.iter().filter(|column| self.columns.contains(&column.column));
        chosen.flat_map(|column| column.texts.iter().map(|(text, count)| (text.as_str(), *count)))
    }

    /// What was said before.
    pub(super) fn said(settings: &OfficerSettings, plan: &StudyPlan, names: &[String]) -> Self {
        let column = |item: &PlanItem| {
            let renamed =
                settings.renamed.iter().find(|(_, to)| *to == item.name).map(|(from, _)| from.clone());
            let same = || names.contains(&item.name) && !settings.ignore.contains(&item.name);
            renamed.unwrap_or_else(|| match () {
                () if same() => item.name.clone(),
                () if settings.unsaid.contains(&item.name) => UNSAID.to_owned(),
                () => NO_COLUMN.to_owned(),
            })
        };
        Self {
            columns: plan.items.iter().map(column).collect(),
            id: settings.id.clone().unwrap_or_default(),
            weight: settings.weight.clone().unwrap_or_default(),
            group: settings.group.clone().unwrap_or_default(),
            long: settings.long.clone().unwrap_or_default(),
            answers: settings.answers,
            missing: settings.missing.clone(),
            key: settings.key.clone(),
            levels: settings.levels.clone(),
            codebook: settings.codebook.clone(),
            reversed: settings.reversed.clone(),
        }
    }

    /// What was entered. What a form does not say about an item is what its column's name says.
    pub(super) fn entered(fields: &Fields, plan: &StudyPlan, names: &[String]) -> Self {
        let column = |(at, item): (usize, &PlanItem)| {
            let field = format!("item-{at}");
            match fields.has(&field) {
                true => fields.get(&field).to_owned(),
                false if names.contains(&item.name) => item.name.clone(),
                false => UNSAID.to_owned(),
            }
        };
        let text = |field: &str| fields.get(field).to_owned();
        let split = |c: char| c.is_whitespace() || matches!(c, ',' | ';');
        let ticked = fields.all("no-answer").map(str::to_owned);
        let typed = fields.get("missing").split(split).filter(|code| !code.is_empty()).map(str::to_owned);
        let mut missing = Vec::new();
        for code in ticked.chain(typed) {
            if !missing.contains(&code) {
                missing.push(code);
            }
        }
        Self {
            columns: plan.items.iter().enumerate().map(column).collect(),
            id: text("id"),
            weight: text("weight"),
            group: text("group"),
            long: LONG_FIELDS.map(text),
            answers: Answers::ALL.into_iter().find(|a| a.name() == fields.get("answers")).unwrap_or_default(),
            missing,
            key: text("key"),
            levels: text("levels"),
            codebook: text("codebook"),
            reversed: fields.all("reversed").map(str::to_owned).collect(),
        }
    }

    /// Everything that cannot be as it was entered.
    pub(super) fn complaints(&self, plan: &StudyPlan, names: &[String]) -> Complaints {
        let mut wrong = Complaints::default();
        let known = |name: &str| names.iter().any(|other| other == name);
        let roles = [("id", &self.id), ("weight", &self.weight), ("group", &self.group)];
        let long = self.long.iter().filter(|column| !column.is_empty()).count();
        if long > 0 && long < 3 {
            wrong.add(
                "long-id",
                "A file with a line for each answer needs all three columns: the student, the item and the answer.",
            );
        }
        let wide = long == 0 && !is_long(names);
        let mut used: Vec<(&str, String)> = Vec::new();
        let mut uses: Vec<(String, &String, String)> =
            roles.iter().map(|(field, column)| ((*field).to_owned(), *column, (*field).to_owned())).collect();
        if wide {
            let items = self.columns.iter().zip(&plan.items).enumerate();
            uses.extend(items.map(|(at, (column, item))| (format!("item-{at}"), column, item.name.clone())));
        }
        for (field, column, what) in uses {
            if column.is_empty() || column == NO_COLUMN {
                continue;
            }
            if !known(column) {
                wrong.add(
                    field,
                    format!("The file has no column {column:?}. Choose one of those that are listed."),
                );
            } else if let Some((_, other)) = used.iter().find(|(name, _)| name == column) {
                wrong.add(
                    field,
                    format!("Column {column} cannot be used twice, for {other} and for {what}. Choose another column for one of them."),
                );
            } else {
                used.push((column, what));
            }
        }
        if wide && self.columns.iter().all(|column| column == NO_COLUMN) {
            wrong.add("item-0", "No column is chosen for any item. Choose the column of each item that your students were given.");
        }
        if self.answers == Answers::Options && self.key.is_empty() && self.codebook.is_empty() {
            wrong.add("key", "The answers are options: give the right option of each item.");
        }
        if self.answers == Answers::Words {
            self.check_levels(plan, &mut wrong);
        }
        wrong
    }

    fn check_levels(&self, plan: &StudyPlan, wrong: &mut Complaints) {
        let words = self.words();
        if words.is_empty() && self.codebook.is_empty() {
            wrong.add("levels", "The answers are words: give the words of the scale, the lowest first.");
        } else if let Some(word) = words.iter().find(|word| word.contains('=')) {
            wrong.add(
                "levels",
                format!("The word {word:?} has an equals sign, which words here cannot have."),
            );
        } else if !words.is_empty() && plan.items.iter().all(|item| item.categories.len() != words.len()) {
            let counts: BTreeSet<String> =
                plan.items.iter().map(|i| i.categories.len().to_string()).collect();
            let counts: Vec<String> = counts.into_iter().collect();
            wrong.add(
                "levels",
                format!(
                    "The plan's items have {} categories, and these are {} words.",
                    counts.join(" or "),
                    words.len()
                ),
            );
        }
    }

    fn words(&self) -> Vec<&str> {
        self.levels.split(['|', '\n', ',', ';']).map(str::trim).filter(|word| !word.is_empty()).collect()
    }

    /// The key as a table: right options alone stand in the order of the items that have a column.
    fn key_table(&self, plan: &StudyPlan) -> String {
        let header = self.key.lines().next().unwrap_or_default().to_lowercase();
        if self.key.is_empty() || (header.contains("item") && header.contains("key")) {
            return self.key.clone();
        }
        let given = plan.items.iter().zip(&self.columns).filter(|(_, column)| *column != NO_COLUMN);
        let options: Vec<&str> = self
            .key
            .split(|c: char| c.is_whitespace() || matches!(c, ',' | ';'))
            .filter(|o| !o.is_empty())
            .collect();
        let items: Vec<&PlanItem> = given.map(|(item, _)| item).collect();
        if options.len() != items.len() {
            return self.key.clone();
        }
        let lines =
            items.iter().zip(options).map(|(item, option)| format!("{},{option}\n", quoted(&item.name)));
        std::iter::once("item,key\n".to_owned()).chain(lines).collect()
    }

    /// The scale and the reversed items as a codebook.
    fn scoring(&self, plan: &StudyPlan) -> String {
        let words = if self.answers == Answers::Words { self.words() } else { Vec::new() };
        let mut lines = String::new();
        for item in &plan.items {
            let reversed = self.reversed.contains(&item.name);
            let mut codes = item.categories.clone();
            let scaled = words.len() == codes.len();
            let levels: Vec<String> = if scaled {
                codes.iter().zip(&words).map(|(code, word)| format!("{code}={word}")).collect()
            } else {
                codes.extend(item.merged.iter().map(|merged| merged.code));
                codes.sort_unstable();
                codes.iter().map(|code| format!("{code}={code}")).collect()
            };
            if scaled || reversed {
                let turned = if reversed { "yes" } else { "" };
                lines.push_str(&format!("{},{},{turned}\n", quoted(&item.name), quoted(&levels.join("|"))));
            }
        }
        if lines.is_empty() { lines } else { format!("item,levels,reverse\n{lines}") }
    }

    /// Takes what was said into the settings, without the approval of before.
    pub(super) fn keep(&self, plan: &StudyPlan, names: &[String], settings: &mut OfficerSettings) {
        let said = |name: &String| Some(name.clone()).filter(|name| !name.is_empty());
        let long = self.long.iter().all(|column| !column.is_empty()).then(|| self.long.clone());
        let wide = long.is_none() && !is_long(names);
        let pairs = || self.columns.iter().zip(&plan.items);
        settings.unsaid =
            pairs().filter(|(column, _)| *column == UNSAID).map(|(_, item)| item.name.clone()).collect();
        let open: Vec<&str> = settings.unsaid.iter().map(String::as_str).collect();
        settings.renamed = pairs()
            .filter(|(column, item)| {
                wide && *column != UNSAID && *column != NO_COLUMN && **column != item.name
            })
            .map(|(column, item)| (column.clone(), item.name.clone()))
            .collect();
        let roles = [&self.id, &self.weight, &self.group];
        let unused =
            |name: &&String| !name.is_empty() && !self.columns.contains(name) && !roles.contains(name);
        // A column that may be an item of which nothing is said is not left out in silence: the check asks.
        let asked = |name: &&String| !near_names(name, open.iter().copied()).is_empty();
        settings.ignore = names.iter().filter(|name| wide && unused(name) && !asked(name)).cloned().collect();
        (settings.id, settings.weight, settings.group) =
            (said(&self.id), said(&self.weight), said(&self.group));
        settings.long = long;
        settings.missing.clone_from(&self.missing);
        settings.answers = self.answers;
        settings.key = if self.answers == Answers::Options { self.key_table(plan) } else { String::new() };
        settings.levels.clone_from(&self.levels);
        settings.codebook.clone_from(&self.codebook);
        settings.reversed.clone_from(&self.reversed);
        settings.scoring = self.scoring(plan);
        (settings.mapped, settings.approved_by) = (true, None);
    }

    /// Texts in the chosen columns that are no answers as they stand: each with how many answers and items have it.
    pub(super) fn odd(&self, plan: &StudyPlan, values: &[ColumnValues]) -> Vec<Odd> {
        let mut found: Vec<Odd> = Vec::new();
        let words = self.words();
        for (item, column) in plan.items.iter().zip(&self.columns) {
            let Some(values) = values.iter().find(|values| values.column == *column) else { continue };
            for (text, count) in &values.texts {
                if matches!(text.as_str(), "NA" | ".") || self.is_answer(item, text, &words) {
                    continue;
                }
                match found.iter_mut().find(|odd| odd.text == *text) {
                    Some(odd) => (odd.answers, odd.items) = (odd.answers + count, odd.items + 1),
                    None => found.push(Odd { text: text.clone(), answers: *count, items: 1, ticked: false }),
                }
            }
        }
        found.sort_by(|a, b| b.answers.cmp(&a.answers).then_with(|| a.text.cmp(&b.text)));
        found.truncate(MOST_ODD);
        found.iter_mut().for_each(|odd| odd.ticked = self.missing.contains(&odd.text));
        found
    }

    fn is_answer(&self, item: &PlanItem, text: &str, words: &[&str]) -> bool {
        match self.answers {
            Answers::Numbers => text.parse::<f64>().is_ok_and(|number| {
                let codes = item.categories.iter().chain(item.merged.iter().map(|merged| &merged.code));
                codes.into_iter().any(|code| f64::from(*code) == number)
            }),
            Answers::Options => text.chars().any(char::is_alphabetic),
            Answers::Words if words.is_empty() => text.chars().any(char::is_alphabetic),
            Answers::Words => words.iter().any(|word| word.to_lowercase() == text.to_lowercase()),
        }
    }
}

/// Most texts that are offered as codes for "no answer".
const MOST_ODD: usize = 30;

/// A text that is no answer as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Odd {
    pub(super) text: String,
    pub(super) answers: u64,
    pub(super) items: u64,
    pub(super) ticked: bool,
}

/// A field of a CSV text.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// Why a column is proposed, in words for the officer.
pub(super) fn reason(likeness: Likeness) -> &'static str {
    match likeness {
        Likeness::Exact => "same name",
        Likeness::Remembered => "as you said before",
        Likeness::Spelling => "same name, spelled differently",
        Likeness::Number => "same number",
        Likeness::Near => "similar name: please check",
    }
}
