//! Whole studies, and what they leave at home.

use super::*;
use fedirt_protocol::policy::Policy;

fn finished(end: &End) -> &Fit {
    match end {
        End::Finished(fit) => fit,
        other => panic!("{other:?}"),
    }
}

#[test]
fn three_sites_calibrate_and_keep_their_own() {
    for mode in [Mode::Secure, Mode::Plain] {
        let world = World::on_disk(mode);
        world.enrol();
        let mut agents: Vec<_> = SITES.iter().map(|site| world.agent(site).unwrap()).collect();
        let ends = world.run(&mut agents);
        let fit = finished(&ends[0]);
        assert_eq!(fit.converged, Some(true));
        assert_eq!(fit.n, 180);
        let effects: Vec<f64> = agents.iter().map(|a| a.own_effect().unwrap().effect.unwrap()).collect();
        assert!(effects.iter().sum::<f64>().abs() < 1e-3, "{effects:?}");
        drop(agents);
        let rounds = world.rounds();
        for site in SITES {
            let folder = world.home(site).known_study("bank").unwrap();
            assert!(world.secrets(site).is_empty(), "keys and uploads are erased");
            let entries = folder.entries().unwrap();
            assert!(matches!(entries.last().unwrap().record, JournalEvent::Over));
            let state = status(&folder, OfficerChoices::default()).unwrap();
            assert_eq!((state.stage.as_str(), state.rounds_answered), ("over", rounds));
            let ledger = ledger_table(&world.home(site)).unwrap();
            assert_eq!(ledger.lines.len(), rounds);
            assert_eq!(ledger.populations[0].0, site);
            let transcript = String::from_utf8(folder.result("transcript.jsonl").unwrap().unwrap()).unwrap();
            let uploads: Vec<&str> =
                transcript.lines().filter(|l| l.contains("\"kind\":\"upload\"")).collect();
            assert_eq!(uploads.len(), rounds);
            let shown = uploads.iter().all(|line| line.contains("\"numbers\":["));
            assert_eq!(shown, mode == Mode::Plain, "numbers stand in plain transcripts only");
            assert!(uploads[0].contains("pair_table"));
        }
    }
}

/// A study that reaches the plan's limit of rounds is closed like any other, and says that it did not converge.
#[test]
fn a_study_that_reaches_max_rounds_ends_with_its_results() {
    for mode in [Mode::Secure, Mode::Plain] {
        let text = plan_text("bank", mode).replace("max_rounds = 40", "max_rounds = 4");
        let text = text.replace("algorithm = \"newton\"", "algorithm = \"em\"");
        let world = World { server: World::serve(&text), text, ..World::new(mode) };
        world.enrol();
        let mut agents: Vec<_> = SITES.iter().map(|site| world.agent(site).unwrap()).collect();
        for end in world.run(&mut agents) {
            let fit = finished(&end);
            assert_eq!(fit.converged, Some(false));
            assert!(fit.items.iter().all(|item| item.se_a.is_some()), "{mode:?}: {:?}", fit.items);
        }
        assert!(agents.iter().all(|agent| agent.own_effect().is_some_and(|place| place.effect.is_some())));
        assert_eq!(world.server.borrow().outcome.as_ref().map(|fit| fit.converged), Some(Some(false)));
        // Four rounds of estimation, one for the information that EM does not bring, one for the diagnostics that the plan
        // lists, and one that closes the study.
        assert_eq!(world.rounds(), 7, "{mode:?}");
    }
}

#[test]
fn a_lossy_network_changes_nothing() {
    let world = World::new(Mode::Secure);
    for site in SITES {
        let offer = world.offer(site).unwrap();
        let mut wire = Wire { lossy: Some(false), ..world.wire() };
        let accept = |wire: &mut Wire| accept(&world.home(site), &offer, wire, &mut UnwrapErr(SysRng));
        // The answer is lost: the officer repeats the command, and the same key is enrolled.
        let error = accept(&mut wire).unwrap_err();
        assert!(matches!(error, AgentError::Transport(TransportError::Unreachable(_))), "{error}");
        accept(&mut wire).unwrap();
    }
    let mut agents: Vec<_> = SITES.iter().map(|site| world.agent(site).unwrap()).collect();
    agents.iter_mut().for_each(|agent| agent.transport.lossy = Some(true));
    let lossy = world.run(&mut agents);
    let calm = World::new(Mode::Secure);
    calm.enrol();
    let mut agents: Vec<_> = SITES.iter().map(|site| calm.agent(site).unwrap()).collect();
    assert_eq!(finished(&lossy[0]).items, finished(&calm.run(&mut agents)[0]).items);
}

