//! The privacy-loss distribution of many rounds, on a grid, from above.
//!
//! The loss of R independent rounds is the sum of R losses, and
//! δ(ε) = E[(1 − e^{ε − L})₊] over that sum (Sommer, Meiser and Mohammadi 2019; Koskela, Jälkö and Honkela
//! 2020). Each round is put on a grid so that δ can only grow (`step`), and the sum's distribution is the
//! R-th power of a Fourier transform.
//!
//! Which side it errs on: above, for ε and for δ. The grid, the outcomes beyond the grid (taken as infinite
//! losses), the mass that wraps around the transform's window (it only adds to δ) and the mass above the
//! window (added by Chernoff's bound) all push upwards; only rounding, of relative size 1e-15 times the
//! number of rounds, has no sign.

mod cumulant;
mod step;

use super::{Delta, Mechanism};
use crate::accountant::special::{ln_sum_exp, softplus};
use cumulant::Cumulant;
use realfft::RealFftPlanner;
use realfft::num_complex::Complex;
use step::{Losses, discretise, loss, range};

/// Points of the window that the grid step aims at, before tails.
const WINDOW: f64 = 131_072.0;

/// Points on which a single round is put, at most.
const ROUND: f64 = 65_536.0;

/// Points of a transform, at most; beyond it the grid is coarsened, and the answer stays a bound.
const LARGEST: usize = 1 << 22;

/// ln of the smallest δ at which masses are still normal doubles.
const DEEPEST: f64 = -650.0;

/// Outcomes are cut where their probability over all rounds is this share of δ.
const CUT: f64 = 1e-10;

/// ε ≥ 0 at δ, the larger of both directions.
pub(super) fn epsilon(mechanisms: &[Mechanism], delta: Delta) -> f64 {
    let ln_delta = delta.value().ln();
    let tails = tails(mechanisms, ln_delta, |cumulant| (ln_delta, cumulant.for_delta(ln_delta).1));
    tails.iter().map(|tail| tail.epsilon(delta.value(), f64::INFINITY, |_| 0.0)).fold(0.0, f64::max)
}

/// δ at ε ≥ 0, the larger of both directions.
pub(super) fn delta(mechanisms: &[Mechanism], epsilon: f64) -> f64 {
    // The Rényi bound says how small δ is, and with it how far the tails must reach.
    let (rough, h) = grid(mechanisms, -30.0, 8.0);
    let bound = |rounds| Cumulant::new(rounds, h).for_epsilon(epsilon).0;
    let ln_delta =
        rough.iter().map(|r| bound(r)).fold(f64::NEG_INFINITY, f64::max).clamp(DEEPEST, -0.1) - 7.0;
    let tails = tails(mechanisms, ln_delta, |cumulant| {
        let (ln_delta, theta) = cumulant.for_epsilon(epsilon);
        (ln_delta.max(DEEPEST) - 7.0, theta)
    });
    tails.iter().map(|tail| tail.delta(epsilon)).fold(0.0, f64::max).min(1.0)
}

/// The smallest ε ≥ 0 with (1 + e^ε) δ(ε) ≤ δ, the larger of both directions: half of what holds for replaced answers.
///
/// Rényi's bound tells about where it is, and with it the δ(ε) at which the tails must be precise; they are computed once.
pub(super) fn epsilon_of_pair(mechanisms: &[Mechanism], delta: Delta) -> f64 {
    let ln_delta = delta.value().ln();
    let (rough, h) = grid(mechanisms, DEEPEST, 8.0);
    let bounds = rough.each_ref().map(|rounds| Cumulant::new(rounds, h));
    let excess = |epsilon: f64| {
        let bound = bounds.iter().map(|c| c.for_epsilon(epsilon).0).fold(f64::NEG_INFINITY, f64::max);
        softplus(epsilon) + bound - ln_delta
    };
    let mut high = 1.0;
    while excess(high) > 0.0 {
        high *= 1.3;
    }
    let mut low = 0.0;
    while high - low > 1e-6 * high {
        let middle = 0.5 * (low + high);
        if excess(middle) > 0.0 { low = middle } else { high = middle }
    }
    let target = ln_delta - softplus(high);
    if target < DEEPEST {
        // Deeper than doubles reach, at an ε that promises nothing: the Rényi bound is answer enough.
        return high;
    }
    let tails = tails(mechanisms, target, |cumulant| (target, cumulant.for_delta(target).1));
    tails.iter().map(|tail| tail.epsilon(delta.value(), high, softplus)).fold(0.0, f64::max)
}

