//! The machine stops at every step of the disk, and is started again.

use super::*;
use crate::agent::durable::FUSE;

/// Runs a study in which `north` stops once, after passing so many points. Gives the fit, and whether it stopped.
fn run_with_a_crash(mode: Mode, points: usize) -> (Fit, bool) {
    let world = World::new(mode);
    world.enrol();
    let mut officer = Agreeable::default();
    let mut others: Vec<_> = SITES[1..].iter().map(|site| world.agent(site).unwrap()).collect();
    let (mut north, mut fuse, mut crashed) = (None, Some(points), false);
    for _ in 0..1000 {
        FUSE.set(fuse);
        let result = match north.take() {
            None => world.agent("north").map(|agent| (agent, None)),
            Some(mut agent) => Agent::step(&mut agent, &mut officer).map(|end| (agent, end)),
        };
        fuse = FUSE.take();
        match result {
            Ok((agent, Some(End::Finished(fit)))) => {
                drop(agent);
                let folder = world.home("north").known_study("bank").unwrap();
                assert_eq!(std::fs::read_dir(folder.secrets()).unwrap().count(), 0);
                let entries = folder.entries().unwrap();
                let uploads = entries.iter().filter(|e| matches!(e.record, Record::Upload { .. })).count();
                assert_eq!(uploads, world.rounds(), "no round was answered twice");
                return (*fit, crashed);
            }
            Ok((_, Some(end))) => panic!("{end:?}"),
            Ok((agent, None)) => north = Some(agent),
            Err(AgentError::File { .. }) => {
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
    for (mode, stride) in [(Mode::Secure, 1), (Mode::Plain, 3)] {
        let (whole, crashed) = run_with_a_crash(mode, usize::MAX);
        assert!(!crashed);
        let mut points = 0;
        loop {
            let (fit, crashed) = run_with_a_crash(mode, points);
            assert_eq!(fit.items, whole.items, "after {points} points");
            if !crashed {
                break;
            }
            points += stride;
        }
        assert!(points > 50, "{points}");
    }
}
