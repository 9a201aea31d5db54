//! Budgets that stop, files that were touched, and sums that would show a few.

use super::*;
use crate::accountant::{Delta, Epsilon, GaussianDp};
use crate::secure::{ChainRefusal, SiteId, Thresholds};
use proptest::prelude::*;

fn label(text: &str) -> Label {
    Label::try_from(text).unwrap()
}

fn study(text: &str) -> StudyId {
    StudyId::try_from(text).unwrap()
}

fn pupils() -> Label {
    label("pupils of 2026")
}

fn budget(epsilon: f64) -> Budget {
    Budget { epsilon: Epsilon::new(epsilon).unwrap(), delta: Delta::new(1e-6).unwrap() }
}

fn opening(budget: Budget) -> LedgerEntry {
    LedgerEntry::Open(AccountOpening { population: pupils(), budget, time: label("2026-11-01") })
}

fn debit(round: u64, mu_squared: f64) -> Debit {
    Debit {
        population: pupils(),
        study: study("reading"),
        round,
        attempt: 1,
        cohort: 10,
        question: [0xab; 32],
        mu_squared,
        slack: Slack { eta: 1e-9, kappa: 1e-17 },
        after_exact_releases: false,
        rows: vec![258, 257],
        students: None,
        time: label("2026-11-16T09:00:00Z"),
    }
}

fn exact(name: &str, sites: &str, rows: std::ops::Range<u64>) -> ExactRelease {
    ExactRelease {
        population: pupils(),
        study: study(name),
        mode: ExactMode::Secure(Thresholds::new(3, 1).unwrap()),
        statistics: [label("gradient"), label("a, b\\c")].into(),
        cohort: sites.chars().map(|c| SiteId::try_from(c.to_string().as_str()).unwrap()).collect(),
        rows: rows.rev().collect(),
        students: None,
        members: Vec::new(),
        after_private_releases: None,
        question: None,
        time: label("2026-11-03"),
    }
}

/// Appends an entry, as a shell would.
fn append(ledger: &mut Ledger, text: &mut String, entry: LedgerEntry) -> Result<(), LedgerRefusal> {
    let line = ledger.propose(entry)?;
    text.push_str(&line.text());
    ledger.apply(line).unwrap();
    Ok(())
}

fn of(entries: impl IntoIterator<Item = LedgerEntry>) -> (Ledger, String) {
    let (mut ledger, mut text) = (Ledger::new(), String::new());
    entries.into_iter().for_each(|entry| append(&mut ledger, &mut text, entry).unwrap());
    (ledger, text)
}

#[test]
fn the_budget_is_spent_and_not_a_bit_more() {
    let mu_squared =
        GaussianDp::for_budget(Epsilon::new(2.0).unwrap(), Delta::new(1e-6).unwrap()).mu().powi(2);
    let (mut ledger, mut text) = of([opening(budget(2.0))]);
    assert!(ledger.fits(&pupils(), &[(mu_squared / 100.0, Slack::NONE); 100]).is_ok());
    assert!(ledger.fits(&pupils(), &[(mu_squared / 100.0, Slack::NONE); 101]).is_err());
    for round in 0..100 {
        append(&mut ledger, &mut text, LedgerEntry::Debit(debit(round, mu_squared / 100.0))).unwrap();
    }
    let refusal = ledger.propose(LedgerEntry::Debit(debit(100, 1e-6))).unwrap_err();
    assert!(matches!(&refusal, LedgerRefusal::OverBudget { balance, asked, .. }
        if *asked == 1e-6 && (balance.spent / balance.limit - 1.0).abs() < 1e-9));
    assert_eq!(Ledger::read(&text).unwrap().balance(&pupils()), ledger.balance(&pupils()));
    let (epsilon, delta) = ledger.balance(&pupils()).unwrap().promise();
    assert!(epsilon < 2.00001 && delta < 1.002e-6);
}

#[test]
fn refusals_say_the_figures() {
    let (ledger, _) = of([opening(budget(2.0)), LedgerEntry::Debit(debit(1, 0.15))]);
    assert_eq!(
        ledger.propose(LedgerEntry::Debit(debit(2, 0.1))).unwrap_err().to_string(),
        "the budget of pupils of 2026 does not reach: epsilon = 1.70 is spent, and with this it would be 2.25, of 2 at \
         delta = 1e-6 [0.15000 is spent and 0.10000 is asked for, of 0.20100 (mu squared, for epsilon = 2 at delta = 1e-6)]"
    );
}

