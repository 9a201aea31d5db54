//! The command that repeats the fit of a study where all files are in one place, and the small files that it reads.

use fedirt_data::results::shell_quoted;
use fedirt_model::items::default_model;
use fedirt_model::private::{MissingAnswers, PrivateMechanism, PrivateMethod};
use fedirt_model::quadrature::Weighting;
use fedirt_model::statistics::Mode;
use fedirt_protocol::plan::{CohortPlan, GroupPlan, ModelPlan, PlanItem, PrivacyPlan, StudyPlan};

/// The files that the command reads beside the answers of sites.
pub const FILES: [&str; 3] = ["codebook.csv", "fixed_items.csv", "booklets.csv"];

/// The column of groups: each site calls it as it likes, and one command needs one name.
const GROUP_COLUMN: &str = "group";

/// A cell of a CSV file.
pub fn cell(text: &str) -> String {
    let plain = !text.contains([',', '"', '\n', ';']);
    if plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

/// Whether the plan needs this file; others than [`FILES`] belong to every plan.
pub fn has(plan: &StudyPlan, file: &str) -> bool {
    match file {
        "fixed_items.csv" => plan.items.iter().any(|item| item.fixed.is_some()),
        "booklets.csv" => !plan.booklets.is_empty(),
        _ => true,
    }
}

/// One of [`FILES`] that the plan needs.
pub fn file(plan: &StudyPlan, name: &str) -> Option<String> {
    let text = match name {
        "codebook.csv" => codebook(plan),
        "fixed_items.csv" => fixed_items(plan),
        "booklets.csv" => booklets(plan),
        _ => return None,
    };
    has(plan, name).then_some(text)
}

/// The codebook as `--codebook` reads it.
fn codebook(plan: &StudyPlan) -> String {
    let mut out = String::from("item,model,categories,lowest,levels,collapse\n");
    for item in &plan.items {
        let usual = default_model(item.categories.len()).name();
        let model = item.model.as_deref().unwrap_or(usual);
        let lowest = *item.categories.first().unwrap_or(&0);
        let regular = (lowest..).zip(&item.categories).all(|(expected, code)| expected == *code);
        let categories = if !item.merged.is_empty() {
            format!(",,,{}", cell(&groups(item)))
        } else if regular {
            format!("{},{lowest},,", item.categories.len())
        } else {
            // Codes with a gap: each is listed.
            let levels: Vec<String> = item.categories.iter().map(|code| format!("{code}={code}")).collect();
            format!(",,{},", levels.join("|"))
        };
        out += &format!("{},{model},{categories}\n", cell(&item.name));
    }
    out
}

/// The codes of an item whose categories are merged: `0,1|2|3,4`.
fn groups(item: &PlanItem) -> String {
    let group = |into: &u8| {
        let others = item.merged.iter().filter(|merged| merged.into == *into).map(|merged| merged.code);
        std::iter::once(*into).chain(others).map(|code| code.to_string()).collect::<Vec<_>>().join(",")
    };
    item.categories.iter().map(group).collect::<Vec<_>>().join("|")
}

/// Known parameters as `--fixed-items` reads them.
fn fixed_items(plan: &StudyPlan) -> String {
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
fn booklets(plan: &StudyPlan) -> String {
    let mut out = String::from("booklet,item\n");
    for booklet in &plan.booklets {
        for item in &booklet.items {
            out += &format!("{},{}\n", cell(&booklet.name), cell(item));
        }
    }
    out
}

/// A flag, and its value where it has one.
type Flag = (&'static str, Option<String>);

/// The flags of the fit. Fields of the plan are named one by one, so that nobody forgets a new one.
fn flags(plan: &StudyPlan) -> Vec<Flag> {
    let with = |flag, value: &dyn ToString| (flag, Some(value.to_string()));
    let StudyPlan {
        mode,
        cohort,
        model,
        groups,
        publish,
        privacy,
        // Files of their own.
        items: _,
        booklets: _,
        // Nothing that changes estimates.
        format: _,
        study: _,
        purpose: _,
        contact: _,
        deadlines: _,
        risks: _,
    } = plan;
    let mut flags = vec![with("--codebook", &"codebook.csv"), with("--effects", &model.effects.name())];
    flags.extend(has(plan, "fixed_items.csv").then(|| with("--fixed-items", &"fixed_items.csv")));
    flags.extend(grid(model));
    match (mode, privacy) {
        (Mode::Private, Some(privacy)) => flags.extend(private(privacy, cohort, has(plan, "booklets.csv"))),
        (Mode::Private, None) | (Mode::Plain | Mode::Secure, _) => {
            flags.extend(estimation(model));
            flags.extend(groups.iter().flat_map(compared));
            if *mode == Mode::Secure {
                flags.push(("--secure", None));
                flags.extend(publish.effects_by_name.then_some(("--publish-effects", None)));
                flags.extend((!model.compare_starts).then(|| with("--starts", &1)));
            }
        }
    }
    flags
}

/// How ability is distributed, and where it is integrated: in all modes.
fn grid(model: &ModelPlan) -> Vec<Flag> {
    let mut flags = vec![
        ("--population", Some(model.population.to_string())),
        ("--nodes", Some(model.nodes.to_string())),
        ("--range", Some(model.range.to_string())),
    ];
    flags.extend((model.quadrature == Weighting::Paper).then(|| ("--quadrature", Some("paper".to_owned()))));
    flags
}

/// How the maximum is found, and what is checked at it.
fn estimation(model: &ModelPlan) -> Vec<Flag> {
    let ModelPlan {
        algorithm,
        tolerance,
        max_rounds,
        diagnostics,
        compare_sites,
        // In `flags` and `grid`.
        effects: _,
        compare_starts: _,
        nodes: _,
        range: _,
        quadrature: _,
        population: _,
    } = model;
    let mut flags = vec![
        ("--algorithm", Some(algorithm.name().to_owned())),
        ("--tolerance", Some(format!("{tolerance:e}"))),
        ("--max-rounds", Some(max_rounds.to_string())),
    ];
    let names: Vec<&str> = diagnostics.iter().map(|diagnostic| diagnostic.name()).collect();
    flags.push(match names.as_slice() {
        [] => ("--no-diagnostics", None),
        names => ("--diagnostics", Some(names.join(","))),
    });
    flags.extend(compare_sites.then_some(("--compare-sites", None)));
    flags
}

/// The comparison of groups.
fn compared(groups: &GroupPlan) -> Vec<Flag> {
    let GroupPlan { question: _, names, purify } = groups;
    let mut flags = vec![("--group", Some(GROUP_COLUMN.to_owned()))];
    flags.extend(names.first().map(|name| ("--reference-group", Some(name.clone()))));
    flags.extend((!purify).then_some(("--no-purify", None)));
    flags
}

/// What a private fit promises, and how.
fn private(privacy: &PrivacyPlan, cohort: &CohortPlan, booklets: bool) -> Vec<Flag> {
    let PrivacyPlan { epsilon, delta, mixture, missing_answers, site_sd, mechanism, difficulty_sd } = privacy;
    let usual = PrivateMethod::default();
    let mut flags = vec![
        ("--private", None),
        ("--epsilon", Some(epsilon.to_string())),
        ("--delta", Some(format!("{delta:e}"))),
        ("--colluders", Some(cohort.colluders().to_string())),
        ("--mechanism", Some(PrivateMechanism::name(*mechanism).to_owned())),
    ];
    flags.extend(
        (*difficulty_sd != usual.difficulty_sd).then(|| ("--difficulty-sd", Some(difficulty_sd.to_string()))),
    );
    flags.extend(
        (*missing_answers == MissingAnswers::Wrong).then(|| ("--missing-answers", Some("wrong".to_owned()))),
    );
    flags.extend(mixture.then_some(("--mixture", None)));
    flags.extend((*site_sd > 0.0).then(|| ("--site-sd", Some(site_sd.to_string()))));
    flags.extend(booklets.then(|| ("--booklets", Some("booklets.csv".to_owned()))));
    flags
}

/// The command line of the fit, with one file per site.
pub fn command(plan: &StudyPlan) -> String {
    command_of("fedirt", plan)
}

fn command_of(program: &str, plan: &StudyPlan) -> String {
    let files: Vec<String> =
        plan.cohort.sites.iter().map(|site| shell_quoted(&format!("{site}.csv")).into_owned()).collect();
    let written = |(flag, value): &Flag| match value {
        None => (*flag).to_owned(),
        // What begins with a minus sign would be taken for a flag.
        Some(value) if value.starts_with('-') => format!("{flag}={}", shell_quoted(value)),
        Some(value) => format!("{flag} {}", shell_quoted(value)),
    };
    let mut out = format!("{program} fit {}", files.join(" "));
    for line in flags(plan).chunks(4) {
        out += &format!(" \\\n  {}", line.iter().map(written).collect::<Vec<_>>().join(" "));
    }
    out += " \\\n  --out repeated";
    out
}

/// The command as a script, which also finds its small files under the names under which a browser saves them.
pub fn script(plan: &StudyPlan) -> String {
    let study = &plan.study;
    let files = FILES.into_iter().filter(|file| has(plan, file));
    let find =
        |file: &str| format!("[ -e {file} ] || cp {} {file}\n", shell_quoted(&format!("{study}-{file}")));
    let groups = plan.groups.as_ref().filter(|_| plan.mode != Mode::Private).map(|groups| {
        // A line feed in a name would end the comment.
        let names: Vec<String> = groups.names.iter().map(|name| name.escape_debug().to_string()).collect();
        format!(
            "# Each site's file needs its column of groups under the name {GROUP_COLUMN}, and no other groups than {}.\n",
            names.join(", ")
        )
    });
    format!(
        "#!/bin/sh\n# Repeats the study {study} where all files are in one place.\n\
         # FEDIRT names another program than the `fedirt` of the search path.\n{}set -e\n{}{}\n",
        groups.unwrap_or_default(),
        files.map(find).collect::<String>(),
        command_of("\"${FEDIRT:-fedirt}\"", plan)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use fedirt_model::code_set::MergedCode;
    use fedirt_model::exchange::Effects;
    use fedirt_model::questions::diagnose::Diagnostic;
    use fedirt_protocol::plan::{Booklet, FixedParameters, template};

    fn plan(mode: Mode) -> StudyPlan {
        let item = |name: &str| PlanItem {
            name: name.into(),
            categories: vec![1, 2],
            merged: Vec::new(),
            model: None,
            fixed: None,
        };
        let sites = ["a", "b c", "d"].map(String::from);
        StudyPlan::parse(&template("s", mode, &sites, &["x", "y,z"].map(item), 3000))
            .expect("the template is a plan")
    }

    fn assert_parts(text: &str, there: &[&str], absent: &[&str]) {
        for part in there {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
        for part in absent {
            assert!(!text.contains(part), "{part} is in\n{text}");
        }
    }

    #[test]
    fn names_with_commas_and_quotes_are_single_cells() {
        assert_eq!((cell("a,b"), cell("a\"b")), ("\"a,b\"".into(), "\"a\"\"b\"".into()));
    }

    #[test]
    fn a_private_command_says_what_the_plan_says() {
        let mut private = plan(Mode::Private);
        private.booklets = vec![Booklet { name: "A".into(), items: vec!["x".into(), "y,z".into()] }];
        private.model.effects = Effects::None;
        if let Some(privacy) = &mut private.privacy {
            (privacy.mixture, privacy.site_sd, privacy.difficulty_sd) = (true, 0.5, 1.25);
            privacy.mechanism = PrivateMechanism::Score2;
        }
        let there = [
            "a.csv 'b c.csv' d.csv",
            "--codebook codebook.csv",
            "--colluders 1",
            "--mixture",
            "--site-sd 0.5",
            "--mechanism score2",
            "--difficulty-sd 1.25",
            "--booklets booklets.csv",
        ];
        assert_parts(&command(&private), &there, &["--diagnostics", "--algorithm", "--starts"]);
        assert_eq!(file(&private, "booklets.csv").as_deref(), Some("booklet,item\nA,x\nA,\"y,z\"\n"));
        assert_eq!(file(&private, "fixed_items.csv"), None);
        let book = "item,model,categories,lowest,levels,collapse\nx,2pl,2,1,,\n\"y,z\",2pl,2,1,,\n";
        assert_eq!(file(&private, "codebook.csv").as_deref(), Some(book));
    }

    #[test]
    fn an_exact_command_says_what_the_plan_says() {
        let mut plain = plan(Mode::Plain);
        plain.items[0].fixed = Some(FixedParameters { a: 1.5, d: vec![-0.5] });
        (plain.model.nodes, plain.model.quadrature) = (41, Weighting::Paper);
        (plain.model.population, plain.model.compare_sites) = ("mixture:2".parse().expect("a family"), true);
        plain.model.diagnostics = vec![Diagnostic::Reliability, Diagnostic::ItemFit];
        plain.groups =
            Some(GroupPlan { question: "Sex".into(), names: vec!["-f x".into(), "m".into()], purify: false });
        let there = [
            "--fixed-items fixed_items.csv",
            "--quadrature paper",
            "--nodes 41",
            "--population mixture:2",
            "--compare-sites",
            "--diagnostics reliability,item_fit",
            "--group group",
            "--reference-group='-f x'",
            "--no-purify",
        ];
        assert_parts(&command(&plain), &there, &["--private", "--starts", "--secure"]);
        let text = script(&plain);
        let there =
            ["[ -e codebook.csv ] || cp s-codebook.csv codebook.csv\n", "no other groups than -f x, m"];
        assert_parts(&text, &there, &["booklets"]);
        assert_eq!(file(&plain, "fixed_items.csv").as_deref(), Some("item,a,d1\nx,1.5,-0.5\n"));
        assert_parts(&command(&plan(Mode::Secure)), &["--secure", "--starts 1"], &["--group"]);
    }

    /// Sites read the codes that the codebook names, merged ones too.
    #[test]
    fn the_codebook_has_merged_codes_and_codes_with_a_gap() {
        let mut plan = plan(Mode::Plain);
        plan.items[0].categories = vec![0, 2, 3];
        plan.items[0].merged = vec![MergedCode { code: 1, into: 0 }];
        plan.items[1].categories = vec![0, 1, 3];
        let text = file(&plan, "codebook.csv").expect("every plan has a codebook");
        let input = fedirt_data::Input::new("codebook.csv", text.as_bytes());
        let book = fedirt_data::read_codebook(input).expect("the codebook can be read");
        assert_eq!(book[0].categories.as_deref(), Some(&[0, 1, 2, 3][..]));
        let merged = book[0].merged().expect("the groups are of its codes").expect("codes are merged");
        assert_eq!((merged.codes, merged.merged), (vec![0, 2, 3], plan.items[0].merged.clone()));
        let rule = book[1].rule.as_ref().expect("the codes are listed");
        assert_eq!((rule.categories(), rule.code("3"), rule.code("2")), (vec![0, 1, 3], Some(3), None));
    }
}
