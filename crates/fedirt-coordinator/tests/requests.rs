//! Requests that are wrong, late, too long, forged or too slow: each is answered by name, and none does harm.

mod common;

use common::{Client, code, folder, get, get_with, invited, post, start};
use data_encoding::BASE64URL_NOPAD;
use fedirt_coordinator::store::{EventLog, SqliteLog};
use fedirt_coordinator::{Folder, Running, invite};
use fedirt_model::statistics::Mode;
use fedirt_privacy::secure::Identity;
use fedirt_protocol::message::{ToCoordinator, Turn};
use fedirt_protocol::{Timestamp, codec, envelope};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn running() -> (tempfile::TempDir, Folder, Running, Client) {
    let (dir, folder) = folder(&["reading"], Mode::Secure);
    let server = start(&folder);
    let client = Client::new(invited(&folder, server.address, "reading", "north"), Mode::Secure, 1);
    (dir, folder, server, client)
}

#[test]
fn an_invitation_admits_one_key() {
    let (_dir, folder, server, first) = running();
    assert_eq!(first.enrol().0, 204);
    assert_eq!(first.enrol().0, 204, "an answer may be lost");
    let second = Client::new(first.invitation.clone(), Mode::Secure, 2);
    assert_eq!(code(&second.enrol()), "invitation_used");
    // A new invitation replaces a lost key, and the old key does not come back.
    let third = Client::new(invited(&folder, server.address, "reading", "north"), Mode::Secure, 3);
    assert_eq!(third.enrol().0, 204);
    assert_eq!(code(&first.enrol()), "invitation_used");
    assert_eq!(third.poll(0), None);
    server.stop().unwrap();
}

#[test]
fn invitations_expire_and_are_replaced() {
    let (_dir, folder, server, early) = running();
    let late = Client::new(invited(&folder, server.address, "reading", "north"), Mode::Secure, 1);
    assert_eq!(code(&early.enrol()), "invitation_withdrawn");
    let connection = rusqlite::Connection::open(folder.store()).unwrap();
    connection.execute("UPDATE invitations SET expires_ms = 1", []).unwrap();
    let answer = late.enrol();
    assert_eq!(code(&answer), "invitation_expired");
    assert!(String::from_utf8_lossy(&answer.1).contains("1970"), "{answer:?}");
    let mut guess = late.invitation.clone();
    guess.secret = [7; 32];
    assert_eq!(code(&Client::new(guess, Mode::Secure, 1).enrol()), "invitation_unknown");
    // An invitation of one site is none of another.
    let south = invited(&folder, server.address, "reading", "south");
    let mut stolen = late.invitation.clone();
    stolen.secret = south.secret;
    assert_eq!(code(&Client::new(stolen, Mode::Secure, 1).enrol()), "invitation_unknown");
    assert!(invite::invite(&folder, "reading", "nowhere", 1, None).is_err());
    server.stop().unwrap();
}

#[test]
fn only_the_enrolled_key_speaks() {
    let (_dir, _folder, server, mut client) = running();
    let join = ToCoordinator::Join(vec![1]);
    assert_eq!(code(&client.send(&join)), "not_enrolled");
    assert_eq!(client.enrol().0, 204);
    assert_eq!(code(&client.send(&join)), "invalid");
    assert_eq!(code(&client.send(&ToCoordinator::Hello(vec![]))), "not_now");
    let turn = Turn { round: 9, attempt: 1 };
    assert_eq!(code(&client.send(&ToCoordinator::Refuse { turn, reason: String::new() })), "wrong_turn");
    assert_eq!(code(&client.send(&ToCoordinator::Enrol(vec![]))), "invitation_needed");
    // A poll is no message.
    let poll = envelope::Poll { seen: 0, wait_seconds: 0 };
    let bytes = envelope::seal(&client.study, &client.site, &client.identity, envelope::POLL, &poll).unwrap();
    assert_eq!(code(&client.post("/v1/studies/reading/messages", &bytes)), "bad_signature");
    client.identity = Identity::generate(&mut ChaCha20Rng::seed_from_u64(77));
    assert_eq!(code(&client.send(&join)), "bad_signature");
    server.stop().unwrap();
}

