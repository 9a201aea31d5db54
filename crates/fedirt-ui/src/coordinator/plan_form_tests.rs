use super::*;
use fedirt_model::private::MissingAnswers;
use fedirt_protocol::plan::FixedParameters;

/// The first form, with some fields filled in.
fn form(filled: &[(&'static str, &str)]) -> Form {
    let mut form = Form::default();
    let base = [
        ("study", "maths"),
        ("purpose", "To see"),
        ("items", "id,m1,m2,m3,m4"),
        ("sites", "north\nsouth\nwest"),
        ("students", "3000"),
    ];
    for (name, value) in base.iter().chain(filled) {
        form.0.insert(name, (*value).to_owned());
    }
    form
}

fn plan(filled: &[(&'static str, &str)]) -> StudyPlan {
    form(filled).plan().map(|(_, plan)| plan).unwrap_or_else(|wrong| panic!("{wrong:?}"))
}

#[test]
fn a_form_left_alone_is_a_plan_of_the_command_line() {
    let (text, plan) = form(&[]).plan().unwrap();
    let usual = template("maths", Mode::Private, &plan.cohort.sites, &plan.items, 3000);
    let usual = StudyPlan::parse(&usual.replace("Calibrate a common item bank.", "To see")).unwrap();
    assert_eq!(plan, usual, "{text}");
    // Sites refuse plans that trust everybody.
    assert_eq!(plan.cohort.colluders(), 1);
}

#[test]
fn who_asks_is_part_of_the_plan_or_left_out() {
    assert_eq!(plan(&[]).contact, None);
    let given =
        [("organisation", "An Institute"), ("person", "Ada"), ("telephone", "+1 2"), ("legal_basis", "§ 1")];
    let contact = plan(&given).contact.expect("a contact");
    let lines = ["Organisation: An Institute", "Contact: Ada", "Telephone: +1 2", "Legal basis: § 1"];
    assert_eq!(contact.lines(), lines);
    let wrong = form(&[("organisation", "An Institute")]).plan().unwrap_err();
    assert_eq!(wrong[0].field, "person", "nobody to call: {wrong:?}");
}

#[test]
fn what_private_can_say_is_said() {
    let filled = [
        ("epsilon", "2"),
        ("delta", "1e-7"),
        ("booklets", "A: m1, m2\nB: m3, m4"),
        ("mixture", "on"),
        ("missing_answers", "wrong"),
        ("effects", "none"),
        ("site_sd", "0.4"),
        ("colluders", "2"),
        ("anchors", "item,a,d\nm1,1,-0.25"),
    ];
    let found = plan(&filled);
    let privacy = found.privacy.as_ref().unwrap();
    assert_eq!((privacy.epsilon, privacy.delta, privacy.site_sd), (2.0, 1e-7, 0.4));
    assert!(privacy.mixture && privacy.missing_answers == MissingAnswers::Wrong);
    assert_eq!(found.booklets[1].items, ["m3", "m4"]);
    assert_eq!(found.cohort.colluders(), 2);
    assert!(found.items.iter().all(|item| item.fixed.is_none()), "not in private");
    // The others know neither, and do not show the fields.
    let mut filled = filled.to_vec();
    filled.push(("mode", "plain"));
    let found = plan(&filled);
    assert!(found.privacy.is_none() && found.booklets.is_empty());
    assert_eq!(found.items[0].fixed, Some(FixedParameters { a: 1.0, d: vec![-0.25] }));
}

#[test]
fn numerics_are_written_as_typed() {
    let filled = [
        ("mode", "plain"),
        ("algorithm", "bfgs"),
        ("tolerance", "1e-5"),
        ("max_rounds", "90"),
        ("nodes", "41"),
        ("range", "5"),
        ("quadrature", "paper"),
    ];
    let model = plan(&filled).model;
    assert_eq!((model.algorithm.name(), model.quadrature.name()), ("bfgs", "paper"));
    assert_eq!((model.tolerance, model.max_rounds, model.nodes, model.range), (1e-5, 90, 41, 5.0));
}

#[test]
fn columns_become_a_codebook_in_which_models_can_be_changed() {
    let mut form = form(&[("categories", "3"), ("graded", "pcm")]);
    form.list_items();
    assert_eq!(form.get("items"), "item,categories,model\nm1,3,\nm2,3,\nm3,3,\nm4,3,\n");
    let changed = form.get("items").replace("m2,3,", "m2,2,1pl").replace("m3,3,", "m3,5,grm");
    form.0.insert("items", changed);
    form.list_items();
    let (_, plan) = form.plan().unwrap();
    let models: Vec<&str> = plan.items.iter().map(|item| item.model.as_deref().unwrap()).collect();
    assert_eq!(models, ["pcm", "1pl", "grm", "pcm"]);
    assert_eq!(plan.items[2].categories.len(), 5);
}

#[test]
fn complaints_stand_at_their_fields() {
    for (field, value, told) in [
        ("students", "2.5", "whole number"),
        ("nodes", "4", "5 to 501"),
        ("tolerance", "-1", "A number"),
        ("max_rounds", "3", "4 to"),
        ("booklets", "A: m9", "no item"),
        ("booklets", "A: m1, m2\nB: m1", "are needed"),
        ("site_sd", "x", "A number"),
        ("colluders", "3", "nobody would be left"),
        ("categories", "101", "2 to 100"),
        ("effects", "random", "private knows"),
        ("algorithm", "adam", "unknown variant"),
    ] {
        let wrong = form(&[(field, value)]).plan().unwrap_err();
        let expected = if field == "algorithm" { "" } else { field };
        assert!(wrong[0].field == expected && wrong[0].text.contains(told), "{field} {value}: {wrong:?}");
    }
}
