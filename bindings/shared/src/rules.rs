//! From options to those of the library: of reading, of a calibration, of scores. An option that nothing uses is a problem.

use crate::options::{Fields, OptionProblem};
use fedirt::{
    AlgorithmKind, DiagnosticsWish, DifOptions, Effects, FitMode, FitOptions, GridSpec, LongColumns, Method,
    MissingAnswers, PriorChoice, PrivateMechanism, PrivateMethod, PrivateOptions, ReadOptions, ReportScale,
    ScoreOptions, Sensitivity, Settings, Weighting,
};
use fedirt_model::items;
use fedirt_model::questions::diagnose::Diagnostic;
use fedirt_model::statistics::Mode;
use fedirt_protocol::plan::PrivacyLevel;

const EFFECTS: [Effects; 3] = [Effects::None, Effects::Fixed, Effects::Random];
const MODES: [Mode; 3] = [Mode::Plain, Mode::Secure, Mode::Private];
const MISSING: [MissingAnswers; 2] = [MissingAnswers::Counted, MissingAnswers::Wrong];
const PRIORS: [PriorChoice; 2] = [PriorChoice::Site, PriorChoice::Common];

fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Plain => "plain",
        Mode::Secure => "secure",
        Mode::Private => "private",
    }
}

/// The name of a treatment of missing answers.
pub(crate) fn missing_name(missing: MissingAnswers) -> &'static str {
    match missing {
        MissingAnswers::Counted => "counted",
        MissingAnswers::Wrong => "wrong",
    }
}

/// Effects of sites, by name.
pub(crate) fn effects(fields: &Fields<'_>) -> Option<Effects> {
    fields.choice("effects", &EFFECTS, Effects::name)
}

/// How missing answers are treated.
pub(crate) fn missing_answers(fields: &Fields<'_>) -> Option<MissingAnswers> {
    fields.choice("missing_answers", &MISSING, missing_name)
}

/// How tables are read. Tables about items are added by the caller.
pub(crate) fn reading(fields: &Fields<'_>, private: bool) -> ReadOptions {
    let names = ["id", "item", "response"];
    let long = fields.named_texts("long");
    let column = |name: &str| long.iter().find(|(given, _)| given == name).map(|(_, column)| column.clone());
    let long_columns = match names.map(column) {
        [Some(id), Some(item), Some(response)] if long.len() == 3 => Some(LongColumns { id, item, response }),
        _ => {
            if fields.has("long") {
                let (option, needed) =
                    ("long".to_owned(), format!("a column for each of {}", names.join(", ")));
                let value = long.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
                fields.complain(OptionProblem::Value { option, value, needed });
            }
            None
        }
    };
    ReadOptions {
        site: fields.text("site"),
        id: fields.text("id"),
        weight: fields.text("weight"),
        group: fields.text("group"),
        items: fields.texts("items"),
        ignore: fields.texts("ignore"),
        missing: fields.texts("missing"),
        long: long_columns,
        // A private fit knows booklets, and counts missing answers itself.
        missing_is_wrong: !private && missing_answers(fields) == Some(MissingAnswers::Wrong),
        ..ReadOptions::default()
    }
}

/// How a calibration is carried out, and by how many threads.
pub(crate) fn fitting(fields: &Fields<'_>) -> FitOptions {
    let mode = fields.choice("mode", &MODES, mode_name).unwrap_or(Mode::Plain);
    let weighting =
        fields.choice("quadrature", &Weighting::ALL, Weighting::name).unwrap_or(Weighting::Density);
    let grid = match weighting {
        Weighting::Density => GridSpec::default(),
        Weighting::Paper => GridSpec { nodes: 21, range: 5.0, weighting: Weighting::Paper },
    };
    let defaults = FitOptions::default();
    let (model, item_models) = models(fields);
    FitOptions {
        model,
        item_models,
        collapse: collapse(fields),
        bundles: fields.bundles("bundles"),
        site_weights: fields.parsed("site_weights").unwrap_or_default(),
        dif: dif(fields),
        effects: effects(fields),
        mode: fit_mode(fields, mode),
        quadrature: GridSpec {
            nodes: fields.whole("nodes").map_or(grid.nodes, |nodes| nodes as usize),
            range: fields.number("range").unwrap_or(grid.range),
            ..grid
        },
        population: fields.parsed("population").unwrap_or(defaults.population),
        settings: settings(fields, mode),
        diagnostics: diagnostics(fields),
        ..defaults
    }
}

