//! Every derivative against central differences, for every model; reporting transforms there and back.

use super::*;

fn parameters(model: &dyn ItemModel) -> Vec<Vec<f64>> {
    let mut all = vec![vec![1.3, 0.4], vec![-0.7, -1.1], vec![0.02, 2.0]];
    if model.polytomous() {
        all.push(vec![0.9, 1.2, 0.3, -1.4]);
        all.push(vec![-1.1, 0.8, -0.2]);
    }
    all
}

const ABILITIES: [f64; 5] = [-4.0, -1.3, 0.0, 0.7, 5.0];

fn log_p(model: &dyn ItemModel, psi: &[f64], t: f64, c: usize) -> f64 {
    Curves::new(model, psi, &[t], Order::Probability).log_p(c)[0]
}

/// (psi, t) moved by h along derivative index r.
fn moved(psi: &[f64], t: f64, r: usize, h: f64) -> (Vec<f64>, f64) {
    let mut psi = psi.to_vec();
    if r == psi.len() {
        return (psi, t + h);
    }
    psi[r] += h;
    (psi, t)
}

#[test]
fn derivatives_agree_with_central_differences() {
    let h = 1e-5;
    for model in MODELS {
        for psi in parameters(*model) {
            let curves = Curves::new(*model, &psi, &ABILITIES, Order::Curvature);
            for (n, &t) in ABILITIES.iter().enumerate() {
                for c in 0..psi.len() {
                    for r in 0..=psi.len() {
                        let (up, tu) = moved(&psi, t, r, h);
                        let (down, td) = moved(&psi, t, r, -h);
                        let want = (log_p(*model, &up, tu, c) - log_p(*model, &down, td, c)) / (2.0 * h);
                        let got = curves.score(c, r)[n];
                        assert!(
                            (got - want).abs() < 2e-8 * (1.0 + want.abs()),
                            "{model:?} {psi:?} t={t} c={c} r={r}: {got} {want}"
                        );
                        let first = |psi: &[f64], t: f64, s: usize| {
                            Curves::new(*model, psi, &[t], Order::Score).score(c, s)[0]
                        };
                        for s in 0..=psi.len() {
                            let want = (first(&up, tu, s) - first(&down, td, s)) / (2.0 * h);
                            let got = curves.curvature(c, r, s)[n];
                            assert!(
                                (got - want).abs() < 1e-7 * (1.0 + want.abs()),
                                "{model:?} {psi:?} t={t} c={c} {r},{s}: {got} {want}"
                            );
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn probabilities_sum_to_one_and_information_is_the_mean_curvature() {
    for model in MODELS {
        for psi in parameters(*model) {
            let curves = Curves::new(*model, &psi, &ABILITIES, Order::Curvature);
            for n in 0..ABILITIES.len() {
                let total: f64 = (0..psi.len()).map(|c| curves.log_p(c)[n].exp()).sum();
                assert!((total - 1.0).abs() < 1e-12);
                let s = curves.ability();
                let mean: f64 =
                    (0..psi.len()).map(|c| curves.log_p(c)[n].exp() * curves.curvature(c, s, s)[n]).sum();
                assert!((mean + curves.information(n)).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn reporting_transforms_go_there_and_back() {
    for model in MODELS {
        for psi in parameters(*model) {
            let (a, d) = (psi[0], &psi[1..]);
            let b = model.difficulties(a, d);
            for (x, y) in model.intercepts(a, &b).iter().zip(d) {
                assert!((x - y).abs() < 1e-12);
            }
            for (c, b) in b.iter().enumerate() {
                let sum: f64 = model.difficulty_weights(c + 1).iter().map(|(r, w)| w * d[r - 1]).sum();
                assert!((b + sum / a).abs() < 1e-12);
            }
            for (x, y) in model.bounded(&model.unbounded(d)).iter().zip(d) {
                assert!((x - y).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn a_shift_of_the_origin_leaves_probabilities_alone() {
    for model in MODELS {
        for psi in parameters(*model) {
            let x = 0.37;
            let moved: Vec<f64> = std::iter::once(psi[0])
                .chain((1..psi.len()).map(|c| psi[c] + psi[0] * model.shift_score(c) * x))
                .collect();
            for c in 0..psi.len() {
                assert!((log_p(*model, &psi, 1.0 + x, c) - log_p(*model, &moved, 1.0, c)).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn category_draws_follow_the_probabilities() {
    let curves = Curves::new(&gpcm::Gpcm, &[1.0, 0.5, 0.2], &[0.3], Order::Probability);
    let draws = 10_000;
    for c in 0..3 {
        let share = (0..draws).filter(|i| curves.draw(0, (*i as f64 + 0.5) / draws as f64) == c).count()
            as f64
            / draws as f64;
        assert!((share - curves.log_p(c)[0].exp()).abs() < 1e-3);
    }
}
