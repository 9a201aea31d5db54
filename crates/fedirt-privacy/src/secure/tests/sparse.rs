//! Large cohorts in which sites mask with a few others: the graph, the sum, and what a hostile coordinator can show.

use super::*;
use rand_chacha::rand_core::Rng;
use std::collections::BTreeSet;

/// Whether the places that are left of a circle are connected, when some are taken out.
fn connected(n: usize, reach: usize, out: &BTreeSet<usize>) -> bool {
    let names: Vec<SiteId> = (0..n).map(|k| site(&format!("{k:04}"))).collect();
    let left: Vec<usize> = (0..n).filter(|k| !out.contains(k)).collect();
    let (mut seen, mut next) = (BTreeSet::from([left[0]]), vec![left[0]]);
    while let Some(place) = next.pop() {
        for near in Sparse::with_reach(reach).near(&names, place) {
            let near: usize = near.as_str().parse().unwrap();
            if !out.contains(&near) && seen.insert(near) {
                next.push(near);
            }
        }
    }
    seen.len() == left.len()
}

/// All sets of so many of n.
fn sets(n: usize, size: usize) -> impl Iterator<Item = BTreeSet<usize>> {
    (0u32..1 << n)
        .filter(move |bits| bits.count_ones() as usize == size)
        .map(move |bits| (0..n).filter(|k| bits >> k & 1 == 1).collect())
}

/// Harary 1962: a circulant graph of degree 2m stays connected whichever 2m − 1 sites are taken out, and not whichever 2m.
#[test]
fn fewer_colluders_than_neighbours_separate_nobody() {
    for reach in [1, 2, 3] {
        let n = 11;
        assert!((0..2 * reach).all(|size| sets(n, size).all(|out| connected(n, reach, &out))));
        assert!(sets(n, 2 * reach).any(|out| !connected(n, reach, &out)));
    }
}

/// The bound on the probability, where it is large enough to be counted.
#[test]
fn drawn_colluders_separate_others_as_rarely_as_promised() {
    let (n, colluders, reach, draws) = (30, 12, 3, 20_000);
    let mut random = ChaCha20Rng::seed_from_u64(5);
    let separated = (0..draws).filter(|_| {
        let mut out = BTreeSet::new();
        while out.len() < colluders {
            out.insert((random.next_u64() % n as u64) as usize);
        }
        !connected(n, reach, &out)
    });
    let rate = separated.count() as f64 / f64::from(draws);
    let (sites, c) = (n as f64, colluders as f64);
    let arcs: f64 = (0..2 * reach).map(|i| (c - i as f64) / (sites - i as f64)).product();
    let bound = sites * sites / 2.0 * arcs;
    assert!(rate > 0.0 && rate < bound, "{rate} {bound}");
}

#[test]
fn neighbours_for_cohorts_of_every_size() {
    let degree = |sites, colluders| Sparse::of(sites, colluders).map(|graph| graph.degree());
    assert_eq!(degree(99, 1), None);
    // A third of 100: whichever they are, they separate nobody.
    assert_eq!(degree(100, 1), Some(34));
    assert_eq!(degree(100, 40), Some(42));
    assert_eq!(degree(100, 98), None);
    assert_eq!(degree(100, 200), None);
    let mut last = 0;
    for sites in [100, 300, 1000, 3000, 10_000, 100_000] {
        let found = degree(sites, 1).unwrap();
        assert!((last..102).contains(&found), "{sites}: {found}");
        last = found;
        // The formula with logarithms: the smallest even degree.
        let (n, c) = (sites as f64, (sites / 3) as f64);
        let bits = |degree: usize| {
            (n * n / 2.0).log2()
                + (0..degree).map(|i| ((c - i as f64).max(0.0) / (n - i as f64)).log2()).sum::<f64>()
        };
        assert!(bits(found) <= -120.0 && bits(found - 2) > -120.0, "{sites}: {found}");
    }
}

/// What a site is shown of a cohort.
type View = (Neighbourhood, Vec<SignedHello>);

const BROADCAST: &[u8] = b"the question of a round";

/// A large cohort at its coordinator, and what it shows to everybody.
struct Large {
    world: World,
    graph: Sparse,
    names: BTreeSet<SiteId>,
    bound: BoundCohort,
    all: Neighbourhoods,
}

impl Large {
    fn new(count: usize) -> Self {
        let world = World::new(3, count);
        let cohort = Cohort::open(&world.round, &world.roster, &world.hellos(), &Protection::Noise).unwrap();
        let graph = Sparse::of(count, 1).unwrap();
        let names = cohort.sites();
        let (bound, all) = cohort.bind_sparse(BROADCAST, graph);
        Self { world, graph, names, bound, all }
    }

    fn shown_to(&self, own: &Site) -> View {
        let near = self.all.of(&own.name).unwrap();
        let hellos = (self.world.sites.iter().filter(|s| near.sites.contains(&s.name)))
            .map(|s| s.hello(&self.world.round))
            .collect();
        (near, hellos)
    }

