//! The gate from outside: who gets in, who does not, and what browsers are told.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use axum::body::Body;
use axum::http::{HeaderMap, Request, Response, StatusCode};
use axum::routing::{get, post};
use axum::{Extension, Router};
use fedirt_ui::session::Lifetimes;
use fedirt_ui::{Fields, Gate, GateSettings, Login, Outside, Right, Role, Route, Secret, Visitor, router};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tower_service::Service;

/// A clock that a test sets, and randomness that it knows.
#[derive(Default)]
struct World {
    now: AtomicU64,
    drawn: AtomicU64,
}

impl Outside for World {
    fn now(&self) -> u64 {
        self.now.load(Ordering::SeqCst)
    }

    fn fill(&self, bytes: &mut [u8]) -> bool {
        let n = self.drawn.fetch_add(1, Ordering::SeqCst) + 1;
        bytes.iter_mut().for_each(|byte| *byte = n as u8);
        true
    }
}

/// Log-ins that can be taken away.
struct Book(Mutex<Vec<Login>>);

impl fedirt_ui::Logins for Book {
    fn current(&self) -> Vec<Login> {
        self.0.lock().unwrap().clone()
    }
}

struct Pages {
    world: Arc<World>,
    book: Arc<Book>,
    router: Router,
}

const KEYS: [(Role, u8); 3] = [(Role::Auditor, 201), (Role::Analyst, 202), (Role::Administrator, 203)];

fn key(role: Role) -> Secret {
    let byte = KEYS.iter().find(|(r, _)| *r == role).unwrap().1;
    Secret::from_bytes([byte; 32])
}

fn pages(tls: bool) -> Pages {
    let world = Arc::new(World::default());
    let logins = KEYS.map(|(role, _)| Login {
        name: role.name().to_owned(),
        role,
        hash: key(role).hash(),
        created: String::new(),
    });
    let book = Arc::new(Book(Mutex::new(logins.to_vec())));
    let settings = GateSettings {
        product: "test",
        port: 8444,
        tls,
        hosts: vec!["localhost".into(), "::1".into()],
        lifetimes: Lifetimes { idle: 1000, longest: 5000 },
    };
    let gate = Arc::new(Gate::new(settings, book.clone(), world.clone()));
    async fn who(Extension(visitor): Extension<Visitor>) -> String {
        format!("{} {}", visitor.name, visitor.forms.reveal())
    }
    async fn did(Extension(fields): Extension<Fields>) -> String {
        format!("did {}", fields.get("what"))
    }
    let routes = vec![
        Route::get("/", Right::Read, get(who)),
        Route::post("/analyse", Right::Analyse, post(did)),
        Route::post("/do", Right::Administer, post(did)),
    ];
    Pages { world, book, router: router(&gate, routes, ()) }
}

impl Pages {
    async fn send(&self, request: Request<Body>) -> (StatusCode, HeaderMap, String) {
        let response: Response<Body> = self.router.clone().call(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = axum::body::to_bytes(body, 1 << 20).await.unwrap();
        (parts.status, parts.headers, String::from_utf8(bytes.to_vec()).unwrap())
    }

    async fn get(&self, path: &str, cookie: &str) -> (StatusCode, HeaderMap, String) {
        let request = Request::get(path).header("host", "localhost:8444").header("cookie", cookie);
        self.send(request.body(Body::empty()).unwrap()).await
    }

    async fn post(&self, path: &str, cookie: &str, body: &str) -> (StatusCode, HeaderMap, String) {
        self.send(form(path, cookie, body)).await
    }

    /// Logs in; returns the cookie and the token of forms.
    async fn enter(&self, role: Role) -> (String, String) {
        let (status, headers, _) = self.post("/login", "", &format!("key={}", key(role).reveal())).await;
        assert_eq!(status, StatusCode::SEE_OTHER);
        let set = headers["set-cookie"].to_str().unwrap();
        let cookie = set.split(';').next().unwrap().to_owned();
        let (status, _, text) = self.get("/", &cookie).await;
        assert_eq!(status, StatusCode::OK);
        (cookie, text.split(' ').nth(1).unwrap().to_owned())
    }
}

fn form(path: &str, cookie: &str, body: &str) -> Request<Body> {
    let mut request = Request::post(path)
        .header("host", "localhost:8444")
        .header("origin", "http://localhost:8444")
        .header("sec-fetch-site", "same-origin")
        .header("content-type", "application/x-www-form-urlencoded")
        .header("cookie", cookie)
        .body(Body::from(body.to_owned()))
        .unwrap();
    request.extensions_mut().insert(axum::extract::ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 5))));
    request
}

