//! The preview of a private study.

use super::AgentError;
use super::preview::{RoundPreview, StatisticPreview};
use super::study::Study;
use fedirt_model::private::ROUND_SHARES;
use fedirt_model::statistics::Statistic;
use fedirt_privacy::secure::{Identity, Roster};
use fedirt_protocol::declaration::{Declaration, Declarations};
use fedirt_protocol::private;
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;

/// Rounds of noisy sums: their size and their noise. The sums without it are never sent, and not shown either.
pub(super) fn private_rounds(study: &Study, own: &Declaration) -> Result<Vec<RoundPreview>, AgentError> {
    let terms = &study.terms;
    let mismatch = |e: &dyn std::fmt::Display| AgentError::Mismatch(e.to_string());
    // As if every other site had declared the same.
    let identities: Vec<_> =
        terms.sites.keys().map(|site| (site.clone(), Identity::generate(&mut UnwrapErr(SysRng)))).collect();
    let keys = identities.iter().map(|(site, identity)| (site.clone(), identity.public()));
    let roster = Roster::of(terms.study.clone(), 0, keys).map_err(|e| mismatch(&e))?;
    let signed = identities.iter().map(|(site, identity)| own.sign(terms, site, identity));
    let signed = signed.collect::<Result<Vec<_>, _>>()?;
    let declarations =
        Declarations::verify(&roster, &signed, terms.plan.items.len()).map_err(|e| mismatch(&e))?;
    let cohort = terms.sites.keys().cloned().collect();
    let plan = private::plan_of(terms, &declarations, &cohort).map_err(|e| mismatch(&e))?;
    let info = Statistic::NoisyScores.info();
    (0..ROUND_SHARES.len())
        .map(|stage| {
            let noise = private::noise(terms, &plan, stage).map_err(|e| mismatch(&e))?;
            let statistic = StatisticPreview {
                name: info.name,
                meaning: info.meaning,
                count: plan.width().map_err(|e| mismatch(&e))?,
                numbers: Vec::new(),
                by_name: false,
            };
            Ok(RoundPreview {
                name: (stage + 1).to_string(),
                remark: format!(
                    "what each student adds to the estimates is limited to length {:.2} and added up; to each number of the sum over all sites comes noise with a standard deviation of {:.1}, which the sites make; all of it is masked",
                    plan.clip().map_err(|e| mismatch(&e))?,
                    noise.sum_sd()
                ),
                statistics: vec![statistic],
            })
        })
        .collect()
}