/// What each round sets aside for noise in integers is foreseen for the whole run, before the first round spends anything.
#[test]
fn a_run_whose_reserve_does_not_reach_is_refused_before_it_begins() {
    let (ledger, _) = of([opening(budget(2.0))]);
    // 2η may come to a millionth of ε: one round of this fits, and two do not.
    let slack = Slack { eta: 1.2e-6, kappa: 0.0 };
    assert!(ledger.fits(&pupils(), &[(0.01, slack)]).is_ok());
    let refusal = ledger.fits(&pupils(), &[(0.01, slack); 2]).unwrap_err();
    assert!(matches!(refusal, LedgerRefusal::Slack { eta, .. } if eta > 2e-6), "{refusal}");
    let (reserve, beyond) = (Slack { eta: 0.0, kappa: 1e-10 }, Slack { eta: 0.0, kappa: 2e-10 });
    assert!(ledger.fits(&pupils(), &[(0.01, reserve)]).is_ok());
    assert!(ledger.fits(&pupils(), &[(0.01, beyond)]).is_err());
}

#[test]
fn debits_need_an_account_a_price_and_a_new_attempt() {
    let (mut ledger, mut text) = of([]);
    let first = LedgerEntry::Debit(debit(1, 0.01));
    assert!(matches!(ledger.propose(first.clone()), Err(LedgerRefusal::NoAccount { .. })));
    append(&mut ledger, &mut text, opening(budget(1.0))).unwrap();
    assert!(matches!(ledger.propose(opening(budget(9.0))), Err(LedgerRefusal::AlreadyOpen { .. })));
    append(&mut ledger, &mut text, first.clone()).unwrap();
    assert!(
        matches!(ledger.propose(first), Err(LedgerRefusal::AlreadyDebited { round: 1, attempt: 1, question, .. })
        if question == [0xab; 32])
    );
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(ledger.propose(LedgerEntry::Debit(debit(2, bad))).is_err());
    }
    for slack in [Slack { eta: 1e-3, kappa: 0.0 }, Slack { eta: 0.0, kappa: 1e-6 }] {
        let coarse = LedgerEntry::Debit(Debit { slack, ..debit(2, 0.01) });
        assert!(matches!(ledger.propose(coarse), Err(LedgerRefusal::Slack { .. })));
    }
    let negative = LedgerEntry::Debit(Debit { slack: Slack { eta: -1.0, kappa: 0.0 }, ..debit(2, 0.01) });
    assert!(ledger.propose(negative).is_err());
    // Two lines proposed at once: the second is not applied.
    let (a, b) = (debit(2, 0.01), debit(3, 0.01));
    let (a, b) =
        (ledger.propose(LedgerEntry::Debit(a)).unwrap(), ledger.propose(LedgerEntry::Debit(b)).unwrap());
    ledger.apply(a).unwrap();
    assert_eq!(ledger.apply(b), Err(LedgerError::Stale));
}

/// A crash after the last line that the budget allows: the attempt is paid for, and not refused for want of money.
#[test]
fn what_is_paid_for_is_never_beyond_the_budget() {
    let mu_squared =
        GaussianDp::for_budget(Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap()).mu().powi(2);
    let last = LedgerEntry::Debit(debit(2, 0.7 * mu_squared));
    let (ledger, _) =
        of([opening(budget(1.0)), LedgerEntry::Debit(debit(1, 0.3 * mu_squared)), last.clone()]);
    assert!(matches!(ledger.propose(last), Err(LedgerRefusal::AlreadyDebited { round: 2, .. })));
    assert!(matches!(
        ledger.propose(LedgerEntry::Debit(debit(3, 0.1))),
        Err(LedgerRefusal::OverBudget { .. })
    ));
    assert_eq!(ledger.debits_of(&study("reading")).collect::<Vec<_>>(), [(1, 1), (2, 1)]);
}