#[tokio::test]
async fn strangers_are_sent_to_the_door_and_back() {
    let pages = pages(false);
    let (status, headers, _) = pages.get("/?a=1", "").await;
    assert_eq!(
        (status, headers["location"].to_str().unwrap()),
        (StatusCode::SEE_OTHER, "/login?next=%2F%3Fa%3D1")
    );
    let body = format!("next=%2F%3Fa%3D1&key={}", key(Role::Auditor).reveal());
    let (_, headers, _) = pages.post("/login", "", &body).await;
    assert_eq!(headers["location"], "/?a=1");
    let (cookie, _) = pages.enter(Role::Auditor).await;
    let (status, ..) = pages.get("/login", &cookie).await;
    assert_eq!(status, StatusCode::SEE_OTHER, "who is in need not knock");
}

#[tokio::test]
async fn sessions_expire_and_can_be_ended() {
    let pages = pages(false);
    let (cookie, token) = pages.enter(Role::Administrator).await;
    pages.world.now.store(999, Ordering::SeqCst);
    assert_eq!(pages.get("/", &cookie).await.0, StatusCode::OK);
    pages.world.now.store(1999, Ordering::SeqCst);
    let (status, headers, text) = pages.get("/deep?x=1", &cookie).await;
    assert_eq!(status, StatusCode::NOT_FOUND, "what is not there asks for no log-in: {headers:?} {text}");
    let (status, headers, text) = pages.get("/", &cookie).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    assert!(text.contains("Your session has ended") && text.contains("name=\"next\" value=\"/\""), "{text}");
    assert!(headers["set-cookie"].to_str().unwrap().contains("Max-Age=0"));
    let (status, ..) = pages.post("/do", &cookie, &format!("csrf={token}&what=x")).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED, "nothing is done without a session");
    let (cookie, token) = pages.enter(Role::Administrator).await;
    let (status, ..) = pages.post("/logout", &cookie, &format!("csrf={token}")).await;
    assert_eq!(status, StatusCode::SEE_OTHER);
    assert_eq!(pages.get("/", &cookie).await.0, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn whoever_is_revoked_is_out_at_once() {
    let pages = pages(false);
    let (cookie, _) = pages.enter(Role::Analyst).await;
    pages.book.0.lock().unwrap().retain(|login| login.role != Role::Analyst);
    assert_eq!(pages.get("/", &cookie).await.0, StatusCode::UNAUTHORIZED);
    let (status, ..) = pages.post("/login", "", &format!("key={}", key(Role::Analyst).reveal())).await;
    assert_eq!(status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn forms_need_their_token_and_their_origin() {
    let pages = pages(false);
    let (cookie, token) = pages.enter(Role::Administrator).await;
    let good = format!("csrf={token}&what=it");
    let (status, _, text) = pages.post("/do", &cookie, &good).await;
    assert_eq!((status, text.as_str()), (StatusCode::OK, "did it"));
    for bad in [
        "what=it".to_owned(),
        "csrf=&what=it".into(),
        format!("csrf={}&what=it", key(Role::Auditor).reveal()),
    ] {
        assert_eq!(pages.post("/do", &cookie, &bad).await.0, StatusCode::FORBIDDEN, "{bad}");
    }
    for (name, value) in [
        ("origin", "http://evil.example"),
        ("origin", "https://localhost:8444"),
        ("origin", "null"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        let mut request = form("/do", &cookie, &good);
        request.headers_mut().insert(name, value.parse().unwrap());
        assert_eq!(pages.send(request).await.0, StatusCode::FORBIDDEN, "{name}: {value}");
    }
    let mut request = form("/do", &cookie, &good);
    request.headers_mut().remove("origin");
    request.headers_mut().remove("sec-fetch-site");
    assert_eq!(pages.send(request).await.0, StatusCode::FORBIDDEN, "no browser says neither");
    let mut request = form("/do", &cookie, &good);
    request.headers_mut().insert("content-type", "text/plain".parse().unwrap());
    assert_eq!(pages.send(request).await.0, StatusCode::UNSUPPORTED_MEDIA_TYPE);
}

#[tokio::test]
async fn roles_reach_what_they_may() {
    let pages = pages(false);
    for role in Role::ALL {
        let (cookie, token) = pages.enter(role).await;
        for (path, right) in [("/analyse", Right::Analyse), ("/do", Right::Administer)] {
            let (status, ..) = pages.post(path, &cookie, &format!("csrf={token}")).await;
            let expected = if role.may(right) { StatusCode::OK } else { StatusCode::FORBIDDEN };
            assert_eq!(status, expected, "{role} {path}");
        }
    }
}

#[tokio::test]
async fn wrong_keys_run_into_a_limit() {
    let pages = pages(false);
    for _ in 0..10 {
        assert_eq!(pages.post("/login", "", "key=guess").await.0, StatusCode::FORBIDDEN);
    }
    let (status, headers, _) = pages.post("/login", "", "key=guess").await;
    assert_eq!((status, headers["retry-after"].to_str().unwrap()), (StatusCode::TOO_MANY_REQUESTS, "900"));
    // Whoever has a key is not kept out by those who guess.
    pages.enter(Role::Auditor).await;
    assert_eq!(pages.post("/login", "", "key=guess").await.0, StatusCode::TOO_MANY_REQUESTS);
    pages.world.now.store(900_001, Ordering::SeqCst);
    assert_eq!(pages.post("/login", "", "key=guess").await.0, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn other_names_are_refused() {
    let pages = pages(false);
    for (host, status) in [
        ("evil.example", StatusCode::MISDIRECTED_REQUEST),
        ("localhost", StatusCode::SEE_OTHER),
        ("LOCALHOST:1", StatusCode::SEE_OTHER),
        ("[::1]:8444", StatusCode::SEE_OTHER),
        ("", StatusCode::MISDIRECTED_REQUEST),
    ] {
        let request = Request::get("/").header("host", host).body(Body::empty()).unwrap();
        assert_eq!(pages.send(request).await.0, status, "{host:?}");
    }
}

#[tokio::test]
async fn browsers_are_told_to_be_careful() {
    for tls in [false, true] {
        let pages = pages(tls);
        for path in ["/", "/login", "/nothing", "/assets/style.css", "/assets/none"] {
            let (_, headers, _) = pages.get(path, "").await;
            let policy = headers["content-security-policy"].to_str().unwrap();
            assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{path}");
            assert_eq!(headers["x-content-type-options"], "nosniff");
            assert_eq!(headers["referrer-policy"], "same-origin");
            assert_eq!(headers["cross-origin-opener-policy"], "same-origin");
            assert!(headers.contains_key("cache-control"), "{path}");
        }
    }
    let pages = pages(false);
    let (_, _, text) = pages.get("/login", "").await;
    assert!(!text.contains("<style") && !text.contains("style=") && !text.contains("onclick"), "{text}");
    let style = text.split("href=\"").find(|part| part.starts_with("/assets/style.css")).unwrap();
    let (status, headers, _) = pages.get(style.split('"').next().unwrap(), "").await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(headers["content-type"], "text/css; charset=utf-8");
    assert!(headers["cache-control"].to_str().unwrap().contains("immutable"));
    assert_eq!(pages.get("/assets/style.css", "").await.1["cache-control"], "no-cache");
}

#[tokio::test]
async fn what_is_typed_is_shown_as_text() {
    let pages = pages(false);
    let (_, _, text) = pages.get("/login?next=/%22%3E%3Cscript%3E", "").await;
    assert!(!text.contains("\"><script>"), "{text}");
}
