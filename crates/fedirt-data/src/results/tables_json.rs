//! Tables of scores and of what is in files, as JSON for programs.

use crate::audience::Audience;
use crate::describe::{Description, ItemSummary, SiteSummary};
use crate::scores::{PriorChoice, Scores};
use serde_json::{Value, json};
use std::io;

/// Scores, one object per student in the order of the files. What a student does not have is `null`.
pub fn scores_json(scores: &Scores) -> io::Result<String> {
    let scaled = |value: Option<f64>, origin: f64| {
        scores.rescaling.zip(value).map(|(scale, value)| origin * scale.origin + scale.unit * value)
    };
    let students = scores.in_file_order().into_iter().map(|(at, row)| {
        let site = &scores.sites[at];
        let student = &site.students[row];
        let (score, fit) = (student.score, student.person_fit);
        let mut value = json!({
            "id": site.id(row), "site": site.name, "answered": student.answered, "raw": student.raw,
            "F1": score.estimate, "SE_F1": score.standard_error,
            "Zh": fit.lz, "infit": fit.infit, "outfit": fit.outfit,
        });
        if scores.rescaling.is_some() {
            value["F1_scaled"] = json!(scaled(score.estimate, 1.0));
            value["SE_F1_scaled"] = json!(scaled(score.standard_error, 0.0));
        }
        if !student.draws.is_empty() {
            value["PV"] = json!(student.draws);
            if scores.rescaling.is_some() {
                let draws: Vec<_> = student.draws.iter().map(|draw| scaled(Some(*draw), 1.0)).collect();
                value["PV_scaled"] = json!(draws);
            }
        }
        value
    });
    let notes: Vec<String> = scores.notes.iter().map(|note| note.told(Audience::CommandLine)).collect();
    text(&json!({
        "format": "fedirt.scores/1",
        "method": scores.method.name(),
        "prior": scores.prior.map(PriorChoice::name),
        "scale": scores.rescaling.map(|scale| json!({"origin": scale.origin, "unit": scale.unit})),
        "students": students.collect::<Vec<_>>(),
        "notes": notes,
    }))
}

/// What is in files: counts and classical statistics.
pub fn check_json(found: &Description) -> io::Result<String> {
    let files =
        found.files.iter().map(|file| json!({"file": file.file, "rows": file.rows, "sites": file.sites}));
    let notes: Vec<String> = found.notes.iter().map(|note| note.told(Audience::CommandLine)).collect();
    text(&json!({
        "format": "fedirt.check/1",
        "rows": found.rows(),
        "files": files.collect::<Vec<_>>(),
        "sites": found.sites.iter().map(site).collect::<Vec<_>>(),
        "items": found.items.iter().map(item).collect::<Vec<_>>(),
        "alpha": found.alpha,
        "complete_rows": found.complete_rows,
        "notes": notes,
    }))
}

fn site(site: &SiteSummary) -> Value {
    json!({
        "name": site.name, "rows": site.rows, "items": site.items, "missing": site.missing,
        "all_highest": site.all_highest, "all_lowest": site.all_lowest, "empty_rows": site.empty_rows,
        "constant_items": site.constant_items, "weight": site.weight,
    })
}

fn item(item: &ItemSummary) -> Value {
    let counts = item.counts.iter().map(|(code, count)| json!({"code": code, "count": count}));
    json!({
        "name": item.name, "sites": item.sites, "answered": item.answered, "missing": item.missing,
        "counts": counts.collect::<Vec<_>>(), "p": item.classical.p, "item_rest_r": item.classical.item_rest,
        "options": item.classical.options,
    })
}

fn text(value: &Value) -> io::Result<String> {
    Ok(serde_json::to_string_pretty(value).map_err(io::Error::from)? + "\n")
}
