//! Classical statistics of items: difficulty, item-rest correlation, alpha, and how the options of keyed items work.

use fedirt_model::fit::OptionSummary;

use crate::moments::Moments;
use crate::questions::{Items, answered, occurring};
use crate::reading::Responses;

/// Classical statistics of one item.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClassicalItem {
    /// Mean score as a share of the highest: for 0/1 items the share of right answers. `None` without an answer.
    pub p: Option<f64>,
    /// Correlation of the score with the mean score in the other items that the student answered. `None` where one of the
    /// two does not vary.
    pub item_rest: Option<f64>,
    /// The options of a keyed item.
    pub options: Vec<OptionSummary>,
}

/// Classical statistics of a test.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Classical {
    pub(crate) items: Vec<ClassicalItem>,
    pub(crate) alpha: Option<f64>,
    pub(crate) complete_rows: u64,
}

/// Sums of one item over students.
#[derive(Clone, Default)]
struct ItemSums {
    score: f64,
    answers: u64,
    rest: Moments,
    /// Of complete rows.
    complete: (f64, f64),
}

pub(crate) fn classical(responses: &Responses) -> Classical {
    let items = Items::new(&responses.sites);
    let ranges: Vec<(u8, u8)> = items
        .names
        .iter()
        .zip(&items.counts)
        .map(|(name, counts)| {
            let codes: Vec<u8> = occurring(counts).iter().map(|(code, _)| *code).collect();
            let declared = responses.declared_codes(name).unwrap_or(codes);
            let (lowest, highest) =
                (declared.first().copied().unwrap_or(0), declared.last().copied().unwrap_or(1));
            // An item that everybody has right, or everybody has wrong, is a 0/1 item.
            if highest <= 1 { (0, 1) } else { (lowest, highest) }
        })
        .collect();
    let mut sums = vec![ItemSums::default(); items.names.len()];
    // Each row's sum of scores and number of answers.
    let mut row_totals: Vec<Vec<(f64, usize)>> = Vec::new();
    let (mut complete_rows, mut totals) = (0, (0.0, 0.0));
    for site in &responses.sites {
        let places: Vec<usize> = site.items.iter().map(|name| items.places[name.as_str()]).collect();
        let mut of_rows = Vec::with_capacity(site.table.students());
        for row in site.table.rows() {
            let score = |column: usize, code: u8| f64::from(code - ranges[places[column]].0.min(code));
            let answers =
                || row.iter().enumerate().filter_map(|(column, code)| Some((column, answered(*code)?)));
            let total: f64 = answers().map(|(column, code)| score(column, code)).sum();
            let count = answers().count();
            of_rows.push((total, count));
            let is_complete = count == items.names.len();
            for (column, code) in answers() {
                let (sum, x) = (&mut sums[places[column]], score(column, code));
                sum.score += x;
                sum.answers += 1;
                let rest = (count > 1).then(|| (total - x) / (count - 1) as f64);
                if let Some(rest) = rest {
                    sum.rest.add(x, rest);
                }
                if is_complete {
                    sum.complete = (sum.complete.0 + x, sum.complete.1 + x * x);
                }
            }
            if is_complete {
                complete_rows += 1;
                totals = (totals.0 + total, totals.1 + total * total);
            }
        }
        row_totals.push(of_rows);
    }
    let variance = |(sum, squares): (f64, f64)| squares - sum * sum / complete_rows as f64;
    let (parts, whole) = (sums.iter().map(|sum| variance(sum.complete)).sum::<f64>(), variance(totals));
    let n = sums.len() as f64;
    // Cronbach (1951); variances share their divisor.
    let alpha = (complete_rows > 1 && n > 1.0 && whole > 0.0).then(|| n / (n - 1.0) * (1.0 - parts / whole));
    let names = items.names.iter().zip(sums).zip(ranges);
    let items = names.map(|((name, sum), (lowest, highest))| ClassicalItem {
        options: chosen_options(responses, name, lowest, &row_totals),
        ..sum.item(f64::from(highest - lowest))
    });
    Classical { items: items.collect(), alpha, complete_rows }
}

/// The options of keyed items by item: those of the files, for the results of a fit.
pub fn option_summaries(responses: &Responses) -> Vec<(String, Vec<OptionSummary>)> {
    if responses.sites.iter().all(|site| site.chosen.is_empty()) {
        return Vec::new();
    }
    let names = Items::new(&responses.sites).names.into_iter().map(str::to_owned);
    let options = classical(responses).items.into_iter().map(|item| item.options);
    names.zip(options).filter(|(_, options)| !options.is_empty()).collect()
}

