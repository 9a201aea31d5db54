//! Studies whose messages a courier carries between mailboxes.

use crate::common::Bench;
use crate::courier::{Dice, Mailbox, SITES, Stop, hand_in, is_over, visit};
use fedirt_privacy::secure::{Identity, SiteId};
use fedirt_protocol::codec;
use fedirt_protocol::envelope;
use fedirt_protocol::mailbox::{PartKind, SiteStands};
use fedirt_protocol::message::{Broadcast, Notice, ToSite};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

/// A coordinator's mailbox, three homes that have enrolled, and their mailboxes.
struct Consortium {
    bench: Bench,
    hub: Mailbox,
    sites: Vec<Mailbox>,
}

impl Consortium {
    fn new(mode: &str) -> Self {
        let bench = Bench::simulated();
        let sites = SITES.join(",");
        bench.write("book.csv", "item,categories\nM1,2\nM2,2\nM3,2\nM4,2\nM5,2\nM6,3\n");
        let init = format!("--study bank --sites {sites} --codebook book.csv --mode {mode} --students 370");
        bench.expect(0, &format!("coordinator init centre {init}"));
        let hub = Mailbox::start(&bench, "coordinator mailbox centre bank", "hub.sock");
        let start = |site: &str| {
            let home = format!("site --home home-{site}");
            bench.expect(0, &format!("{home} init"));
            let policy = bench.read(&format!("home-{site}/policy.toml"));
            let policy =
                policy.replace("allow_pooled_rows_inferred = false", "allow_pooled_rows_inferred = true");
            bench.write(&format!("home-{site}/policy.toml"), policy);
            let (invitation, _) =
                bench.expect(0, &format!("coordinator invite centre bank {site} --address mailbox:"));
            let invitation = invitation.trim();
            let (_, told) = bench.expect(2, &format!("{home} enrol {invitation} --yes"));
            assert!(told.contains("--plan FILE.toml"), "{told}");
            let plan = "--plan centre/plans/bank.toml --yes";
            let (told, _) = bench.expect(0, &format!("{home} enrol {invitation} {plan}"));
            assert!(told.contains("waits for the courier"), "{told}");
            if mode == "private" {
                bench.expect(0, &format!("{home} budget pupils --epsilon 2"));
            }
            let (told, _) = bench.expect(0, &format!("{home} status"));
            assert!(told.contains("the key waits for the courier") && told.contains("at mailbox:"), "{told}");
            let serve = format!("{home} mailbox bank {site}.csv --population pupils --yes");
            Mailbox::start(&bench, &serve, &format!("{site}.sock"))
        };
        let sites = SITES.iter().map(|site| start(site)).collect();
        Self { bench, hub, sites }
    }

    fn stops(&self) -> Vec<Stop> {
        self.sites.iter().map(|mailbox| Stop::at(&mailbox.socket)).collect()
    }

    /// The officers look at the roster, compare it, and approve it, while the mailboxes run.
    fn approve(&self) {
        let mut seen = Vec::new();
        for site in SITES {
            let approve = format!("site --home home-{site} approve bank");
            let (shown, _) = self.bench.expect(1, &approve);
            let (_, rest) = shown.split_once("Fingerprint of the roster: ").expect("a fingerprint");
            let fingerprint = rest.lines().next().expect("a line").replace(' ', "-");
            let others: Vec<&str> = SITES.into_iter().filter(|other| *other != site).collect();
            let (_, told) = self.bench.expect(2, &format!("{approve} 11111-22222 --called {}", others[0]));
            assert!(told.contains("do not approve"), "{told}");
            let (_, told) = self.bench.expect(2, &format!("{approve} {fingerprint} --called ost"));
            assert!(told.contains("no other site of the roster"), "{told}");
            let (told, _) =
                self.bench.expect(0, &format!("{approve} {fingerprint} --called {}", others.join(",")));
            assert!(told.contains("is approved"), "{told}");
            let (_, told) = self.bench.expect(2, &format!("{approve} {fingerprint}"));
            assert!(told.contains("no roster waits"), "{told}");
            seen.push(fingerprint);
        }
        assert!(seen.iter().all(|fingerprint| *fingerprint == seen[0]), "{seen:?}");
    }

