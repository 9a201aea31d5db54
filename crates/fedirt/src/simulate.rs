//! Data with known parameters.

use fedirt_data::{Responses, SiteResponses, Source};
use fedirt_model::simulate::{self, Spec, SpecError, Truth};

/// Simulated responses with their true parameters.
///
/// ```
/// use fedirt::simulation::{Missing, SiteEffects, SiteSizes, Spec};
/// use fedirt::{Simulation, simulate};
///
/// let spec = Spec {
///     sites: 1, students: SiteSizes::Each(10), items: 3, model: "rasch".into(), categories: 2,
///     effects: SiteEffects::Drawn { sd: 0.0, centred: true }, missing: Missing::Complete, latent_sd: 1.0, seed: 1,
/// };
/// let Simulation { truth, responses } = simulate(&spec)?;
/// assert_eq!(truth.items[0].name, responses.sites[0].items[0]);
/// # Ok::<(), fedirt::simulation::SpecError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Simulation {
    /// The true parameters.
    pub truth: Truth,
    /// The responses of each site; students are numbered `s1`, `s2`, … over all sites.
    pub responses: Responses,
}

/// Draws items, sites, students and answers. The same seed gives the same data on any machine.
///
/// ```
/// use fedirt::simulation::{Missing, SiteEffects, SiteSizes, Spec};
///
/// let spec = Spec {
///     sites: 3, students: SiteSizes::Each(40), items: 5, model: "2pl".into(), categories: 2,
///     effects: SiteEffects::Given(vec![-0.5, 0.0, 0.5]), missing: Missing::AtRandom(0.1), latent_sd: 1.0, seed: 7,
/// };
/// let drawn = fedirt::simulate(&spec)?;
/// assert_eq!(drawn.responses.sites.len(), 3);
/// assert_eq!(drawn.truth.items.len(), 5);
/// # Ok::<(), fedirt::simulation::SpecError>(())
/// ```
pub fn simulate(spec: &Spec) -> Result<Simulation, SpecError> {
    let drawn = simulate::simulate(spec)?;
    let items: Vec<String> = drawn.truth.items.iter().map(|item| item.name.clone()).collect();
    let (mut before, mut input) = (0, 0);
    let site = |(name, table): (String, fedirt_model::responses::ResponseTable)| {
        let rows = table.students();
        let ids = (before + 1..=before + rows).map(|student| format!("s{student}")).collect();
        before += rows;
        input += 1;
        let sources = vec![Source { file: name.clone(), rows, input }];
        let (items, lines) = (items.clone(), (1..=rows as u64).collect());
        SiteResponses { name, items, ids: Some(ids), groups: None, table, sources, lines, chosen: Vec::new() }
    };
    let sites = drawn.sites().into_iter().map(site).collect();
    Ok(Simulation { truth: drawn.truth, responses: Responses::of_sites(sites) })
}
