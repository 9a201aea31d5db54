//! What would be sent, number by number, before anything is: nothing of this leaves, or is written down.

use super::AgentError;
use super::responses::OwnResponses;
use super::study::Study;
use fedirt_model::private::MissingAnswers;
use fedirt_model::responses::ResponseTable;
use fedirt_model::statistics::Mode;
use fedirt_protocol::declaration::Declaration;
use fedirt_protocol::forecast;
use fedirt_protocol::leaves::{self, Leaves};
use fedirt_protocol::plan::WHAT_SECURE_KEEPS;
use fedirt_protocol::policy::Policy;
use fedirt_protocol::preview;
pub use fedirt_protocol::preview::{RoundPreview, StatisticPreview};
use fedirt_protocol::private::incomplete_rows;
use serde::Serialize;

/// Everything that a site would send.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Preview {
    /// Study.
    pub study: String,
    /// This site.
    pub site: String,
    /// Mode.
    pub mode: String,
    /// Students that are declared.
    pub students: u64,
    /// Whether they carry weights, and then the sum of them and a bound.
    pub weights: Option<(f64, f64)>,
    /// The items with the codes that are declared.
    pub items: Vec<ItemGiven>,
    /// The rounds.
    pub rounds: Vec<RoundPreview>,
    /// What the officer should know about them.
    pub remarks: Vec<String>,
    /// All that leaves in the whole study, by kind and form.
    #[serde(skip)]
    pub leaves: Leaves,
}

/// An item as it is declared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ItemGiven {
    /// Item.
    pub item: String,
    /// Codes; none where the site does not give the item.
    pub codes: Vec<u8>,
}

/// What a site with these answers would send under a plan.
pub fn preview(study: &Study, own: &OwnResponses, policy: &Policy) -> Result<Preview, AgentError> {
    let terms = &study.terms;
    let table = policy.with_open_groups(own.table.clone());
    let declaration = Declaration::of(&table, terms);
    let rounds = preview::rounds(terms, &study.site, &table)
        .map_err(|error| AgentError::Mismatch(error.to_string()))?;
    let items = study
        .plan
        .items
        .iter()
        .zip(&declaration.codes)
        .map(|(item, codes)| ItemGiven { item: item.name.clone(), codes: codes.iter().collect() });
    Ok(Preview {
        study: study.plan.study.clone(),
        site: study.connection.site.clone(),
        mode: terms.mode.name().to_owned(),
        students: declaration.students,
        weights: declaration.weighted.then_some((declaration.total_weight, declaration.largest_weight)),
        items: items.collect(),
        leaves: leaves::of_plan(terms, &declaration, &rounds),
        rounds,
        remarks: {
            let booklets = study.terms.private.as_ref().map_or(&[][..], |p| &p.booklets);
            let mut remarks = remarks(study, &declaration, incomplete_rows(booklets, &own.table));
            remarks.extend(unequal_weights(&own.table));
            remarks.extend(rare_groups(&terms.plan.groups, own.table.groups(), &declaration, policy));
            remarks
        },
    })
}

/// With very unequal weights a site's students tell as much as (Σw)²/Σw² of equal weight (Kish 1965, section 11.7).
fn unequal_weights(table: &ResponseTable) -> Option<String> {
    let (sum, squares) = table.weight_moments();
    let (students, effective) = (table.students() as f64, sum * sum / squares);
    (effective < 0.5 * students).then(|| {
        format!("Weights are very unequal: these {students:.0} students tell as much as {effective:.0} of equal weight.")
    })
}

/// The groups of the plan of which this site tells nothing, because it has too few students of them.
fn rare_groups(
    names: &[String],
    own: Option<&[u8]>,
    declared: &Declaration,
    policy: &Policy,
) -> Option<String> {
    let size = |g: usize| own.unwrap_or_default().iter().filter(|group| usize::from(**group) == g).count();
    let hidden = names.iter().enumerate().filter(|(g, _)| size(*g) > 0 && declared.groups >> g & 1 == 0);
    let hidden: Vec<String> = hidden.map(|(g, name)| format!("{name} ({})", size(g))).collect();
    (!hidden.is_empty()).then(|| {
        format!(
            "Left out of every sum, because this site's policy wants {} students of a group: {}. In a table of complete rows a group \
             with fewer of them is zero, and so is another one from which it would follow.",
            policy.fewest_in_group,
            hidden.join(", ")
        )
    })
}

fn remarks(study: &Study, own: &Declaration, incomplete: u64) -> Vec<String> {
    let mut remarks = Vec::new();
    match study.terms.mode {
        Mode::Plain => remarks.push(
            "Mode plain: the coordinator sees these numbers beside this site's name. From sums like these over several rounds \
             the answers of single students can be rebuilt: it must be trusted like a holder of the data."
                .into(),
        ),
        Mode::Private => remarks.push(
            "Mode private: what leaves are sums with noise, under masks. What anyone can learn about one student is bounded by the \
             plan's epsilon and delta, which this site's ledger accounts for."
                .into(),
        ),
        Mode::Secure => remarks.push(
            format!(
                "Mode secure: what leaves are these numbers under masks, which cannot be told from random numbers. Only the sum over all sites \
                 opens, rounded to the digits that estimates need. {WHAT_SECURE_KEEPS} A question about items that few sites \
                 give is refused."
            ),
        ),
    }
    remarks.extend(forecast::in_words(&study.plan));
    if study.plan.pooled_rows_may_be_inferred() {
        remarks.push(
            "The pooled rows may be inferred: with 12 items or fewer, or fewer than 1000 students, the sums can determine \
             which answer patterns all sites together have (not who gave them)."
                .into(),
        );
    }
    if study.plan.sites_may_be_inferred() {
        remarks.push(
            "Rows and sites may be inferred: because site effects are estimated, a coordinator that computes may find out which \
             answers belong to the same site."
                .into(),
        );
    }
    if !study.plan.booklets.is_empty() {
        let counts = study.plan.booklets.iter().zip(&own.booklets);
        let counts: Vec<String> =
            counts.map(|(booklet, rows)| format!("{:?} {rows}", booklet.name)).collect();
        remarks.push(format!(
            "Told exactly, without noise, when this site joins: how many rows it has of each booklet ({}). Epsilon does not cover this.",
            counts.join(", ")
        ));
    }
    if let (Some(private), true) = (&study.terms.private, incomplete > 0) {
        remarks.push(match private.missing {
            MissingAnswers::Counted => format!(
                "{incomplete} of {} rows lack an answer to an item of their booklet, and count for nothing; a plan with \
                 missing_answers = \"wrong\" would count such answers as wrong. This is not sent.",
                own.students
            ),
            MissingAnswers::Wrong => format!(
                "{incomplete} of {} rows lack an answer, which counts as wrong. This is not sent.",
                own.students
            ),
        });
    }
    if study.terms.mode != Mode::Private && !own.weighted {
        remarks.push(
            "If the students of another site carry weights, this site may be asked for score_products too (products of score \
             vectors, for robust standard errors), in one more round before the closing one."
                .into(),
        );
    }
    if own.weighted {
        remarks.push(
            "Weights are scaled so that they add up to the number of students of all sites: the numbers here are scaled as if \
             the other sites' weights were like these."
                .into(),
        );
    }
    remarks.push(
        "Nothing of this preview is sent or kept. Later rounds may ask at more than one set of parameters."
            .into(),
    );
    remarks
}
