//! A study's thread over a log in memory: neither needs a disk or a network.
#![expect(clippy::unwrap_used, reason = "these are tests")]

mod common;

use common::folder;
use fedirt_coordinator::metrics::Metrics;
use fedirt_coordinator::store::{Effect, EventLog, Job, MemoryLog, Store};
use fedirt_coordinator::study::{self, EnrolRefusal, Order, Study};
use fedirt_model::statistics::Mode;
use fedirt_privacy::secure::{Enrolment, Identity};
use fedirt_protocol::{SiteId, StudyId, Timestamp};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::sync::oneshot;

const FAR: Timestamp = Timestamp(u64::MAX >> 1);

fn start(log: &MemoryLog, folder: &fedirt_coordinator::Folder) -> (Store, Arc<Study>, JoinHandle<()>) {
    let loaded = study::load(&mut log.clone(), &folder.plans().join("reading.toml")).unwrap();
    let metrics = Arc::new(Metrics::new().unwrap());
    let store = Store::start(Box::new(log.clone()), metrics.clone(), || {}).unwrap();
    let (study, thread) = study::spawn(loaded, folder, store.client(), metrics).unwrap();
    (store, study, thread)
}

fn enrol(study: &Study, site: &SiteId, key: &Identity, secret: u8) -> Option<Result<(), EnrolRefusal>> {
    let name = StudyId::try_from("reading").unwrap();
    let enrolment = Box::new(Enrolment::sign(name, site.clone(), key));
    let (reply, answer) = oneshot::channel();
    study.order(Order::Enrol { invitation: [secret; 32], enrolment, reply }).unwrap();
    answer.blocking_recv().ok()
}

#[test]
fn a_study_goes_on_from_a_log_in_memory() {
    let (_dir, folder) = folder(&["reading"], Mode::Secure);
    let mut log = MemoryLog::default();
    let mut random = ChaCha20Rng::seed_from_u64(1);
    let north = SiteId::try_from("north").unwrap();
    let (key, other) = (Identity::generate(&mut random), Identity::generate(&mut random));
    log.add_invitation(&[1; 32], "reading", "north", FAR).unwrap();

    let (store, study, thread) = start(&log, &folder);
    assert_eq!(enrol(&study, &north, &key, 1), Some(Ok(())));
    assert!(matches!(enrol(&study, &north, &other, 1), Some(Err(EnrolRefusal::Used { .. }))));
    store.kill();
    study.stop();
    thread.join().unwrap();
    let events = log.events("reading", 0, 9).unwrap();
    assert_eq!(events.len(), 1, "what was acknowledged is in the log, once");

    let (store, study, thread) = start(&log, &folder);
    assert_eq!(study.key(&north), Some(key.public()));
    assert_eq!(
        enrol(&study, &north, &key, 1),
        Some(Ok(())),
        "the same key is told again that it is enrolled"
    );
    study.stop();
    thread.join().unwrap();
    store.stop();
    assert_eq!(log.event_count().unwrap(), 1);
}

/// A log that cannot be written stops everything: nothing is acknowledged that is not in it.
#[test]
fn what_cannot_be_written_is_not_acknowledged() {
    let log = MemoryLog::default();
    let (failed, failure) = std::sync::mpsc::channel();
    let metrics = Arc::new(Metrics::new().unwrap());
    let store = Store::start(Box::new(log.clone()), metrics, move || failed.send(()).unwrap()).unwrap();
    let event =
        |seq| fedirt_coordinator::store::Event { seq, at: Timestamp(0), input: Vec::new(), announced: None };
    let (done, outcome) = std::sync::mpsc::channel();
    for seq in [1, 1] {
        let done = done.clone();
        let effects = vec![Effect::Event { study: "reading".into(), event: event(seq) }];
        store.client().write(Job { effects, then: Box::new(move || done.send(()).unwrap()) });
        // Each in a transaction of its own.
        store.client().ask_and_wait(|_| ());
    }
    failure.recv().unwrap();
    drop(done);
    assert_eq!(outcome.iter().count(), 1);
    assert!(store.client().is_dead());
    store.stop();
}