/// The model of all items and those of single ones. With `latent_sd` 1 those that estimate the SD of ability are the ones that hold
/// it at 1.
fn models(fields: &Fields<'_>) -> (Option<String>, Vec<(String, String)>) {
    let (model, item_models) = (fields.text("model"), fields.named_texts("item_models"));
    let Some(sd) = fields.number("latent_sd") else { return (model, item_models) };
    let held = |name: &String| items::model_called(name).and_then(items::with_sd_of_one);
    if sd != 1.0 {
        let needed = "1 is possible, with the models rasch and pcm: they estimate the SD otherwise, and in all others it is 1";
        let (option, needed) = ("latent_sd".to_owned(), needed.to_owned());
        fields.complain(OptionProblem::Value { option, value: sd.to_string(), needed });
    } else if !model.iter().chain(item_models.iter().map(|(_, model)| model)).any(|name| held(name).is_some())
    {
        let option = "latent_sd".to_owned();
        fields.complain(OptionProblem::Unused { option, needs: "the models rasch and pcm" });
    }
    let named = |name: String| held(&name).map_or(name, |held| held.name().to_owned());
    (model.map(named), item_models.into_iter().map(|(item, model)| (item, named(model))).collect())
}

fn collapse(fields: &Fields<'_>) -> Option<u64> {
    let collapse = fields.whole("collapse");
    if collapse == Some(0) {
        let (option, needed) = ("collapse".to_owned(), "a whole number of 1 or more".to_owned());
        fields.complain(OptionProblem::Value { option, value: "0".to_owned(), needed });
    }
    collapse
}

/// How groups, or sites, are compared.
fn dif(fields: &Fields<'_>) -> DifOptions {
    if !fields.has("group") {
        for option in ["reference_group", "free", "dif_tests", "purify"] {
            if fields.has(option) {
                fields.complain(OptionProblem::Unused { option: option.to_owned(), needs: "`group`" });
            }
        }
    }
    let usual = DifOptions::default();
    // `all`: every group but the reference.
    let every = |group: String| (group != "all").then_some(group);
    let free = fields.named_lists("free").into_iter();
    DifOptions {
        reference: fields.text("reference_group"),
        purify: fields.flag("purify").unwrap_or(usual.purify),
        free: free
            .flat_map(|(item, groups)| groups.into_iter().map(move |group| (item.clone(), every(group))))
            .collect(),
        // As on the command line: asked for, or where they take seconds.
        refits: fields.flag("dif_tests").or(usual.refits),
        sites: fields.flag("compare_sites").unwrap_or(usual.sites),
    }
}

/// What [`fedirt::sensitivity`] varies: everything where nothing is named.
pub(crate) fn varied(fields: &Fields<'_>) -> Vec<Sensitivity> {
    let name = |varied| match varied {
        Sensitivity::Dependence => "dependence",
        Sensitivity::Sites => "sites",
    };
    let all = [Sensitivity::Dependence, Sensitivity::Sites];
    fields.choices("vary", &all, name).unwrap_or_else(|| all.to_vec())
}

