//! What operators do: begin, drop, end, look, and what a folder refuses.

mod common;

use common::{Client, folder, invited, start, start_at};
use fedirt_coordinator::store::OperatorInput;
use fedirt_coordinator::{Error, Folder, Server, history, invite, operator, status};
use fedirt_model::statistics::Mode;
use fedirt_protocol::coordinator::Phase;

#[test]
fn begin_needs_enough_sites_and_end_tells_them() {
    let (_dir, folder) = folder(&["reading"], Mode::Secure);
    let tell = |input| operator::tell(&folder, "reading", &input).map_err(|e| e.to_string());
    let server = start(&folder);
    let mut client = Client::new(invited(&folder, server.address, "reading", "north"), Mode::Secure, 1);
    client.join();
    let refused = tell(OperatorInput::Begin).unwrap_err();
    assert!(refused.contains("1 sites have joined, and 3 are needed"), "{refused}");
    assert!(tell(OperatorInput::Drop { sites: vec!["north".into()] }).unwrap_err().contains("not waiting"));
    let unknown = operator::tell(&folder, "nothing", &OperatorInput::Begin).unwrap_err().to_string();
    assert!(unknown.contains("reading"), "{unknown}");
    tell(OperatorInput::End { reason: "the test is over".into() }).unwrap();
    assert!(client.step());
    assert!(client.refused[0].contains("the test is over"), "{:?}", client.refused);
    assert!(tell(OperatorInput::Begin).unwrap_err().contains("over"));
    std::thread::sleep(std::time::Duration::from_millis(1200));
    let status = status::read(&folder, Some("reading")).unwrap().remove(0);
    assert_eq!((status.phase, status.released), (Phase::Over, false));
    assert!(status.outcome.unwrap().to_string().contains("the test is over"));
    let north = &status.sites[0];
    assert_eq!(north.key.as_deref(), Some(client.identity.public().fingerprint().to_string().as_str()));
    assert!(north.last_seen_ms.is_some() && status.sites[1].key.is_none());
    server.stop().unwrap();
    assert!(matches!(operator::tell(&folder, "reading", &OperatorInput::Begin), Err(Error::NotRunning(_))));
    let past = history::read(&folder, "reading").unwrap();
    let kinds: Vec<&str> = past.entries.iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, ["enrol", "join", "end"]);
    assert!(matches!(past.outcome.as_deref(), Some(Err(_))));
}

#[test]
fn one_server_per_folder() {
    let (_dir, folder) = folder(&["reading"], Mode::Plain);
    let server = start(&folder);
    let second = Server { listen: Some(server.address), pages: None };
    assert!(matches!(second.start(folder.path()), Err(Error::Running(_))));
    server.stop().unwrap();
    start(&folder).stop().unwrap();
}

#[test]
fn a_plan_is_bound_by_its_first_invitation() {
    let (_dir, folder) = folder(&["maths", "reading"], Mode::Plain);
    let path = folder.plans().join("reading.toml");
    let change = |from: &str, to: &str| {
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from));
        std::fs::write(&path, text.replace(from, to)).unwrap();
    };
    start(&folder).stop().unwrap();
    change("tolerance = 1e-6", "tolerance = 1e-5");
    let server = start(&folder);
    assert!(server.refused.is_empty(), "nobody was invited yet");
    invited(&folder, server.address, "reading", "north");
    let address = server.address;
    change("tolerance = 1e-5", "tolerance = 1e-4");
    let early = invite::invite(&folder, "reading", "south", 1, None).unwrap_err().to_string();
    assert!(early.contains("restart"), "{early}");
    server.stop().unwrap();
    let server = start_at(&folder, address);
    assert_eq!(server.refused.len(), 1);
    assert!(server.refused[0].to_string().contains("changed after the first invitation"));
    assert_eq!(server.studies.keys().collect::<Vec<_>>(), ["maths"], "others go on");
    server.stop().unwrap();
    change("tolerance = 1e-4", "tolerance = 1e-5");
    let server = start(&folder);
    assert!(server.refused.is_empty());
    server.stop().unwrap();
}

#[test]
fn init_makes_what_is_missing_and_keeps_what_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let (folder, made) = Folder::init(dir.path(), None, &["a.example".into()]).unwrap();
    assert_eq!(made.len(), 4, "authority and its key, settings, the key to the metrics");
    let key = std::fs::read(folder.authority_key()).unwrap();
    std::fs::write(folder.settings(), "listen = \"127.0.0.1:0\"").unwrap();
    assert!(Folder::init(dir.path(), None, &[]).unwrap().1.is_empty());
    assert_eq!(std::fs::read(folder.authority_key()).unwrap(), key);
    #[cfg(unix)]
    for path in [folder.authority_key(), folder.settings()] {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o077, 0);
    }
    std::fs::write(folder.settings(), "lisen = 1").unwrap();
    let wrong = Server { listen: None, pages: None }.start(dir.path()).unwrap_err();
    assert!(wrong.to_string().contains("lisen"), "{wrong}");
    assert!(Folder::open(&dir.path().join("elsewhere")).unwrap_err().to_string().contains("init"));
}
