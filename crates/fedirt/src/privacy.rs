//! What a private study can expect, before anything is spent.

pub use fedirt_protocol::forecast::{Errors, Expected, Guess, Outlook, Remark, Wish};
pub use fedirt_protocol::private::PrivateRefusal;

/// A forecast: expected standard errors at several ε, and what stands between the wish and its fulfilment.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    /// Expected standard errors.
    pub outlook: Outlook,
    /// What that means.
    pub remarks: Vec<Remark>,
}

/// Computes what a private study can expect at some ε, from sizes, noise and a guess of the items' parameters; without a
/// guess, for an ordinary test. No data are read and nothing is spent.
///
/// ```
/// use fedirt::privacy::{Wish, plan};
/// use fedirt::{Effects, MissingAnswers};
///
/// let wish = Wish {
///     items: vec![("2pl".into(), 2); 5],
///     sites: (1..=4).map(|k| (format!("site{k}"), 200)).collect(),
///     effects: Effects::Fixed, site_sd: 0.0, missing: MissingAnswers::Counted,
///     booklets: Vec::new(), mixture: false, delta: 1e-6, colluders: 1,
/// };
/// let forecast = plan(&wish, None, &[1.0, 8.0])?;
/// let at = &forecast.outlook.private;
/// assert!(at[0].reported.b > at[1].reported.b, "less privacy, less noise");
/// # Ok::<(), fedirt::privacy::PrivateRefusal>(())
/// ```
pub fn plan(wish: &Wish, guess: Option<&Guess>, epsilons: &[f64]) -> Result<Forecast, PrivateRefusal> {
    let outlook = fedirt_protocol::forecast::outlook(wish, guess, epsilons)?;
    let remarks = fedirt_protocol::forecast::remarks(wish, &outlook);
    Ok(Forecast { outlook, remarks })
}