/// The same students under another name: debits and exact entries both tell.
#[test]
fn rows_are_known_under_another_name() {
    let (ledger, text) = of([
        opening(budget(1.0)),
        LedgerEntry::Debit(debit(1, 0.01)),
        LedgerEntry::Exact(exact("s", "abc", 0..5)),
    ]);
    let read = Ledger::read(text).unwrap();
    for ledger in [ledger, read] {
        assert!(ledger.other_names(&pupils(), &[257, 258]).is_empty());
        let name = label("a new name");
        assert_eq!(ledger.other_names(&name, &[9, 258, 257]), [(&pupils(), 2)].into());
        assert_eq!(ledger.other_names(&name, &[0, 1, 2, 3, 257]), [(&pupils(), 4)].into());
        assert!(ledger.other_names(&name, &[99]).is_empty());
    }
    assert!(!format!("{:?}", debit(1, 0.01)).contains("258"), "fingerprints do not print");
}

#[test]
fn exact_sums_end_privacy_unless_the_officer_says_so() {
    let (ledger, text) = of([opening(budget(1.0)), LedgerEntry::Exact(exact("mathematics", "abcd", 0..50))]);
    let refused = ledger.propose(LedgerEntry::Debit(debit(1, 0.01))).unwrap_err();
    assert!(refused.to_string().contains("released on 2026-11-03"), "{refused}");
    let accepted = Debit { after_exact_releases: true, ..debit(1, 0.01) };
    let text = text + &ledger.propose(LedgerEntry::Debit(accepted)).unwrap().text();
    assert_eq!(Ledger::read(text).unwrap().lines(), 3);
}

#[test]
fn sums_may_not_differ_by_a_few_sites_or_rows() {
    let (ledger, _) = of([LedgerEntry::Exact(exact("first", "abcd", 0..50))]);
    let propose = |release: ExactRelease| ledger.propose(LedgerEntry::Exact(release)).map(|_| ());
    assert!(propose(exact("second", "abcd", 0..50)).is_ok());
    assert!(matches!(propose(exact("second", "abce", 0..50)), Err(LedgerRefusal::Cohort(_))));
    assert!(matches!(propose(exact("second", "abc", 0..50)), Err(LedgerRefusal::Cohort(_))));
    assert!(propose(exact("second", "abefg", 0..50)).is_ok());
    assert!(propose(exact("first", "abc", 0..50)).is_ok(), "within a study the chain decides");
    for (rows, changed) in [(0..49, 1), (0..51, 1), (0..59, 9), (3..56, 9)] {
        for name in ["first", "second"] {
            let refused = propose(exact(name, "abcd", rows.clone()));
            assert!(
                matches!(refused, Err(LedgerRefusal::FewStudentsChanged { changed: n, .. }) if n == changed),
                "{rows:?}"
            );
        }
    }
    assert!(
        propose(exact("second", "abcd", 0..60)).is_ok() && propose(exact("second", "abcd", 5..55)).is_ok()
    );
    // The stricter of two n_min counts; plain sums hide nothing and are not refused; others' pupils neither.
    let mode = ExactMode::Secure(Thresholds::new(5, 1).unwrap());
    assert!(propose(ExactRelease { mode, ..exact("second", "abefg", 0..50) }).is_ok());
    assert!(propose(ExactRelease { mode, ..exact("second", "abefd", 0..50) }).is_err());
    assert!(propose(ExactRelease { mode: ExactMode::Plain, ..exact("second", "abc", 0..49) }).is_ok());
    assert!(propose(ExactRelease { population: label("others"), ..exact("second", "abc", 0..49) }).is_ok());
}

#[test]
fn equal_rows_are_counted() {
    let rows = |rows: &[u64]| ExactRelease { rows: rows.to_vec(), ..exact("s", "abc", 0..0) };
    let (ledger, _) = of([LedgerEntry::Exact(rows(&[5; 20]))]);
    assert!(matches!(
        ledger.propose(LedgerEntry::Exact(rows(&[5; 17]))),
        Err(LedgerRefusal::FewStudentsChanged { changed: 3, .. })
    ));
    let (a, b) = (row_fingerprint(&[1; 32], b"0110"), row_fingerprint(&[2; 32], b"0110"));
    assert!(a != b && a != row_fingerprint(&[1; 32], b"0111"));
}

