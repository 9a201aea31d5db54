//! Three attacks on exact sums. Each succeeds against the naive variant, and is refused or announced by ours.

mod common;

use common::lab::{Lab, binary_items, terms};
use common::{Random, answers, table};
use fedirt_model::exchange::{Effects, Point, Request};
use fedirt_model::population::Population;
use fedirt_model::questions::evaluate::Curvature;
use fedirt_model::questions::start::BetweenSites;
use fedirt_model::questions::{Ask, Evaluate, Start};
use fedirt_model::responses::ResponseTable;
use fedirt_model::site::Site;
use fedirt_model::statistics::Mode;
use fedirt_protocol::plan::{PlanError, PlanItem, StudyPlan, template};
use fedirt_protocol::policy::Policy;
use nalgebra::{DMatrix, DVector};

fn request(items: usize, effects: Effects, ask: Ask) -> Request {
    let design: Vec<fedirt_model::design::DesignItem> = (0..items)
        .map(|column| fedirt_model::design::DesignItem { column, model: "2pl".into(), codes: vec![0, 1] })
        .collect();
    Request {
        design: design.try_into().expect("a sound test"),
        parts: vec![0; items],
        population: Population::default(),
        weight_scale: 1.0,
        weighted: false,
        effects,
        ask,
    }
}

fn sums(tables: &[ResponseTable], request: &Request) -> Vec<f64> {
    let mut total: Vec<f64> = Vec::new();
    for table in tables {
        let summary = Site::new(table.clone()).answer(request).expect("an answer");
        let answer: Vec<f64> = summary.tensors().flat_map(|(_, numbers)| numbers).copied().collect();
        total.resize(answer.len(), 0.0);
        total.iter_mut().zip(&answer).for_each(|(t, x)| *t += x);
    }
    total
}

/// min ‖Ax − b‖, x ≥ 0 (Lawson and Hanson 1974).
fn non_negative(a: &DMatrix<f64>, b: &DVector<f64>) -> DVector<f64> {
    let n = a.ncols();
    let mut x = DVector::zeros(n);
    let mut passive: Vec<usize> = Vec::new();
    for _ in 0..20 * n {
        let w = a.transpose() * (b - a * &x);
        let next = (0..n).filter(|j| !passive.contains(j)).max_by(|i, j| w[*i].total_cmp(&w[*j]));
        match next {
            Some(j) if w[j] > 1e-9 => passive.push(j),
            _ => break,
        }
        loop {
            let columns = a.select_columns(&passive);
            let z = columns.svd(true, true).solve(b, 1e-13).expect("a sound test");
            let crossing = (0..passive.len()).filter(|&i| z[i] <= 0.0);
            let alpha = crossing
                .map(|i| x[passive[i]] / (x[passive[i]] - z[i]))
                .min_by(f64::total_cmp)
                .unwrap_or(1.0);
            for (i, &j) in passive.iter().enumerate() {
                x[j] += alpha * (z[i] - x[j]);
            }
            if alpha >= 1.0 {
                break;
            }
            passive.retain(|&j| x[j] > 1e-12);
            (0..n).filter(|j| !passive.contains(j)).for_each(|j| x[j] = 0.0);
        }
    }
    x
}

/// Every row with one of 2^J patterns: what a student with this pattern adds to the sums.
fn patterns(items: usize) -> Vec<ResponseTable> {
    (0..1usize << items)
        .map(|code| {
            let cells = (0..items).map(|j| (code >> j & 1) as u8).collect();
            ResponseTable::new(1, items, cells).expect("a sound test")
        })
        .collect()
}

