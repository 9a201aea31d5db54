//! Whole studies over TLS: the fit is that of one process, bit for bit, whatever happens to the server.

mod common;

use common::{Client, drive, folder, invited, start, start_at, table, terms};
use fedirt_coordinator::store::{LogError, SqliteLog, for_each_event};
use fedirt_model::fit::Fit;
use fedirt_model::statistics::Mode;
use fedirt_protocol::in_process::{self, Setting, Unobserved};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

const SITES: [&str; 3] = ["north", "south", "west"];

fn in_one_process(study: &str, mode: Mode, seed: u64) -> Fit {
    let sites = SITES.iter().zip(seed..).map(|(name, seed)| ((*name).to_owned(), table(seed))).collect();
    let mut random = ChaCha20Rng::seed_from_u64(9);
    let plan = terms(study, mode).plan;
    in_process::run_as(Setting::of(mode), plan, sites, &mut random, &mut Unobserved).expect("a fit").0.fit
}

fn clients(
    folder: &fedirt_coordinator::Folder,
    at: std::net::SocketAddr,
    study: &str,
    mode: Mode,
    seed: u64,
) -> Vec<Client> {
    let clients = SITES.iter().zip(seed..);
    clients.map(|(site, seed)| Client::new(invited(folder, at, study, site), mode, seed)).collect()
}

#[test]
fn a_secure_study_gives_the_fit_of_one_process() {
    let (_dir, folder) = folder(&["reading"], Mode::Secure);
    let server = start(&folder);
    let mut sites = clients(&folder, server.address, "reading", Mode::Secure, 1);
    sites.iter_mut().for_each(Client::join);
    drive(&mut sites, |_| false);
    let want = in_one_process("reading", Mode::Secure, 1);
    for site in &sites {
        assert_eq!(site.fit.as_deref(), Some(&want));
    }
    server.stop().unwrap();
    let written = std::fs::read_to_string(folder.results_of("reading").join("fit.json")).unwrap();
    assert_eq!(written, fedirt_data::results::fit_json(&want).unwrap());
}

/// A study that reaches the plan's limit of rounds is closed like any other: everybody gets the result, which says that
/// it did not converge.
#[test]
fn a_study_that_reaches_max_rounds_has_results_everywhere() {
    for mode in [Mode::Plain, Mode::Secure] {
        let (_dir, folder) = folder(&["short"], mode);
        let server = start(&folder);
        let mut sites = clients(&folder, server.address, "short", mode, 1);
        sites.iter_mut().for_each(Client::join);
        drive(&mut sites, |_| false);
        let want = in_one_process("short", mode, 1);
        assert_eq!((want.converged, want.items.len()), (Some(false), common::ITEMS));
        for site in &sites {
            assert_eq!(site.fit.as_deref(), Some(&want));
            assert!(site.machine.own_effect().is_some_and(|place| place.effect.is_some()));
        }
        server.stop().unwrap();
        let written = std::fs::read_to_string(folder.results_of("short").join("fit.json")).unwrap();
        assert_eq!(written, fedirt_data::results::fit_json(&want).unwrap());
    }
}

#[test]
fn a_server_that_is_killed_again_and_again_loses_nothing() {
    let (_dir, folder) = folder(&["reading"], Mode::Secure);
    let mut server = start(&folder);
    let address = server.address;
    let mut sites = clients(&folder, address, "reading", Mode::Secure, 4);
    for k in 0..3 {
        sites[k].join();
        server.kill();
        server = start_at(&folder, address);
    }
    let mut restarts = 0;
    while sites.iter().any(|s| s.fit.is_none()) {
        // Sites keep their connections: the first request after a kill may break, as it would on a network.
        drive(&mut sites, |turn| turn > 0);
        server.kill();
        server = start_at(&folder, address);
        restarts += 1;
        assert!(restarts < 200);
    }
    let want = in_one_process("reading", Mode::Secure, 4);
    assert_eq!(sites[0].fit.as_deref(), Some(&want));
    server.stop().unwrap();
    // Every question and the result stand in the store as they were announced.
    let mut announced = 0;
    let log = SqliteLog::open(&folder.store()).unwrap();
    for_each_event(&log, "reading", |event| {
        announced += usize::from(event.announced.is_some());
        Ok::<(), LogError>(())
    })
    .unwrap();
    assert_eq!(announced, want.exchanges + 1);
    // Killed between the end and the writing of results: the next start writes them.
    let results = folder.results_of("reading").join("fit.json");
    let _ = std::fs::remove_file(&results);
    start(&folder).stop().unwrap();
    assert_eq!(std::fs::read_to_string(&results).unwrap(), fedirt_data::results::fit_json(&want).unwrap());
}

#[test]
fn several_studies_run_at_once() {
    let (_dir, folder) = folder(&["maths", "reading"], Mode::Plain);
    let server = start(&folder);
    let mut sites = clients(&folder, server.address, "maths", Mode::Plain, 1);
    sites.extend(clients(&folder, server.address, "reading", Mode::Plain, 7));
    sites.iter_mut().for_each(Client::join);
    drive(&mut sites, |_| false);
    assert_eq!(sites[0].fit.as_deref(), Some(&in_one_process("maths", Mode::Plain, 1)));
    assert_eq!(sites[5].fit.as_deref(), Some(&in_one_process("reading", Mode::Plain, 7)));
    server.stop().unwrap();
}
