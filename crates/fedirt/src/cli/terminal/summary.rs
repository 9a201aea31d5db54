//! The summary above the tables: data, model and fit statistics.

use super::style::{self, paint};
use super::text::{NONE, count, counted, fixed, printable, rough};
use fedirt_model::fit::Fit;
use unicode_width::UnicodeWidthStr;

/// Space between the two columns.
const GAP: usize = 4;

type Fact = (&'static str, String);

/// A name at the beginning of a sentence.
fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The title line.
pub(super) fn title(fit: &Fit) -> String {
    let model = capitalised(fedirt_model::items::title(&fit.model));
    let sites = match fit.sites.len() as u64 {
        0 => String::new(),
        _ if fit.of_one_site() => String::new(),
        n => format!(" at {}", counted(n, "site", "sites")),
    };
    let state = match fit.converged {
        Some(true) => paint(style::GOOD, "converged"),
        Some(false) => paint(style::BAD, "NOT CONVERGED"),
        None => "no statement about convergence".to_owned(),
    };
    let what = format!(
        "{model} calibration of {}{sites}, {}",
        counted(fit.items.len() as u64, "item", "items"),
        counted(fit.n, "student", "students")
    );
    format!("{} · {state}", paint(style::HEADING, &what))
}

/// Facts about what sites do, which mean nothing where there is one.
const OF_SITES: [&str; 5] = ["Site effects", "Sites", "Mode", "(ε, δ)", "Numbers sent"];

/// The facts in two columns if there is room, and in one otherwise.
pub(super) fn block(fit: &Fit, room: usize) -> String {
    let (mut left, mut right) = (data(fit), numbers(fit));
    if fit.of_one_site() {
        for facts in [&mut left, &mut right] {
            facts.retain(|(name, _)| !OF_SITES.contains(name));
        }
    }
    let (l, r) = (FactColumn::new(&left), FactColumn::new(&right));
    let mut out = String::new();
    if 2 + l.width() + GAP + r.width() > room {
        let all = FactColumn::new(left.iter().chain(&right).cloned().collect::<Vec<_>>().as_slice());
        left.iter().chain(&right).for_each(|fact| out.push_str(&format!("  {}\n", all.cell(fact, false))));
        return out;
    }
    for at in 0..left.len().max(right.len()) {
        let first = left.get(at).map_or_else(|| " ".repeat(l.width()), |fact| l.cell(fact, true));
        let second = right.get(at).map_or_else(String::new, |fact| r.cell(fact, false));
        let line = format!("  {first}{}{second}", " ".repeat(GAP));
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

fn data(fit: &Fit) -> Vec<Fact> {
    let q = &fit.quadrature;
    let mut facts = vec![
        ("Model", fit.model.clone()),
        ("Site effects", fit.effects.clone()),
        ("Sites", count(fit.sites.len() as u64)),
        ("N", count(fit.n)),
        ("n per item", answers(fit)),
        ("Latent mean", with_error(Some(fit.latent.mean), fit.latent.se_mean)),
        ("Latent SD", with_error(Some(fit.latent.sd), fit.latent.se_sd)),
    ];
    if let Some(shape) = &fit.latent.shape {
        facts.push(("Ability", shape.population.clone()));
        facts.push(("Skewness", fixed(Some(shape.skewness), 2)));
        facts.push(("Excess kurtosis", fixed(Some(shape.kurtosis), 2)));
    }
    for group in &fit.latent.groups {
        // The first is the reference, which has mean 0 and SD 1 on the scale of a fit without anchors.
        let ability = group
            .mean
            .zip(group.sd)
            .map_or_else(String::new, |(mean, sd)| format!(", mean {mean:.3}, SD {sd:.3}"));
        facts
            .push(("Group", format!("{} ({:.0} students{ability})", printable(&group.name), group.students)));
    }
    if fit.effects == "random" {
        let interval = fit.site_sd_interval.map(|[low, high]| format!(", 95 % from {low:.3} to {high:.3}"));
        let sd = with_error(fit.site_sd, fit.se_site_sd) + &interval.unwrap_or_default();
        facts.push(("SD between sites", sd));
    }
    facts.extend([
        ("Algorithm", fit.algorithm.clone()),
        ("Mode", fit.mode.clone()),
        ("Quadrature", format!("{} nodes on [{}, {}], {}", q.nodes, q.from, q.to, q.weights)),
    ]);
    let privacy = fit.privacy.as_ref().map(|p| format!("({}, {})", p.epsilon, p.delta));
    facts.push(("(ε, δ)", privacy.unwrap_or_else(|| "not a private run".to_owned())));
    if let Some(privacy) = &fit.privacy {
        facts.push(("ε, replaced answers", format!("{:.3}", privacy.epsilon_replaced)));
    }
    facts.push(("Seed", fit.seed.map_or_else(|| "none used".to_owned(), |seed| seed.to_string())));
    facts.push(("Version", fit.version.clone()));
    facts.push(("Codebook hash", format!("{}…", fit.codebook_hash.chars().take(12).collect::<String>())));
    facts
}

fn numbers(fit: &Fit) -> Vec<Fact> {
    let diagnostics = fit.diagnostics.as_ref();
    let reliability = diagnostics.and_then(|d| d.reliability.as_ref());
    let q3 = diagnostics.and_then(|d| d.q3.as_ref());
    let dependent = q3.map_or_else(|| NONE.to_owned(), |q3| count(q3.flagged.len() as u64));
    let flagged =
        diagnostics.and_then(|d| d.dif.as_ref()).map(|rows| rows.iter().filter(|row| row.flagged).count());
    let change = fit.trace.iter().rev().find_map(|t| t.max_change);
    let mut facts = vec![
        ("Log-likelihood", fixed(fit.loglik, 3)),
        ("Deviance", fixed(fit.loglik.map(|l| -2.0 * l), 3)),
        ("Parameters", count(fit.npar as u64)),
        ("AIC", fixed(fit.aic, 3)),
        ("BIC", fixed(fit.bic, 3)),
        ("SABIC", fixed(fit.sabic, 3)),
        ("Rounds", count(fit.rounds as u64)),
        ("Numbers sent", format!("{} by each site", count(fit.numbers_sent))),
        ("Max. change", rough(change)),
        ("Max. gradient", rough(fit.max_gradient)),
        ("SE type", fit.se_type.clone().unwrap_or_else(|| NONE.to_owned())),
        ("Condition number", rough(fit.condition_number)),
        ("Reliability", fixed(reliability.map(|r| r.empirical), 3)),
        ("Dependent pairs", dependent),
    ];
    // Where groups were compared.
    facts.extend(flagged.map(|n| ("Items with DIF", count(n as u64))));
    facts
}

fn answers(fit: &Fit) -> String {
    let known = || fit.items.iter().filter_map(|item| item.n);
    match (known().min(), known().max()) {
        (Some(least), Some(most)) if least == most => count(least),
        (Some(least), Some(most)) => format!("{} to {}", count(least), count(most)),
        _ => NONE.to_owned(),
    }
}

fn with_error(value: Option<f64>, se: Option<f64>) -> String {
    match se {
        Some(_) => format!("{} (SE {})", fixed(value, 3), fixed(se, 3)),
        None => fixed(value, 3),
    }
}

/// Widths of one column.
struct FactColumn {
    name: usize,
    value: usize,
}

impl FactColumn {
    fn new(facts: &[Fact]) -> Self {
        let widest = |text: fn(&Fact) -> usize| facts.iter().map(text).max().unwrap_or(0);
        Self { name: widest(|fact| fact.0.width()), value: widest(|fact| fact.1.width()) }
    }

    fn width(&self) -> usize {
        self.name + 2 + self.value
    }

    fn cell(&self, (name, value): &Fact, padded: bool) -> String {
        let gap = " ".repeat(self.name - name.width() + 2);
        let rest = if padded { self.value - value.width() } else { 0 };
        format!("{}{gap}{value}{}", paint(style::FAINT, name), " ".repeat(rest))
    }
}
