//! `fedirt sensitivity`: how much the results depend on dependent items, or on single sites.

use super::origin::Origin;
use super::{opened, rules};
use crate::args::SensitivityArgs;
use crate::error::CliError;
use crate::output::{self, stderr, stdout};
use crate::progress::Progress;
use crate::terminal::style;
use crate::terminal::table::{Column, Table};
use crate::terminal::text::{NONE, count, fixed};
use crate::terminal::width;
use crate::usage::UsageError;
use fedirt::{Fit, Moved, Sensitivity, SensitivityTable, Variant, sensitivity};
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use serde_json::{Value, json};
use std::process::ExitCode;

pub(crate) fn run(args: &SensitivityArgs) -> Result<ExitCode, CliError> {
    let SensitivityArgs { lid, sites, fit: args } = args;
    rules::check(args)?;
    if args.out.is_some() {
        let reason = "several fits are compared, and none is kept; write a fit with fedirt fit";
        return Err(UsageError::Excluded { flag: "--out", reason }.into());
    }
    if args.hides_students() {
        let reason = "each of several fits would cost privacy";
        return Err(UsageError::Excluded { flag: "--private", reason }.into());
    }
    crate::use_threads(args.threads)?;
    let progress = Progress::new();
    progress.say("reading");
    let origin = Origin::new(args);
    let (read_options, options, responses) = opened(args, &origin, Vec::new())?;
    // Without a flag everything is varied.
    let both = !lid && !sites;
    let mut varied = Vec::new();
    varied.extend((*lid || both).then_some(Sensitivity::Dependence));
    varied.extend((*sites || both).then_some(Sensitivity::Sites));
    progress.say("fitting");
    let found = sensitivity(&responses, &options, &varied, &mut UnwrapErr(SysRng))
        .map_err(|error| CliError::fit(error, args, &read_options))?;
    drop(progress);
    if args.json {
        found.notes.iter().for_each(|note| stderr::note(note));
        let text = serde_json::to_string_pretty(&as_json(&found));
        stdout::print_raw(&format!("{}\n", text.expect("numbers and names are JSON")))?;
    } else {
        output::be_quiet(args.quiet);
        stdout::print(&as_text(&found))?;
    }
    let all = found.variants.iter().map(|variant| &variant.fit).chain([&found.base]);
    let converged = all.into_iter().all(|fit| fit.converged == Some(true));
    Ok(ExitCode::from(u8::from(!converged)))
}

fn reliability(fit: &Fit) -> Option<f64> {
    Some(fit.diagnostics.as_ref()?.reliability.as_ref()?.empirical)
}

/// The item that moves most, by how many standard errors.
fn farthest(moves: &[Moved]) -> Option<(&str, f64)> {
    let largest = moves.iter().filter_map(|moved| Some((moved.item.as_str(), moved.largest()?)));
    largest.max_by(|a, b| a.1.total_cmp(&b.1))
}

fn as_json(found: &SensitivityTable) -> Value {
    let fit = |name: &str, fit: &Fit| {
        json!({
            "name": name, "n": fit.n, "converged": fit.converged, "loglik": fit.loglik,
            "reliability": reliability(fit), "sd": fit.latent.sd,
        })
    };
    let change = |x: Option<[f64; 3]>| {
        x.map(|[before, after, se]| json!({"base": before, "variant": after, "se": se, "change_in_se": (after - before) / se}))
    };
    let item = |m: &Moved| json!({"item": m.item, "a": change(m.slope), "b": change(m.location)});
    let variant = |v: &Variant| {
        let mut out = fit(&v.name, &v.fit);
        out["items"] = found.moves(v).iter().map(item).collect();
        out
    };
    json!({
        "base": fit("as it is", &found.base),
        "variants": found.variants.iter().map(variant).collect::<Vec<_>>(),
        "notes": found.notes,
    })
}

fn as_text(found: &SensitivityTable) -> String {
    let mut out = format!("{}\n", style::paint(style::HEADING, "Fits"));
    let mut table = Table::new(vec![
        Column::words("fit"),
        Column::numbers("students"),
        Column::numbers("reliability"),
        Column::numbers("largest change"),
        Column::words("of item"),
    ]);
    let row = |name: &str, fit: &Fit, moved: Option<(&str, f64)>| {
        let change = moved.map_or_else(|| NONE.to_owned(), |(_, by)| format!("{by:.1} SE"));
        let item = moved.map_or_else(String::new, |(item, _)| item.to_owned());
        vec![name.to_owned(), count(fit.n), fixed(reliability(fit), 3), change, item]
    };
    table.row(row("as it is", &found.base, None));
    for variant in &found.variants {
        table.row(row(&variant.name, &variant.fit, farthest(&found.moves(variant))));
    }
    out += &table.render(width());
    for variant in &found.variants {
        out += &format!("\n{}\n", style::paint(style::HEADING, &format!("Items, {} (′)", variant.name)));
        let names = ["a", "a′", "b", "b′", "a′ − a, in SE", "b′ − b, in SE"];
        let mut table =
            Table::new(std::iter::once(Column::words("item")).chain(names.map(Column::numbers)).collect());
        for moved in found.moves(variant) {
            let of = |x: Option<[f64; 3]>, at: usize| fixed(x.map(|x| x[at]), 3);
            let change = |x: Option<[f64; 3]>| fixed(x.map(|[before, after, se]| (after - before) / se), 1);
            table.row(vec![
                moved.item.clone(),
                of(moved.slope, 0),
                of(moved.slope, 1),
                of(moved.location, 0),
                of(moved.location, 1),
                change(moved.slope),
                change(moved.location),
            ]);
        }
        out += &table.render(width());
    }
    if !found.variants.is_empty() {
        out += "\n  Changes are in standard errors of the fit as it is. Where conclusions change by more than one, report both fits, or\n  use the one that does not lean on the assumption.\n";
    }
    for note in &found.notes {
        out += &format!("\n  {note}\n");
    }
    out
}