/// How many of all rows come back from sums.
fn rows_rebuilt(tables: &[ResponseTable], questions: &[Request], told: &[f64]) -> (usize, usize) {
    let items = tables[0].items();
    let columns: Vec<DVector<f64>> = patterns(items)
        .iter()
        .map(|row| {
            DVector::from_vec(questions.iter().flat_map(|q| sums(std::slice::from_ref(row), q)).collect())
        })
        .collect();
    let mut a = DMatrix::from_columns(&columns);
    let mut b = DVector::from_row_slice(told);
    // Equations of very different size would drown each other.
    for r in 0..a.nrows() {
        let size = a.row(r).amax().max(1e-9);
        a.row_mut(r).scale_mut(1.0 / size);
        b[r] /= size;
    }
    let found = non_negative(&a, &b);
    let mut truth = vec![0.0; columns.len()];
    for row in tables.iter().flat_map(|t| t.rows()) {
        truth[row.iter().enumerate().fold(0, |code, (j, x)| code | usize::from(*x) << j)] += 1.0;
    }
    let both: f64 = found.iter().zip(&truth).map(|(x, n): (&f64, &f64)| x.round().min(*n)).sum();
    (both as usize, truth.iter().sum::<f64>() as usize)
}

fn schools(sites: usize, students: usize, items: usize) -> Vec<ResponseTable> {
    let models = vec![("2pl", 2); items];
    let truth: Vec<Vec<f64>> =
        (0..items).map(|j| vec![0.8 + 0.2 * (j % 4) as f64, 0.6 * (j % 5) as f64 - 1.2]).collect();
    let mut random = Random(23);
    (0..sites).map(|_| table(&answers(&models, &truth, students, (0.0, 1.0), 0.0, &mut random))).collect()
}

#[test]
fn pooled_rows_come_back_from_exact_sums_and_the_plan_must_say_so() {
    let tables = schools(3, 20, 5);
    let psi: Vec<f64> = (0..5).flat_map(|j| [1.0 + 0.1 * j as f64, 0.4 * j as f64 - 0.8]).collect();
    let questions = [
        request(5, Effects::None, Ask::Start(Start { between: BetweenSites::Withheld })),
        request(
            5,
            Effects::None,
            Ask::Evaluate(Evaluate {
                points: vec![Point { psi, site_sd: 0.0 }],
                curvature: Curvature::Observed,
                effect_totals: false,
            }),
        ),
    ];
    let told: Vec<f64> = questions.iter().flat_map(|q| sums(&tables, q)).collect();
    let (found, all) = rows_rebuilt(&tables, &questions, &told);
    assert_eq!((found, all), (60, 60), "the attack works on the pair table and one Newton round");

    // Ours: a secure plan of this size is refused unless it names the risk, and says it to the officer.
    let items: Vec<PlanItem> = binary_items(5)
        .into_iter()
        .map(|i| PlanItem {
            name: i.name,
            categories: vec![0, 1],
            merged: Vec::new(),
            model: None,
            fixed: None,
        })
        .collect();
    let names: Vec<String> = ["a", "b", "c"].map(String::from).to_vec();
    let text = template("small", Mode::Secure, &names, &items, 60);
    let plan = StudyPlan::parse(&text).expect("a sound test");
    assert!(plan.in_words().iter().any(|w| w.contains("the pooled table of answers may be inferred")));
    let silent =
        text.replace("rows_and_sites_may_be_inferred = true", "rows_and_sites_may_be_inferred = false");
    let Err(PlanError::Content(problems)) = StudyPlan::parse(&silent) else { panic!("accepted") };
    assert!(problems[0].text.contains("rows_and_sites_may_be_inferred"));
    // And a site's policy refuses it, unless its officer says otherwise.
    let refusals = Policy::default().check_plan(
        &plan.terms(&text).expect("a sound test"),
        20,
        plan.pooled_rows_may_be_inferred(),
    );
    assert!(
        refusals.iter().any(|r| r.to_string().contains("rows_and_sites_may_be_inferred")),
        "{refusals:?}"
    );
}

