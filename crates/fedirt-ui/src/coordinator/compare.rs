//! Comparison of two fits: items of the same name, their differences, and the differences in units of their standard errors.

use super::results::open;
use super::{App, CoordinatorState, CoordinatorStudy, Name, Page, frame, words};
use crate::figure::{Numbers, figure, table};
use crate::{Fields, Frame, Html, Visitor, render};
use askama::Template;
use axum::Extension;
use axum::extract::{Path, RawQuery, State};
use fedirt_figures::{Table, difficulties};
use fedirt_model::comparison::{
    Comparison, DriftLimits, ItemPair, ItemValue, Link, LinkMethod, NotNested, compare, likelihood_ratio,
    link,
};
use fedirt_model::fit::Fit;

#[derive(Template)]
#[template(path = "compare.html")]
struct ComparePage {
    frame: Frame,
    name: String,
    subtitle: String,
    others: Vec<String>,
    chosen: String,
    /// How scales are linked; empty for not at all.
    linked: String,
    methods: [(&'static str, &'static str); 4],
    against: Option<Against>,
    problem: Option<String>,
    analyses: bool,
    has_fit: bool,
}

struct Against {
    called: String,
    shared: usize,
    only_here: Vec<String>,
    only_there: Vec<String>,
    sentences: Vec<String>,
    facts: Html,
    picture: Html,
    table: Html,
}

/// `GET /studies/{study}/compare?with=OTHER`.
pub(super) async fn show(
    State(app): App,
    Path(name): Name,
    RawQuery(query): RawQuery,
    Extension(visitor): Extension<Visitor>,
) -> Page {
    let query = Fields::parse(query.unwrap_or_default().as_bytes());
    let seen = app.find(&name)?;
    let own = app.fit(&name);
    let chosen = query.get("with").to_owned();
    let mut page = page(&app, &visitor, &seen);
    page.has_fit = own.is_some();
    if let (Some(own), false) = (own, chosen.is_empty()) {
        match app.fit(&chosen) {
            Some(other) => page.set_against(&own, &other, &chosen, query.get("link")),
            None => page.problem = Some(format!("{chosen} has no results to compare with.")),
        }
    }
    page.chosen = chosen;
    Ok(render(&page))
}

/// `POST /studies/{study}/compare`: compares with an uploaded `fit.json`, which is not stored.
pub(super) async fn with_file(
    State(app): App,
    Path(name): Name,
    Extension(visitor): Extension<Visitor>,
    Extension(fields): Extension<Fields>,
) -> Page {
    let (seen, own) = match open(&app, &name, &visitor)? {
        Ok(found) => found,
        Err(none) => return Ok(none),
    };
    let mut page = page(&app, &visitor, &seen);
    page.has_fit = true;
    match serde_json::from_str::<Fit>(fields.get("fit")) {
        Ok(other) => page.set_against(&own, &other, "the other fit", fields.get("link")),
        Err(error) => {
            page.problem = Some(format!(
                "This is not a fit.json of fedirt ({error}). Choose the file that `fedirt fit --out` wrote."
            ));
        }
    }
    Ok(render(&page))
}

fn page(app: &CoordinatorState, visitor: &Visitor, seen: &CoordinatorStudy) -> ComparePage {
    let name = seen.study.name.to_string();
    let others = app.studies.all().into_iter().map(|s| s.name.to_string());
    ComparePage {
        frame: frame(visitor, seen, "Compare", "/compare"),
        subtitle: words::subtitle(seen),
        others: others.filter(|other| *other != name && app.fit(other).is_some()).collect(),
        name,
        chosen: String::new(),
        linked: String::new(),
        methods: METHODS,
        against: None,
        problem: None,
        analyses: visitor.analyses(),
        has_fit: false,
    }
}

/// Ways of linking: the value in the form, and its name.
const METHODS: [(&str, &str); 4] = [
    ("", "no link: both are on one scale"),
    ("stocking-lord", "Stocking–Lord (expected test scores)"),
    ("haebara", "Haebara (curves of the items)"),
    ("mean-sigma", "mean–sigma (means and SDs of difficulties)"),
];

impl ComparePage {
    /// Compares, on the scale of this fit if a way of linking is chosen.
    fn set_against(&mut self, own: &Fit, other: &Fit, called: &str, method: &str) {
        let method = LinkMethod::ALL.into_iter().find(|known| known.name() == method);
        self.linked = method.map_or_else(String::new, |method| method.name().to_owned());
        match method.map(|method| link(own, other, method, DriftLimits::default())).transpose() {
            Ok(line) => self.against = Some(against(own, other, called, line.as_ref())),
            Err(error) => {
                self.problem =
                    Some(format!("The scales cannot be linked: {error}. The numbers below are not linked."));
                self.against = Some(against(own, other, called, None));
            }
        }
    }
}

/// The comparison on the scale of the first fit: b becomes A·b + B, and a becomes a/A.
fn on_first_scale(mut compared: Comparison, line: &Link) -> Comparison {
    for item in &mut compared.items {
        let turned = |x: ItemValue, by: f64, plus: f64| ItemValue {
            value: by * x.value + plus,
            se: x.se.map(|se| by * se),
        };
        item.location[1] = item.location[1].map(|b| turned(b, line.slope, line.intercept));
        item.slope[1] = item.slope[1].map(|a| turned(a, 1.0 / line.slope, 0.0));
    }
    compared
}