/// Students with these numbers as ids, who answered items 1 to 3.
fn class(ids: std::ops::Range<u64>) -> Option<Students> {
    let cells = ids.clone().flat_map(|id| (1..=3).map(move |item| (item, id / item % 2)));
    Some(Students::new(ids.clone().collect(), cells.collect::<Vec<_>>()))
}

/// A release as this version enters it: each letter of `sites` is a name and a key, capital letters are verified.
fn known(name: &str, sites: &str, ids: std::ops::Range<u64>) -> ExactRelease {
    let member = |c: char| Member { key: [c.to_ascii_lowercase() as u8; 32], verified: c.is_uppercase() };
    ExactRelease {
        students: class(ids.clone()),
        members: sites.chars().map(member).collect(),
        after_private_releases: Some(false),
        ..exact(name, sites, ids)
    }
}

/// The same schools under other names, one left out, and the places of the others filled with inventions.
#[test]
fn cohorts_are_compared_by_key_and_inventions_do_not_count() {
    let (ledger, text) = of([LedgerEntry::Exact(known("first", "ABCD", 0..50))]);
    let ledger = {
        assert_eq!(Ledger::read(&text).unwrap().head(), ledger.head());
        ledger
    };
    let propose = |release: ExactRelease| ledger.propose(LedgerEntry::Exact(release)).map(|_| ());
    let renamed = |sites: &str, names: &str| ExactRelease {
        cohort: names.chars().map(|c| SiteId::try_from(c.to_string().as_str()).unwrap()).collect(),
        ..known("second", sites, 0..50)
    };
    assert!(propose(renamed("ABCD", "wxyz")).is_ok(), "other names for the same sites change nothing");
    let refused = propose(renamed("ABC", "xyz")).unwrap_err();
    assert!(matches!(refused, LedgerRefusal::Cohort(ChainRefusal::NearlyTheSame { .. })), "{refused}");
    let refused = propose(known("second", "ABCefg", 0..50)).unwrap_err();
    assert!(
        matches!(refused, LedgerRefusal::Cohort(ChainRefusal::NearlyTheSame { .. })),
        "three were invented: {refused}"
    );
    assert!(propose(known("second", "AEFG", 0..50)).is_ok());
    // What an earlier version entered has no keys.
    let (old, _) = of([LedgerEntry::Exact(exact("first", "abcd", 0..50))]);
    let refused = old.propose(LedgerEntry::Exact(known("second", "ABCD", 0..50))).unwrap_err();
    assert!(refused.to_string().contains("earlier version") && refused.to_string().contains("mode private"));
}

/// 160 and 159 students, and another list of items.
#[test]
fn one_student_is_not_singled_out_by_leaving_out_an_item() {
    let (ledger, _) = of([LedgerEntry::Exact(known("first", "ABCD", 0..160))]);
    let mut fewer = known("second", "ABCD", 0..159);
    // Rows over other items are all others.
    fewer.rows = (1000..1159).collect();
    let refused = ledger.propose(LedgerEntry::Exact(fewer)).unwrap_err();
    assert!(matches!(refused, LedgerRefusal::FewStudentsChanged { changed: 1, .. }), "{refused}");
}

#[test]
fn the_same_students_under_another_name_are_refused() {
    let paid = Debit { students: class(0..40), ..debit(1, 0.01) };
    let (ledger, text) = of([opening(budget(1.0)), LedgerEntry::Debit(paid)]);
    let read = Ledger::read(text).unwrap();
    for ledger in [ledger, read] {
        let other = ExactRelease { population: label("others"), ..known("s", "ABC", 39..80) };
        let refused = ledger.propose(LedgerEntry::Exact(other)).unwrap_err();
        assert!(matches!(refused, LedgerRefusal::OtherAccount { shared: 1, .. }), "{refused}");
        let apart = ExactRelease { population: label("others"), ..known("s", "ABC", 40..80) };
        assert!(ledger.propose(LedgerEntry::Exact(apart)).is_ok());
        assert_eq!(ledger.populations().len(), 1);
    }
}

