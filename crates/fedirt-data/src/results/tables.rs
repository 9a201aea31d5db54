//! The tables of a fit, as rows of cells: CSV files, workbooks and data frames are made from the same ones.

use crate::scores::{PriorChoice, Scores};
use fedirt_model::fit::{
    Covariance, Diagnostics, Dif, Dimensionality, Fit, FitItem, FitSite, ItemFit, LatentCheck, NamedNumbers,
    Provenance, Q3, ScoreRow, SiteHeterogeneity, SiteInfluence,
};
use fedirt_model::scoring::Method;

/// The content of a cell. What was not released, or is not a finite number, is an empty cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// A text.
    Text(String),
    /// A whole number.
    Count(Option<u64>),
    /// A number.
    Number(Option<f64>),
    /// Yes or no.
    Flag(bool),
}

use Cell::{Count, Flag, Number, Text};

/// Rows of cells under their headers.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The names of the columns.
    pub headers: Vec<String>,
    /// The rows, each with a cell for every column. The cells of a column are of one kind, but in the [`summary`].
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    fn new(headers: &[&str], rows: impl IntoIterator<Item = Vec<Cell>>) -> Self {
        let headers = headers.iter().map(|header| (*header).to_owned()).collect();
        Self { headers, rows: rows.into_iter().collect() }
    }
}

fn text(value: &str) -> Cell {
    Text(value.to_owned())
}

/// Names of parameters beyond a and d, over all items whose models have such.
fn more_parameters(fit: &Fit) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in fit.items.iter().filter(|i| i.has_more_parameters()).flat_map(|i| i.parameters.iter()) {
        // Intercepts have columns already.
        if !names.contains(&name) && !name.starts_with('d') {
            names.push(name);
        }
    }
    names
}

/// Items: where an item's model has more than one slope, its parameters stand in columns of their names at the end.
pub fn items(fit: &Fit) -> Table {
    let steps = fit.items.iter().map(|item| item.d.len()).max().unwrap_or(0).max(1);
    let mut headers: Vec<String> =
        ["item", "model", "categories", "n", "a", "se_a"].map(String::from).to_vec();
    for name in ["d", "se_d", "b", "se_b"] {
        headers.extend((1..=steps).map(|step| format!("{name}{step}")));
    }
    headers.push("fixed".to_owned());
    let more = more_parameters(fit);
    headers.extend(more.iter().flat_map(|name| [(*name).to_owned(), format!("se_{name}")]));
    let row = |item: &FitItem| {
        let mut cells = vec![text(&item.name), text(&item.model), Count(Some(item.categories as u64))];
        cells.extend([Count(item.n), Number(item.a), Number(item.se_a)]);
        for values in [&item.d, &item.se_d, &item.b, &item.se_b] {
            cells.extend((0..steps).map(|step| Number(values.get(step).copied().flatten())));
        }
        cells.push(Flag(item.fixed));
        for name in &more {
            let shown =
                |numbers: &NamedNumbers| Number(numbers.get(name).filter(|_| item.has_more_parameters()));
            cells.extend([shown(&item.parameters), shown(&item.se)]);
        }
        cells
    };
    Table { headers, rows: fit.items.iter().map(row).collect() }
}

/// Sites.
pub fn sites(sites: &[FitSite]) -> Table {
    let row =
        |site: &FitSite| vec![text(&site.name), Count(Some(site.n)), Number(site.effect), Number(site.se)];
    Table::new(&["site", "n", "effect", "se"], sites.iter().map(row))
}

/// How well each item fits.
pub fn item_fit(items: &[ItemFit]) -> Table {
    let headers = [
        "item",
        "infit",
        "z.infit",
        "outfit",
        "z.outfit",
        "S_X2",
        "df.S_X2",
        "RMSEA.S_X2",
        "p.S_X2",
        "p_adjusted",
    ];
    let row = |fit: &ItemFit| {
        let classic = [fit.infit, fit.z_infit, fit.outfit, fit.z_outfit];
        let by_score = [fit.s_x2, fit.df_s_x2, fit.rmsea_s_x2, fit.p_s_x2, fit.p_adjusted];
        let numbers = classic.into_iter().chain(by_score).map(Number);
        std::iter::once(text(&fit.item)).chain(numbers).collect()
    };
    Table::new(&headers, items.iter().map(row))
}

