//! Who students and sites are, from study to study: names, keys, calls, and records that are missed.

use super::*;
use fedirt_model::responses::MISSING;
use fedirt_model::statistics::Mode;

/// Calls nobody, but says yes.
#[derive(Default)]
struct Lazy {
    known: Vec<BTreeSet<SiteId>>,
}

impl Officer for Lazy {
    fn roster(&mut self, _: &RosterShown, known: &BTreeSet<SiteId>) -> RosterAnswer {
        self.known.push(known.clone());
        RosterAnswer::Verified(BTreeSet::new())
    }
    fn round(&mut self, _: &fedirt_protocol::site::RoundShown) -> Answer {
        Answer::Yes
    }
    fn news(&mut self, _: News<'_>) {}
}

fn agent_for(world: &World, site: &str, population: Option<&str>) -> Result<Agent<Wire>, AgentError> {
    let (home, study) = (world.home(site), world.study(site));
    let policy = home.policy()?;
    Agent::new(&home, study, policy, world.own(site), population, world.wire()).map(|(agent, _)| agent)
}

/// The same homes and files, another study.
fn next_study(world: World, name: &str, mode: Mode) -> World {
    let text = plan_text(name, mode);
    let next = World { server: World::serve(&text), text, ..world };
    next.enrol();
    next
}

#[test]
fn the_officer_names_the_students_and_known_names_are_offered() {
    let world = World::new(Mode::Private);
    world.enrol();
    world.open_accounts();
    let error = agent_for(&world, "north", None).unwrap_err().to_string();
    assert!(error.contains("in your own words") && error.contains("The ledger knows \"north\""), "{error}");
    assert!(world.server.borrow().arrived.iter().all(|(_, kind)| *kind == "enrol"));
}

#[test]
fn without_calls_nothing_is_signed_and_a_call_counts_in_later_studies() {
    let world = World::new(Mode::Secure);
    world.enrol();
    let mut agents: Vec<_> = SITES.iter().map(|site| world.agent(site).unwrap()).collect();
    let mut lazy = Lazy::default();
    while lazy.known.is_empty() {
        let end = agents[0].step(&mut lazy).unwrap();
        assert!(end.is_none() || matches!(end, Some(End::RosterNotApproved(_))), "{end:?}");
        agents[1..].iter_mut().for_each(|agent| drop(agent.step(&mut Agreeable::default()).unwrap()));
    }
    assert!(lazy.known[0].is_empty());
    assert!(world.server.borrow().arrived.iter().all(|(site, kind)| site != "north" || *kind != "approve"));
    drop(agents);
    let mut agents: Vec<_> = SITES.iter().map(|site| world.agent(site).unwrap()).collect();
    world.run(&mut agents);
    drop(agents);
    let key = |world: &World| {
        let entries = world.study("north").folder.entries().unwrap();
        entries.iter().find_map(|entry| match &entry.record {
            JournalEvent::Enrolled { key_fingerprint, .. } => Some(key_fingerprint.clone()),
            _ => None,
        })
    };
    let first = key(&world);
    let called: Vec<String> = verified(&world.home("north")).unwrap().into_iter().map(|v| v.site).collect();
    assert_eq!(called, ["south", "west"]);

    // Another study of the same students, with the same sites: nobody is called again.
    let world = next_study(world, "again", Mode::Secure);
    assert_eq!(key(&world), first, "a site keeps its key");
    let mut agents: Vec<_> = SITES.iter().map(|site| world.agent(site).unwrap()).collect();
    let mut lazy = Lazy::default();
    while world.server.borrow().outcome.is_none() {
        agents.iter_mut().for_each(|agent| drop(agent.step(&mut lazy).unwrap()));
    }
    assert!(lazy.known.iter().all(|known| known.len() == 2), "{:?}", lazy.known);
}

/// The ledger of one home: private, then exact, then the same students under another name, then one student fewer.
#[test]
fn the_same_students_are_known_again() {
    let world = World::new(Mode::Private);
    world.enrol();
    world.open_accounts();
    let mut agents: Vec<_> = SITES.iter().map(|site| world.agent(site).unwrap()).collect();
    world.run(&mut agents);
    drop(agents);
    let world = next_study(world, "exact", Mode::Secure);
    let error = world.agent("north").unwrap_err().to_string();
    assert!(error.contains("took part in bank in mode private"), "{error}");
    let error = agent_for(&world, "north", Some("others")).unwrap_err().to_string();
    assert!(error.contains("60 of these students are known here as \"north\""), "{error}");
    let policy = lenient().replace("allow_exact_and_private = false", "allow_exact_and_private = true");
    world.write("north", "policy.toml", &policy);
    world.agent("north").unwrap();
}

/// A student who is left out of a study (in no group, or of weight 0) has gone: the difference of two studies would be her answers.
#[test]
fn students_who_do_not_count_have_gone() {
    let world = World::new(Mode::Secure);
    world.enrol();
    let mut agents: Vec<_> = SITES.iter().map(|site| world.agent(site).unwrap()).collect();
    world.run(&mut agents);
    drop(agents);
    let world = next_study(world, "again", Mode::Secure);
    let (home, study) = (world.home("north"), world.study("north"));
    let foreseen = |without: usize, by_weight: bool| {
        let mut own = world.own("north");
        let students = own.table.students();
        let table = own.table.clone();
        own.table = if by_weight {
            table.with_weights((0..students).map(|at| f64::from(u8::from(at >= without))).collect()).unwrap()
        } else {
            let group = |at| if at < without { MISSING } else { u8::from(at % 2 == 0) };
            table.with_groups((0..students).map(group).collect()).unwrap()
        };
        foreseen(&home, &study, &own, "north").unwrap()
    };
    for by_weight in [true, false] {
        let refused = foreseen(1, by_weight).expect("a refusal").to_string();
        assert!(refused.contains("students") && refused.contains("bank"), "{refused}");
        assert_eq!(foreseen(0, by_weight).map(|refusal| refusal.to_string()), None);
        assert_eq!(foreseen(20, by_weight).map(|refusal| refusal.to_string()), None);
    }
}

/// A `secure` study's folder from a back-up has forgotten cohorts and points: sums of another cohort would show a site.
#[test]
fn a_secure_folder_that_was_set_back_is_refused() {
    let world = World::new(Mode::Secure);
    world.enrol();
    let mut agents: Vec<_> = SITES.iter().map(|site| world.agent(site).unwrap()).collect();
    let journal = "studies/bank/journal.jsonl";
    let backup = world.read("north", journal);
    world.run(&mut agents);
    drop(agents);
    check_journal(&world.home("north"), &world.study("north").folder).unwrap();
    world.write("north", journal, &backup);
    let error = world.agent("north").unwrap_err().to_string();
    assert!(error.contains("set back"), "{error}");
}

#[test]
fn a_ledger_that_was_cut_together_with_its_study_is_missed() {
    let world = World::new(Mode::Private);
    world.enrol();
    world.open_accounts();
    let home = world.home("north");
    let before = world.read("north", "ledger.txt");
    let mut agents: Vec<_> = SITES.iter().map(|site| world.agent(site).unwrap()).collect();
    world.run(&mut agents);
    drop(agents);
    check_ledger(&home).unwrap();
    world.write("north", "ledger.txt", &before);
    let folder = world.study("north").folder;
    folder.erase("plan.toml").unwrap();
    folder.erase("journal.jsonl").unwrap();
    let error = check_ledger(&home).unwrap_err().to_string();
    assert!(error.contains("ledger.head") && error.contains("lines are missing"), "{error}");
}