#[test]
fn exact_sums_after_private_ones_are_refused_unless_the_officer_says_so() {
    let (ledger, _) = of([opening(budget(1.0)), LedgerEntry::Debit(debit(1, 0.01))]);
    let refused = ledger.propose(LedgerEntry::Exact(known("s", "ABC", 0..50))).unwrap_err();
    assert!(refused.to_string().contains("took part in reading in mode private"), "{refused}");
    let allowed = ExactRelease { after_private_releases: Some(true), ..known("s", "ABC", 0..50) };
    let line = ledger.propose(LedgerEntry::Exact(allowed)).unwrap();
    assert!(line.text().ends_with("\tafter_private_releases=true\n"), "{}", line.text());
}

/// The file as it stands: another layout is another version.
#[test]
fn the_text_is_what_it_was() {
    let (ledger, text) = of([
        opening(budget(2.0)),
        LedgerEntry::Debit(debit(1, 0.01)),
        LedgerEntry::Exact(exact("first", "abc", 254..257)),
        LedgerEntry::Exact(exact("first", "abc", 254..257)),
    ]);
    let bodies: Vec<&str> = text.lines().map(|line| line.split_once('\t').unwrap().1).collect();
    let exact = "exact\tpopulation=pupils of 2026\tstudy=first\tmode=secure\tn_min=3\tcolluders=1\t\
                 statistics=a\\, b\\\\c,gradient\tcohort=a,b,c\ttime=2026-11-03";
    let expected = [
        "account\tpopulation=pupils of 2026\tepsilon=2.0\tdelta=1e-6\tfilter=gaussian\ttime=2026-11-01",
        &format!(
            "debit\tpopulation=pupils of 2026\tstudy=reading\tround=1\tattempt=1\tcohort=10\tquestion={}\tmu_squared=0.01\t\
             eta=1e-9\tkappa=1e-17\tafter_exact_releases=false\ttime=2026-11-16T09:00:00Z\t\
             rows=0000000000000101,0000000000000102",
            "ab".repeat(32)
        ),
        &format!("{exact}\trows=00000000000000fe,00000000000000ff,0000000000000100"),
        &format!("{exact}\trows_of=3"),
    ];
    assert_eq!(bodies, expected);
    // Computed with Python's hashlib.
    assert_eq!(&text[..64], FIRST_HASH);
    assert_eq!(ledger.head().to_string().parse(), Ok(ledger.head()));
    assert!("xyz".parse::<Head>().is_err());
}

/// sha256(b"fedirt ledger 1\n" + bytes(32) + the first body).
const FIRST_HASH: &str = "c991560285a3071f3130dcbf3da3effe4e42f5d9363c28fe7732c7f964ec45c5";