/// Residual correlations, a row per pair of items.
pub fn pairs(q3: &Q3) -> Table {
    let mut rows = Vec::new();
    for (j, first) in q3.items.iter().enumerate() {
        for (l, second) in q3.items.iter().enumerate().skip(j + 1) {
            let value = q3.matrix[j][l];
            let above = value.map(|x| x - q3.mean);
            let flagged = above.is_some_and(|x| x > q3.critical);
            rows.push(vec![text(first), text(second), Number(value), Number(above), Flag(flagged)]);
        }
    }
    Table::new(&["item1", "item2", "Q3", "Q3_minus_mean", "flagged"], rows)
}

/// Eigenvalues with the limits from simulated data, a row per rank.
pub fn dimensions(found: &Dimensionality) -> Table {
    let row = |k: usize| {
        let numbers =
            [found.eigenvalues[k], found.parallel_5[k], found.parallel_95[k], found.parallel_95_se[k]];
        let numbers = numbers.map(|number| Number(Some(number)));
        std::iter::once(Count(Some(k as u64 + 1))).chain(numbers).collect()
    };
    let headers = ["rank", "eigenvalue", "parallel_5", "parallel_95", "parallel_95_se"];
    Table::new(&headers, (0..found.eigenvalues.len()).map(row))
}

/// Weights of the nodes of ability, in the model and among the students.
pub fn latent(check: &LatentCheck) -> Table {
    let row = |n: usize| {
        let numbers =
            [check.theta[n], check.expected[n], check.observed[n]].map(|number| Number(Some(number)));
        numbers.into_iter().chain([Number(check.residuals[n])]).collect()
    };
    Table::new(&["theta", "expected", "observed", "residual"], (0..check.theta.len()).map(row))
}

/// What would change most without each site, a row per site.
pub fn influence(sites: &[SiteInfluence]) -> Table {
    let row = |site: &SiteInfluence| {
        let names = [&site.site, &site.item, &site.parameter].map(|name| text(name));
        let numbers = [site.estimate, site.without, site.change].map(|number| Number(Some(number)));
        names.into_iter().chain(numbers).collect()
    };
    Table::new(&["site", "item", "parameter", "estimate", "without", "change_in_se"], sites.iter().map(row))
}

/// Items by focal group, compared with the reference group.
pub fn dif(rows: &[Dif]) -> Table {
    let names = [
        "alpha_MH",
        "se_log_alpha_MH",
        "chi2",
        "chi2_cc",
        "p",
        "p_adjusted",
        "delta_MH",
        "gmh",
        "gmh_df",
        "gmh_p",
        "smd",
        "smd_sd",
        "logistic_uniform",
        "logistic_uniform_p",
        "logistic_nonuniform",
        "logistic_nonuniform_p",
        "logistic_both",
        "logistic_both_p",
        "delta_R2_uniform",
        "delta_R2_nonuniform",
        "score",
        "score_df",
        "score_p",
        "lr",
        "lr_df",
        "lr_p",
        "wald",
        "wald_p",
        "expected_score_difference",
    ];
    let headers: Vec<&str> =
        ["item", "group"].into_iter().chain(names).chain(["ets", "anchor", "flagged"]).collect();
    let row = |row: &Dif| {
        let observed = [
            row.alpha_mh,
            row.se_log_alpha_mh,
            row.chi2,
            row.chi2_cc,
            row.p,
            row.p_adjusted,
            row.delta_mh,
            row.gmh,
            row.gmh_df,
            row.gmh_p,
            row.smd,
            row.smd_sd,
        ];
        let logistic = row.logistic.map_or([None; 8], |l| {
            [
                l.uniform,
                l.uniform_p,
                l.nonuniform,
                l.nonuniform_p,
                l.both,
                l.both_p,
                l.delta_r2_uniform,
                l.delta_r2_nonuniform,
            ]
            .map(Some)
        });
        let model = [
            row.score,
            row.score_df,
            row.score_p,
            row.lr,
            row.lr_df,
            row.lr_p,
            row.wald,
            row.wald_p,
            row.expected_score_difference,
        ];
        let numbers = observed.into_iter().chain(logistic).chain(model).map(Number);
        let class = text(row.ets.as_deref().unwrap_or_default());
        [text(&row.item), text(&row.group)]
            .into_iter()
            .chain(numbers)
            .chain([class, Flag(row.anchor), Flag(row.flagged)])
            .collect()
    };
    Table::new(&headers, rows.iter().map(row))
}