#[test]
fn bodies_of_any_shape_are_answered() {
    let (_dir, _folder, server, client) = running();
    assert_eq!(client.enrol().0, 204);
    let at = |path: &str| format!("{}{path}", client.invitation.address);
    let good = client.enrol_request();
    let sealed =
        envelope::seal(&client.study, &client.site, &client.identity, envelope::MESSAGE, &7u64).unwrap();
    for path in ["/v1/enrol", "/v1/studies/reading/messages", "/v1/studies/reading/poll"] {
        for body in
            [&b""[..], b"FIRT", b"FIRT\x01", b"FIRT\xff", &good[..good.len() - 1], &[0xff; 300], &sealed]
        {
            let (status, answer) = post(&client.agent, &at(path), body);
            assert!((400..500).contains(&status), "{path}: {status} {}", String::from_utf8_lossy(&answer));
            code(&(status, answer));
        }
        // Every cut and some flips of a message that would be good.
        for cut in (0..good.len()).step_by(7) {
            assert!(post(&client.agent, &at(path), &good[..cut]).0 >= 400);
            let mut flipped = good.clone();
            flipped[cut] ^= 0x41;
            assert!(post(&client.agent, &at(path), &flipped).0 >= 400);
        }
    }
    assert_eq!(code(&client.post("/v1/studies/unknown/messages", b"x")), "no_study");
    assert_eq!(code(&client.post("/v1/enrol", &vec![0; 20 << 10])), "too_long");
    assert_eq!(code(&client.post("/nowhere", b"")), "no_route");
    assert_eq!(code(&client.post("/health", b"")), "method");
    assert_eq!(get(&client.agent, &at("/health")).0, 200);
    server.stop().unwrap();
}

#[test]
fn what_operators_and_officers_read() {
    let (_dir, folder, server, client) = running();
    assert_eq!(client.enrol().0, 204);
    let at = |path: &str| format!("{}{path}", client.invitation.address);
    let secret = BASE64URL_NOPAD.encode(&client.invitation.secret);
    let (status, plan) = get_with(&client.agent, &at("/v1/studies/reading/plan"), &secret);
    assert_eq!((status, plan), (200, common::plan_text("reading", Mode::Secure)));
    let key = std::fs::read_to_string(folder.metrics_key()).unwrap();
    let (_, metrics) = get_with(&client.agent, &at("/metrics"), key.trim());
    for line in [
        "fedirt_messages_total{kind=\"enrol\"} 1",
        "fedirt_requests_total{route=\"/v1/enrol\",status=\"204\"} 1",
        "fedirt_studies{phase=\"gathering\"} 1",
        "fedirt_events_total 1",
        "fedirt_connected_sites 1",
    ] {
        assert!(metrics.contains(line), "{line} is missing in\n{metrics}");
    }
    let (_, openapi) = get(&client.agent, &at("/openapi.json"));
    assert!(openapi.contains("/v1/enrol"));
    let response = client.agent.get(at("/health")).call().unwrap();
    for header in ["x-request-id", "x-content-type-options", "content-security-policy", "cache-control"] {
        assert!(response.headers().contains_key(header), "{header}");
    }
    server.stop().unwrap();
}

#[test]
fn plan_and_metrics_are_not_for_strangers() {
    let (_dir, folder) = folder(&["reading", "writing"], Mode::Secure);
    let server = start(&folder);
    let invited_now = |study| invited(&folder, server.address, study, "north");
    let (early, writing) = (invited_now("reading"), invited_now("writing"));
    let client = Client::new(invited_now("reading"), Mode::Secure, 1);
    let asked = |path: &str, token: Option<&str>| {
        let url = format!("{}{path}", client.invitation.address);
        let (status, text) = match token {
            Some(token) => get_with(&client.agent, &url, token),
            None => get(&client.agent, &url),
        };
        if status == 200 { "shown".to_owned() } else { code(&(status, text.into_bytes())) }
    };
    let plan = "/v1/studies/reading/plan";
    let of = |secret: [u8; 32]| BASE64URL_NOPAD.encode(&secret);
    let key = std::fs::read_to_string(folder.metrics_key()).unwrap();
    assert_eq!(asked(plan, None), "invitation_needed");
    assert_eq!(asked(plan, Some("")), "invitation_needed");
    for stranger in [of([0; 32]), of(writing.secret), key.trim().to_owned()] {
        assert_eq!(asked(plan, Some(&stranger)), "invitation_needed");
        // Whether there is such a study is none of a stranger's business either.
        assert_eq!(asked("/v1/studies/unknown/plan", Some(&stranger)), "invitation_needed");
    }
    assert_eq!(asked(plan, Some(&of(early.secret))), "invitation_withdrawn");
    assert_eq!(asked(plan, Some(&of(client.invitation.secret))), "shown");
    assert_eq!(asked("/metrics", None), "key_needed");
    assert_eq!(asked("/metrics", Some(&of(client.invitation.secret))), "key_needed");
    assert_eq!(asked("/metrics", Some(key.trim())), "shown");
    // Time passes: an invitation that nobody used shows nothing any more, one that was used still does.
    let expire = || {
        let connection = rusqlite::Connection::open(folder.store()).unwrap();
        connection.execute("UPDATE invitations SET expires_ms = 1", []).unwrap();
    };
    expire();
    assert_eq!(asked(plan, Some(&of(client.invitation.secret))), "invitation_expired");
    let again = Client::new(invited_now("reading"), Mode::Secure, 2);
    assert_eq!(again.enrol().0, 204);
    expire();
    assert_eq!(asked(plan, Some(&of(again.invitation.secret))), "shown");
    server.stop().unwrap();
}