/// The upper tails of both directions, precise where δ is what `place` says, under the tilt that it gives. A grid that would
/// take too long is coarsened.
fn tails(mechanisms: &[Mechanism], ln_delta: f64, place: impl Fn(&Cumulant) -> (f64, f64)) -> [Tail; 2] {
    let mut coarser = 1.0;
    loop {
        let (rounds, h) = grid(mechanisms, ln_delta, coarser);
        let windows = rounds.each_ref().map(|rounds| {
            let cumulant = Cumulant::new(rounds, h);
            let (ln_delta, theta) = place(&cumulant);
            Window::new(&cumulant, theta, ln_delta, h)
        });
        let size = windows[0].points.max(windows[1].points);
        if size <= LARGEST {
            let [a, b] = &rounds;
            return [Tail::of(a, &windows[0], h), Tail::of(b, &windows[1], h)];
        }
        coarser *= 1.1 * size as f64 / LARGEST as f64;
    }
}

/// The rounds of each direction on a common grid, and its step.
///
/// The split of `step` adds a variance of at most h²/4 to each loss. With h = c √(ln(1 + χ²)), where
/// χ² = q² (e^{1/σ²} − 1) is the variance of dP/dQ, the standard deviation of the sum grows by a share of
/// about c²/12. The step is a continuous function of σ, and so are the answers.
fn grid(mechanisms: &[Mechanism], ln_delta: f64, coarser: f64) -> ([Vec<(Losses, u32)>; 2], f64) {
    let rounds: f64 = mechanisms.iter().map(|m| f64::from(m.rounds())).sum();
    let z = (2.0 * (rounds.ln() - ln_delta - CUT.ln())).sqrt();
    let spread = |m: &Mechanism| {
        let (q, inverse) = (m.sampling_rate(), m.noise_multiplier().powi(-2));
        let ln_chi_squared = 2.0 * q.ln() + inverse + (-(-inverse).exp_m1()).ln();
        f64::from(m.rounds()) * softplus(ln_chi_squared)
    };
    let width = |m: &Mechanism| {
        let (start, end) = range(m, z);
        loss(m, end) - loss(m, start)
    };
    let typical = (mechanisms.iter().map(spread).sum::<f64>() / rounds).sqrt();
    let widest = mechanisms.iter().map(width).fold(0.0, f64::max);
    let c = (16.0 * rounds.sqrt() / WINDOW).clamp(0.005, 0.05);
    let h = coarser * (c * typical).max(widest / ROUND);
    let mut directions = [Vec::new(), Vec::new()];
    for m in mechanisms {
        for (direction, losses) in directions.iter_mut().zip(discretise(m, h, z)) {
            direction.push((losses, m.rounds()));
        }
    }
    (directions, h)
}

/// Where the transform looks, and under which tilt.
struct Window {
    theta: f64,
    upper_tilt: f64,
    first: i64,
    points: usize,
}

impl Window {
    fn new(cumulant: &Cumulant, theta: f64, ln_delta: f64, h: f64) -> Self {
        let (low, high, upper_tilt) = cumulant.window(theta, ln_delta);
        let first = (low / h).floor() as i64 - 1;
        let needed = ((high / h).ceil() as i64 + 2 - first).max(16) as usize;
        Self { theta, upper_tilt, first, points: even_smooth(needed) }
    }
}

/// The smallest number 2^a 3^b ≥ n with a ≥ 1: lengths that transforms like.
fn even_smooth(n: usize) -> usize {
    let candidates = (0..4).map(|b| {
        let odd = 3usize.pow(b);
        odd * n.div_ceil(odd).next_power_of_two().max(2)
    });
    candidates.min().unwrap_or(n.next_power_of_two())
}

/// The upper tail of the summed losses: masses on `first`·h, … and the mass beyond.
struct Tail {
    h: f64,
    first: i64,
    /// Masses under the tilt: the true mass is `tilted[i]` · e^{`ln_scale` − θ l}.
    tilted: Vec<f64>,
    theta: f64,
    ln_scale: f64,
    beyond: f64,
}