    /// An honest courier goes round until every site waits for its officer.
    fn until_rosters_wait(&self, stops: &mut [Stop]) {
        for _ in 0..20 {
            stops.iter_mut().for_each(|stop| stop.carry(&self.hub.socket));
        }
        assert!(stops.iter().all(|stop| stop.state == SiteStands::Officer), "{}", self.bench.read("log"));
    }

    /// Goes round until everybody knows that the study is over.
    fn until_over(&self, stops: &mut [Stop]) {
        let since = Instant::now();
        while stops.iter().any(|stop| stop.state != SiteStands::Over) {
            assert!(since.elapsed() < Duration::from_secs(120), "no end\n{}", self.bench.read("log"));
            stops.iter_mut().for_each(|stop| stop.carry(&self.hub.socket));
        }
        while !is_over(&self.hub.socket) {
            assert!(since.elapsed() < Duration::from_secs(120), "the coordinator does not say so");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// `fit.json` of the coordinator without its provenance; every site has the same.
    fn fit(&self) -> Value {
        let since = Instant::now();
        while !self.bench.path("centre/results/bank/fit.json").exists() {
            assert!(since.elapsed() < Duration::from_secs(60), "no results at the coordinator");
            std::thread::sleep(Duration::from_millis(10));
        }
        let without = |file: &str| {
            let mut fit = self.bench.json(file);
            fit["provenance"].take();
            fit
        };
        let fit = without("centre/results/bank/fit.json");
        for site in SITES {
            assert_eq!(without(&format!("home-{site}/studies/bank/results/fit.json")), fit, "{site}");
        }
        fit
    }

    fn journal(&self, site: &str) -> String {
        self.bench.read(&format!("home-{site}/studies/bank/journal.jsonl"))
    }

    /// No attempt has more than one release or upload, and the chains of hashes hold.
    fn check_journals(&self) {
        for site in SITES {
            let mut turns = Vec::new();
            for line in self.journal(site).lines() {
                let line: Value = serde_json::from_str(line).expect("a line of JSON");
                if line["entry"]["event"] == "upload" {
                    turns.push(line["entry"]["turn"].to_string());
                }
            }
            let all = turns.len();
            turns.dedup();
            assert_eq!(all, turns.len(), "{site}: two answers in one attempt");
            self.bench.expect(0, &format!("site --home home-{site} audit"));
        }
    }
}

#[test]
fn a_carried_study_has_the_fit_of_one_process() {
    let consortium = Consortium::new("secure");
    let bench = &consortium.bench;
    for socket in ["hub.sock", "north.sock"] {
        let mode = std::fs::metadata(bench.path(socket)).expect("a socket").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{socket}");
    }
    let (_, told) =
        bench.expect(2, "site --home home-north mailbox bank north.csv --socket north.sock --yes");
    assert!(told.contains("a mailbox that answers"), "{told}");
    let mut stops = consortium.stops();
    consortium.until_rosters_wait(&mut stops);
    consortium.approve();
    consortium.until_over(&mut stops);
    assert_eq!(consortium.fit(), bench.fit("north.csv south.csv west.csv --secure"));
    consortium.check_journals();
    // What is known of a message is what is written down.
    let transcript = bench.read("home-north/studies/bank/results/transcript.jsonl");
    assert!(transcript.contains("\"posted\"") && !transcript.contains("\"acknowledged\""), "{transcript}");
    let journal = consortium.journal("north");
    assert!(journal.lines().next().is_some_and(|line| line.contains("\"posted\"")), "{journal}");
    // A site that is over says so, and nothing else.
    let answer = visit(&stops[0].site, None);
    assert_eq!((answer.header.state, answer.parts.len()), (SiteStands::Over, 0));
    assert!(
        !bench.path("home-north/studies/bank/enrolment.bin").exists(),
        "the invitation's secret is erased"
    );
    // Joined until the coordinator had said something that follows from it, and not in every exchange since.
    let joins = transcript.matches("\"kind\":\"join\"").count();
    let uploads = transcript.matches("\"kind\":\"upload\"").count();
    assert!(joins < 25 && uploads > 5, "{joins} joins, {uploads} uploads");
}

#[test]
fn a_courier_that_loses_repeats_reorders_and_forges_changes_nothing() {
    let mut consortium = Consortium::new("secure");
    let mut stops = consortium.stops();
    consortium.until_rosters_wait(&mut stops);
    consortium.approve();
    let mut dice = Dice(2026);
    let mut mails: Vec<Vec<u8>> = Vec::new();
    let mut parts: Vec<(PartKind, Vec<u8>)> = Vec::new();
    let stranger = Identity::from_secret(&[9; 32]);
    let ended = ToSite { step: 999, notice: Notice::Ended { reason: "go home".into() } };
    let ended = codec::encode(&ended).expect("a sound test");
    let study = fedirt_protocol::StudyId::try_from("bank").expect("a name");
    for _ in 0..400 {
        let at = dice.below(SITES.len());
        let hub = consortium.hub.socket.clone();
        let mail = stops[at].mail(&hub);
        mails.extend(mail.clone());
        let old = (!mails.is_empty()).then(|| mails[dice.below(mails.len())].clone());
        let site = SiteId::try_from(SITES[at]).expect("a name");
        let carried = match dice.below(8) {
            // Any site's mail of any time, damaged mail, and the end of the study from somebody else.
            0 => old,
            1 => old.map(|mail| dice.damage(&mail)),
            2 => Some(envelope::seal_notice(&study, &site, &stranger, &ended)),
            3 => Some(ended.clone()),
            _ => mail,
        };
        let said = stops[at].exchange(carried);
        parts.extend(said.iter().cloned());
        match dice.below(6) {
            // Lost.
            0 => {}
            // Forged, and something of earlier; both before what was said.
            1 if !parts.is_empty() => {
                let (kind, part) = parts[dice.below(parts.len())].clone();
                hand_in(&hub, kind, &dice.damage(&part));
                let (kind, part) = parts[dice.below(parts.len())].clone();
                hand_in(&hub, kind, &part);
                said.iter().for_each(|(kind, part)| drop(hand_in(&hub, *kind, part)));
            }
            // Twice, and in another order.
            2 => {
                said.iter().rev().for_each(|(kind, part)| drop(hand_in(&hub, *kind, part)));
                said.iter().for_each(|(kind, part)| drop(hand_in(&hub, *kind, part)));
            }
            _ => said.iter().for_each(|(kind, part)| drop(hand_in(&hub, *kind, part))),
        }
        // Power failures.
        match dice.below(25) {
            0 => consortium.hub.kill_and_start(&consortium.bench),
            1 => consortium.sites[at].kill_and_start(&consortium.bench),
            _ => {}
        }
        // The courier itself forgets.
        if dice.below(25) == 0 {
            stops[at].poll = None;
        }
    }
    consortium.until_over(&mut stops);
    assert_eq!(consortium.fit(), consortium.bench.fit("north.csv south.csv west.csv --secure"));
    consortium.check_journals();
}

#[test]
fn a_hostile_coordinator_is_refused_as_over_https() {
    let consortium = Consortium::new("secure");
    let mut stops = consortium.stops();
    consortium.until_rosters_wait(&mut stops);
    consortium.approve();
    let hub = &consortium.hub.socket;
    let study = fedirt_protocol::StudyId::try_from("bank").expect("a name");
    let south = SiteId::try_from("south").expect("a name");
    let hex = consortium.bench.read("centre/mailbox.key");
    let byte = |k: usize| u8::from_str_radix(&hex[2 * k..2 * k + 2], 16).expect("hexadecimal digits");
    let coordinator = Identity::from_secret(&std::array::from_fn(byte));
    // To the first round that is open at the second site.
    let (mut open, since) = (None, Instant::now());
    while open.is_none() {
        assert!(since.elapsed() < Duration::from_secs(60), "no round opens");
        for (at, stop) in stops.iter_mut().enumerate() {
            let Some(mail) = stop.mail(hub) else { continue };
            let notice: ToSite =
                envelope::unseal(&mail, &study, &south, &coordinator.public(), envelope::NOTICE)
                    .unwrap_or(ToSite { step: 0, notice: Notice::Ended { reason: String::new() } });
            if at == 1 && matches!(notice.notice, Notice::Open { .. }) {
                open = Some(notice);
                break;
            }
            let parts = stop.exchange(Some(mail));
            parts.iter().for_each(|(kind, part)| drop(hand_in(hub, *kind, part)));
        }
    }
    let open = open.expect("an open round");
    let uploads = || consortium.journal("south").matches("\"event\":\"upload\"").count();
    let sealed = |notice: &ToSite| {
        let bytes = codec::encode(notice).expect("a sound test");
        envelope::seal_notice(&study, &south, &coordinator, &bytes)
    };
    let Notice::Open { turn, hellos, broadcast } = open.notice.clone() else { panic!("an open round") };
    let altered = |hellos: &[Vec<u8>], broadcast| {
        let notice = Notice::Open { turn, hellos: hellos.to_vec(), broadcast };
        sealed(&ToSite { step: open.step, notice })
    };
    // Other sites and other bytes than what was announced: refused, nothing leaves, though the coordinator signed it.
    let before = uploads();
    let mut told: Broadcast = codec::decode(&broadcast).expect("a broadcast");
    told.cohort.pop();
    let fewer = codec::encode(&told).expect("a sound test");
    for mail in [
        altered(&hellos, fewer.clone()),
        altered(&hellos[..2], fewer),
        altered(&hellos[..2], broadcast.clone()),
    ] {
        stops[1].exchange(Some(mail));
    }
    assert_eq!(uploads(), before);
    assert!(consortium.journal("south").matches("\"event\":\"refused\"").count() > 1);
    let first = stops[1].exchange(Some(sealed(&open)));
    assert_eq!((uploads(), first.len()), (before + 1, 1), "the question is answered");
    // The same attempt again, with the same or with other parameters: the same bytes, as one attempt has one answer.
    let mut dice = Dice(5);
    for k in 0..10 {
        let broadcast = if k == 0 { broadcast.clone() } else { dice.damage(&broadcast) };
        assert!(stops[1].exchange(Some(altered(&hellos, broadcast))) == first, "another answer");
    }
    assert_eq!(uploads(), before + 1);
    // A node that is no site is nobody.
    let stranger = Identity::from_secret(&[9; 32]);
    let poll = envelope::Poll { seen: 0, wait_seconds: 0 };
    let sealed = envelope::seal(&study, &south, &stranger, envelope::POLL, &poll).expect("a sound test");
    let answer = hand_in(hub, PartKind::Poll, &sealed);
    assert_eq!((answer.header.site, answer.parts.len()), (None, 0));
    assert_eq!(answer.header.refused.expect("refused").0, "bad_signature");
    // The study goes on with the honest mail.
    first.iter().for_each(|(kind, part)| drop(hand_in(hub, *kind, part)));
    consortium.until_over(&mut stops);
    assert_eq!(consortium.fit(), consortium.bench.fit("north.csv south.csv west.csv --secure"));
}

#[test]
fn a_private_study_is_carried_to_its_end() {
    let mut consortium = Consortium::new("private");
    let mut stops = consortium.stops();
    consortium.until_rosters_wait(&mut stops);
    consortium.approve();
    for k in 0..6 {
        stops.iter_mut().for_each(|stop| stop.carry(&consortium.hub.socket));
        consortium.sites[k % 3].kill_and_start(&consortium.bench);
    }
    consortium.until_over(&mut stops);
    let fit = consortium.fit();
    assert_eq!(fit["privacy"]["epsilon"], 1.0, "{}", fit["privacy"]);
    consortium.check_journals();
}

#[test]
fn a_flower_project_is_written_whole_and_once() {
    let bench = Bench::new();
    bench.expect(0, "flower init bank --out app --socket /run/hub.sock");
    let names = [".gitignore", "LICENSE", "README.md", "fedirt_courier", "pyproject.toml", "systemd"];
    assert_eq!(bench.names("app"), names);
    let project = bench.read("app/pyproject.toml");
    for line in ["study = \"bank\"", "mailbox = \"/run/hub.sock\"", "dependencies = [\"flwr>=1.41,<1.42\"]"] {
        assert!(project.contains(line), "{line}\n{project}");
    }
    for file in
        ["README.md", "pyproject.toml", "systemd/fedirt-site.service", "systemd/flower-supernode.service"]
    {
        assert!(!bench.read(&format!("app/{file}")).contains('@'), "{file}");
    }
    let (_, told) = bench.expect(2, "flower init bank --out app");
    assert!(told.contains("pyproject.toml"), "{told}");
    bench.expect(2, "flower init .. --out other");
}
