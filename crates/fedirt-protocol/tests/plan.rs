//! Plans: the template is valid, and every weakness must be named.

use fedirt_model::statistics::Mode;
use fedirt_protocol::plan::{FixedParameters, PlanError, PlanItem, StudyPlan, template};

fn items(count: usize) -> Vec<PlanItem> {
    let item = |j| PlanItem {
        name: format!("i{j}"),
        categories: vec![0, 1],
        merged: Vec::new(),
        model: None,
        fixed: None,
    };
    (1..=count).map(item).collect()
}

fn names(count: usize) -> Vec<String> {
    (1..=count).map(|k| format!("school {k}")).collect()
}

fn problems(text: &str) -> Vec<String> {
    match StudyPlan::parse(text) {
        Err(PlanError::Content(problems)) => problems.into_iter().map(|problem| problem.text).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_template_keeps_what_is_known_of_items() {
    let mut items = items(5);
    items[1].fixed = Some(FixedParameters { a: 1.0, d: vec![-2e-7] });
    let plan = StudyPlan::parse(&template("s", Mode::Plain, &names(3), &items, 500)).unwrap();
    assert_eq!(plan.items, items);
}

#[test]
fn the_template_is_a_plan_in_every_mode() {
    for mode in [Mode::Plain, Mode::Secure, Mode::Private] {
        for (sites, count, students) in [(3, 5, 100), (8, 40, 5000)] {
            let text = template("reading-2026", mode, &names(sites), &items(count), students);
            let plan = StudyPlan::parse(&text).unwrap_or_else(|e| panic!("{mode:?}: {e}\n{text}"));
            let terms = plan.terms(&text).unwrap();
            assert_eq!(terms.mode, mode);
            assert_eq!(terms.sites.len(), sites);
            assert_eq!(terms.private.is_some(), mode == Mode::Private);
            let words = plan.in_words().join("\n");
            assert!(!words.contains("booklet") && !words.contains("δ is"), "{words}");
            assert!(words.contains(mode.name()), "{words}");
            assert_eq!(words.contains("may be inferred"), mode == Mode::Secure && students == 100);
            assert_eq!(words.contains("a coordinator that computes"), mode == Mode::Secure, "{words}");
        }
    }
}

#[test]
fn risks_that_are_not_named_are_refused() {
    let secure = template("s", Mode::Secure, &names(3), &items(5), 100);
    let risk = "rows_and_sites_may_be_inferred = true";
    let named = secure.replace(risk, "rows_and_sites_may_be_inferred = false");
    assert!(problems(&named)[0].contains("rows_and_sites_may_be_inferred"));
    // Many items and students, but with site effects; without them there is nothing to name.
    let large = template("s", Mode::Secure, &names(4), &items(30), 5000).replace(risk, "");
    assert!(problems(&large)[0].contains("rows_and_sites_may_be_inferred"));
    let linear = large.replace("effects = \"fixed\"", "effects = \"none\"");
    assert!(StudyPlan::parse(&linear).is_ok());
    // Plans of earlier releases keep working, with the name that the risk had.
    assert!(StudyPlan::parse(&secure.replace(risk, "pooled_rows_may_be_inferred = true")).is_ok());
    let unnamed = secure.replace(risk, "pooled_rows_may_be_inferred = false");
    assert!(problems(&unnamed)[0].contains("rows_and_sites_may_be_inferred"));
    let old = template("s", Mode::Secure, &names(4), &items(30), 5000);
    let old = StudyPlan::parse(&old.replace(risk, "pooled_rows_may_be_inferred = false"));
    assert!(old.expect("a plan of its time").in_words().join(" ").contains("belong to the same site"));
    let fine = secure.replace("tolerance = 1e-6", "tolerance = 1e-9");
    assert!(problems(&fine)[0].contains("more digits than estimates need"));
    let named = secure.replace("the_other_two = true", "the_other_two = false");
    assert!(problems(&named)[0].contains("each_site_sees_the_sum_of_the_other_two"));
    let loss = secure.replace("on_loss = \"wait\"", "on_loss = \"reveal_lost_site\"");
    assert!(problems(&loss)[0].contains("lost_site_is_revealed"));
    let plain = template("s", Mode::Plain, &names(3), &items(5), 100);
    let named = plain.replace("each_sites_sums = true", "each_sites_sums = false");
    assert!(problems(&named)[0].contains("rebuild rows"));
}

/// Masks with neighbours are a choice that a plan must name, and its words say how many sites may work with the coordinator.
#[test]
fn masks_with_neighbours_are_named() {
    let usual = template("s", Mode::Secure, &names(300), &items(30), 9000);
    let sparse = usual.replace("n_min = 3\n", "n_min = 3\nmasking = \"sparse\"\n");
    assert!(problems(&sparse)[0].contains("masks_need_two_thirds_honest"));
    let named = sparse.replace("[risks]\n", "[risks]\nmasks_need_two_thirds_honest = true\n");
    let plan = StudyPlan::parse(&named).expect("a plan with its risk");
    assert!(plan.in_words().join(" ").contains("at most 100 of 300 sites"), "{:?}", plan.in_words());
    let terms = plan.terms(&named).expect("sound terms");
    assert_eq!(terms.sparse(300).map(|graph| graph.degree()), Some(68));
    assert!(terms.sparse(99).is_none());
    let usual = StudyPlan::parse(&usual).expect("a plan").terms(&usual).expect("sound terms");
    assert!(usual.sparse(300).is_none());
}

#[test]
fn every_problem_is_reported_at_once() {
    let text = template("bad name", Mode::Secure, &names(2), &items(1), 2000)
        .replace("Calibrate a common item bank.", " ")
        .replace("n_min = 3", "n_min = 2")
        .replace("algorithm = \"newton\"", "algorithm = \"bfgs\"")
        .replace("tolerance = 1e-6", "tolerance = 0.0");
    let found = problems(&text);
    for word in ["study", "purpose", "n_min", "two [[item]]", "bfgs", "tolerance"] {
        assert!(found.iter().any(|p| p.contains(word)), "{word}: {found:#?}");
    }
    let unknown =
        format!("{}\nsecret_door = true\n", template("s", Mode::Private, &names(3), &items(5), 500));
    assert!(
        matches!(StudyPlan::parse(&unknown), Err(PlanError::Syntax(text)) if text.contains("secret_door"))
    );
}

#[test]
fn privacy_is_checked_before_anyone_is_asked() {
    let text = template("s", Mode::Private, &names(3), &items(5), 5000);
    for (from, to, word) in [
        ("epsilon = 1.0", "epsilon = 0.0", "epsilon"),
        ("delta = 1e-6", "delta = 1.5", "delta"),
        ("delta = 1e-6", "delta = 0.001", "delta"),
        ("effects = \"fixed\"", "effects = \"random\"", "effects"),
        ("site_sd = 0.0", "site_sd = -1.0", "site_sd"),
        ("difficulty_sd = 2.0", "difficulty_sd = 0.0", "difficulty_sd"),
        ("colluders = 1", "colluders = 3", "colluders"),
    ] {
        let found = problems(&text.replacen(from, to, 1));
        assert!(found.iter().any(|p| p.contains(word)), "{to}: {found:?}");
    }
}

/// Plans that were approved before they could say what is summed keep what they said.
#[test]
fn old_private_plans_keep_their_meaning() {
    use fedirt_model::private::{PrivateMechanism, PrivateMethod};
    let text = template("s", Mode::Private, &names(3), &items(5), 5000);
    let method = |text: &str| {
        let plan = StudyPlan::parse(text).expect("a plan");
        plan.terms(text).expect("terms").private.expect("private").method
    };
    assert_eq!(method(&text), PrivateMethod::default());
    let old = text.replace("mechanism = \"optimal\"\n", "").replace("difficulty_sd = 2.0\n", "");
    assert_eq!(method(&old), PrivateMethod { mechanism: PrivateMechanism::Score2, difficulty_sd: 1.0 });
    let words = StudyPlan::parse(&old).expect("a plan").in_words().join("\n");
    assert!(words.contains("mechanism score2") && words.contains("an SD of 1;"), "{words}");
}

#[test]
fn levels_are_values_of_epsilon() {
    use fedirt_protocol::plan::{PrivacyLevel, template_at};
    for level in PrivacyLevel::ALL {
        let text = template_at("s", (Mode::Private, level), &names(3), &items(5), 5000);
        let plan = StudyPlan::parse(&text).expect("a plan");
        assert_eq!(plan.privacy.expect("terms").epsilon, level.epsilon());
        assert!(text.contains("1 (strict), 2 (standard), 6 (light)"), "{text}");
    }
}

#[test]
fn the_hash_covers_every_byte() {
    let text = template("s", Mode::Secure, &names(4), &items(20), 5000);
    assert_ne!(StudyPlan::hash(&text), StudyPlan::hash(&format!("{text}\n")));
}

/// Each site knows its own part of the noise: a plan that forgets it says so, and the default policy refuses it.
#[test]
fn a_plan_assumes_one_colluder_unless_it_says_otherwise() {
    use fedirt_protocol::policy::{Policy, PolicyRefusal};
    let refusals = |text: &str| {
        let plan = StudyPlan::parse(text).expect("a plan");
        Policy::default().check_plan(&plan.terms(text).expect("terms"), 100, false)
    };
    let risk = |text: &str| {
        let words = StudyPlan::parse(text).expect("a plan").in_words();
        words.into_iter().find(|word| word.contains("could remove its own part of the noise"))
    };
    for sites in [1, 2, 3, 10] {
        let text = template("s", Mode::Private, &names(sites), &items(5), 5000);
        let c = usize::from(sites > 1);
        assert!(text.contains(&format!("\ncolluders = {c}\n")), "{sites}");
        let silent = text.replace(&format!("colluders = {c}\n"), "");
        for text in [&text, &silent] {
            assert_eq!(StudyPlan::parse(text).expect("a plan").cohort.colluders(), c);
            assert!(refusals(text).is_empty() && risk(text).is_none(), "{sites}");
        }
        let none = text.replace(&format!("colluders = {c}\n"), "colluders = 0\n");
        let refused =
            refusals(&none).iter().any(|r| matches!(r, PolicyRefusal::Colluders { plan: 0, own: 1 }));
        // With one or two sites each carries the whole noise.
        assert_eq!(refused, sites > 2);
        assert_eq!(risk(&none).is_some(), sites > 2);
        if sites == 3 {
            // μ(1)·√(3/2) at δ = 1e-6.
            assert!(risk(&none).expect("a risk").contains("ε = 1.245"), "{:?}", risk(&none));
        }
    }
    let secure = template("s", Mode::Secure, &names(4), &items(20), 5000);
    assert!(refusals(&secure).is_empty());
}

/// What ε does not cover, and a δ that is large for the students, stand in the words that the officer reads.
#[test]
fn the_officer_reads_what_epsilon_does_not_cover() {
    let text = template("s", Mode::Private, &names(3), &items(5), 5000);
    let large = text.replace("delta = 1e-6", "delta = 1e-4");
    let words = StudyPlan::parse(&large).unwrap().in_words().join("\n");
    assert!(words.contains("Risk: δ is 1e-4") && words.contains("5000 students"), "{words}");
    let booklets = format!(
        "{text}\n[[booklet]]\nname = \"A\"\nitems = [\"i1\", \"i2\", \"i3\"]\n[[booklet]]\nname = \"B\"\nitems = [\"i3\", \"i4\", \"i5\"]\n"
    );
    let words = StudyPlan::parse(&booklets).unwrap().in_words().join("\n");
    assert!(words.contains("which booklet a row falls into"), "{words}");
    // Booklets of all items but one would tell who skipped which.
    let all_but = |name: &str, skipped: usize| {
        let items: Vec<String> = (1..=5).filter(|j| *j != skipped).map(|j| format!("\"i{j}\"")).collect();
        format!("[[booklet]]\nname = \"{name}\"\nitems = [{}]\n", items.join(", "))
    };
    let alike = format!("{text}\n{}{}", all_but("A", 1), all_but("B", 2));
    let error = StudyPlan::parse(&alike).unwrap_err().to_string();
    assert!(error.contains("which items students skipped"), "{error}");
    let turned = text.replace("name = \"i1\"", "name = \"i\\u202e1\"");
    assert_ne!(turned, text);
    assert!(StudyPlan::parse(&turned).unwrap_err().to_string().contains("turn the direction"));
}
