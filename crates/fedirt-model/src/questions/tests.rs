//! Declarations against answers: for every question, in all its forms, on every design.

use super::diagnose::Diagnostic;
use super::evaluate::Curvature;
use super::reply::{Reply, reply};
use super::shared::{STUDENTS, WEIGHT, count};
use super::start::BetweenSites;
use super::*;
use crate::exchange::Effects;
use crate::population::Population;
use crate::responses::ResponseTable;
use crate::site::Site;
use crate::site::lower;
use crate::site::tests::design;

fn request(effects: Effects, ask: Ask) -> Request {
    let design = design(&[("2pl", 2), ("gpcm", 4), ("grm", 3), ("2pl", 2)]);
    // Two linked parts, which no site links.
    let parts = vec![0, 0, 1, 1];
    Request {
        design,
        parts,
        population: Population::default(),
        weight_scale: 1.0,
        weighted: true,
        effects,
        ask,
    }
}

fn point() -> Point {
    Point { psi: vec![1.0, 0.2, 0.8, 0.5, 0.0, -0.5, 1.2, 0.7, -0.4, 0.9, -0.3], site_sd: 0.4 }
}

/// Every form of every question. The match has no wildcard: a new question does not compile until it is here.
fn forms() -> Vec<Ask> {
    let mut forms: Vec<Ask> = vec![Counts.into()];
    for between in [BetweenSites::Exact, BetweenSites::Rounded, BetweenSites::Withheld] {
        forms.push(Start { between }.into());
    }
    for curvature in [Curvature::None, Curvature::Complete, Curvature::Observed, Curvature::ObservedByItem] {
        for effect_totals in [false, true] {
            for points in [vec![point()], vec![point(), point()]] {
                forms.push(Evaluate { points, curvature, effect_totals }.into());
            }
        }
    }
    let effects = vec![0.1; 2];
    forms.push(Published { psi: point().psi, effects: effects.clone(), chosen: Some(vec![0]) }.into());
    let items = point().psi;
    let train = Train { items, effects, chosen: vec![0], epochs: 2, learning_rate: 0.5 };
    forms.push(train.clone().into());
    forms.push(Train { chosen: Vec::new(), ..train }.into());
    forms.push(LocalFit { tolerance: 1e-4, iterations: 20 }.into());
    for rounded in [false, true] {
        forms.push(Products { point: point(), effect_unit: 10.0, rounded }.into());
    }
    for publish_effects in [false, true] {
        forms.push(Close { point: point(), sd: 1.0, errors: None, effects: None, publish_effects }.into());
    }
    for wanted in [Diagnostic::ALL.to_vec(), vec![Diagnostic::ItemFit], vec![Diagnostic::Q3]] {
        for covariance in [Vec::new(), lower(point().psi.len(), 0.01, |r, c| f64::from(u8::from(r == c)))] {
            let (point, wanted) = (point(), wanted.clone());
            forms.push(Diagnose { point, wanted, covariance, by_name: true }.into());
        }
    }
    for between in [BetweenSites::Exact, BetweenSites::Rounded, BetweenSites::Withheld] {
        for (first, anchors) in [(true, vec![0, 1, 2, 3]), (false, vec![0, 2])] {
            let question = Dif { point: point(), groups: 2, anchors, free: vec![0, 1, 3], first, between };
            forms.push(question.into());
        }
    }
    let covered = |ask: &Ask| match ask {
        Ask::Counts(_) => 0,
        Ask::Start(_) => 1,
        Ask::Evaluate(_) => 2,
        Ask::Published(_) => 3,
        Ask::Train(_) => 4,
        Ask::LocalFit(_) => 5,
        Ask::Products(_) => 6,
        Ask::Close(_) => 7,
        Ask::Diagnose(_) => 8,
        Ask::Dif(_) => 9,
    };
    assert!((0..10).all(|k| forms.iter().any(|ask| covered(ask) == k)));
    forms
}

