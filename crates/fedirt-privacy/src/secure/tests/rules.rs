//! Numbers of sites, the chain of cohorts, names, and numbers that few sites give.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn sites(names: &str) -> BTreeSet<SiteId> {
    names.chars().map(|c| site(&c.to_string())).collect()
}

fn three() -> Thresholds {
    Thresholds::new(3, 1).unwrap()
}

#[test]
fn thresholds_leave_two_honest_sites() {
    assert_eq!(Thresholds::new(2, 0), Err(ThresholdError::TooSmall { n_min: 2 }));
    assert_eq!(Thresholds::new(3, 2), Err(ThresholdError::TooManyColluders { n_min: 3, colluders: 2 }));
    assert!(Thresholds::new(3, 9).is_err());
    assert!(Thresholds::new(5, 3).is_ok());
    let exact = Protection::Sums(three());
    assert_eq!(exact.check_size(2), Err(ThresholdError::TwoSites));
    assert!(exact.check_size(1).is_err() && exact.check_size(0).is_err() && exact.check_size(3).is_ok());
    assert!(Protection::Noise.check_size(0).is_err() && Protection::Noise.check_size(1).is_ok());
}

#[test]
fn cohorts_form_a_chain() {
    let mut chain = Chain::new(three());
    assert_eq!(chain.extend(&sites("abcdefgh")), Ok(CohortChange::First));
    assert_eq!(chain.extend(&sites("abcdefgh")), Ok(CohortChange::Same));
    let one_lost = ChainRefusal::TooFewRemoved { sites: sites("h"), n_min: 3 };
    assert_eq!(chain.extend(&sites("abcdefg")), Err(one_lost));
    assert!(chain.extend(&sites("abcdef")).is_err());
    assert_eq!(chain.current(), Some(&sites("abcdefgh")), "a refusal changes nothing");
    assert_eq!(chain.extend(&sites("abcde")), Ok(CohortChange::Fewer));
    assert_eq!(chain.extend(&sites("abcdefgh")), Err(ChainRefusal::Readmitted { sites: sites("fgh") }));
    assert_eq!(chain.extend(&sites("abcdez")), Err(ChainRefusal::Joined { sites: sites("z") }));
    // Three left of five would be two removed; two left of five is no cohort.
    assert!(matches!(chain.extend(&sites("abc")), Err(ChainRefusal::TooFewRemoved { .. })));
    assert_eq!(chain.extend(&sites("ab")), Err(ChainRefusal::Size(ThresholdError::TwoSites)));
}

#[test]
fn a_lost_site_is_revealed_only_where_the_plan_says_so() {
    let mut chain = Chain::new(three());
    chain.extend(&sites("abcde")).unwrap();
    assert!(chain.extend(&sites("abcd")).is_err());
    assert_eq!(chain.extend_revealing_lost_sites(&sites("abcd")), Ok(CohortChange::Revealing));
    let back = ChainRefusal::Readmitted { sites: sites("e") };
    assert_eq!(chain.extend_revealing_lost_sites(&sites("abcde")), Err(back));
    let joined = ChainRefusal::Joined { sites: sites("z") };
    assert_eq!(chain.extend_revealing_lost_sites(&sites("abcz")), Err(joined));
    let too_few = ChainRefusal::Size(ThresholdError::TwoSites);
    assert_eq!(chain.extend_revealing_lost_sites(&sites("ab")), Err(too_few));
    assert_eq!(chain.extend_revealing_lost_sites(&sites("abcd")), Ok(CohortChange::Same));
}

#[test]
fn refusals_are_sentences() {
    let mut chain = Chain::new(three());
    chain.extend(&sites("abcde")).unwrap();
    assert_eq!(
        chain.check(&sites("abc")).unwrap_err().to_string(),
        "a sum without d and e is refused: subtracted from the last sum, it would show what they sent. \
         Sites leave at least 3 together or not at all; wait for them, or end the study"
    );
}

