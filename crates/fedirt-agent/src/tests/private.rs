//! Budgets on the disk: what is paid for once is answered once.

use super::*;
use crate::account::Account;
use fedirt_data::Audience;
use fedirt_protocol::site::{DebitRefusal, PrivateCost, Release};

/// A private world in which everybody has joined and has an account.
fn world() -> World {
    let world = World::new(Mode::Private);
    world.enrol();
    world.open_accounts();
    world
}

/// A folder from a back-up has forgotten what was asked: with fresh noise it would answer for nothing.
#[test]
fn a_folder_that_was_set_back_is_refused() {
    let world = world();
    let mut officer = Agreeable::default();
    let mut agents: Vec<_> = SITES.iter().map(|site| world.agent(site).unwrap()).collect();
    let journal = "studies/bank/journal.jsonl";
    let backup = world.read("north", journal);
    while !world.server.borrow().uploads.keys().any(|(site, _)| site == "north") {
        agents.iter_mut().for_each(|agent| assert!(agent.step(&mut officer).unwrap().is_none()));
    }
    drop(agents);
    check_journal(&world.home("north"), &world.study("north").folder).unwrap();
    world.write("north", journal, &backup);
    let error = world.agent("north").unwrap_err().to_string();
    assert!(error.contains("round 1, attempt 1") && error.contains("set back"), "{error}");
    assert!(check_journal(&world.home("north"), &world.study("north").folder).is_err());
    check_ledger(&world.home("north")).unwrap();
    // The others' folders are as they were.
    world.agent("south").unwrap();
}

fn account(world: &World) -> Account {
    let home = world.home("north");
    let policy = home.policy().unwrap();
    Account::new(&home, "north", &world.study("north"), &world.own("north"), &policy).unwrap()
}

fn release(question: u8) -> Release {
    Release {
        turn: Turn { round: 1, attempt: 1 },
        question: [question; 32],
        cohort: SITES.map(String::from).to_vec(),
        keys: Vec::new(),
        statistics: Vec::new(),
        points: Vec::new(),
        asked: None,
        by_name: false,
        design: None,
        place: None,
        cost: Some(PrivateCost { mu_squared: 0.01, eta: 0.0, kappa: 0.0 }),
    }
}

#[test]
fn a_debit_is_good_for_its_own_question_alone() {
    let world = world();
    let terms = world.study("north").terms;
    let account = account(&world);
    let head = account.debit(&terms, &release(1)).unwrap().unwrap();
    assert_eq!(account.debit(&terms, &release(1)).unwrap().unwrap(), head, "a crash in between");
    let refused = account.debit(&terms, &release(2)).unwrap().unwrap_err();
    assert!(matches!(refused, DebitRefusal::PaidForAnotherQuestion { .. }), "{refused}");
}

/// A line that another study is writing looks torn to whoever holds no lock: it is passed over, not cut off.
#[test]
fn only_the_holder_of_the_lock_mends_the_ledger() {
    let world = world();
    let home = world.home("north");
    let whole = world.read("north", "ledger.txt");
    let torn = format!("{whole}0123456789abcdef");
    world.write("north", "ledger.txt", &torn);
    check_ledger(&home).unwrap();
    check_journal(&home, &world.study("north").folder).unwrap();
    assert_eq!(ledger_table(&home).unwrap().lines.len(), 1);
    other_names(&home, &world.study("north"), &world.own("north"), "north", Audience::Page).unwrap();
    drop(world.agent("north").unwrap());
    assert_eq!(world.read("north", "ledger.txt"), torn, "nobody has written");
    let account = account(&world);
    account.debit(&world.study("north").terms, &release(1)).unwrap().unwrap();
    let mended = world.read("north", "ledger.txt");
    assert!(mended.starts_with(&whole) && !mended.starts_with(&torn));
    assert_eq!(ledger_table(&home).unwrap().lines.len(), 2);
}

#[test]
fn weights_are_refused_before_anything_is_written() {
    let world = world();
    let (home, study) = (world.home("north"), world.study("north"));
    let mut own = world.own("north");
    own.table = own.table.with_weights(vec![2.0; 60]).unwrap();
    let error =
        Agent::new(&home, study, home.policy().unwrap(), own, Some("north"), world.wire()).unwrap_err();
    assert!(error.to_string().contains("--weight"), "{error}");
    assert!(world.server.borrow().arrived.iter().all(|(_, kind)| *kind == "enrol"));
    let entries = world.study("north").folder.entries().unwrap();
    assert!(!entries.iter().any(|entry| matches!(entry.record, JournalEvent::Joined { .. })));
}

#[test]
fn rows_that_have_an_account_under_another_name_are_noticed() {
    let world = world();
    let mut agents: Vec<_> = SITES.iter().map(|site| world.agent(site).unwrap()).collect();
    world.run(&mut agents);
    drop(agents);
    let names = |site: &str, population: &str| {
        other_names(&world.home(site), &world.study(site), &world.own(site), population, Audience::Page)
            .unwrap()
    };
    assert!(names("north", "north").is_empty());
    let told = names("north", "pupils of 2026");
    assert!(told[0].contains("60 of these 60 rows") && told[0].contains("\"north\""), "{told:?}");
}

/// An old folder is evidence: nobody is advised to move it away.
#[test]
fn advice_never_removes_the_evidence() {
    let world = world();
    let mut agents: Vec<_> = SITES.iter().map(|site| world.agent(site).unwrap()).collect();
    world.run(&mut agents);
    drop(agents);
    let offer = world.offer("north").unwrap();
    let error = accept(&world.home("north"), &offer, &mut world.wire(), &mut UnwrapErr(SysRng)).unwrap_err();
    let said = error.to_string();
    assert!(said.contains("stays where it is") && !said.contains("move"), "{said}");
}