#[test]
fn a_torn_line_is_named_and_any_other_break_is_refused() {
    let (ledger, text) = of([
        opening(budget(2.0)),
        LedgerEntry::Debit(debit(1, 0.01)),
        LedgerEntry::Exact(exact("é", "abc", 0..3)),
    ]);
    let starts: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
    for end in 0..text.len() {
        let read = Ledger::read(&text.as_bytes()[..end]);
        let whole = starts.iter().filter(|s| **s <= end).count();
        let whole_bytes = if whole == 0 { 0 } else { starts[whole - 1] };
        if whole_bytes == end {
            let cut = read.unwrap();
            assert!(cut.lines() == whole && !cut.contains(ledger.head()) && ledger.contains(cut.head()));
        } else {
            assert_eq!(read.unwrap_err(), LedgerError::Torn { line: whole + 1, whole_bytes });
        }
    }
    for at in 0..text.len() {
        let mut bytes = text.clone().into_bytes();
        bytes[at] ^= 1;
        let line = starts.iter().filter(|s| **s <= at).count() + 1;
        match Ledger::read(&bytes).unwrap_err() {
            LedgerError::Broken { line: found } => assert_eq!(found, line),
            // The last line break is gone.
            LedgerError::Torn { .. } => assert_eq!(at, text.len() - 1),
            other => panic!("{other}"),
        }
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for order in [vec![0, 2], vec![1, 2], vec![0, 2, 1], vec![0, 1, 1, 2]] {
        let edited: String = order.iter().map(|&i| lines[i]).collect();
        assert!(matches!(Ledger::read(edited), Err(LedgerError::Broken { .. })), "{order:?}");
    }
    assert!(Ledger::read(text.replace('\n', "\r\n")).is_err());
}

/// Whoever writes whole chains of their own still cannot overdraw, or write an entry in two ways.
#[test]
fn a_forged_chain_is_replayed_by_the_rules() {
    let forge = |bodies: &[&str]| {
        let (mut head, mut text) = (Head::EMPTY, String::new());
        for body in bodies {
            let line = Line::new(head, (*body).into(), opening(budget(1.0)));
            (head, text) = (line.head(), text + &line.text());
        }
        Ledger::read(text)
    };
    let account = "account\tpopulation=p\tepsilon=1.0\tdelta=1e-6\tfilter=gaussian\ttime=t";
    let debit = "debit\tpopulation=p\tstudy=s\tround=1\tattempt=1\tcohort=10\tquestion={0}\tmu_squared=0.2\t\
                 eta=0.0\tkappa=0.0\tafter_exact_releases=false\ttime=t\trows=";
    let debit = &debit.replace("{0}", &"00".repeat(32));
    assert_eq!(forge(&[account]).unwrap().lines(), 1);
    assert!(matches!(forge(&[account, debit]), Err(LedgerError::NotAllowed { line: 2, .. })));
    for changed in [
        account.replace("1.0", "1"),
        account.replace("1.0", "+1.0"),
        format!("{account}\tnote=x"),
        account.replace("\ttime=t", ""),
        account.replace("account", "refund"),
        account.replace("1.0", "-1.0"),
    ] {
        assert!(matches!(forge(&[&changed]), Err(LedgerError::Malformed { line: 1, .. })), "{changed}");
    }
}

fn names() -> impl Strategy<Value = String> {
    "[a-z,\\\\=é ]{1,8}".prop_filter("a name", |s| Label::try_from(s.as_str()).is_ok())
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        population in names(), name in names(), time in names(),
        statistics in prop::collection::btree_set(names(), 0..4),
        sites in prop::collection::btree_set(names(), 0..4),
        rows in prop::collection::vec(any::<u64>(), 0..5),
        mode in 0..2, mu_squared in 1e-300f64..1e-3, eta in 0.0..1e-7f64, numbers in any::<(u64, u64, u32)>(),
    ) {
        let label = |s: &String| Label::try_from(s.as_str()).unwrap();
        let (epsilon, delta) = (Epsilon::new(20.0).unwrap(), Delta::new(1e-6).unwrap());
        let budget = Budget { epsilon, delta };
        let mode = match mode {
            0 => ExactMode::Plain,
            _ => ExactMode::Secure(Thresholds::new(4, 2).unwrap()),
        };
        let mut rows = rows;
        rows.sort_unstable();
        let entries = [
            LedgerEntry::Open(AccountOpening { population: label(&population), budget, time: label(&time) }),
            LedgerEntry::Debit(Debit {
                population: label(&population), study: study(&name), round: numbers.0, attempt: numbers.1,
                cohort: numbers.2, question: [numbers.2 as u8; 32], mu_squared, slack: Slack { eta, kappa: 0.0 },
                after_exact_releases: false, rows: rows.clone(), students: None, time: label(&time),
            }),
            LedgerEntry::Exact(ExactRelease {
                population: label(&population), study: study(&name), mode,
                statistics: statistics.iter().map(label).collect(),
                cohort: sites.iter().map(|s| SiteId::try_from(s.as_str()).unwrap()).collect(),
                rows, students: None, members: Vec::new(), after_private_releases: None,
                question: (numbers.0 % 2 == 1).then_some([numbers.1 as u8; 32]), time: label(&time),
            }),
        ];
        let mut ledger = Ledger::new();
        let mut whole = String::new();
        for entry in entries {
            let line = ledger.propose(entry.clone()).unwrap();
            let text = line.text();
            prop_assert_eq!(text.matches('\n').count(), 1);
            prop_assert_eq!(text::parse(line.body(), &ledger), Ok(entry));
            whole.push_str(&text);
            ledger.apply(line).unwrap();
        }
        prop_assert_eq!(Ledger::read(whole).unwrap().head(), ledger.head());
    }

    #[test]
    fn any_text_is_read_without_panic(text in any::<String>()) {
        prop_assert!(Ledger::read(&text).is_err() || text.is_empty());
    }
}
