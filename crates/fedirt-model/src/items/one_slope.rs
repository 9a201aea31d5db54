//! Models of one slope and ordered categories: what they share.
//!
//! The parameters of an item with categories 0..=m are its slope a and its intercepts d_1..d_m, in that order. Such a
//! model is written in terms of the linear predictor e = a·t; what follows for (a, d, t) by the chain rule is here,
//! once for all of them.

use super::{AbilityNode, ItemModel, Logits, Node, Order, Parameter, Reported, Role, SlopeRule};

/// An item response model of one slope and one intercept per step between ordered categories.
pub trait OneSlope: Sync + std::fmt::Debug {
    /// The name that users type and files carry.
    fn name(&self) -> &'static str;

    /// What it is called in a sentence.
    fn title(&self) -> &'static str;

    /// What it assumes, in a few words for help texts.
    fn summary(&self) -> &'static str;

    /// Where the slope comes from.
    fn slope(&self) -> SlopeRule;

    /// Which log-odds are linear in ability.
    fn logits(&self) -> Logits;

    /// Whether more than two categories make sense.
    fn polytomous(&self) -> bool;

    /// Whether log p_c = c·e + d_c − log Σ_h exp(h·e + d_h).
    fn divides_by_total(&self) -> bool;

    /// Log-probabilities and their derivatives in (e, d_1..d_m): index 0 of `out` is e, index c is d_c.
    fn predict(&self, e: f64, d: &[f64], order: Order, out: &mut Node);

    /// Log-probabilities and their first two derivatives in e.
    fn predict_along(&self, e: f64, d: &[f64], out: &mut AbilityNode);

    /// d_c grows by `a·shift_score(c)·x` when the origin of ability moves down by x.
    fn shift_score(&self, step: usize) -> f64;

    /// Whether the intercepts are ones that the model allows.
    fn admissible_intercepts(&self, d: &[f64]) -> bool;

    /// Difficulties b_1..b_m from slope and intercepts.
    fn difficulties(&self, a: f64, d: &[f64]) -> Vec<f64>;

    /// Intercepts from slope and difficulties.
    fn intercepts(&self, a: f64, b: &[f64]) -> Vec<f64>;

    /// Coefficients of b_step = −Σ_r w_r·d_r/a, as pairs (r, w_r): for the delta method.
    fn difficulty_weights(&self, step: usize) -> Vec<(usize, f64)>;

    /// Intercepts that give the observed category shares for ability N(0, 1) and slope a (roughly).
    fn start_intercepts(&self, a: f64, shares: &[f64]) -> Vec<f64>;

    /// Intercepts as coordinates without bounds.
    fn unbounded_intercepts(&self, d: &[f64]) -> Vec<f64>;

    /// Inverse of [`OneSlope::unbounded_intercepts`].
    fn bounded_intercepts(&self, y: &[f64]) -> Vec<f64>;

    /// Gradient in the unbounded coordinates from that in the intercepts.
    fn unbounded_intercept_gradient(&self, y: &[f64], gradient: &[f64]) -> Vec<f64>;
}

/// mirt's names of a slope and of the intercepts after it: `a1`, `d` for one step; `a1`, `d1`, `d2`, … for more.
pub(crate) fn reported_names(parameters: usize) -> Vec<String> {
    let name = |r: usize| match r {
        0 => "a1".to_owned(),
        _ if parameters == 2 => "d".to_owned(),
        r => format!("d{r}"),
    };
    (0..parameters).map(name).collect()
}

/// |a| of a coordinate log|a|, within what a starting value may be.
fn slope_of(log_a: f64) -> f64 {
    log_a.clamp(-4.0, 3.0).exp()
}

