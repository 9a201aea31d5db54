//! Every derivative against central differences, for every model; reporting transforms there and back.

use super::*;

fn parameters(model: &dyn ItemModel) -> Vec<Vec<f64>> {
    let mut all = vec![vec![1.3, 0.4], vec![-0.7, -1.1], vec![0.02, 2.0]];
    if model.one_slope().is_none() {
        // Slopes of categories, then intercepts.
        all.push(vec![0.8, -0.5, 1.2, 0.4, -0.3, 0.1]);
        all.push(vec![-1.1, 0.4, 0.8, -0.2]);
    } else if model.polytomous() {
        all.push(vec![0.9, 1.2, 0.3, -1.4]);
        all.push(vec![-1.1, 0.8, -0.2]);
    }
    all
}

const ABILITIES: [f64; 5] = [-4.0, -1.3, 0.0, 0.7, 5.0];

fn categories(model: &dyn ItemModel, psi: &[f64]) -> usize {
    (2..)
        .find(|c| model.parameters(*c).len() >= psi.len())
        .expect("every model has parameters for each category")
}

fn log_p(model: &dyn ItemModel, psi: &[f64], t: f64, c: usize) -> f64 {
    Curves::new(model, categories(model, psi), psi, &[t], Order::Probability).log_p(c)[0]
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
            let curves = Curves::new(*model, categories(*model, &psi), &psi, &ABILITIES, Order::Curvature);
            for (n, &t) in ABILITIES.iter().enumerate() {
                for c in 0..curves.categories() {
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
                            Curves::new(*model, categories(*model, psi), psi, &[t], Order::Score).score(c, s)
                                [0]
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
            let curves = Curves::new(*model, categories(*model, &psi), &psi, &ABILITIES, Order::Curvature);
            for n in 0..ABILITIES.len() {
                let total: f64 = (0..curves.categories()).map(|c| curves.log_p(c)[n].exp()).sum();
                assert!((total - 1.0).abs() < 1e-12);
                let s = curves.ability();
                let mean: f64 = (0..curves.categories())
                    .map(|c| curves.log_p(c)[n].exp() * curves.curvature(c, s, s)[n])
                    .sum();
                assert!((mean + curves.information(n)).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn reporting_transforms_go_there_and_back() {
    for model in MODELS {
        for psi in parameters(*model) {
            let reported = model.reported(&psi);
            let named = |name: &str| reported.iter().find(|r| r.name == name).map(|r| r.value);
            let back = model.read_reported(categories(*model, &psi), &named).expect("all names are there");
            let free = model.bounded(&model.unbounded(&psi), psi[0].signum());
            for r in (0..psi.len()).filter(|r| *r > 0 || model.slope() != SlopeRule::One) {
                assert!((back[r] - psi[r]).abs() < 1e-12 && (free[r] - psi[r]).abs() < 1e-12, "{model:?}");
            }
            let Some(steps) = model.one_slope() else { continue };
            let (a, d) = (psi[0], &psi[1..]);
            let b = steps.difficulties(a, d);
            for (x, y) in steps.intercepts(a, &b).iter().zip(d) {
                assert!((x - y).abs() < 1e-12);
            }
            for (c, b) in b.iter().enumerate() {
                let sum: f64 = steps.difficulty_weights(c + 1).iter().map(|(r, w)| w * d[r - 1]).sum();
                assert!((b + sum / a).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn gradients_of_reported_and_unbounded_numbers_agree_with_differences() {
    let h = 1e-6;
    for model in MODELS {
        for psi in parameters(*model) {
            for (at, reported) in model.reported(&psi).iter().enumerate() {
                for r in 0..psi.len() {
                    let value = |h: f64| model.reported(&moved(&psi, 0.0, r, h).0)[at].value;
                    let want = (value(h) - value(-h)) / (2.0 * h);
                    assert!(
                        (reported.gradient[r] - want).abs() < 1e-6 * (1.0 + want.abs()),
                        "{model:?} {at} {r}"
                    );
                }
            }
            let weights: Vec<f64> = (0..psi.len()).map(|r| 0.3 + 0.2 * r as f64).collect();
            let y = model.unbounded(&psi);
            let gradient = model.unbounded_gradient(&y, &psi, &weights);
            for r in 0..y.len() {
                let value = |h: f64| {
                    let mut y = y.clone();
                    y[r] += h;
                    let psi = model.bounded(&y, psi[0].signum());
                    psi.iter().zip(&weights).map(|(x, w)| x * w).sum::<f64>()
                };
                let want = (value(h) - value(-h)) / (2.0 * h);
                assert!((gradient[r] - want).abs() < 1e-6 * (1.0 + want.abs()), "{model:?} {r}");
            }
        }
    }
}

#[test]
fn derivatives_along_ability_are_those_of_the_whole_node() {
    for model in MODELS {
        for psi in parameters(*model) {
            let categories = categories(*model, &psi);
            let curves = Curves::new(*model, categories, &psi, &ABILITIES, Order::Curvature);
            let mut node = AbilityNode::new(categories);
            let t = curves.ability();
            for (n, ability) in ABILITIES.iter().enumerate() {
                model.along_ability(&psi, *ability, &mut node);
                for c in 0..categories {
                    assert!((node.log_p[c] - curves.log_p(c)[n]).abs() < 1e-12);
                    assert!((node.first[c] - curves.score(c, t)[n]).abs() < 1e-12);
                    assert!((node.second[c] - curves.curvature(c, t, t)[n]).abs() < 1e-12);
                }
            }
        }
    }
}

#[test]
fn category_weights_give_the_scores() {
    for model in MODELS {
        for psi in parameters(*model) {
            let categories = categories(*model, &psi);
            let Some(weights) = model.category_weights(categories) else { continue };
            let curves = Curves::new(*model, categories, &psi, &ABILITIES, Order::Score);
            let roles = model.parameters(categories);
            for (n, t) in ABILITIES.iter().enumerate() {
                for (r, row) in weights.iter().enumerate() {
                    let mean: f64 = (0..categories).map(|c| row[c] * curves.log_p(c)[n].exp()).sum();
                    let z = if matches!(roles[r].role, Role::Slope { .. }) { *t } else { 1.0 };
                    for c in 0..categories {
                        assert!((curves.score(c, r)[n] - z * (row[c] - mean)).abs() < 1e-12);
                    }
                }
            }
        }
    }
}

#[test]
fn a_shift_of_the_origin_leaves_probabilities_alone() {
    for model in MODELS {
        for psi in parameters(*model) {
            let (x, categories) = (0.37, categories(*model, &psi));
            let moved: Vec<f64> = model
                .parameters(categories)
                .iter()
                .zip(&psi)
                .map(|(parameter, value)| match parameter.role {
                    Role::Slope { .. } => *value,
                    Role::Intercept { slope, score } => value + psi[slope] * score * x,
                })
                .collect();
            for c in 0..categories {
                assert!((log_p(*model, &psi, 1.0 + x, c) - log_p(*model, &moved, 1.0, c)).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn category_draws_follow_the_probabilities() {
    let curves = Curves::new(&divide_by_total::GPCM, 3, &[1.0, 0.5, 0.2], &[0.3], Order::Probability);
    let draws = 10_000;
    for c in 0..3 {
        let share = (0..draws).filter(|i| curves.draw(0, (*i as f64 + 0.5) / draws as f64) == c).count()
            as f64
            / draws as f64;
        assert!((share - curves.log_p(c)[0].exp()).abs() < 1e-3);
    }
}

/// Two categories have one log-odds, so only the slopes differ; among more, the partial credit models are nominal models with
/// equally spaced slopes (Thissen and Steinberg 1986), and the graded model is a family of its own.
#[test]
fn models_know_what_they_are_special_cases_of() {
    let nested = |special: &str, categories: usize| -> Vec<&str> {
        let special = model(special).expect("a model");
        let others = MODELS.iter().filter(|other| other.name() != special.name());
        others.filter(|general| is_special_case(special, **general, categories)).map(|m| m.name()).collect()
    };
    assert_eq!(nested("2pl", 2), ["gpcm", "grm", "nrm"]);
    assert_eq!(nested("rasch", 2), ["2pl", "1pl", "pcm", "gpcm", "grm", "nrm"]);
    assert_eq!(nested("pcm", 4), ["2pl", "1pl", "rasch", "gpcm", "nrm"]);
    assert_eq!(nested("gpcm", 4), ["2pl", "nrm"]);
    assert_eq!(nested("grm", 4), [""; 0]);
    assert_eq!(nested("nrm", 4), [""; 0]);
}