/// Answers of sixty students; of the second table all stand at one end, so that it has no finite effect.
fn tables() -> [ResponseTable; 2] {
    let mixed = (0..60).flat_map(|i: u8| [i % 2, i % 4, (i / 2) % 3, (i / 3) % 2]).collect();
    let top = [1, 3, 2, 1].repeat(60);
    let weights: Vec<f64> = (0..60).map(|i| 1.0 + f64::from(i % 2)).collect();
    [mixed, top].map(|cells: Vec<u8>| {
        ResponseTable::new(60, 4, cells).unwrap().with_weights(weights.clone()).unwrap()
    })
}

#[test]
fn every_answer_has_the_declared_tensors() {
    for effects in [Effects::None, Effects::Fixed, Effects::Random] {
        for ask in forms() {
            let request = request(effects, ask);
            request.check(4).unwrap_or_else(|error| panic!("{:?}: {error}", request.ask));
            for table in tables() {
                let mut site = Site::new(table);
                let summary = site.answer(&request).unwrap_or_else(|e| panic!("{:?}: {e}", request.ask));
                let answered: Vec<&Tensor> = summary.tensors().map(|(tensor, _)| tensor).collect();
                assert!(answered.into_iter().eq(&request.tensors()), "{:?}", request.ask);
                assert_eq!(site.own_effect().is_some(), request.ask.conditions().tells_own_effect);
            }
        }
    }
}

#[test]
fn every_number_has_a_need_and_a_bound_that_holds() {
    for effects in [Effects::None, Effects::Fixed, Effects::Random] {
        for ask in forms() {
            let request = request(effects, ask);
            let [table, _] = tables();
            let summary = Site::new(table).answer(&request).unwrap();
            let weight = 90.0;
            for (tensor, numbers) in summary.tensors() {
                assert_eq!(tensor.shape.needs().len(), tensor.len(), "{}", tensor.statistic.name);
                assert_eq!(tensor.shape.about().len(), tensor.len(), "{}", tensor.statistic.name);
                let count = match tensor.bound.per {
                    Per::Student => weight,
                    Per::Site => 1.0,
                    Per::SquaredWeight => weight * 2.0,
                    Per::StudentPair => weight * weight,
                };
                let largest = tensor.bound.largest * count;
                let name = tensor.statistic.name;
                assert!(numbers.iter().all(|x| x.abs() <= largest), "{name}: {numbers:?} {largest}");
            }
            let summed: usize = request.tensors().iter().filter(|t| t.summed()).map(Tensor::len).sum();
            assert_eq!(request.needs().len(), summed);
        }
    }
}

/// Sites in the same hands are asked as one where the question says that its answer is a sum over students.
#[test]
fn questions_by_student_add_up_over_sites() {
    for ask in forms().into_iter().filter(|ask| ask.conditions().by_student) {
        let request = request(Effects::None, ask);
        let all = ResponseTable::joined(&tables());
        assert_eq!(all, ResponseTable::joined(tables().iter().rev()), "the order of tables changes nothing");
        let numbers = |table| -> Vec<f64> {
            let summary = Site::new(table).answer(&request).unwrap();
            // What each site says of itself, by name, is no sum.
            let summed = summary.tensors().filter(|(tensor, _)| tensor.summed());
            summed.flat_map(|(_, numbers)| numbers.to_vec()).collect()
        };
        let [first, second] = tables().map(numbers);
        for ((a, b), together) in first.iter().zip(&second).zip(numbers(all)) {
            assert!((a + b - together).abs() < 1e-9 * (1.0 + together.abs()), "{:?}", request.ask);
        }
    }
}

/// The points that a policy sees are those at which rows are evaluated: other points give other answers.
#[test]
fn questions_with_parameters_show_them_to_the_policy() {
    for ask in forms() {
        let request = request(Effects::Fixed, ask.clone());
        let moved = Point { psi: point().psi.iter().map(|x| x * 1.1).collect(), site_sd: 0.4 };
        let carries = ask.at(&request, &moved, 2) != ask.at(&request, &point(), 2);
        let points = request.points();
        // Training starts at the same parameters in every preview, and carries parameters all the same.
        let trains = matches!(ask, Ask::Train(_));
        assert_eq!(!points.is_empty(), carries || trains, "{ask:?}");
        assert!(points.iter().all(|psi| psi.len() == request.design.parameters()), "{ask:?}");
    }
}

