//! What a site does not do.

use super::*;

#[test]
fn policies_plans_and_times_are_checked_before_anything_is_made() {
    let world = World::new(Mode::Plain);
    world.write("north", "policy.toml", POLICY_TEMPLATE);
    let offer = world.offer("north").unwrap();
    assert_eq!(offer.refusals.len(), 1);
    let error = accept(&world.home("north"), &offer, &mut world.wire(), &mut UnwrapErr(SysRng)).unwrap_err();
    assert!(error.to_string().contains("does not take part in plain studies"), "{error}");
    assert!(world.home("north").studies().unwrap().is_empty(), "nothing was made");

    world.server.borrow_mut().plan.push_str("# a harmless comment\n");
    let error = world.offer("south").unwrap_err();
    assert!(matches!(error, AgentError::WrongPlan { .. }), "{error}");

    let policy = world.home("south").policy().unwrap();
    let error = look(world.invitation("south"), &policy, &mut world.wire(), Timestamp(1000)).unwrap_err();
    assert!(error.to_string().contains("expired on 1970-01-01"), "{error}");
}

#[test]
fn all_refusals_of_a_policy_come_at_once() {
    let world = World::new(Mode::Secure);
    let policy = POLICY_TEMPLATE.replace("n_min = 3", "n_min = 5").replace("colluders = 1", "colluders = 2");
    world.write("north", "policy.toml", &policy);
    assert_eq!(world.offer("north").unwrap().refusals.len(), 3);
}

#[test]
fn too_few_students_do_not_join() {
    let world = World::new(Mode::Secure);
    world.enrol();
    std::fs::write(world.file("north"), csv(1, 9)).unwrap();
    let error = world.agent("north").unwrap_err().to_string();
    assert!(error.contains("9 students") && error.contains("Nothing was sent"), "{error}");
}

#[test]
fn two_agents_are_locked_out() {
    let world = World::new(Mode::Secure);
    world.enrol();
    let first = world.agent("north").unwrap();
    let error = world.agent("north").unwrap_err();
    assert!(matches!(error, AgentError::Running(_)), "{error}");
    drop(first);
    world.agent("north").unwrap();
}

#[test]
fn other_rows_are_refused_once_joined() {
    let world = World::new(Mode::Secure);
    world.enrol();
    drop(world.agent("north").unwrap());
    let text = std::fs::read_to_string(world.file("north")).unwrap();
    std::fs::write(world.file("north"), text.replacen(",0,", ",1,", 1)).unwrap();
    let error = world.agent("north").unwrap_err().to_string();
    assert!(error.contains("not those with which this site joined"), "{error}");
}

#[test]
fn an_unapproved_roster_is_not_signed() {
    let world = World::new(Mode::Secure);
    world.enrol();
    let mut agents: Vec<_> = SITES.iter().map(|site| world.agent(site).unwrap()).collect();
    let mut wary = Agreeable { refuses: true, ..Agreeable::default() };
    for agent in &mut agents {
        agent.step(&mut wary).unwrap();
    }
    let end = agents[0].step(&mut wary).unwrap();
    assert!(matches!(end, Some(End::RosterNotApproved(_))), "{end:?}");
    assert!(world.server.borrow().arrived.iter().all(|(_, kind)| *kind != "approve"));
    // Started again, the agent is shown the same roster.
    drop(agents);
    let mut again = world.agent("north").unwrap();
    let mut agreeable = Agreeable::default();
    again.step(&mut agreeable).unwrap();
    assert_eq!(agreeable.rosters, wary.rosters[..1]);
    assert!(world.server.borrow().arrived.contains(&("north".into(), "approve")));
}

#[test]
fn each_round_waits_for_the_officer_where_the_policy_says_so() {
    let world = World::new(Mode::Secure);
    let policy = lenient().replace("approval = \"once\"", "approval = \"each_round\"");
    world.write("north", "policy.toml", &policy);
    world.enrol();
    let mut agents: Vec<_> = SITES.iter().map(|site| world.agent(site).unwrap()).collect();
    let mut officer = Agreeable::default();
    let end = loop {
        let end = agents[0].step(&mut officer).unwrap();
        agents[1..].iter_mut().for_each(|agent| drop(agent.step(&mut Agreeable::default()).unwrap()));
        if let Some(end) = end {
            break end;
        }
    };
    assert!(matches!(end, End::Finished(_)), "{end:?}");
    let rounds: Vec<u32> = officer.rounds.iter().map(|turn| turn.round).collect();
    assert_eq!(rounds, (1..=world.rounds() as u32).collect::<Vec<_>>());
}