#[test]
fn a_lost_sites_sums_are_a_difference_and_sites_refuse_to_let_it_be_taken() {
    let tables = schools(4, 30, 6);
    let psi: Vec<f64> = (0..6).flat_map(|j| [1.1, 0.3 * j as f64 - 0.7]).collect();
    let question = request(
        6,
        Effects::None,
        Ask::Evaluate(Evaluate {
            points: vec![Point { psi, site_sd: 0.0 }],
            curvature: Curvature::None,
            effect_totals: false,
        }),
    );
    // Naive: the sum over all, the sum without the lost one.
    let (with, without) = (sums(&tables, &question), sums(&tables[..3], &question));
    let lost = sums(&tables[3..], &question);
    for ((a, b), own) in with.iter().zip(&without).zip(&lost) {
        assert!((a - b - own).abs() < 1e-8 * (1.0 + own.abs()), "the lost site's sums come back");
    }
    // Ours: every site that has uploaded refuses a cohort without one other.
    let mut lab = Lab::new(terms(Mode::Secure, 4, 6), &Policy::default(), &tables);
    lab.until("call", 2);
    let sites = std::collections::BTreeSet::from([common::lab::id(3)]);
    let rejection = lab
        .input(common::lab::NOW, fedirt_protocol::coordinator::Input::Drop { sites })
        .unwrap_err()
        .to_string();
    assert!(rejection.contains("subtracted from the last sum, it would show what they sent"), "{rejection}");
}

/// With N_k known, Σ T_k and Σ T_k²/N_k have one integer solution for three schools, as a rule.
fn solutions(sizes: &[u64], sum: u64, squares: f64, tolerance: f64) -> usize {
    let mut count = 0;
    for a in 0..=sizes[0] {
        for b in 0..=sizes[1] {
            let Some(c) = sum.checked_sub(a + b).filter(|c| *c <= sizes[2]) else { continue };
            let term = |t: u64, n: u64| (t * t) as f64 / n as f64;
            let found = term(a, sizes[0]) + term(b, sizes[1]) + term(c, sizes[2]);
            count += usize::from((found - squares).abs() <= tolerance);
        }
    }
    count
}

#[test]
fn power_sums_name_schools_and_are_not_given() {
    let sizes = [53u64, 71, 64];
    let totals = [31u64, 22, 47];
    let sum: u64 = totals.iter().sum();
    let exact: f64 = totals.iter().zip(&sizes).map(|(t, n)| (t * t) as f64 / *n as f64).sum();
    assert_eq!(solutions(&sizes, sum, exact, 1e-9), 1, "three schools' totals are determined");
    // Each term rounded to three digits leaves several candidates even for three schools.
    let rounded = |x: f64| {
        let unit = 10f64.powi(2 - x.abs().log10().floor() as i32);
        (x * unit).round() / unit
    };
    let told: f64 = totals.iter().zip(&sizes).map(|(t, n)| rounded((t * t) as f64 / *n as f64)).sum();
    assert!(solutions(&sizes, sum, told, 0.15) > 3);

    // Ours: with fewer than six honest sites nothing of the kind is asked, and a site refuses if it is.
    let tables = schools(5, 30, 6);
    let mut lab = Lab::new(terms(Mode::Secure, 5, 6), &Policy::default(), &tables);
    let open = lab.until("open", 1);
    let fedirt_protocol::message::Notice::Open { broadcast, .. } = &open.notice else { panic!() };
    let told: fedirt_protocol::message::Broadcast =
        fedirt_protocol::codec::decode(broadcast).expect("a sound test");
    assert!(told.question.statistics().iter().all(|(s, _)| !s.name.starts_with("school_")));
    let asked = common::lab::altered(&open, |told| {
        if let fedirt_protocol::message::Question::Sums(request) = &mut told.question {
            request.ask = Ask::Start(Start { between: BetweenSites::Rounded });
        }
    });
    lab.sites[0].hear(&asked);
    let refusal = lab.sites[0].refusals.pop().expect("a sound test").to_string();
    assert!(refusal.contains("sums of squares over fewer than six sites name them"), "{refusal}");
    // With six, they are asked rounded.
    let tables = schools(6, 30, 6);
    let mut lab = Lab::new(terms(Mode::Secure, 6, 6), &Policy::default(), &tables);
    let open = lab.until("open", 1);
    let fedirt_protocol::message::Notice::Open { broadcast, .. } = &open.notice else { panic!() };
    let told: fedirt_protocol::message::Broadcast =
        fedirt_protocol::codec::decode(broadcast).expect("a sound test");
    let fedirt_protocol::message::Question::Sums(request) = &told.question else { panic!() };
    assert_eq!(request.ask, Ask::Start(Start { between: BetweenSites::Rounded }));
}
