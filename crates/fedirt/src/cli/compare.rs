//! `fedirt compare`.

use crate::args::CompareArgs;
use crate::error::CliError;
use crate::output::{self, stderr, stdout};
use crate::report::read_fit;
use crate::terminal::style;
use crate::terminal::table::{Column, Table};
use crate::terminal::text::{NONE, count, fixed};
use crate::terminal::width;
use crate::usage::UsageError;
use fedirt::{
    Comparison, DriftLimits, Fit, ItemValue, LikelihoodRatio, Link, LinkError, NotNested, compare,
    likelihood_ratio, link,
};
use fedirt_data::files;
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;

/// A fit with the name by which it is spoken of.
struct Named {
    name: String,
    fit: Fit,
}

/// A fit beside the first one.
struct Beside<'a> {
    other: &'a Named,
    items: Comparison,
    link: Option<Link>,
}

pub(crate) fn run(args: &CompareArgs) -> Result<ExitCode, CliError> {
    output::be_quiet(args.quiet);
    if args.picture.is_some() && args.fits.len() > 2 {
        let reason = "a picture shows two fits";
        return Err(UsageError::Excluded { flag: "--picture", reason }.into());
    }
    let mut errors = Vec::new();
    let mut fits = Vec::new();
    for path in &args.fits {
        match read_fit(path) {
            Ok(fit) => fits.push(Named { name: name(path), fit }),
            Err(error) => errors.push(error),
        }
    }
    CliError::unless_empty(errors)?;
    let first = &fits[0];
    let mut failures: Vec<CliError> = Vec::new();
    let mut linked = |other: &Named| {
        let found = link(&first.fit, &other.fit, args.link?.method(), DriftLimits::default());
        found.map_err(|error| failures.push(refused(&other.name, error))).ok()
    };
    let beside: Vec<Beside<'_>> = fits[1..]
        .iter()
        .map(|other| Beside { other, items: compare(&first.fit, &other.fit), link: linked(other) })
        .collect();
    CliError::unless_empty(failures)?;
    let tests = tests(&fits);
    if let (Some(path), [two]) = (&args.picture, beside.as_slice()) {
        let names = [first.name.as_str(), two.other.name.as_str()];
        let figure = fedirt_figures::difficulties(&first.fit, &two.other.fit, names, two.link.as_ref());
        match figure.missing {
            Some(why) => stderr::note(&format!("no picture: {why}")),
            None => {
                files::replace(path, |out| out.write_all(figure.standalone().as_bytes()))?;
                stderr::note(&format!("wrote {}", path.display()));
            }
        }
    }
    if args.json {
        let text = serde_json::to_string_pretty(&as_json(&fits, &tests, &beside));
        stdout::print_raw(&format!("{}\n", text.expect("numbers and names are JSON")))?;
    } else {
        stdout::print(&as_text(&fits, &tests, &beside))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Tests of neighbours, or why there is none, and of all other pairs of which one model is a special case of the other.
fn tests(fits: &[Named]) -> Vec<Test<'_>> {
    let pairs = fits.iter().enumerate().flat_map(|(at, one)| {
        fits[at + 1..].iter().enumerate().map(move |(between, other)| (between == 0, one, other))
    });
    pairs
        .map(|(neighbours, one, other)| (neighbours, (one, other, likelihood_ratio(&one.fit, &other.fit))))
        .filter(|(neighbours, (.., result))| *neighbours || result.is_ok())
        .map(|(_, test)| test)
        .collect()
}

fn refused(name: &str, error: LinkError) -> CliError {
    CliError::from(UsageError::refused("--link", name, error))
}

/// `results` for `results/fit.json`, the file's name without its ending for any other.
fn name(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy();
    match path.parent().and_then(Path::file_name) {
        Some(folder) if stem == "fit" => folder.to_string_lossy().into_owned(),
        _ => stem.into_owned(),
    }
}

type Test<'a> = (&'a Named, &'a Named, Result<LikelihoodRatio, NotNested>);

fn as_json(fits: &[Named], tests: &[Test<'_>], beside: &[Beside<'_>]) -> Value {
    let value = |x: Option<ItemValue>| x.map(|x| json!({"value": x.value, "se": x.se}));
    let fit = |Named { name, fit }: &Named| {
        json!({
            "name": name, "model": fit.model, "effects": fit.effects, "n": fit.n, "loglik": fit.loglik, "npar": fit.npar,
            "aic": fit.aic, "bic": fit.bic, "sabic": fit.sabic,
        })
    };
    let test = |(one, other, result): &Test<'_>| match result {
        Ok(LikelihoodRatio { statistic, df, p, on_boundary }) => json!({
            "fits": [one.name, other.name], "X2": statistic, "df": df, "p": p, "on_boundary": on_boundary,
        }),
        Err(why) => json!({"fits": [one.name, other.name], "not_available": why.to_string()}),
    };
    let link = |link: &Link| {
        let drift = |d: &fedirt::Drift| {
            json!({
                "item": d.item, "difference": d.difference, "robust_z": d.robust_z, "rmsd": d.rmsd, "flagged": d.flagged,
            })
        };
        json!({
            "method": link.method.name(), "A": link.slope, "B": link.intercept, "criterion": link.criterion,
            "drift": link.drift.iter().map(drift).collect::<Vec<_>>(),
        })
    };
    let pair = |Beside { other, items, link: found }: &Beside<'_>| {
        let item = |i: &fedirt::ItemPair| json!({"item": i.name, "a": i.slope.map(value), "b": i.location.map(value)});
        json!({
            "fits": [fits[0].name, other.name], "items": items.items.iter().map(item).collect::<Vec<_>>(),
            "only_first": items.only_first, "only_second": items.only_second,
            "correlation_b": items.correlation(), "link": found.as_ref().map(link),
        })
    };
    json!({
        "fits": fits.iter().map(fit).collect::<Vec<_>>(),
        "tests": tests.iter().map(test).collect::<Vec<_>>(),
        "comparisons": beside.iter().map(pair).collect::<Vec<_>>(),
    })
}