fn against(own: &Fit, other: &Fit, called: &str, line: Option<&Link>) -> Against {
    let compared = compare(own, other);
    let compared = match line {
        Some(line) => on_first_scale(compared, line),
        None => compared,
    };
    let cells = |[one, two]: [Option<ItemValue>; 2]| {
        let difference = one.zip(two).map(|(one, two)| one.value - two.value);
        let z = one.zip(two).and_then(|(one, two)| one.z(two));
        [
            words::fixed(one.map(|one| one.value), 3),
            words::fixed(two.map(|two| two.value), 3),
            words::fixed(difference, 3),
            words::fixed(z, 1),
        ]
    };
    let row = |item: &ItemPair| {
        [vec![item.name.clone()], cells(item.slope).to_vec(), cells(item.location).to_vec()].concat()
    };
    let rows = compared.items.iter().map(row).collect();
    let located = compared.located().count();
    let headers = ["Item", "a here", "a there", "difference", "z", "b here", "b there", "difference", "z"];
    let listed = Table {
        caption: match line {
            Some(_) => {
                "Items of both fits, on the scale of this fit; b is the mean of an item's difficulties".into()
            }
            None => "Items of both fits; b is the mean of an item's difficulties".into(),
        },
        headers: headers.map(String::from).to_vec(),
        rows,
    };
    let mut sentences = Vec::new();
    if let (Some(correlation), Some(mean)) = (compared.correlation(), compared.mean_difference()) {
        sentences.push(format!(
            "Difficulties correlate at {:.3}; on average they are {} here.",
            correlation,
            match mean {
                m if m.abs() < 0.005 => "the same".to_owned(),
                m if m > 0.0 => format!("{m:.2} higher"),
                m => format!("{:.2} lower", -m),
            }
        ));
        let scale = if line.is_some() {
            "The errors of the link itself are not counted."
        } else {
            "Anchors bring fits to the same scale, or a link, which can be chosen above."
        };
        sentences.push(format!(
            "{} of {} differ by more than 2.58 standard errors; by chance it would be one in a hundred ({:.1}) if the two samples \
             were independent and on the same scale. {scale}",
            compared.far(),
            located,
            0.01 * located as f64
        ));
    }
    sentences.extend(line.map(linked));
    sentences.push(ratio(own, other));
    let drawn = difficulties(own, other, ["this fit", called], line);
    Against {
        called: called.to_owned(),
        shared: compared.items.len(),
        only_here: compared.only_first,
        only_there: compared.only_second,
        sentences,
        facts: table(&facts(own, other)),
        picture: figure("difficulties", &drawn, Numbers::Folded),
        table: table(&listed),
    }
}

/// The line between the scales, and the items that do not lie on it.
fn linked(line: &Link) -> String {
    let drifting: Vec<&str> =
        line.drift.iter().filter(|item| item.flagged).map(|item| item.item.as_str()).collect();
    let drift = match drifting.len() {
        0 => "No item drifts.".to_owned(),
        n => format!(
            "{} against the others by more than chance and by enough to matter: {}.",
            words::counted(n, "item has moved", "items have moved"),
            drifting.join(", ")
        ),
    };
    format!(
        "Linked by {}: an ability t of the other fit is {} · t {} {} here. {drift}",
        line.method.name(),
        words::fixed(Some(line.slope), 4),
        if line.intercept < 0.0 { "\u{2212}" } else { "+" },
        words::fixed(Some(line.intercept.abs()), 4)
    )
}

/// The likelihood-ratio test of the two fits, or why there is none.
fn ratio(own: &Fit, other: &Fit) -> String {
    match likelihood_ratio(own, other) {
        Ok(test) => {
            let p = if test.p < 0.0005 { "p < 0.001".to_owned() } else { format!("p = {:.3}", test.p) };
            let boundary = if test.on_boundary {
                " The smaller model lies on the boundary of the larger one, so p is too large, by half where one variance is tested."
            } else {
                ""
            };
            format!(
                "Likelihood ratio of the two models: {} with {}, {p}.{boundary}",
                words::fixed(Some(test.statistic), 2),
                words::counted(test.df, "degree of freedom", "degrees of freedom")
            )
        }
        Err(NotNested::NoLikelihood { which, mode }) => {
            let fit = if which == 1 { "this fit" } else { "the other fit" };
            format!("There is no likelihood-ratio test: {fit} has no log-likelihood (mode {mode}).")
        }
        Err(error) => format!("There is no likelihood-ratio test: {error}."),
    }
}

/// Key figures of both fits.
fn facts(own: &Fit, other: &Fit) -> Table {
    let row = |what: &str, of: &dyn Fn(&Fit) -> String| vec![what.to_owned(), of(own), of(other)];
    let number = |of: fn(&Fit) -> Option<f64>| move |fit: &Fit| words::fixed(of(fit), 3);
    Table {
        caption: "Both fits".into(),
        headers: ["What", "Here", "There"].map(String::from).to_vec(),
        rows: vec![
            row("Model", &|fit| words::model(&fit.model)),
            row("Site effects", &|fit| fit.effects.clone()),
            row("Mode", &|fit| fit.mode.clone()),
            row("Students", &|fit| words::count(fit.n)),
            row("Items", &|fit| fit.items.len().to_string()),
            row("Sites", &|fit| fit.sites.len().to_string()),
            row("Log-likelihood", &number(|fit| fit.loglik)),
            row("Parameters", &|fit| fit.npar.to_string()),
            row("AIC", &number(|fit| fit.aic)),
            row("BIC", &number(|fit| fit.bic)),
            row("SD of ability", &number(|fit| Some(fit.latent.sd))),
            row("SD between sites", &number(|fit| fit.site_sd)),
        ],
    }
}