impl<M: OneSlope> ItemModel for M {
    fn name(&self) -> &'static str {
        OneSlope::name(self)
    }

    fn title(&self) -> &'static str {
        OneSlope::title(self)
    }

    fn summary(&self) -> &'static str {
        OneSlope::summary(self)
    }

    fn slope(&self) -> SlopeRule {
        OneSlope::slope(self)
    }

    fn logits(&self) -> Logits {
        OneSlope::logits(self)
    }

    fn polytomous(&self) -> bool {
        OneSlope::polytomous(self)
    }

    fn parameters(&self, categories: usize) -> Vec<Parameter> {
        let mut out = vec![Parameter { name: "a".into(), role: Role::Slope { dimension: 0 } }];
        for step in 1..categories {
            let name = if categories == 2 { "d".into() } else { format!("d{step}") };
            let role = Role::Intercept { slope: 0, score: self.shift_score(step) };
            out.push(Parameter { name, role });
        }
        out
    }

    /// e = a·t: ∂/∂a = t·F_e, ∂/∂t = a·F_e, ∂²/∂a² = t²G_ee, ∂²/∂a∂t = F_e + a·t·G_ee, ∂²/∂t² = a²G_ee,
    /// ∂²/∂a∂d = t·G_ed, ∂²/∂t∂d = a·G_ed.
    fn node(&self, psi: &[f64], point: &[f64], order: Order, out: &mut Node) {
        let (a, d, t) = (psi[0], &psi[1..], point[0]);
        self.predict(a * t, d, order, out);
        let (categories, last) = (psi.len(), psi.len());
        if order >= Order::Score {
            for c in 0..categories {
                let f = *out.first(c, 0);
                *out.first(c, 0) = t * f;
                *out.first(c, last) = a * f;
                if order == Order::Curvature {
                    let g = *out.second(c, 0, 0);
                    *out.second(c, 0, 0) = t * t * g;
                    *out.second(c, last, last) = a * a * g;
                    let cross = f + a * t * g;
                    *out.second(c, 0, last) = cross;
                    *out.second(c, last, 0) = cross;
                    for r in 1..categories {
                        let mixed = *out.second(c, 0, r);
                        for (other, factor) in [(0, t), (last, a)] {
                            *out.second(c, r, other) = factor * mixed;
                            *out.second(c, other, r) = factor * mixed;
                        }
                    }
                }
            }
        }
    }

    fn along_ability(&self, psi: &[f64], t: f64, out: &mut AbilityNode) {
        let a = psi[0];
        self.predict_along(a * t, &psi[1..], out);
        for c in 0..psi.len() {
            out.first[c] *= a;
            out.second[c] *= a * a;
        }
    }

    fn category_weights(&self, categories: usize) -> Option<Vec<Vec<f64>>> {
        let row = |r: usize| {
            let weight = |c: usize| if r == 0 { c as f64 } else { f64::from(u8::from(c == r)) };
            (0..categories).map(weight).collect()
        };
        self.divides_by_total().then(|| (0..categories).map(row).collect())
    }

    fn admissible(&self, psi: &[f64]) -> bool {
        self.admissible_intercepts(&psi[1..])
    }

    fn end_categories(&self, psi: &[f64]) -> Option<(usize, usize)> {
        let highest = psi.len() - 1;
        match psi[0] {
            a if a > 0.0 => Some((0, highest)),
            a if a < 0.0 => Some((highest, 0)),
            _ => None,
        }
    }

    fn one_slope(&self) -> Option<&dyn OneSlope> {
        Some(self)
    }

    fn start(&self, slope: f64, _scores: &[f64], shares: &[f64]) -> Vec<f64> {
        let mut psi = vec![slope];
        psi.extend(self.start_intercepts(slope.abs(), shares));
        psi
    }

    fn unbounded(&self, psi: &[f64]) -> Vec<f64> {
        let mut y = vec![psi[0].abs().ln()];
        y.extend(self.unbounded_intercepts(&psi[1..]));
        y
    }

    fn bounded(&self, y: &[f64], sign: f64) -> Vec<f64> {
        let fixed = OneSlope::slope(self) == SlopeRule::One;
        let mut psi = vec![sign * if fixed { 1.0 } else { slope_of(y[0]) }];
        psi.extend(self.bounded_intercepts(&y[1..]));
        psi
    }

    fn unbounded_gradient(&self, y: &[f64], psi: &[f64], gradient: &[f64]) -> Vec<f64> {
        let fixed = OneSlope::slope(self) == SlopeRule::One;
        let mut out = vec![if fixed { 0.0 } else { gradient[0] * psi[0] }];
        out.extend(self.unbounded_intercept_gradient(&y[1..], &gradient[1..]));
        out
    }

    fn reported(&self, psi: &[f64]) -> Vec<Reported> {
        let unit = |r: usize| (0..psi.len()).map(|k| f64::from(u8::from(k == r))).collect();
        let names = reported_names(psi.len()).into_iter().enumerate();
        names.map(|(r, name)| Reported { name, value: psi[r], gradient: unit(r) }).collect()
    }

    fn read_reported(&self, categories: usize, value: &dyn Fn(&str) -> Option<f64>) -> Option<Vec<f64>> {
        reported_names(categories).iter().map(|name| value(name)).collect()
    }
}
