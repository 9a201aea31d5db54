//! Journals that were cut short, and journals that were changed.

use super::*;

const JOURNAL: &str = "studies/bank/journal.jsonl";

fn journal_after_joining(world: &World) -> String {
    world.enrol();
    drop(world.agent("north").unwrap());
    world.read("north", JOURNAL)
}

#[test]
fn a_torn_last_line_is_cut_off_and_told() {
    let world = World::new(Mode::Secure);
    let whole = journal_after_joining(&world);
    let torn = format!("{whole}{}", &whole.lines().last().unwrap()[..40]);
    world.write("north", JOURNAL, &torn);
    let folder = world.study("north").folder;
    let (_, note) = folder.journal().unwrap();
    assert!(note.unwrap().contains("cut short"));
    assert_eq!(world.read("north", JOURNAL), whole);
    let (_, note) = folder.journal().unwrap();
    assert!(note.is_none());
    world.agent("north").unwrap();
}

#[test]
fn any_other_change_is_tampering() {
    let world = World::new(Mode::Secure);
    let whole = journal_after_joining(&world);
    let lines: Vec<&str> = whole.lines().collect();
    assert_eq!(lines.len(), 2);
    for (what, text, line) in [
        ("a changed word", whole.replace("\"students\":60", "\"students\":61"), 2),
        ("a line taken out", format!("{}\n", lines[1]), 1),
        ("a line twice", format!("{whole}{}\n", lines[1]), 3),
        ("a foreign line", format!("{whole}hello\n"), 3),
    ] {
        world.write("north", JOURNAL, &text);
        let error = world.agent("north").unwrap_err().to_string();
        assert!(error.contains(&format!("line {line}")) && error.contains("changed"), "{what}: {error}");
    }
}

#[test]
fn a_secret_that_is_gone_is_missed() {
    let world = World::on_disk(Mode::Secure);
    world.enrol();
    let mut officer = Agreeable::default();
    let mut agents: Vec<_> = SITES.iter().map(|site| world.agent(site).unwrap()).collect();
    while world.secrets("north").is_empty() {
        agents.iter_mut().for_each(|agent| assert!(agent.step(&mut officer).unwrap().is_none()));
    }
    drop(agents);
    let secrets = world.folder.path().join("north/studies/bank/secret");
    for file in std::fs::read_dir(&secrets).unwrap().flatten() {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        std::fs::remove_file(file.path()).unwrap();
    }
    let error = world.agent("north").unwrap_err().to_string();
    assert!(error.contains("missing") && error.contains("enrol again"), "{error}");
}

#[test]
fn a_changed_ledger_stops_everything() {
    let world = World::new(Mode::Secure);
    world.enrol();
    let mut agents: Vec<_> = SITES.iter().map(|site| world.agent(site).unwrap()).collect();
    world.run(&mut agents);
    let text = world.read("north", "ledger.txt");
    world.write("north", "ledger.txt", &text.replacen("population=north", "population=nobody", 1));
    let error = ledger_table(&world.home("north")).unwrap_err().to_string();
    assert!(error.contains("line 1"), "{error}");
}