/// How the options of a keyed item were chosen, by the mean score in the other items.
fn chosen_options(
    responses: &Responses,
    item: &str,
    lowest: u8,
    row_totals: &[Vec<(f64, usize)>],
) -> Vec<OptionSummary> {
    let mut options: Vec<OptionSummary> = Vec::new();
    let mut rows: Vec<(usize, f64)> = Vec::new();
    for (site, totals) in responses.sites.iter().zip(row_totals) {
        let Some(chosen) = site.chosen.iter().find(|chosen| chosen.item == item) else { continue };
        let Some(column) = site.items.iter().position(|name| name == item) else { continue };
        for ((place, row), (total, count)) in chosen.rows().zip(site.table.rows()).zip(totals) {
            let (Some(place), Some(code)) = (place, answered(row[column])) else { continue };
            let option = &chosen.options[place];
            let at = options.iter().position(|known| known.option == *option).unwrap_or_else(|| {
                let (option, item_rest_r) = (option.clone(), None);
                options.push(OptionSummary { option, code, count: 0, thirds: [0; 3], item_rest_r });
                options.len() - 1
            });
            options[at].count += 1;
            if *count > 1 {
                rows.push((at, (total - f64::from(code - lowest.min(code))) / (count - 1) as f64));
            }
        }
    }
    rows.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    let (mut start, all) = (0, rows.len());
    for same in rows.chunk_by(|(_, one), (_, other)| one == other) {
        // The middle of their ranks, between 0 and the number of rows.
        let third = 3 * (2 * start + same.len()) / (2 * all);
        same.iter().for_each(|(at, _)| options[*at].thirds[third.min(2)] += 1);
        start += same.len();
    }
    for (place, option) in options.iter_mut().enumerate() {
        let mut moments = Moments::default();
        rows.iter().for_each(|(at, rest)| moments.add(f64::from(u8::from(*at == place)), *rest));
        option.item_rest_r = moments.correlation();
    }
    options.sort_by(|one, other| one.option.cmp(&other.option));
    options
}

impl ItemSums {
    fn item(self, highest: f64) -> ClassicalItem {
        ClassicalItem {
            p: (self.answers > 0 && highest > 0.0).then(|| self.score / self.answers as f64 / highest),
            item_rest: self.rest.correlation(),
            options: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Input, ReadOptions, read, read_key};

    fn of(text: &str, options: &ReadOptions) -> Classical {
        classical(&read([Input::new("a.csv", text.as_bytes())], options).unwrap())
    }

    /// Four students, three items. By hand: item variances 1/4, 3/16, 3/16 (divisor n), total scores 3, 2, 0, 1 with variance
    /// 5/4: alpha = 3/2 (1 - 5/8 / (5/4)) = 3/4.
    #[test]
    fn alpha_and_difficulty_by_hand() {
        let found = of("a,b,c\n1,1,1\n1,1,0\n0,0,0\n0,1,0\n", &ReadOptions::default());
        assert!((found.alpha.unwrap() - 0.75).abs() < 1e-12);
        assert_eq!(found.items.iter().map(|item| item.p.unwrap()).collect::<Vec<_>>(), [0.5, 0.75, 0.25]);
        // a = 1, 1, 0, 0 against the mean of b and c = 1, ½, 0, ½: cov = 1/8, variances 1/4 and 1/8.
        assert!((found.items[0].item_rest.unwrap() - (0.5f64).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn options_of_a_keyed_item() {
        let key = read_key(Input::new("key.csv", "item,key\na,B\n".as_bytes())).unwrap();
        let options = ReadOptions { key, ..ReadOptions::default() };
        let found = of("a,b,c\nB,1,1\nA,0,0\nC,0,1\nb,1,1\n,1,0\nA,1,0\n", &options);
        let options = &found.items[0].options;
        let counts: Vec<_> = options.iter().map(|o| (o.option.as_str(), o.code, o.count)).collect();
        assert_eq!(counts, [("A", 0, 2), ("B", 1, 2), ("C", 0, 1)]);
        // Chose A: 0, 1, 0, 0, 1 against rests 1, 0, ½, 1, ½: r = -0.125/… by the definition.
        let (x, y) = ([0.0, 1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.5, 1.0, 0.5]);
        let mut moments = Moments::default();
        x.iter().zip(y).for_each(|(x, y)| moments.add(*x, y));
        assert_eq!(options[0].item_rest_r, moments.correlation());
        // Rests 0 < ½, ½ < 1, 1: middle ranks 0.5, 2 and 4 of five rows.
        assert_eq!(options.iter().map(|o| o.thirds).collect::<Vec<_>>(), [[1, 1, 0], [0, 0, 2], [0, 1, 0]]);
        assert_eq!(found.complete_rows, 5);
    }
}