/// A connection without an HTTP client.
fn raw(client: &Client, server: &Running) -> rustls::StreamOwned<rustls::ClientConnection, TcpStream> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(client.invitation.authority.clone().expect("an authority").into()).expect("a certificate");
    let config = rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let name = "localhost".try_into().expect("a name");
    let socket = TcpStream::connect(server.address).expect("a server");
    socket.set_read_timeout(Some(Duration::from_secs(10))).expect("a limit");
    rustls::StreamOwned::new(
        rustls::ClientConnection::new(Arc::new(config), name).expect("a connection"),
        socket,
    )
}

#[test]
fn slow_and_oversize_clients_are_cut() {
    let (_dir, folder) = folder(&["reading"], Mode::Secure);
    let limits = "[limits]\nhandshake_seconds = 1\nheader_seconds = 1\nbody_seconds = 1\n";
    std::fs::write(folder.settings(), limits).unwrap();
    let server = start(&folder);
    let client = Client::new(invited(&folder, server.address, "reading", "north"), Mode::Secure, 1);
    let start = Instant::now();
    // Says nothing at all.
    let mut silent = TcpStream::connect(server.address).unwrap();
    silent.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    // Begins a head, and a body, and does not go on.
    let mut head = raw(&client, &server);
    head.write_all(b"POST /v1/enrol HTTP/1.1\r\nhost:").unwrap();
    let mut body = raw(&client, &server);
    body.write_all(
        b"POST /v1/studies/reading/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\nFIRT",
    )
    .unwrap();
    let mut huge = raw(&client, &server);
    let length = codec::MAX_BYTES + 1;
    write!(huge, "POST /v1/studies/reading/messages HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n")
        .unwrap();
    let mut endless = raw(&client, &server);
    endless.write_all(b"POST /v1/enrol HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n").unwrap();
    let text = |stream: &mut dyn Read| {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    };
    assert!(text(&mut huge).starts_with("HTTP/1.1 413"));
    assert!(text(&mut endless).starts_with("HTTP/1.1 411"));
    assert_eq!(text(&mut silent), "");
    assert!(text(&mut head).is_empty() || !text(&mut head).contains("200"));
    assert!(text(&mut body).contains("too_slow"));
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
    assert_eq!(client.enrol().0, 204, "others are served");
    server.stop().unwrap();
}

#[test]
fn a_poll_waits_for_news_and_a_stop_ends_it() {
    let (_dir, _folder, server, client) = running();
    assert_eq!(client.enrol().0, 204);
    let start = Instant::now();
    assert_eq!(client.poll(1), None);
    assert!(start.elapsed() >= Duration::from_millis(900));
    let waiting = std::thread::spawn(move || client.poll(30));
    std::thread::sleep(Duration::from_millis(300));
    let start = Instant::now();
    server.stop().unwrap();
    assert_eq!(waiting.join().unwrap(), None);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[test]
fn time_is_written_down_as_it_was() {
    // A machine is replayed with the times of its events.
    let (_dir, folder, server, client) = running();
    assert_eq!(client.enrol().0, 204);
    server.stop().unwrap();
    let events = SqliteLog::open(&folder.store()).unwrap().events("reading", 0, 9).unwrap();
    assert_eq!(events.len(), 1);
    assert!(events[0].at > Timestamp(1_700_000_000_000));
}
