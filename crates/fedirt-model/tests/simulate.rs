//! The same seed gives the same data, whatever the threads and whatever else is drawn.

use fedirt_model::responses::{MISSING, ResponseTable};
use fedirt_model::simulate::{MIXED, Missing, SiteEffects, SiteSizes, Spec, SpecError, Truth, simulate};

fn spec() -> Spec {
    Spec {
        sites: 6,
        students: SiteSizes::Between(20, 40),
        items: 12,
        model: MIXED.into(),
        categories: 4,
        effects: SiteEffects::Drawn { sd: 0.5, centred: true },
        missing: Missing::Complete,
        latent_sd: 1.0,
        seed: 7,
    }
}

fn cells(tables: &[ResponseTable]) -> Vec<Vec<u8>> {
    tables.iter().map(|t| t.rows().flatten().copied().collect()).collect()
}

#[test]
fn a_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| simulate(&spec()).unwrap())
    };
    let (one, four) = (with(1), with(4));
    assert_eq!(one.truth, four.truth);
    assert_eq!(cells(&one.tables), cells(&four.tables));
    let other = simulate(&Spec { seed: 8, ..spec() }).unwrap();
    assert_ne!(cells(&one.tables), cells(&other.tables));
}

/// What seed 7 means must not change: studies name their seeds.
#[test]
fn a_seed_keeps_its_meaning() {
    let data = simulate(&spec()).unwrap();
    let sizes: Vec<usize> = data.truth.sites.iter().map(|s| s.n).collect();
    let first: String = data.tables[0].row(0).iter().map(|c| char::from(b'0' + c)).collect();
    assert_eq!(sizes, KNOWN_SIZES);
    assert_eq!(first, KNOWN_ROW);
    assert!((data.truth.items[0].a - KNOWN_SLOPE).abs() < 1e-12, "{}", data.truth.items[0].a);
}

const KNOWN_SIZES: [usize; 6] = [26, 27, 25, 26, 34, 26];
const KNOWN_ROW: &str = "133133123123";
const KNOWN_SLOPE: f64 = 0.762_326_622_543_480_4;

#[test]
fn a_further_site_leaves_the_others_alone() {
    let all = simulate(&Spec { effects: SiteEffects::Given(vec![0.0; 6]), ..spec() }).unwrap();
    let fewer = simulate(&Spec { sites: 5, effects: SiteEffects::Given(vec![0.0; 5]), ..spec() }).unwrap();
    assert_eq!(cells(&all.tables)[..5], cells(&fewer.tables));
}

#[test]
fn missing_answers_are_taken_from_the_complete_data() {
    let complete = cells(&simulate(&spec()).unwrap().tables).concat();
    for (missing, share) in [(Missing::Booklets(4), 0.5), (Missing::AtRandom(0.3), 0.3)] {
        let holes = cells(&simulate(&Spec { missing, ..spec() }).unwrap().tables).concat();
        assert!(complete.iter().zip(&holes).all(|(c, h)| *h == MISSING || c == h));
        let found = holes.iter().filter(|c| **c == MISSING).count() as f64 / holes.len() as f64;
        assert!((found - share).abs() < 0.04, "{missing:?}: {found}");
    }
}

#[test]
fn truth_is_as_asked_for() {
    let truth = Truth::draw(&Spec { model: "grm".into(), categories: 5, ..spec() }).unwrap();
    for item in &truth.items {
        assert!(item.b.windows(2).all(|w| w[1] - w[0] >= 0.3), "{:?}", item.b);
        assert!(item.d.windows(2).all(|w| w[1] < w[0]), "{:?}", item.d);
    }
    assert!(truth.sites.iter().map(|s| s.effect).sum::<f64>().abs() < 1e-12);
    assert!(truth.sites.iter().all(|s| (20..=40).contains(&s.n)));
    let rasch = Truth::draw(&Spec { model: "pcm".into(), latent_sd: 1.5, ..spec() }).unwrap();
    assert!(rasch.items.iter().all(|i| i.a == 1.0 && i.categories == 4));
}

/// Shares of correct answers against the model's own, with ability integrated out.
#[test]
fn answers_follow_the_model() {
    let data = simulate(&Spec {
        sites: 1,
        students: SiteSizes::Each(40_000),
        items: 3,
        model: "2pl".into(),
        categories: 2,
        effects: SiteEffects::Given(vec![0.4]),
        ..spec()
    })
    .unwrap();
    for (j, item) in data.truth.items.iter().enumerate() {
        let (mut expected, mut mass) = (0.0, 0.0);
        for n in -60..=60 {
            let z = f64::from(n) / 10.0;
            let weight = (-0.5 * z * z).exp();
            expected += weight / (1.0 + (-(item.a * (z + 0.4) + item.d[0])).exp());
            mass += weight;
        }
        let observed = data.tables[0].rows().filter(|r| r[j] == 1).count() as f64 / 40_000.0;
        // Four standard errors of a share.
        assert!((observed - expected / mass).abs() < 4.0 * 0.5 / 200.0, "{}: {observed}", item.name);
    }
}

#[test]
fn impossible_wishes_are_named() {
    let wrong = |change: fn(&mut Spec)| {
        let mut spec = spec();
        change(&mut spec);
        spec.check().unwrap_err()
    };
    assert_eq!(wrong(|s| s.sites = 0), SpecError::None("site"));
    assert_eq!(wrong(|s| s.model = "3pl".into()), SpecError::Model("3pl".into()));
    assert_eq!(wrong(|s| s.categories = 1), SpecError::Categories(1));
    let binary = SpecError::NotBinary { model: "2pl".into(), categories: 4 };
    assert_eq!(wrong(|s| s.model = "2pl".into()), binary);
    assert_eq!(wrong(|s| s.students = SiteSizes::Each(0)), SpecError::None("student per site"));
    assert_eq!(wrong(|s| s.students = SiteSizes::Between(8, 6)), SpecError::Range(8, 6));
    assert_eq!(wrong(|s| s.students = SiteSizes::List(vec![5, 6])), SpecError::Sizes { given: 2, sites: 6 });
    assert_eq!(
        wrong(|s| s.effects = SiteEffects::Given(vec![0.0])),
        SpecError::Effects { given: 1, sites: 6 }
    );
    assert!(matches!(wrong(|s| s.missing = Missing::AtRandom(1.0)), SpecError::Number { .. }));
    assert_eq!(wrong(|s| s.missing = Missing::Booklets(1)), SpecError::Booklets { booklets: 1, items: 12 });
    assert_eq!(wrong(|s| s.missing = Missing::Booklets(13)), SpecError::Booklets { booklets: 13, items: 12 });
    assert_eq!(wrong(|s| s.latent_sd = 2.0), SpecError::LatentSd(MIXED.into()));
    assert!(matches!(wrong(|s| s.latent_sd = f64::NAN), SpecError::Number { .. }));
}