/// What a private study sums.
pub(crate) fn method(fields: &Fields<'_>) -> PrivateMethod {
    let usual = PrivateMethod::default();
    let mechanism = fields.choice("mechanism", &PrivateMechanism::ALL, PrivateMechanism::name);
    let difficulty_sd = fields.number("difficulty_sd").unwrap_or(usual.difficulty_sd);
    if !(difficulty_sd > 0.0 && difficulty_sd.is_finite()) {
        let (option, needed) = ("difficulty_sd".to_owned(), "a number above 0".to_owned());
        fields.complain(OptionProblem::Value { option, value: difficulty_sd.to_string(), needed });
    }
    PrivateMethod { mechanism: mechanism.unwrap_or(usual.mechanism), difficulty_sd }
}

fn diagnostics(fields: &Fields<'_>) -> DiagnosticsWish {
    match fields.switch("diagnostics") {
        Some(true) => DiagnosticsWish::Usual,
        Some(false) => DiagnosticsWish::These(Vec::new()),
        None => fields
            .choices("diagnostics", &Diagnostic::ALL, Diagnostic::name)
            .map_or(DiagnosticsWish::Usual, DiagnosticsWish::These),
    }
}

fn fit_mode(fields: &Fields<'_>, mode: Mode) -> FitMode {
    let unused = |names: &[&'static str], needs| {
        for name in names.iter().filter(|name| fields.has(name)) {
            fields.complain(OptionProblem::Unused { option: (*name).to_owned(), needs });
        }
    };
    if mode != Mode::Private {
        let private = [
            "epsilon",
            "level",
            "delta",
            "colluders",
            "mixture",
            "booklets",
            "site_sd",
            "mechanism",
            "difficulty_sd",
        ];
        unused(&private, "mode = \"private\"");
    }
    if mode != Mode::Secure {
        unused(&["publish_effects"], "mode = \"secure\"");
    }
    match mode {
        Mode::Plain => FitMode::Plain,
        Mode::Secure => FitMode::Secure { publish_effects: fields.flag("publish_effects").unwrap_or(false) },
        Mode::Private => {
            for (option, reason) in [
                ("weight", "weights cannot be kept private: one student's would move everybody's sums"),
                (
                    "tolerance",
                    "private fits do not test for convergence, which would reveal something about the answers",
                ),
                ("max_rounds", "a private fit has two rounds"),
                ("seed", "the noise must come from the operating system"),
                ("starts", "private fits have starting values of their own"),
                ("group", "every further sum over students would cost more of the privacy budget"),
                ("compare_sites", "every further sum over students would cost more of the privacy budget"),
                (
                    "collapse",
                    "which categories are thin would tell of the answers; list the groups in the codebook's column `collapse`",
                ),
            ] {
                if fields.has(option) {
                    fields.complain(OptionProblem::Excluded { option, reason });
                }
            }
            let level = fields.choice("level", &PrivacyLevel::ALL, PrivacyLevel::name);
            match (fields.number("epsilon"), fields.has("level")) {
                (Some(_), true) => {
                    let reason = "`epsilon` says already how strong the privacy is";
                    fields.complain(OptionProblem::Excluded { option: "level", reason });
                }
                (None, false) if !fields.has("epsilon") => {
                    let reason =
                        "1 is strong privacy, 8 weak; or `level`, which is strict, standard or light";
                    fields.complain(OptionProblem::Missing { option: "epsilon", reason });
                }
                (Some(_) | None, _) => {}
            }
            let epsilon = level.map(PrivacyLevel::epsilon).or_else(|| fields.number("epsilon"));
            let usual = PrivateOptions::default();
            FitMode::Private(PrivateOptions {
                method: method(fields),
                epsilon: epsilon.unwrap_or(usual.epsilon),
                delta: fields.number("delta").unwrap_or(usual.delta),
                colluders: fields.whole("colluders").map_or(usual.colluders, |sites| sites as usize),
                mixture: fields.flag("mixture").unwrap_or(usual.mixture),
                missing_answers: missing_answers(fields).unwrap_or(usual.missing_answers),
                site_sd: fields.number("site_sd").unwrap_or(usual.site_sd),
                booklets: Vec::new(),
            })
        }
    }
}