    fn open(
        &self,
        own: &Site,
        names: &BTreeSet<SiteId>,
        (near, hellos): &View,
    ) -> Result<BoundCohort, CohortError> {
        let shown = Shown { sites: names, root: &near.root, path: &near.path, hellos };
        let protection = Protection::Sums(Thresholds::new(60, 1).unwrap());
        let World { round, roster, .. } = &self.world;
        Cohort::open_sparse(round, BROADCAST, roster, &own.name, shown, &protection, self.graph)
    }
}

#[test]
fn the_sum_over_all_opens_and_no_other() {
    for count in [100, 131] {
        let large = Large::new(count);
        let inputs: Vec<Vec<u64>> = (0..count as u64).map(|k| vec![k, 7 * k + 1, u64::MAX - k]).collect();
        let uploads: Vec<Upload> = (large.world.sites.iter().zip(&inputs))
            .map(|(own, words)| {
                let bound = large.open(own, &large.names, &large.shown_to(own)).unwrap();
                assert_eq!(bound.context(), large.bound.context());
                assert_eq!(bound.cohort().sites().len(), large.graph.degree() + 1);
                own.upload(&bound, words)
            })
            .collect();
        assert_eq!(open(&large.bound, 3, &uploads).unwrap(), plain_sum(&inputs));
        // Without one, its masks are left, also from half of the circle: somebody at its end has neighbours outside.
        for some in [1..count, 0..count / 2] {
            let sum = open(&large.bound, 3, &uploads[some.clone()]).unwrap();
            assert!(sum.iter().zip(plain_sum(&inputs[some])).all(|(a, b)| *a != b));
        }
    }
}

#[test]
fn neighbours_are_mutual() {
    let large = Large::new(100);
    for own in &large.names {
        let near = large.all.of(own).unwrap().sites;
        assert!(near.iter().all(|other| large.all.of(other).unwrap().sites.contains(own)));
    }
}

/// What a hostile coordinator shows is refused, or leads to another context, with which no masks cancel.
#[test]
fn forged_views_are_refused() {
    let large = Large::new(101);
    let own = &large.world.sites[17];
    let sound = large.shown_to(own);
    let refusal = |view: &View| large.open(own, &large.names, view).unwrap_err();
    let is_neighbours = |e: CohortError| matches!(e, CohortError::OtherNeighbours { .. });
    let edited = |edit: &dyn Fn(&mut View)| {
        let mut view = sound.clone();
        edit(&mut view);
        refusal(&view)
    };
    // Fewer hellos, and those of other sites: it would mask with fewer, or with colluders.
    assert!(is_neighbours(edited(&|view| drop(view.1.pop()))));
    let near = &sound.0.sites;
    let outside = large.world.sites.iter().find(|s| !near.contains(&s.name)).unwrap();
    assert!(is_neighbours(edited(&|view| {
        let other = view.1.iter().position(|hello| *hello.site() != own.name).unwrap();
        view.1[other] = outside.hello(&large.world.round);
    })));
    assert!(is_neighbours(edited(&|view| view.1.push(outside.hello(&large.world.round)))));
    // An old hello of a neighbour, and one that somebody else has signed.
    let neighbour = large.world.sites.iter().find(|s| near.contains(&s.name) && s.name != own.name).unwrap();
    let place = sound.1.iter().position(|hello| *hello.site() == neighbour.name).unwrap();
    let old = neighbour.hello(&round(3, 1));
    let error = edited(&|view| view.1[place] = old.clone());
    assert!(matches!(error, CohortError::Hello(HelloError::WrongAttempt { .. })), "{error}");
    let key = outside.round_key().public();
    let forged = Hello { round: large.world.round.clone(), site: neighbour.name.clone(), key };
    let forged = forged.sign(&outside.identity);
    let error = edited(&|view| view.1[place] = forged.clone());
    assert!(matches!(error, CohortError::Hello(HelloError::Signature { .. })), "{error}");
    // Another root moves the circle; the path proves that this site's hello is under it.
    assert!(is_neighbours(edited(&|view| view.0.root[0] ^= 1)));
    for error in [
        edited(&|view| view.0.path[0][0] ^= 1),
        edited(&|view| view.0.path.truncate(1)),
        edited(&|view| view.0.path.push([0; 32])),
    ] {
        assert!(matches!(error, CohortError::NotUnderRoot { .. }), "{error}");
    }
    // A cohort without this site, with a stranger, or too small.
    let without = |name: &SiteId| large.names.iter().filter(|s| *s != name).cloned().collect();
    let error = large.open(own, &without(&own.name), &sound).unwrap_err();
    assert!(matches!(error, CohortError::NotUnderRoot { .. }), "{error}");
    let mut more = large.names.clone();
    more.insert(site("a stranger"));
    let error = large.open(own, &more, &sound).unwrap_err();
    assert!(matches!(error, CohortError::Hello(HelloError::UnknownSite { .. })), "{error}");
    let few: BTreeSet<SiteId> = large.names.iter().take(59).cloned().collect();
    assert!(matches!(large.open(own, &few, &sound).unwrap_err(), CohortError::Size(_)));
    // One site less is another circle.
    assert!(is_neighbours(large.open(own, &without(&outside.name), &sound).unwrap_err()));
}