/// Items compared between sites.
pub fn site_heterogeneity(rows: &[SiteHeterogeneity]) -> Table {
    let row = |row: &SiteHeterogeneity| {
        let numbers = [Some(row.q), Some(row.df), Some(row.p), row.p_adjusted, Some(row.i2)].map(Number);
        std::iter::once(text(&row.item)).chain(numbers).collect()
    };
    Table::new(&["item", "Q", "df", "p", "p_adjusted", "I2"], rows.iter().map(row))
}

/// The ability that belongs to each sum score.
pub fn score_table(rows: &[ScoreRow]) -> Table {
    let row = |row: &ScoreRow| {
        let numbers = [row.theta, row.se, row.observed, row.expected];
        let named = [text(&row.form), Count(Some(row.score as u64))];
        named.into_iter().chain(numbers.map(|number| Number(Some(number)))).collect()
    };
    Table::new(&["form", "score", "theta", "se", "observed", "expected"], rows.iter().map(row))
}

/// Covariances of estimates: a row per estimate where all are known, a row per known pair where they come by item.
pub fn covariance(covariance: &Covariance) -> Table {
    let Covariance { names, blocks } = covariance;
    let number = |x: f64| Number(Some(x));
    if let [matrix] = blocks.as_slice() {
        let headers = std::iter::once("parameter").chain(names.iter().map(String::as_str)).map(String::from);
        let row = |(r, name): (usize, &String)| {
            let numbers = (0..matrix.ncols()).map(|c| number(matrix[(r, c)]));
            std::iter::once(text(name)).chain(numbers).collect()
        };
        return Table { headers: headers.collect(), rows: names.iter().enumerate().map(row).collect() };
    }
    let (mut rows, mut first) = (Vec::new(), 0);
    for block in blocks {
        let own = &names[first..first + block.nrows()];
        for (r, name) in own.iter().enumerate() {
            for (c, other) in own[..=r].iter().enumerate() {
                rows.push(vec![text(name), text(other), number(block[(r, c)])]);
            }
        }
        first += block.nrows();
    }
    Table::new(&["parameter1", "parameter2", "covariance"], rows)
}

/// Names of the columns of [`score_rows`].
pub fn score_headers(scores: &Scores) -> Vec<String> {
    let names: Vec<String> = match scores.method {
        Method::Pv { draws } => (1..=draws).map(|m| format!("PV{m}")).collect(),
        Method::Eap | Method::Map | Method::Wle | Method::Ml => vec!["F1".into(), "SE_F1".into()],
    };
    let scaled = scores.rescaling.iter().flat_map(|_| names.iter().map(|name| format!("{name}_scaled")));
    let before = ["id", "site", "answered", "raw"].map(String::from).into_iter();
    let after = ["Zh", "infit", "outfit", "prior"].map(String::from);
    before.chain(names.iter().cloned()).chain(scaled).chain(after).collect()
}

/// Scores, a row per student in the order of the files. They are made one by one, because there may be millions.
pub fn score_rows(scores: &Scores) -> impl Iterator<Item = Vec<Cell>> {
    let prior = scores.prior.map_or("none", PriorChoice::name);
    scores.in_file_order().into_iter().map(move |(at, row)| {
        let site = &scores.sites[at];
        let student = &site.students[row];
        let mut cells = vec![Text(site.id(row).into_owned()), text(&site.name)];
        cells.extend([Count(Some(student.answered as u64)), Count(Some(student.raw))]);
        let is_error = |k: usize| student.draws.is_empty() && k == 1;
        let estimates: Vec<Option<f64>> = match scores.method {
            Method::Pv { draws } => (0..draws).map(|m| student.draws.get(m).copied()).collect(),
            Method::Eap | Method::Map | Method::Wle | Method::Ml => {
                vec![student.score.estimate, student.score.standard_error]
            }
        };
        cells.extend(estimates.iter().map(|value| Number(*value)));
        if let Some(scale) = scores.rescaling {
            let on_scale = |(k, value): (usize, &Option<f64>)| {
                let origin = if is_error(k) { 0.0 } else { scale.origin };
                Number(value.map(|value| origin + scale.unit * value))
            };
            cells.extend(estimates.iter().enumerate().map(on_scale));
        }
        let fit = student.person_fit;
        cells.extend([fit.lz, fit.infit, fit.outfit].map(Number));
        cells.push(text(prior));
        cells
    })
}