#[test]
fn the_preview_is_what_is_sent() {
    let world = World::new(Mode::Plain);
    world.enrol();
    let shown = preview(&world.study("south"), &world.own("south"), &Policy::default()).unwrap();
    let mut agents: Vec<_> = SITES.iter().map(|site| world.agent(site).unwrap()).collect();
    world.run(&mut agents);
    let transcript = world.read("south", "studies/bank/results/transcript.jsonl");
    let first = transcript.lines().find(|l| l.contains("\"kind\":\"upload\"")).unwrap();
    let first: serde_json::Value = serde_json::from_str(first).unwrap();
    let sent = first["statistics"].as_array().unwrap();
    assert_eq!(sent.len(), shown.rounds[0].statistics.len());
    for (sent, shown) in sent.iter().zip(&shown.rounds[0].statistics) {
        assert_eq!(sent["name"], shown.name);
        let numbers: Vec<f64> = serde_json::from_value(sent["numbers"].clone()).unwrap();
        assert_eq!(numbers.len(), shown.count);
        for (sent, shown) in numbers.iter().zip(&shown.numbers) {
            assert!((sent - shown).abs() < 1e-9, "{sent} {shown}");
        }
    }
    assert_eq!((shown.students, shown.items.len()), (60, 5));
    let words = shown.remarks.join(" ");
    assert!(
        words.contains("pooled rows may be inferred") && words.contains("Nothing of this preview is sent"),
        "{words}"
    );
    let names: Vec<&str> = shown.rounds.iter().map(|round| round.name.as_str()).collect();
    assert_eq!(names, ["1", "2 and later", "for diagnostics", "closing"]);
    assert!(
        shown.rounds[1]
            .statistics
            .iter()
            .any(|s| s.name == "gradient" && s.numbers.iter().any(|x| *x != 0.0))
    );
}

#[test]
fn a_secure_preview_says_that_numbers_are_masked() {
    let world = World::new(Mode::Secure);
    world.enrol();
    let shown = preview(&world.study("west"), &world.own("west"), &Policy::default()).unwrap();
    assert!(shown.rounds[0].remark.contains("masked"));
    assert!(shown.rounds.iter().any(|round| round.statistics.iter().any(|s| s.name == "effect_sum")));
    assert!(shown.rounds[0].statistics.iter().all(|s| s.name != "school_products"), "three sites: withheld");
}

#[test]
fn private_rounds_are_paid_from_a_budget_that_was_set() {
    let world = World::new(Mode::Private);
    world.enrol();
    let shown = preview(&world.study("west"), &world.own("west"), &Policy::default()).unwrap();
    assert_eq!(shown.rounds.len(), 2);
    assert!(shown.rounds[0].remark.contains("noise") && shown.rounds[0].statistics[0].numbers.is_empty());
    let error = world.agent("north").unwrap_err().to_string();
    assert!(error.contains("no privacy budget") && error.contains("fedirt site budget"), "{error}");
    for site in SITES {
        open_account(&world.home(site), site, 4.0, 1e-5).unwrap();
        assert!(open_account(&world.home(site), site, 9.0, 1e-5).is_err(), "a budget is set once");
    }
    let mut agents: Vec<_> = SITES.iter().map(|site| world.agent(site).unwrap()).collect();
    let ends = world.run(&mut agents);
    assert!(finished(&ends[0]).privacy.is_some());
    let table = ledger_table(&world.home("north")).unwrap();
    let kinds: Vec<&str> = table.lines.iter().map(|line| line.kind.as_str()).collect();
    assert_eq!(kinds, ["account", "debit", "debit"]);
}
