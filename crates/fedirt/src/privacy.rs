//! Forecasts of private studies, before any privacy budget is spent.

use crate::fit::Prepared;
use fedirt_model::centre::ItemPlan;
use fedirt_model::exchange::Effects;
use fedirt_model::items::default_model;

/// ```
/// use fedirt::privacy::{Errors, Expected, Guess, Outlook, PrivateRefusal, PlannedStudy, plan};
/// use fedirt::{Effects, MissingAnswers, PrivateMethod};
///
/// let planned = PlannedStudy {
///     items: vec![("2pl".into(), 2); 4],
///     sites: vec![("north".into(), 300), ("south".into(), 200)],
///     effects: Effects::None, site_sd: 0.0, missing: MissingAnswers::Counted,
///     booklets: Vec::new(), mixture: false, method: PrivateMethod::default(), delta: 1e-6, colluders: 0,
/// };
/// let guess = Guess { a: vec![1.0, 1.2, 0.8, 1.5], b: vec![vec![-1.0], vec![0.0], vec![0.5], vec![1.0]] };
/// let outlook: Outlook = plan(&planned, Some(&guess), &[2.0])?.outlook;
/// let expected: &Expected = &outlook.private[0];
/// let (private, ordinary): (&Errors, &Errors) = (&expected.sums_alone, &outlook.maximum_likelihood);
/// assert!(private.b > ordinary.b, "noise costs precision");
/// // An ε that is not positive is a `PrivateRefusal`.
/// let refused: Result<_, PrivateRefusal> = plan(&planned, None, &[-1.0]);
/// assert!(refused.is_err());
/// # Ok::<(), PrivateRefusal>(())
/// ```
pub use fedirt_protocol::{
    forecast::{Errors, Expected, Guess, Outlook, PlannedStudy, Remark},
    private::PrivateRefusal,
};

/// A forecast: expected standard errors at several ε, with remarks.
///
/// ```
/// use fedirt::privacy::{Forecast, Remark, PlannedStudy, plan};
/// use fedirt::{Effects, MissingAnswers, PrivateMethod};
///
/// let planned = PlannedStudy {
///     items: vec![("2pl".into(), 2); 5],
///     sites: (1..=3).map(|k| (format!("site{k}"), 30)).collect(),
///     effects: Effects::Fixed, site_sd: 0.0, missing: MissingAnswers::Counted,
///     booklets: Vec::new(), mixture: false, method: PrivateMethod::default(), delta: 1e-6, colluders: 1,
/// };
/// let Forecast { outlook, remarks } = plan(&planned, None, &[0.5])?;
/// assert_eq!(outlook.students, 90);
/// assert!(remarks.iter().any(|remark| matches!(remark, Remark::NoiseOutweighs { .. })));
/// # Ok::<(), fedirt::privacy::PrivateRefusal>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    /// Expected standard errors.
    pub outlook: Outlook,
    /// What readers of the forecast should know.
    pub remarks: Vec<Remark>,
}

/// Computes the expected standard errors of a private study at several ε from its sizes, its noise and a guess of the item
/// parameters (without a guess: those of a typical test). No data are read and no budget is spent.
///
/// ```
/// use fedirt::privacy::{PlannedStudy, plan};
/// use fedirt::{Effects, MissingAnswers, PrivateMethod};
///
/// let planned = PlannedStudy {
///     items: vec![("2pl".into(), 2); 5],
///     sites: (1..=4).map(|k| (format!("site{k}"), 200)).collect(),
///     effects: Effects::Fixed, site_sd: 0.0, missing: MissingAnswers::Counted,
///     booklets: Vec::new(), mixture: false, method: PrivateMethod::default(), delta: 1e-6, colluders: 1,
/// };
/// let forecast = plan(&planned, None, &[1.0, 8.0])?;
/// let at = &forecast.outlook.private;
/// assert!(at[0].reported.b > at[1].reported.b, "less privacy, less noise");
/// # Ok::<(), fedirt::privacy::PrivateRefusal>(())
/// ```
pub fn plan(
    planned: &PlannedStudy,
    guess: Option<&Guess>,
    epsilons: &[f64],
) -> Result<Forecast, PrivateRefusal> {
    let outlook = fedirt_protocol::forecast::outlook(planned, guess, epsilons)?;
    let remarks = fedirt_protocol::forecast::remarks(planned, &outlook);
    Ok(Forecast { outlook, remarks })
}

impl Prepared {
    /// What a private fit can be expected to tell, from its sizes and its noise alone: no answer is looked at, and nothing is spent.
    /// `None` for other fits, and for fits so large that it would take minutes.
    ///
    /// ```
    /// use fedirt::{FitMode, FitOptions, Input, PrivateOptions, ReadOptions, prepare, read};
    ///
    /// let text = format!("I1,I2,I3\n{}", "1,1,0\n0,1,0\n1,0,0\n1,1,1\n".repeat(25));
    /// let responses = read([Input::new("north.csv", text.as_bytes())], &ReadOptions::default())?;
    /// let private = FitMode::Private(PrivateOptions { epsilon: 1.0, ..PrivateOptions::default() });
    /// let prepared = prepare(&responses, &FitOptions { mode: private, ..FitOptions::default() })?;
    /// let forecast = prepared.forecast()?.expect("a small private fit");
    /// assert!(forecast.outlook.private[0].over_no_noise > 1.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn forecast(&self) -> Result<Option<Forecast>, PrivateRefusal> {
        let Some(terms) = &self.setting.private else { return Ok(None) };
        let item = |item: &ItemPlan| {
            let categories = item.codes.as_ref().map_or(2, Vec::len);
            (item.model.clone().unwrap_or_else(|| default_model(categories).name().to_owned()), categories)
        };
        let planned = PlannedStudy {
            items: self.plan.items.iter().map(item).collect(),
            sites: self.sites.iter().map(|(name, table)| (name.clone(), table.students() as u64)).collect(),
            effects: if self.sites.len() < 2 { Effects::None } else { self.plan.effects },
            site_sd: terms.site_sd,
            missing: terms.missing,
            booklets: terms.booklets.clone(),
            mixture: terms.mixture,
            method: terms.method,
            delta: terms.delta,
            colluders: self.setting.colluders,
        };
        if planned.is_large() {
            return Ok(None);
        }
        Ok(Some(plan(&planned, None, &[terms.epsilon])?))
    }
}
