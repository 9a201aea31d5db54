//! Whitened scores of rows through the public interface: order, missing answers, hostile requests.

use fedirt_model::design::{Design, DesignItem};
use fedirt_model::exchange::Effects;
use fedirt_model::private::{MissingAnswers, PrivateError, RowStatistic, ScoreRequest, each_row_statistic};
use fedirt_model::quadrature::{GridSpec, Weighting};
use fedirt_model::responses::{MISSING, ResponseTable};

fn design() -> Design {
    let item = |column: usize, model: &str, codes: &[u8]| DesignItem {
        column,
        model: model.to_owned(),
        codes: codes.to_vec(),
    };
    vec![
        item(0, "2pl", &[0, 1]),
        item(2, "gpcm", &[1, 2, 3]),
        item(1, "grm", &[0, 1, 2]),
        item(3, "rasch-sd1", &[0, 1]),
    ]
    .try_into()
    .expect("a design")
}

fn request(effects: Effects, mixture: bool, missing: MissingAnswers) -> ScoreRequest {
    let mut request = ScoreRequest {
        design: design(),
        effects,
        sites: 3,
        site_sd: 0.3,
        grid: GridSpec::default(),
        mixture,
        booklets: vec![vec![0, 1, 2, 3], vec![1, 2]],
        missing,
        theta: Vec::new(),
        statistic: RowStatistic::Whitened(Vec::new()),
        clip: 3.0,
    };
    let coordinates = request.coordinates().expect("coordinates");
    let d = coordinates.len();
    let b = vec![vec![0.4], vec![-0.8, 0.5], vec![-0.3, 0.7], vec![-0.2]];
    request.theta = coordinates.theta(&[1.3, 0.8, 1.1, 1.0], &b, &[0.5, -0.1, -0.4], [0.05, 0.1]);
    request.statistic = RowStatistic::scores(d);
    request
}

fn table(rows: &[[u8; 4]]) -> ResponseTable {
    ResponseTable::new(rows.len(), 4, rows.concat()).expect("a table")
}

fn scores(rows: &[[u8; 4]], site: usize, request: &ScoreRequest) -> Vec<Vec<f64>> {
    let mut out = Vec::new();
    each_row_statistic(&table(rows), site, request, |row| out.push(row.to_vec())).expect("a request");
    out
}

/// Complete, booklet 2, one answer missing in booklet 1, a code that is none, nothing, answers of no booklet.
const ROWS: [[u8; 4]; 6] = [
    [1, 0, 2, 1],
    [MISSING, 2, 3, MISSING],
    [1, 1, 1, MISSING],
    [1, 1, 0, 0],
    [MISSING; 4],
    [1, MISSING, MISSING, 0],
];

#[test]
fn every_row_gives_one_score_in_order_and_depends_on_no_other() {
    for missing in [MissingAnswers::Counted, MissingAnswers::Wrong] {
        for (effects, mixture) in [(Effects::None, false), (Effects::Fixed, true)] {
            let request = request(effects, mixture, missing);
            let many: Vec<[u8; 4]> = (0..200).map(|i| ROWS[i % 6]).collect();
            let all = scores(&many, 1, &request);
            assert_eq!(all.len(), 200);
            for (i, row) in many.iter().enumerate() {
                assert_eq!(all[i], scores(&[*row], 1, &request)[0], "row {i}");
                assert_eq!(all[i].len(), request.width().expect("a width"));
            }
        }
    }
}