#[test]
fn other_studies_differ_by_nobody_or_by_enough() {
    let check = |earlier, now| check_other_study(three(), &sites(earlier), &sites(now));
    assert!(check("abcd", "abcd").is_ok());
    assert!(check("abcd", "efgh").is_ok());
    assert!(check("abcdef", "abc").is_ok());
    let swapped = ChainRefusal::NearlyTheSame { sites: sites("de"), n_min: 3 };
    assert_eq!(check("abcd", "abce"), Err(swapped));
    assert!(check("abc", "abcd").is_err());
}

#[test]
fn numbers_that_few_sites_give_are_not_sent() {
    // Number 0 is given by all, 1 by a, b, c; 2 by a and b; 3 by nobody.
    let gives = |s: &SiteId, coordinate: usize| match coordinate {
        0 => true,
        1 => sites("abc").contains(s),
        2 => sites("ab").contains(s),
        _ => false,
    };
    let list = sendable(three(), &sites("abcdef"), 4, gives);
    assert_eq!(list, [true, true, false, false]);
    assert_eq!(sendable(three(), &sites("bcdef"), 4, gives), [true, false, false, false]);
    let mut words = [1, 2, 3, 4];
    suppress(&mut words, &list).unwrap();
    assert_eq!(words, [1, 2, 0, 0]);
    assert_eq!(suppress(&mut words, &[true]), Err(CoverageRefusal::Length { words: 4, listed: 1 }));
}

#[test]
fn a_step_may_not_single_out_a_number() {
    // Removing f, g, h is a step of three sites; but of the givers of number 1 only f goes.
    let gives = |s: &SiteId, coordinate: usize| coordinate == 0 || sites("abcdf").contains(s);
    let (before, after) = (sites("abcdefgh"), sites("abcde"));
    let refusal = CoverageRefusal::TooFewRemoved { coordinate: 1, sites: sites("f"), n_min: 3 };
    assert_eq!(check_coordinate_steps(three(), &before, &after, 2, gives), Err(refusal));
    assert!(check_coordinate_steps(three(), &before, &after, 1, gives).is_ok());
    assert!(check_coordinate_steps(three(), &before, &before, 2, gives).is_ok());
    // A number that the smaller cohort no longer sends shows nothing.
    let few = |s: &SiteId, coordinate: usize| coordinate == 0 || sites("abf").contains(s);
    assert!(check_coordinate_steps(three(), &before, &after, 2, few).is_ok());
}

#[test]
fn names_can_be_seen() {
    for name in ["", " a", "a ", "a\n", "a\u{202e}b", "a\u{200b}", &"a".repeat(129)] {
        assert!(SiteId::try_from(name).is_err(), "{name:?}");
    }
    for name in ["a", "Liceo Città", "école n° 3", "学校"] {
        assert_eq!(SiteId::try_from(name).unwrap().as_str(), name);
    }
}

proptest! {
    /// Whatever is asked in whatever order, any two releases differ by nobody or by at least n_min sites, and
    /// the later one is within the earlier.
    #[test]
    fn releases_never_differ_by_a_few(asked in prop::collection::vec(0u16..1024, 1..30), n_min in 3..5usize) {
        let mut chain = Chain::new(Thresholds::new(n_min, 1).unwrap());
        let mut released: Vec<BTreeSet<SiteId>> = Vec::new();
        for bits in asked {
            let cohort = (0..10).filter(|k| bits >> k & 1 == 1).map(|k| site(&format!("s{k}"))).collect();
            if chain.extend(&cohort).is_ok() {
                released.push(cohort);
            }
        }
        for (i, earlier) in released.iter().enumerate() {
            for later in &released[i..] {
                let gone = earlier.difference(later).count();
                prop_assert!(later.is_subset(earlier) && (gone == 0 || gone >= n_min));
            }
        }
    }
}