#[test]
fn who_stands_behind_matrices() {
    let request = request(
        Effects::Fixed,
        Evaluate { points: vec![point()], curvature: Curvature::Observed, effect_totals: true }.into(),
    );
    let tensors = request.tensors();
    let of = |name: &str| tensors.iter().find(|t| t.statistic.name == name).unwrap().shape.needs();
    let information = of("information");
    assert_eq!(information[0], Need::Item(0));
    // Row 2 is the slope of the second item, columns 0 and 1 belong to the first.
    assert_eq!(information[3..6], [Need::Pair(0, 1), Need::Pair(0, 1), Need::Item(1)]);
    assert_eq!(of("effect_sum"), [Need::Part(0), Need::Part(1)]);
    let loadings = of("effect_loadings");
    assert_eq!((loadings.len(), loadings[0], loadings[11]), (22, Need::Item(0), Need::Item(0)));
    let products = Products { point: point(), effect_unit: 1.0, rounded: false };
    let needs = Request { ask: products.into(), ..request }.needs();
    assert_eq!(needs.len(), crate::exchange::triangle(13));
    assert_eq!(needs[crate::exchange::triangle(11)..][..2], [Need::Item(0), Need::Item(0)]);
    assert_eq!(needs[crate::exchange::triangle(12) - 1], Need::Part(0));
    assert_eq!(needs.last(), Some(&Need::Part(1)));
}

#[test]
fn a_statistic_has_one_name_and_one_meaning() {
    let all = statistics();
    for a in &all {
        for b in all.iter().filter(|b| b.name == a.name) {
            assert_eq!(
                (a.meaning, a.combination, a.modes),
                (b.meaning, b.combination, b.modes),
                "{}",
                a.name
            );
        }
        assert!(a.name.chars().all(|c| c.is_ascii_lowercase() || c == '_') && !a.meaning.is_empty());
    }
}

reply! {
    /// A reply of two scalars and a vector, to see what happens when it is filled in wrongly.
    struct Example to |_question: (), _request| {
        students: f64 = STUDENTS => count(),
        weight: f64 = WEIGHT => count(),
        gradient: Vec<f64> = GRADIENT => (Shape::Vector(Axis::shared(2)), Bound::per_student(1.0)),
    }
}

#[test]
fn a_reply_that_is_not_as_declared_is_an_error() {
    let request = request(Effects::None, Counts.into());
    let declared = || Example::tensors(&(), &request);
    let good = Example { students: 3.0, weight: 4.0, gradient: vec![1.0, 2.0] };
    assert!(Summary::new(declared(), good.clone()).is_ok());
    let long = Example { gradient: vec![1.0; 3], ..good.clone() };
    let error = Summary::new(declared(), long).unwrap_err();
    assert_eq!(error, ReplyError::Length { statistic: "gradient", got: 3, want: 2 });
    let mut swapped = declared();
    swapped.swap(0, 1);
    assert_eq!(Summary::new(swapped, good.clone()).unwrap_err(), ReplyError::Missing("weight"));
    let mut fewer = declared();
    fewer.pop();
    assert_eq!(Summary::new(fewer, good.clone()).unwrap_err(), ReplyError::Unexpected("gradient"));
    let read = |sums: Named| Aggregate::new(sums, Vec::new()).read::<Example>();
    assert_eq!(read(good.clone().into_named()), Ok(good.clone()));
    let mut other = good.clone().into_named();
    other.swap(0, 1);
    assert_eq!(read(other).unwrap_err(), ReplyError::Missing("students"));
    let mut more = good.into_named();
    more.push((STUDENTS, vec![1.0]));
    assert_eq!(read(more).unwrap_err(), ReplyError::Unexpected("students"));
}