#[test]
fn rows_that_lack_answers_count_for_nothing_or_are_scored_wrong() {
    let counted = scores(&ROWS, 0, &request(Effects::Fixed, false, MissingAnswers::Counted));
    // One count for each of two booklets at each of three sites.
    let last = counted[0].len() - 6;
    let counts = |rows: &[Vec<f64>], at: usize| rows.iter().map(|row| row[last + at]).collect::<Vec<_>>();
    assert_eq!(counts(&counted, 0), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(counts(&counted, 1), [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    assert!((2..6).all(|at| counts(&counted, at) == [0.0; 6]));
    let elsewhere = scores(&ROWS, 2, &request(Effects::Fixed, false, MissingAnswers::Counted));
    assert_eq!((elsewhere[0][last + 4], elsewhere[1][last + 5]), (1.0, 1.0));
    // Without effects all sites are one.
    let none = request(Effects::None, false, MissingAnswers::Counted);
    assert_eq!(none.width().expect("a width"), none.theta.len() + 2);
    assert_eq!(scores(&ROWS, 2, &none)[1][none.theta.len()..], [0.0, 1.0]);
    assert!(counted[2..].iter().flatten().all(|x| *x == 0.0));
    // Items outside the booklet have no score: log a and b of the first item, b of the last.
    assert!([0, 1, 8].iter().all(|r| counted[1][*r] == 0.0) && counted[1][2] != 0.0);

    let request = request(Effects::Fixed, false, MissingAnswers::Wrong);
    let wrong = scores(&ROWS, 0, &request);
    let filled = [[1, 1, 1, 0], [1, 1, 1, 0], [MISSING, 0, 1, MISSING], [1, 0, 1, 0]];
    assert_eq!(wrong[2..], scores(&filled, 0, &request));
    assert_eq!(wrong[..2], counted[..2].iter().map(|row| row[..last].to_vec()).collect::<Vec<_>>());
}

#[test]
fn hostile_numbers_do_not_panic() {
    let values = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e308, -1e308, 1e18, -750.0, 5e-324, 0.0];
    for missing in [MissingAnswers::Counted, MissingAnswers::Wrong] {
        for (effects, mixture) in [(Effects::None, true), (Effects::Fixed, false), (Effects::Fixed, true)] {
            let whitened = request(effects, mixture, missing);
            let (d, groups) = (whitened.theta.len(), if effects == Effects::None { 1 } else { 3 });
            let statistic = RowStatistic::Optimal {
                scores: vec![0.1; d * d],
                curvature: vec![1.0; d],
                centres: vec![vec![0.0; d]; groups],
            };
            let optimal = ScoreRequest { statistic, ..whitened.clone() };
            for (sound, value) in [whitened, optimal].iter().flat_map(|r| values.map(|value| (r, value))) {
                for r in 0..sound.theta.len() {
                    let mut hostile = sound.clone();
                    hostile.theta[r] = value;
                    assert_eq!(scores(&ROWS, 2, &hostile).len(), ROWS.len());
                }
                let mut hostile = sound.clone();
                hostile.theta.fill(value);
                assert_eq!(scores(&ROWS, 2, &hostile).len(), ROWS.len());
                let mut hostile = sound.clone();
                (hostile.clip, hostile.site_sd) = (value, value);
                hostile.statistic.numbers().for_each(|x| *x = value);
                assert_eq!(scores(&ROWS, 2, &hostile).len(), ROWS.len());
            }
        }
    }
}

#[test]
fn malformed_requests_are_refused_before_a_row_is_seen() {
    let refused = |change: &dyn Fn(&mut ScoreRequest), site: usize| {
        let mut request = request(Effects::Fixed, false, MissingAnswers::Wrong);
        change(&mut request);
        let answer = each_row_statistic(&table(&ROWS), site, &request, |_| panic!("a row was seen"));
        assert!(matches!(answer, Err(PrivateError::Request(_))), "{answer:?}");
    };
    refused(&|_| (), 3);
    refused(&|r| r.sites = usize::MAX, 0);
    refused(&|r| r.theta.push(0.0), 0);
    refused(&|r| r.statistic = RowStatistic::scores(2), 0);
    refused(&|r| r.booklets.clear(), 0);
    refused(&|r| r.booklets = vec![vec![0, 4]], 0);
    refused(&|r| r.booklets = vec![vec![1, 0]], 0);
    refused(&|r| r.grid.nodes = 0, 0);
    refused(&|r| r.grid.nodes = usize::MAX, 0);
    refused(&|r| r.grid = GridSpec { nodes: 21, range: f64::NAN, weighting: Weighting::Paper }, 0);
    let mut random = request(Effects::Fixed, false, MissingAnswers::Wrong);
    random.effects = Effects::Random;
    let answer = each_row_statistic(&table(&ROWS), 0, &random, |_| panic!("a row was seen"));
    assert_eq!(answer, Err(PrivateError::RandomEffects));
    let narrow = ResponseTable::new(1, 2, vec![0, 1]).expect("a table");
    let sound = request(Effects::Fixed, false, MissingAnswers::Wrong);
    assert!(each_row_statistic(&narrow, 0, &sound, |_| panic!("a row was seen")).is_err());
    let weighted = table(&ROWS).with_weights(vec![1.0; 6]).expect("weights");
    let answer = each_row_statistic(&weighted, 0, &sound, |_| panic!("a row was seen"));
    assert_eq!(answer, Err(PrivateError::Weights));
}

#[test]
fn models_with_a_free_sd_are_named() {
    for model in ["rasch", "pcm"] {
        let mut request = request(Effects::Fixed, false, MissingAnswers::Wrong);
        let item = DesignItem { column: 0, model: model.to_owned(), codes: vec![0, 1] };
        request.design = vec![item].try_into().expect("a design");
        assert_eq!(request.coordinates(), Err(PrivateError::Model(model.to_owned())));
    }
}