fn settings(fields: &Fields<'_>, mode: Mode) -> Settings {
    let defaults = Settings::default();
    let algorithm = fields.choice("algorithm", &AlgorithmKind::ALL, AlgorithmKind::name);
    let algorithm = algorithm.unwrap_or(defaults.algorithm);
    let averaging = algorithm == AlgorithmKind::Fedavg;
    let sampling = averaging || algorithm == AlgorithmKind::Fedsgd;
    let either = "algorithm = \"fedsgd\" or \"fedavg\"";
    for (option, used, needs) in [
        ("local_epochs", averaging, "algorithm = \"fedavg\""),
        ("client_fraction", sampling, either),
        ("learning_rate", sampling, either),
        ("seed", sampling || mode == Mode::Private, either),
    ] {
        if fields.has(option) && !used {
            fields.complain(OptionProblem::Unused { option: option.to_owned(), needs });
        }
    }
    let whole = |name| fields.whole(name).map(|number| number as usize);
    let starts = whole("starts").unwrap_or(defaults.starts);
    if !(1..=2).contains(&starts) {
        let (option, needed) = ("starts".to_owned(), "1 or 2".to_owned());
        fields.complain(OptionProblem::Value { option, value: starts.to_string(), needed });
    }
    Settings {
        algorithm,
        starts,
        tolerance: fields.number("tolerance").unwrap_or(defaults.tolerance),
        max_rounds: whole("max_rounds").unwrap_or(defaults.max_rounds),
        local_epochs: whole("local_epochs").unwrap_or(defaults.local_epochs),
        client_fraction: fields.number("client_fraction").unwrap_or(defaults.client_fraction),
        learning_rate: fields.number("learning_rate").unwrap_or(defaults.learning_rate),
        seed: fields.whole("seed").unwrap_or(defaults.seed),
        ..defaults
    }
}

/// How students are scored.
pub(crate) fn scoring(fields: &Fields<'_>) -> ScoreOptions {
    let usual = ScoreOptions::default();
    let draws = fields.whole("draws").unwrap_or(5) as usize;
    let methods = [Method::Eap, Method::Map, Method::Wle, Method::Ml, Method::Pv { draws }];
    let method = fields.choice("method", &methods, Method::name).unwrap_or(usual.method);
    let (drawn, posterior) = match method {
        Method::Pv { .. } => (true, true),
        Method::Eap | Method::Map => (false, true),
        Method::Wle | Method::Ml => (false, false),
    };
    let prior = fields.choice("prior", &PRIORS, PriorChoice::name);
    for (option, used, needs) in [
        ("draws", drawn, "method = \"pv\""),
        ("seed", drawn, "method = \"pv\""),
        ("prior", posterior, "the methods eap, map and pv"),
        (
            "site_effect",
            posterior && prior != Some(PriorChoice::Common),
            "the methods eap, map and pv with prior = \"site\"",
        ),
    ] {
        if fields.has(option) && !used {
            fields.complain(OptionProblem::Unused { option: option.to_owned(), needs });
        }
    }
    let scale = fields.named_numbers("scale", ["mean", "sd"]).map(|[mean, sd]| ReportScale { mean, sd });
    if scale.is_some_and(|scale| !(scale.sd > 0.0 && scale.sd.is_finite() && scale.mean.is_finite())) {
        let (option, needed) = ("scale".to_owned(), "a mean and an sd above 0".to_owned());
        fields.complain(OptionProblem::Value { option, value: "sd".to_owned(), needed });
    }
    if !(1..=1000).contains(&draws) {
        let (option, needed) = ("draws".to_owned(), "a whole number from 1 to 1000".to_owned());
        fields.complain(OptionProblem::Value { option, value: draws.to_string(), needed });
    }
    ScoreOptions {
        method,
        seed: fields.whole("seed").unwrap_or(usual.seed),
        site_effect: fields.number("site_effect"),
        prior: prior.unwrap_or(usual.prior),
        scale,
    }
}
