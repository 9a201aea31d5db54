//! The machine stops before, in the middle of and after every change of the store, and is started again.

use super::*;

/// Runs a study in which `north` stops once, after passing so many points. Gives the fit, and whether it stopped.
fn run_with_a_crash(mode: Mode, points: usize) -> (Fit, bool) {
    let world = World::new(mode);
    world.enrol();
    if mode == Mode::Private {
        world.open_accounts();
    }
    let mut officer = Agreeable::default();
    let mut others: Vec<_> = SITES[1..].iter().map(|site| world.agent(site).unwrap()).collect();
    let (mut north, mut fuse, mut crashed) = (None, Some(points), false);
    for _ in 0..1000 {
        world.stores["north"].set_fuse(fuse);
        let result = match north.take() {
            None => world.agent("north").map(|agent| (agent, None)),
            Some(mut agent) => Agent::step(&mut agent, &mut officer).map(|end| (agent, end)),
        };
        fuse = world.stores["north"].set_fuse(None);
        match result {
            Ok((agent, Some(End::Finished(fit)))) => {
                drop(agent);
                let folder = world.home("north").known_study("bank").unwrap();
                assert!(world.secrets("north").is_empty());
                let transcript = world.read("north", "studies/bank/results/transcript.jsonl");
                let whole = |line: &str| serde_json::from_str::<serde_json::Value>(line).is_ok();
                assert!(transcript.lines().all(whole), "{transcript}");
                let entries = folder.entries().unwrap();
                let uploads =
                    entries.iter().filter(|e| matches!(e.record, JournalEvent::Upload { .. })).count();
                assert_eq!(uploads, world.rounds(), "no round was answered twice");
                if mode == Mode::Private {
                    let ledger = ledger_table(&world.home("north")).unwrap();
                    let debits = ledger.lines.iter().filter(|line| line.kind == "debit").count();
                    assert_eq!(debits, world.rounds(), "no round was paid for twice");
                }
                return (*fit, crashed);
            }
            Ok((_, Some(end))) => panic!("after {points} points: {end:?}"),
            Ok((agent, None)) => north = Some(agent),
            Err(AgentError::Store(_)) => {
                assert!(!crashed, "it stops once");
                (crashed, fuse) = (true, None);
            }
            Err(error) => panic!("after {points} points: {error}"),
        }
        for agent in &mut others {
            agent.step(&mut officer).unwrap();
        }
    }
    panic!("after {points} points: the study does not end");
}

#[test]
fn a_crash_at_any_step_changes_nothing() {
    for (mode, stride, fewest) in [(Mode::Secure, 1, 50), (Mode::Plain, 3, 50), (Mode::Private, 1, 30)] {
        let (whole, crashed) = run_with_a_crash(mode, usize::MAX);
        assert!(!crashed);
        let mut points = 0;
        loop {
            let (fit, crashed) = run_with_a_crash(mode, points);
            // Noise is never the same twice.
            assert_eq!(fit.items == whole.items, mode != Mode::Private, "after {points} points");
            if !crashed {
                break;
            }
            points += stride;
        }
        assert!(points > fewest, "{points}");
    }
}