fn as_text(fits: &[Named], tests: &[Test<'_>], beside: &[Beside<'_>]) -> String {
    let mut out = format!("{}\n", style::paint(style::HEADING, "Fits"));
    let mut table = Table::new(vec![
        Column::words("fit"),
        Column::words("model"),
        Column::words("effects").expendable(2),
        Column::numbers("students"),
        Column::numbers("parameters"),
        Column::numbers("log-likelihood"),
        Column::numbers("AIC"),
        Column::numbers("BIC"),
        Column::numbers("SABIC").expendable(1),
    ]);
    for Named { name, fit } in fits {
        let npar = fit.npar.to_string();
        let criteria = [fit.loglik, fit.aic, fit.bic, fit.sabic].map(|x| fixed(x, 3));
        let about = [name.clone(), fit.model.clone(), fit.effects.clone(), count(fit.n), npar];
        table.row(about.into_iter().chain(criteria).collect());
    }
    out += &table.render(width());
    for (one, other, result) in tests {
        out += &match result {
            Ok(LikelihoodRatio { statistic, df, p, on_boundary }) => {
                let boundary = if *on_boundary {
                    "; a variance of zero is a boundary, so p is about twice what it should be"
                } else {
                    ""
                };
                format!(
                    "\nLikelihood ratio of {} and {}: X2 = {statistic:.3}, df = {df}, p = {}{boundary}\n",
                    one.name,
                    other.name,
                    if *p < 1e-4 { "< 0.0001".to_owned() } else { format!("{p:.4}") }
                )
            }
            Err(why) => format!("\nNo likelihood ratio of {} and {}: {why}\n", one.name, other.name),
        };
    }
    for pair in beside {
        out += &side_by_side(&fits[0].name, pair);
    }
    out
}

fn side_by_side(first: &str, Beside { other, items, link }: &Beside<'_>) -> String {
    let mut out = format!(
        "\n{}\n",
        style::paint(style::HEADING, &format!("Items of {first} and of {} (′)", other.name))
    );
    if let Some(link) = link {
        out += &format!(
            "  {}: θ = {:.4}·θ′ + ({:.4}); a′ and b′ are on the scale of {first}\n",
            link.method.name(),
            link.slope,
            link.intercept
        );
    }
    let mut columns = vec![
        Column::words("item"),
        Column::numbers("a"),
        Column::numbers("a′"),
        Column::numbers("b"),
        Column::numbers("b′"),
        Column::numbers("b − b′"),
        Column::numbers("z").expendable(1),
    ];
    if link.is_some() {
        columns.extend([Column::numbers("rmsd"), Column::words("")]);
    }
    let (slope, intercept) = link.as_ref().map_or((1.0, 0.0), |link| (link.slope, link.intercept));
    let turned = |x: ItemValue, by: f64, shift: f64| ItemValue {
        value: by * x.value + shift,
        se: x.se.map(|se| by * se),
    };
    let mut table = Table::new(columns);
    for item in &items.items {
        let a = [item.slope[0], item.slope[1].map(|a| turned(a, 1.0 / slope, 0.0))];
        let b = [item.location[0], item.location[1].map(|b| turned(b, slope, intercept))];
        let both = b[0].zip(b[1]);
        let values = [a[0], a[1], b[0], b[1]].map(|x| fixed(x.map(|x| x.value), 3));
        let mut cells = vec![item.name.clone()];
        cells.extend(values);
        cells.push(fixed(both.map(|(one, two)| one.value - two.value), 3));
        cells.push(fixed(both.and_then(|(one, two)| one.z(two)), 1));
        if let Some(link) = link {
            let drift = link.drift.iter().find(|d| d.item == item.name);
            cells.push(drift.map_or_else(|| NONE.to_owned(), |d| format!("{:.3}", d.rmsd)));
            cells.push(if drift.is_some_and(|d| d.flagged) { "drifts".to_owned() } else { String::new() });
        }
        table.row(cells);
    }
    out += &table.render(width());
    for (whose, only) in [(first, &items.only_first), (other.name.as_str(), &items.only_second)] {
        if !only.is_empty() {
            out += &format!("  Only in {whose}: {}\n", only.join(", "));
        }
    }
    if link.is_none() {
        out += "  b is the mean of an item's difficulties. Nothing is linked: the difference means something where both fits\n  \
                are on one scale. --link puts them on one.\n";
    }
    out
}
