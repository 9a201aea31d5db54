//! What every method shares: missing answers, empty rows, refusals.

use super::*;

const METHODS: [Method; 4] = [Method::Eap, Method::Map, Method::Ml, Method::Wle];

#[test]
fn a_missing_answer_is_a_dropped_item() {
    let (items, whole) = (mixed(), scorer(&mixed(), STANDARD));
    let mut rows = whole.row_scorer();
    for row in mixed_rows() {
        let (kept, short): (Vec<ScoredItem>, Vec<u8>) = items
            .iter()
            .zip(&row)
            .filter(|(_, x)| **x != MISSING)
            .map(|(item, x)| (item.clone(), *x))
            .unzip();
        let dropped = scorer(&kept, STANDARD);
        for method in METHODS {
            let (a, b) =
                (rows.score(&row, method).unwrap(), dropped.row_scorer().score(&short, method).unwrap());
            assert_eq!(a, b, "{method:?}");
        }
        let (a, b) =
            (rows.person_fit(&row, 0.3).unwrap(), dropped.row_scorer().person_fit(&short, 0.3).unwrap());
        assert_eq!(a, b);
        let (mut x, mut y) = ([0.0; 5], [0.0; 5]);
        rows.plausible_values(&row, &mut seeded(7), &mut x).unwrap();
        dropped.row_scorer().plausible_values(&short, &mut seeded(7), &mut y).unwrap();
        assert_eq!(x, y);
    }
}

#[test]
fn a_row_without_answers_has_the_prior() {
    let scorer = scorer(&mixed(), Prior { mean: 0.7, sd: 1.3 });
    let mut rows = scorer.row_scorer();
    for method in METHODS {
        let score = rows.score(&[MISSING; 7], method).unwrap();
        let want = match method {
            Method::Ml | Method::Wle => Score::NONE,
            _ => Score { estimate: Some(0.7), standard_error: Some(1.3) },
        };
        assert_eq!(score, want, "{method:?}");
    }
    assert_eq!(rows.person_fit(&[MISSING; 7], 0.0).unwrap(), PersonFit::default());
}

#[test]
fn items_without_slope_say_nothing() {
    let flat = [item("2pl", &[0.0, 0.5]), item("grm", &[0.0, 1.0, -1.0])];
    let scorer = scorer(&flat, STANDARD);
    let mut rows = scorer.row_scorer();
    for method in [Method::Ml, Method::Wle] {
        assert_eq!(rows.score(&[1, 1], method).unwrap(), Score::NONE);
    }
    let map = rows.score(&[1, 1], Method::Map).unwrap();
    assert!(map.estimate.unwrap().abs() < 1e-12 && (map.standard_error.unwrap() - 1.0).abs() < 1e-12);
}

#[test]
fn a_table_is_scored_as_its_rows_are() {
    let rows = mixed_rows();
    let table = ResponseTable::new(rows.len(), 7, rows.concat()).unwrap();
    let scorer = scorer(&mixed(), STANDARD);
    for method in METHODS {
        let scores = scorer.score_table(&table, method).unwrap();
        for (row, score) in rows.iter().zip(scores) {
            // A fresh scorer for each row: what a row left in the buffers does not matter.
            assert_eq!(scorer.row_scorer().score(row, method).unwrap(), score);
        }
    }
}

#[test]
fn the_scale_may_be_any() {
    // t → 500 + 100 t: slopes a/100 and intercepts d − 5a.
    let moved: Vec<ScoredItem> = binary(10)
        .iter()
        .map(|item| ScoredItem {
            model: item.model,
            categories: item.categories,
            psi: vec![item.psi[0] / 100.0, item.psi[1] - 5.0 * item.psi[0]],
        })
        .collect();
    let (unit, far) = (scorer(&binary(10), STANDARD), scorer(&moved, Prior { mean: 500.0, sd: 100.0 }));
    let row = [1, 1, 0, 1, 1, 0, 1, 0, 0, 0];
    for method in METHODS {
        let ((t, se), (far_t, far_se)) = (score(&unit, &row, method), score(&far, &row, method));
        assert!((far_t - 500.0 - 100.0 * t).abs() < 1e-6 && (far_se - 100.0 * se).abs() < 1e-6, "{method:?}");
    }
}

#[test]
fn wrong_input_is_refused() {
    let new =
        |items: &[ScoredItem], prior: Prior, spec: GridSpec| Scorer::new(items.to_vec(), prior, spec).err();
    let grid = GridSpec::default();
    let bad = [item("2pl", &[1.0, 0.0]), item("grm", &[1.0, -1.0, 1.0])];
    assert_eq!(new(&bad, STANDARD, grid), Some(ScoringError::Parameters { item: 1 }));
    for psi in [vec![], vec![1.0], vec![f64::NAN, 0.0], vec![1.0, f64::INFINITY]] {
        assert_eq!(new(&[item("2pl", &psi)], STANDARD, grid), Some(ScoringError::Parameters { item: 0 }));
    }
    for sd in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(new(&mixed(), Prior { mean: 0.0, sd }, grid), Some(ScoringError::Prior { .. })));
    }
    assert_eq!(new(&mixed(), STANDARD, GridSpec { nodes: 2, ..grid }), Some(ScoringError::Grid));
    let scorer = scorer(&mixed(), STANDARD);
    let mut rows = scorer.row_scorer();
    assert_eq!(rows.score(&[1; 6], Method::Eap), Err(ScoringError::Length { cells: 6, items: 7 }));
    let category = ScoringError::Category { item: 1, code: 2, highest: 1 };
    assert_eq!(rows.score(&[1, 2, 1, 1, 1, 1, 1], Method::Ml), Err(category));
}