/// A second study of the same students, over a site fewer or with a row fewer, is refused before anything leaves.
#[test]
fn the_ledger_refuses_what_would_show_a_few() {
    let world = World::new(Mode::Secure);
    world.enrol();
    let mut agents: Vec<_> = SITES.iter().map(|site| world.agent(site).unwrap()).collect();
    world.run(&mut agents);
    drop(agents);
    let text = plan_text("again", Mode::Secure);
    let folder = tempfile::tempdir().unwrap();
    let again = World { server: World::serve(&text), folder, stores: world.stores.clone(), text };
    for site in SITES {
        std::fs::copy(world.file(site), again.file(site)).unwrap();
    }
    again.enrol();
    let short: String = csv(1, 60).lines().take(58).map(|line| format!("{line}\n")).collect();
    std::fs::write(again.file("north"), short).unwrap();
    let error = again.agent("north").unwrap_err().to_string();
    assert!(error.contains("few students of north") && error.contains("Nothing was sent"), "{error}");
    assert!(again.server.borrow().arrived.iter().all(|(_, kind)| *kind == "enrol"));
    // The same students are fine.
    std::fs::copy(world.file("north"), again.file("north")).unwrap();
    let mut agents: Vec<_> = SITES.iter().map(|site| again.agent(site).unwrap()).collect();
    again.run(&mut agents);
}

#[test]
fn withdrawing_ends_the_round_and_wipes_the_keys() {
    let world = World::new(Mode::Secure);
    world.enrol();
    let mut agents: Vec<_> = SITES.iter().map(|site| world.agent(site).unwrap()).collect();
    let mut officer = Agreeable::default();
    while world.server.borrow().uploads.is_empty() {
        agents.iter_mut().for_each(|agent| assert!(agent.step(&mut officer).unwrap().is_none()));
    }
    drop(agents);
    let study = world.study("north");
    let told = withdraw(&study, &mut world.wire(), "the board has withdrawn its consent").unwrap();
    assert!(matches!(told, Withdrawal::Told(_)), "{told:?}");
    assert!(study.folder.identity().unwrap().is_none());
    assert!(world.secrets("north").is_empty());
    let error = world.agent("north").unwrap_err().to_string();
    assert!(error.contains("new invitation"), "{error}");
    let mut south = world.agent("south").unwrap();
    let Some(End::Ended(reason)) = south.step(&mut officer).unwrap() else { panic!("it goes on") };
    assert!(reason.contains("withdrawn its consent"), "{reason}");
}

/// A site that refuses a round does not tell its officer that it answered.
#[test]
fn a_refused_round_is_not_called_answered() {
    let world = World::new(Mode::Secure);
    let policy = lenient().replace("refused_statistics = []", "refused_statistics = [\"pair_table\"]");
    assert_ne!(policy, lenient());
    world.write("north", "policy.toml", &policy);
    world.enrol();
    let mut agents: Vec<_> = SITES.iter().map(|site| world.agent(site).unwrap()).collect();
    let mut officers: Vec<_> = SITES.iter().map(|_| Agreeable::default()).collect();
    let mut ended = None;
    while ended.is_none() {
        for (agent, officer) in agents.iter_mut().zip(&mut officers) {
            ended = agent.step(officer).unwrap().or(ended);
        }
    }
    assert!(matches!(ended, Some(End::Ended(_))), "{ended:?}");
    let north = &officers[0];
    assert!(north.refusals.iter().any(|reason| reason.contains("pair_table")), "{:?}", north.refusals);
    let opened: Vec<&String> = north.waiting.iter().filter(|text| text.contains("answered")).collect();
    assert_eq!(opened.len(), 1, "{:?}", north.waiting);
    assert!(opened[0].contains("refused, not answered"), "{opened:?}");
    assert!(world.server.borrow().arrived.iter().all(|(site, kind)| site != "north" || *kind != "upload"));
}

/// Says yes to rosters, and remembers the rounds that it was shown.
#[derive(Default)]
struct Wary(Vec<fedirt_protocol::site::RoundShown>);

impl Officer for Wary {
    fn roster(&mut self, shown: &RosterShown, _: &BTreeSet<SiteId>) -> RosterAnswer {
        RosterAnswer::Verified(shown.names())
    }
    fn round(&mut self, round: &fedirt_protocol::site::RoundShown) -> Answer {
        self.0.push(round.clone());
        Answer::NotNow
    }
    fn news(&mut self, _: News<'_>) {}
}

#[test]
fn an_approval_is_for_its_question_alone() {
    let world = World::new(Mode::Secure);
    let policy = lenient().replace("approval = \"once\"", "approval = \"each_round\"");
    world.write("north", "policy.toml", &policy);
    world.enrol();
    let mut agents: Vec<_> = SITES.iter().map(|site| world.agent(site).unwrap()).collect();
    let (mut wary, mut agreeable) = (Wary::default(), Agreeable::default());
    for _ in 0..20 {
        agents[0].step(&mut wary).unwrap();
        agents[1..].iter_mut().for_each(|agent| drop(agent.step(&mut agreeable).unwrap()));
    }
    assert_eq!(wary.0.len(), 1);
    let uploads =
        || world.server.borrow().arrived.iter().filter(|(s, k)| s == "north" && *k == "upload").count();
    let shown = wary.0[0].clone();
    assert_eq!(shown.released, 0);
    // A yes to something else: the question is shown again, and nothing leaves.
    let end = agents[0].approve_round(shown.turn, [0; 32], &mut wary).unwrap();
    assert!(matches!(end, Some(End::RoundNotApproved(turn)) if turn == shown.turn), "{end:?}");
    assert_eq!((uploads(), wary.0.len()), (0, 2));
    agents[0].approve_round(shown.turn, shown.question, &mut wary).unwrap();
    assert_eq!(uploads(), 1);
}
