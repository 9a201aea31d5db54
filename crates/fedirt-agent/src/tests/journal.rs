//! Journals that were cut short, and journals that were changed.

use super::*;

fn journal_after_joining(world: &World) -> PathBuf {
    world.enrol();
    drop(world.agent("north").unwrap());
    world.study("north").folder.journal_path()
}

#[test]
fn a_torn_last_line_is_cut_off_and_told() {
    let world = World::new(Mode::Secure);
    let path = journal_after_joining(&world);
    let whole = std::fs::read_to_string(&path).unwrap();
    let torn = format!("{whole}{}", &whole.lines().last().unwrap()[..40]);
    std::fs::write(&path, torn).unwrap();
    let (_, note) = Journal::open(&path).unwrap();
    assert!(note.unwrap().contains("cut short"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), whole);
    let (_, note) = Journal::open(&path).unwrap();
    assert!(note.is_none());
    world.agent("north").unwrap();
}

#[test]
fn any_other_change_is_tampering() {
    let world = World::new(Mode::Secure);
    let path = journal_after_joining(&world);
    let whole = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    assert_eq!(lines.len(), 2);
    for (what, text, line) in [
        ("a changed word", whole.replace("\"students\":60", "\"students\":61"), 2),
        ("a line taken out", format!("{}\n", lines[1]), 1),
        ("a line twice", format!("{whole}{}\n", lines[1]), 3),
        ("a foreign line", format!("{whole}hello\n"), 3),
    ] {
        std::fs::write(&path, text).unwrap();
        let error = world.agent("north").unwrap_err().to_string();
        assert!(error.contains(&format!("line {line}")) && error.contains("changed"), "{what}: {error}");
    }
}

#[test]
fn a_secret_that_is_gone_is_missed() {
    let world = World::new(Mode::Secure);
    world.enrol();
    let mut officer = Agreeable::default();
    let mut agents: Vec<_> = SITES.iter().map(|site| world.agent(site).unwrap()).collect();
    let secrets = world.study("north").folder.secrets();
    while std::fs::read_dir(&secrets).unwrap().count() == 0 {
        agents.iter_mut().for_each(|agent| assert!(agent.step(&mut officer).unwrap().is_none()));
    }
    drop(agents);
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
    let path = world.home("north").ledger_path();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("population=north", "population=nobody", 1)).unwrap();
    let error = ledger_table(&path).unwrap_err().to_string();
    assert!(error.contains("line 1"), "{error}");
}
