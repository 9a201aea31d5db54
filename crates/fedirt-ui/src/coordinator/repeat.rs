//! The command that repeats the fit where all files are in one place, and the small files that it reads.

use fedirt_data::results::shell_quoted;
use fedirt_model::exchange::Effects;
use fedirt_model::items::default_model;
use fedirt_model::private::MissingAnswers;
use fedirt_model::quadrature::{GridSpec, Weighting};
use fedirt_model::statistics::Mode;
use fedirt_protocol::plan::StudyPlan;

/// A cell of a CSV file.
pub(super) fn cell(text: &str) -> String {
    let plain = !text.contains([',', '"', '\n', ';']);
    if plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

/// Whether the plan needs this file.
pub(super) fn has(plan: &StudyPlan, file: &str) -> bool {
    match file {
        "fixed_items.csv" => plan.items.iter().any(|item| item.fixed.is_some()),
        "booklets.csv" => !plan.booklets.is_empty(),
        _ => true,
    }
}

/// The codebook as `--codebook` reads it.
pub(super) fn codebook(plan: &StudyPlan) -> String {
    let mut out = String::from("item,model,categories,lowest\n");
    for item in &plan.items {
        let usual = default_model(item.categories.len()).name();
        let (model, lowest) = (item.model.as_deref().unwrap_or(usual), item.categories.first().unwrap_or(&0));
        out += &format!("{},{model},{},{lowest}\n", cell(&item.name), item.categories.len());
    }
    out
}

/// Known parameters as `--fixed-items` reads them.
pub(super) fn fixed_items(plan: &StudyPlan) -> String {
    let known = || plan.items.iter().filter_map(|item| Some((item, item.fixed.as_ref()?)));
    let steps = known().map(|(_, fixed)| fixed.d.len()).max().unwrap_or(1);
    let heads: Vec<String> = (1..=steps).map(|step| format!("d{step}")).collect();
    let mut out = format!("item,a,{}\n", heads.join(","));
    for (item, fixed) in known() {
        let d = (0..steps).map(|step| fixed.d.get(step).map_or_else(String::new, f64::to_string));
        out += &format!("{},{},{}\n", cell(&item.name), fixed.a, d.collect::<Vec<_>>().join(","));
    }
    out
}

/// Booklets as `--booklets` reads them.
pub(super) fn booklets(plan: &StudyPlan) -> String {
    let mut out = String::from("booklet,item\n");
    for booklet in &plan.booklets {
        for item in &booklet.items {
            out += &format!("{},{}\n", cell(&booklet.name), cell(item));
        }
    }
    out
}

/// The command line of the fit, with one file per site.
pub(super) fn command(plan: &StudyPlan) -> String {
    let files: Vec<String> =
        plan.cohort.sites.iter().map(|site| shell_quoted(&format!("{site}.csv")).into_owned()).collect();
    let model = &plan.model;
    let effects = match model.effects {
        Effects::None => "none",
        Effects::Fixed => "fixed",
        Effects::Random => "random",
    };
    let mut out = format!("fedirt fit {}", files.join(" "));
    out += &format!(" \\\n  --codebook codebook.csv --effects {effects}");
    if has(plan, "fixed_items.csv") {
        out += " --fixed-items fixed_items.csv";
    }
    match (plan.mode, &plan.privacy) {
        (Mode::Private, Some(privacy)) => {
            out += &format!(" \\\n  --private --epsilon {} --delta {:e}", privacy.epsilon, privacy.delta);
            out += &format!(" --colluders {}", plan.cohort.colluders());
            if privacy.missing_answers == MissingAnswers::Wrong {
                out += " --missing-answers wrong";
            }
            if privacy.mixture {
                out += " --mixture";
            }
            if model.effects == Effects::None && privacy.site_sd > 0.0 {
                out += &format!(" --site-sd {}", privacy.site_sd);
            }
            if has(plan, "booklets.csv") {
                out += " --booklets booklets.csv";
            }
        }
        _ => {
            out += &format!(" --algorithm {}", model.algorithm.name());
            out += &format!(" \\\n  --tolerance {:e} --max-rounds {}", model.tolerance, model.max_rounds);
            if plan.mode == Mode::Secure {
                out += if plan.publish.effects_by_name { " --secure --publish-effects" } else { " --secure" };
            }
        }
    }
    let usual = GridSpec::default();
    if (model.nodes, model.range) != (usual.nodes, usual.range) {
        out += &format!(" --nodes {} --range {}", model.nodes, model.range);
    }
    if model.quadrature == Weighting::Paper {
        out += " --quadrature paper";
    }
    out += " \\\n  --out repeated";
    out
}

/// The command as a script, which also finds its small files under the names under which a browser saves them.
pub(super) fn script(plan: &StudyPlan) -> String {
    let study = &plan.study;
    let files =
        ["codebook.csv", "fixed_items.csv", "booklets.csv"].into_iter().filter(|file| has(plan, file));
    let find =
        |file: &str| format!("[ -e {file} ] || cp {} {file}\n", shell_quoted(&format!("{study}-{file}")));
    format!(
        "#!/bin/sh\n# Repeats the study {study} where all files are in one place.\nset -e\n{}{}\n",
        files.map(find).collect::<String>(),
        command(plan)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use fedirt_protocol::plan::{Booklet, FixedParameters, PlanItem, template};

    fn plan(mode: Mode) -> StudyPlan {
        let item = |name: &str| PlanItem {
            name: name.into(),
            categories: vec![1, 2],
            merged: Vec::new(),
            model: None,
            fixed: None,
        };
        let sites = ["a", "b c", "d"].map(String::from);
        StudyPlan::parse(&template("s", mode, &sites, &["x", "y,z"].map(item), 3000)).unwrap()
    }

    #[test]
    fn names_with_commas_and_quotes_are_single_cells() {
        assert_eq!((cell("a,b"), cell("a\"b")), ("\"a,b\"".into(), "\"a\"\"b\"".into()));
    }

    #[test]
    fn the_command_says_what_the_plan_says() {
        let mut private = plan(Mode::Private);
        private.booklets = vec![Booklet { name: "A".into(), items: vec!["x".into(), "y,z".into()] }];
        private.model.effects = Effects::None;
        if let Some(privacy) = &mut private.privacy {
            (privacy.mixture, privacy.site_sd) = (true, 0.5);
        }
        let text = command(&private);
        for part in [
            "a.csv 'b c.csv' d.csv",
            "--codebook codebook.csv",
            "--colluders 1",
            "--mixture",
            "--site-sd 0.5",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(text.contains("--booklets booklets.csv") && !text.contains("--nodes"), "{text}");
        assert_eq!(booklets(&private), "booklet,item\nA,x\nA,\"y,z\"\n");
        assert_eq!(codebook(&private), "item,model,categories,lowest\nx,2pl,2,1\n\"y,z\",2pl,2,1\n");
        let mut plain = plan(Mode::Plain);
        plain.items[0].fixed = Some(FixedParameters { a: 1.5, d: vec![-0.5] });
        (plain.model.nodes, plain.model.quadrature) = (41, Weighting::Paper);
        let text = command(&plain);
        assert!(
            text.contains("--fixed-items fixed_items.csv") && text.contains("--quadrature paper"),
            "{text}"
        );
        assert!(text.contains("--nodes 41") && !text.contains("--private"), "{text}");
        let text = script(&plain);
        assert!(text.contains("[ -e codebook.csv ] || cp s-codebook.csv codebook.csv\n"), "{text}");
        assert!(!text.contains("booklets"), "{text}");
        assert_eq!(fixed_items(&plain), "item,a,d1\nx,1.5,-0.5\n");
    }
}