/// What happened round by round.
pub fn rounds(fit: &Fit) -> Table {
    let headers = ["round", "loglik", "max_gradient", "max_change", "slowest_items"];
    let rows = fit.trace.iter().map(|entry| {
        let numbers = [entry.loglik, entry.max_gradient, entry.max_change].map(Number);
        let mut cells = vec![Count(Some(entry.round as u64))];
        cells.extend(numbers);
        cells.push(Text(entry.slowest_items.join(", ")));
        cells
    });
    Table::new(&headers, rows)
}

/// The fit as a whole; `study` are lines about the study that stand first.
pub fn summary(fit: &Fit, study: &[(&str, &str)]) -> Table {
    let mut rows: Vec<Vec<Cell>> = study.iter().map(|(name, value)| vec![text(name), text(value)]).collect();
    let mut add = |name: &str, cell: Cell| rows.push(vec![text(name), cell]);
    for (name, value) in
        [("model", &fit.model), ("effects", &fit.effects), ("algorithm", &fit.algorithm), ("mode", &fit.mode)]
    {
        add(name, text(value));
    }
    add("n", Count(Some(fit.n)));
    add("loglik", Number(fit.loglik));
    add("npar", Count(Some(fit.npar as u64)));
    let privacy = fit.privacy.as_ref();
    for (name, value) in [
        ("aic", fit.aic),
        ("bic", fit.bic),
        ("sabic", fit.sabic),
        ("max_gradient", fit.max_gradient),
        ("condition_number", fit.condition_number),
        ("latent_mean", Some(fit.latent.mean)),
        ("latent_sd", Some(fit.latent.sd)),
        ("site_sd", fit.site_sd),
        ("epsilon", privacy.map(|p| p.epsilon)),
        ("delta", privacy.map(|p| p.delta)),
    ] {
        add(name, Number(value));
    }
    if let Some(converged) = fit.converged {
        add("converged", Flag(converged));
    }
    add("rounds", Count(Some(fit.rounds as u64)));
    if let Some(diagnostics) = &fit.diagnostics {
        whole_model(diagnostics, &mut add);
    }
    add("version", text(&fit.version));
    add("codebook_hash", text(&fit.codebook_hash));
    if let Some(provenance) = &fit.provenance {
        origin(provenance, &mut add);
    }
    for warning in &fit.warnings {
        add("warning", text(&warning.message));
    }
    Table::new(&["field", "value"], rows)
}

/// Diagnostics that are single numbers.
fn whole_model(diagnostics: &Diagnostics, add: &mut impl FnMut(&str, Cell)) {
    if let Some(global) = &diagnostics.global {
        add(&global.kind, Number(Some(global.statistic)));
        for (name, value) in [
            ("df", global.df),
            ("p", global.p),
            ("RMSEA", global.rmsea),
            ("SRMSR", global.srmsr),
            ("TLI", global.tli),
            ("CFI", global.cfi),
        ] {
            add(name, Number(Some(value)));
        }
    }
    if let Some(reliability) = &diagnostics.reliability {
        add("reliability_empirical", Number(Some(reliability.empirical)));
        add("reliability_marginal", Number(Some(reliability.marginal)));
    }
    if let Some(found) = &diagnostics.dimensionality {
        add("eigenvalue_ratio", Number(found.ratio));
        add("dimensions", Count(Some(found.dimensions as u64)));
    }
    if let Some(found) = &diagnostics.influence {
        add("influential_sites", Number(Some(found.influential)));
    }
    if let Some(check) = &diagnostics.latent {
        for (name, value) in [
            ("latent_lr", check.lr),
            ("latent_score", check.score),
            ("latent_p", check.p),
            ("latent_skewness", Some(check.skewness)),
            ("latent_kurtosis", Some(check.kurtosis)),
        ] {
            add(name, Number(value));
        }
    }
    if let Some(alpha) = diagnostics.alpha {
        add("alpha", Number(Some(alpha)));
    }
}

/// Where the fit comes from.
fn origin(provenance: &Provenance, add: &mut impl FnMut(&str, Cell)) {
    for (name, value) in [("time", &provenance.time), ("command", &provenance.command)] {
        if let Some(value) = value {
            add(name, text(value));
        }
    }
    for file in provenance.files.iter().flatten() {
        let hash = file.sha256.as_ref().map_or_else(String::new, |hash| format!(" (SHA-256 {hash})"));
        add("file", Text(format!("{}{hash}", file.name)));
    }
}
