//! A courier between mailboxes, as a test can have it: in order, or as badly as a courier can be.

use crate::common::Bench;
use fedirt_protocol::mailbox::{
    FromCoordinatorMailbox, FromSiteMailbox, Parcel, PartKind, SiteStands, ToCoordinatorMailbox,
    ToSiteMailbox,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub(crate) const SITES: [&str; 3] = ["north", "south", "west"];

/// A mailbox that runs as a program of its own, and ends with the test.
pub(crate) struct Mailbox {
    arguments: String,
    pub(crate) socket: PathBuf,
    program: Child,
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

impl Mailbox {
    /// Starts one, and waits until it answers.
    pub(crate) fn start(bench: &Bench, arguments: &str, socket: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fedirt"));
        command.current_dir(bench.path("")).args(arguments.split_whitespace()).args(["--socket", socket]);
        let log = std::fs::File::options().append(true).create(true).open(bench.path("log")).expect("a log");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let program = command.spawn().expect("the program starts");
        let mailbox = Self { arguments: arguments.into(), socket: bench.path(socket), program };
        let since = Instant::now();
        while UnixStream::connect(&mailbox.socket).is_err() {
            assert!(
                since.elapsed() < Duration::from_secs(60),
                "{arguments}: no mailbox\n{}",
                bench.read("log")
            );
            std::thread::sleep(Duration::from_millis(5));
        }
        mailbox
    }

    /// Ends it with SIGKILL, and starts it again.
    pub(crate) fn kill_and_start(&mut self, bench: &Bench) {
        self.program.kill().and_then(|()| self.program.wait()).expect("a process of ours");
        let socket = self.socket.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        let arguments = std::mem::take(&mut self.arguments);
        *self = Self::start(bench, &arguments, &socket);
    }
}

/// One request, one answer.
pub(crate) fn ask<Q, A>(socket: &Path, request: &Parcel<Q>) -> io::Result<Parcel<A>>
where
    Q: Serialize + DeserializeOwned,
    A: Serialize + DeserializeOwned,
{
    let mut stream = UnixStream::connect(socket)?;
    request.write(&mut stream).map_err(io::Error::other)?;
    Parcel::read(&mut stream).map_err(io::Error::other)
}

/// Gives the coordinator a part.
pub(crate) fn hand_in(hub: &Path, kind: PartKind, part: &[u8]) -> Parcel<FromCoordinatorMailbox> {
    let request = Parcel { header: ToCoordinatorMailbox::Take { kind }, parts: vec![part.to_vec()] };
    ask(hub, &request).expect("the coordinator's mailbox answers")
}

/// Gives a site some mail, or none.
pub(crate) fn visit(site: &Path, mail: Option<Vec<u8>>) -> Parcel<FromSiteMailbox> {
    let header = ToSiteMailbox { study: "bank".into() };
    ask(site, &Parcel { header, parts: mail.into_iter().collect() }).expect("the site's mailbox answers")
}

/// Whether the study is over at the coordinator.
pub(crate) fn is_over(hub: &Path) -> bool {
    let answer: Parcel<FromCoordinatorMailbox> =
        ask(hub, &Parcel::of(ToCoordinatorMailbox::Status {})).expect("the coordinator's mailbox answers");
    answer.header.status.expect("a status").phase == fedirt_protocol::coordinator::Phase::Over
}

/// What a courier knows of a site: a socket, and the poll that it got there last.
pub(crate) struct Stop {
    pub(crate) site: PathBuf,
    pub(crate) poll: Option<Vec<u8>>,
    pub(crate) state: SiteStands,
}

impl Stop {
    pub(crate) fn at(site: &Path) -> Self {
        Self { site: site.to_owned(), poll: None, state: SiteStands::Waiting }
    }

    /// The mail that waits for the site; none if it is not known what it has.
    pub(crate) fn mail(&self, hub: &Path) -> Option<Vec<u8>> {
        self.poll.as_ref().and_then(|poll| hand_in(hub, PartKind::Poll, poll).parts.pop())
    }

    /// One way there and back: the parts that the site gives for the coordinator.
    pub(crate) fn exchange(&mut self, mail: Option<Vec<u8>>) -> Vec<(PartKind, Vec<u8>)> {
        let answer = visit(&self.site, mail);
        self.state = answer.header.state;
        let mut parts: Vec<_> = answer.header.parts.into_iter().zip(answer.parts).collect();
        if let Some(at) = parts.iter().position(|(kind, _)| *kind == PartKind::Poll) {
            self.poll = Some(parts.remove(at).1);
        }
        parts
    }

    /// Carries once, where there is something to carry.
    pub(crate) fn carry(&mut self, hub: &Path) {
        let mail = self.mail(hub);
        if self.state == SiteStands::Over || (self.poll.is_some() && mail.is_none()) {
            return;
        }
        for (kind, part) in self.exchange(mail) {
            hand_in(hub, kind, &part);
        }
    }
}

/// Random numbers for mischief, the same in every run.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    /// The bytes with one of them changed.
    pub(crate) fn damage(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        let at = self.below(bytes.len());
        bytes[at] ^= 1 << self.below(8);
        bytes
    }
}