impl Tail {
    /// Composes by the Fourier transform of exponentially tilted masses.
    ///
    /// f_θ(l) = f(l) e^{θl}/M(θ) (Esscher 1932) moves the bulk to the tail where δ is decided, so that the
    /// transform's rounding is relative to δ and not to 1: δ = 1e-100 has as many digits as δ = 0.1.
    fn of(rounds: &[(Losses, u32)], window: &Window, h: f64) -> Self {
        let n = window.points;
        let mut planner = RealFftPlanner::<f64>::new();
        let (forward, inverse) = (planner.plan_fft_forward(n), planner.plan_fft_inverse(n));
        let mut product = vec![Complex::new(1.0, 0.0); n / 2 + 1];
        let (mut ln_scale, mut ln_upper, mut infinite) = (0.0, 0.0, 0.0);
        for (losses, count) in rounds {
            let mut wrapped = forward.make_input_vec();
            let mut spectrum = forward.make_output_vec();
            let ln_m = ln_moment(losses, window.theta, h);
            for (k, mass) in losses.mass.iter().enumerate() {
                let index = losses.first + k as i64;
                let tilted = mass * (window.theta * index as f64 * h - ln_m).exp();
                wrapped[index.rem_euclid(n as i64) as usize] += tilted;
            }
            forward.process(&mut wrapped, &mut spectrum).expect("lengths come from the plan");
            // Below e^−80 a power is 0 next to the peak, and slow to compute as a subnormal number.
            let least = (-160.0 / f64::from(*count)).exp();
            for (p, s) in product.iter_mut().zip(&spectrum) {
                *p = if s.norm_sqr() < least { Complex::new(0.0, 0.0) } else { *p * s.powu(*count) };
            }
            ln_scale += f64::from(*count) * ln_m;
            ln_upper += f64::from(*count) * ln_moment(losses, window.upper_tilt, h);
            infinite += f64::from(*count) * losses.infinite;
        }
        product[0].im = 0.0;
        product[n / 2].im = 0.0;
        let mut circular = inverse.make_output_vec();
        inverse.process(&mut product, &mut circular).expect("lengths come from the plan");
        let at = |i: usize| circular[(window.first + i as i64).rem_euclid(n as i64) as usize];
        let tilted = (0..n).map(|i| (at(i) / n as f64).max(0.0)).collect();
        let top = (window.first + n as i64) as f64 * h;
        let highest: i64 =
            rounds.iter().map(|(l, count)| (l.first + l.mass.len() as i64 - 1) * i64::from(*count)).sum();
        let above = if (highest as f64) * h < top { 0.0 } else { (ln_upper - window.upper_tilt * top).exp() };
        Self { h, first: window.first, tilted, theta: window.theta, ln_scale, beyond: infinite + above }
    }

    fn loss(&self, i: usize) -> f64 {
        (self.first + i as i64) as f64 * self.h
    }

    fn mass(&self, i: usize) -> f64 {
        self.tilted[i] * (self.ln_scale - self.theta * self.loss(i)).exp()
    }

    /// The smallest ε ≥ 0 with δ(ε) e^{w(ε)} ≤ δ, w ≥ 0 not falling: from the top down, until the tail holds enough.
    ///
    /// `most` is an ε that is known to suffice: above it the weight would make rounding look like mass.
    ///
    /// Between the losses l − h and l, δ(ε) = A − e^{ε − l} B, A = Σ mass and B = Σ mass e^{l − loss} from l upwards. B is
    /// carried from loss to loss, so that no power of the window's width is taken: that would overflow beyond 709.
    fn epsilon(&self, delta: f64, most: f64, weight: impl Fn(f64) -> f64) -> f64 {
        let (mut a, mut b) = (self.beyond, 0.0);
        let down = (-self.h).exp();
        for i in (0..self.tilted.len()).rev() {
            let (mass, here) = (self.mass(i), self.loss(i));
            let below = here - self.h;
            a += mass;
            b = b * down + mass;
            let enough = |epsilon: f64| a - b * (epsilon - here).exp() >= delta * (-weight(epsilon)).exp();
            if below <= most && enough(below) {
                let (mut low, mut high) = (below, here);
                while high - low > 4.0 * f64::EPSILON * high.abs() {
                    let middle = 0.5 * (low + high);
                    if middle <= low || middle >= high {
                        break;
                    }
                    if enough(middle) { low = middle } else { high = middle }
                }
                return high.min(most).max(0.0);
            }
            if below <= 0.0 {
                return 0.0;
            }
        }
        self.loss(0).max(0.0)
    }

    /// δ at ε.
    fn delta(&self, epsilon: f64) -> f64 {
        let first = ((epsilon / self.h).floor() as i64 + 1 - self.first).max(0) as usize;
        let above = (first..self.tilted.len()).rev();
        self.beyond + above.map(|i| self.mass(i) * -(epsilon - self.loss(i)).exp_m1()).sum::<f64>()
    }
}

/// ln Σ mass e^{θ loss}.
fn ln_moment(losses: &Losses, theta: f64, h: f64) -> f64 {
    let exponent = |(k, mass): (usize, &f64)| mass.ln() + theta * (losses.first + k as i64) as f64 * h;
    let terms: Vec<f64> =
        losses.mass.iter().enumerate().filter(|(_, mass)| **mass > 0.0).map(exponent).collect();
    ln_sum_exp(&terms)
}
