//! From options to those of the library: of reading, of a calibration, of scores. An option that nothing uses is a problem.

use crate::options::{Fields, OptionProblem};
use fedirt::{
    AlgorithmKind, DiagnosticsWish, Effects, FitMode, FitOptions, GridSpec, LongColumns, Method,
    MissingAnswers, PriorChoice, PrivateOptions, ReadOptions, ReportScale, ScoreOptions, Settings, Weighting,
};
use fedirt_model::questions::diagnose::Diagnostic;
use fedirt_model::statistics::Mode;

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
    FitOptions {
        model: fields.text("model"),
        item_models: fields.named_texts("item_models"),
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
        let private = ["epsilon", "delta", "colluders", "mixture", "booklets", "site_sd"];
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
            ] {
                if fields.has(option) {
                    fields.complain(OptionProblem::Excluded { option, reason });
                }
            }
            let epsilon = fields.number("epsilon");
            if !fields.has("epsilon") {
                let reason = "1 is strong privacy, 8 weak";
                fields.complain(OptionProblem::Missing { option: "epsilon", reason });
            }
            let usual = PrivateOptions::default();
            FitMode::Private(PrivateOptions {
                method: usual.method,
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
    Settings {
        algorithm,
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
