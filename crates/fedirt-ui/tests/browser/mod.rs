//! What a browser does, and a fit of any size.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use fedirt_coordinator::{Folder, Running, Server};
use fedirt_model::fit::{FORMAT, Fit, FitItem, FitSite, Latent, Quadrature, TraceEntry};
use fedirt_ui::{Role, coordinator as pages};
use std::net::SocketAddr;

/// A server with pages at some port of loopback.
pub(crate) fn start(folder: &Folder) -> Running {
    let settings = std::fs::read_to_string(folder.settings()).unwrap();
    std::fs::write(folder.settings(), settings.replace("127.0.0.1:8444", "127.0.0.1:0")).unwrap();
    let listen = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
    Server { listen, pages: Some(pages::prepare) }.start(folder.path()).unwrap()
}

/// Somebody at the pages.
pub(crate) struct Browser {
    agent: ureq::Agent,
    base: String,
    cookie: String,
    csrf: String,
}

impl Browser {
    pub(crate) fn stranger(server: &Running) -> Self {
        let base =
            server.pages.as_ref().unwrap().address.trim_end_matches('/').replace("localhost", "127.0.0.1");
        let agent = ureq::Agent::config_builder().http_status_as_error(false).max_redirects(0).build().into();
        Self { agent, base, cookie: String::new(), csrf: String::new() }
    }

    /// Somebody with a new log-in of a role.
    pub(crate) fn enter(folder: &Folder, server: &Running, role: Role) -> Self {
        let mut browser = Self::stranger(server);
        let key = pages::admit(folder, role.name(), role).unwrap().reveal();
        let mut response = browser.request("/login", &format!("key={key}"));
        assert_eq!(response.status().as_u16(), 303, "{:?}", response.body_mut().read_to_string());
        let set = response.headers()["set-cookie"].to_str().unwrap().to_owned();
        browser.cookie = set.split(';').next().unwrap().to_owned();
        let (_, text) = browser.get("/");
        let token = text.split("name=\"csrf\" value=\"").nth(1).unwrap();
        browser.csrf = token.split('"').next().unwrap().to_owned();
        browser
    }

    fn request(&self, path: &str, body: &str) -> ureq::http::Response<ureq::Body> {
        let post = self.agent.post(format!("{}{path}", self.base));
        post.header("cookie", &self.cookie)
            .header("origin", &self.base)
            .header("sec-fetch-site", "same-origin")
            .header("content-type", "application/x-www-form-urlencoded")
            .send(body)
            .unwrap()
    }

    pub(crate) fn get(&self, path: &str) -> (u16, String) {
        let mut response =
            self.agent.get(format!("{}{path}", self.base)).header("cookie", &self.cookie).call().unwrap();
        let bytes = response.body_mut().with_config().limit(1 << 26).read_to_vec().unwrap();
        (response.status().as_u16(), String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A stream that stays open.
    pub(crate) fn listen(&self, path: &str) -> impl std::io::Read {
        let get = self.agent.get(format!("{}{path}", self.base)).header("cookie", &self.cookie);
        let response = get.header("accept", "text/event-stream").call().unwrap();
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        response.into_body().into_reader()
    }

    pub(crate) fn post(&self, path: &str, fields: &[(&str, &str)]) -> (u16, String) {
        let mut body = format!("csrf={}", self.csrf);
        for (name, value) in fields {
            let value: String = value.bytes().map(|b| format!("%{b:02X}")).collect();
            body += &format!("&{name}={value}");
        }
        let mut response = self.request(path, &body);
        (response.status().as_u16(), response.body_mut().read_to_string().unwrap())
    }
}

/// A fit with numbers that look like some.
pub(crate) fn large_fit(items: usize, sites: usize) -> Fit {
    let wave = |n: usize| (n as f64 * 0.7).sin();
    let item = |n: usize| FitItem {
        name: format!("item{n:03}"),
        model: "2pl".into(),
        categories: 2,
        codes: vec![0, 1],
        merged: Vec::new(),
        a: Some(1.2 + 0.5 * wave(n)),
        d: vec![Some(-(1.2 + 0.5 * wave(n)) * 2.0 * wave(3 * n))],
        b: vec![Some(2.0 * wave(3 * n))],
        se_a: Some(0.1),
        se_d: vec![Some(0.08)],
        se_b: vec![Some(0.09)],
        n: Some(10_000),
        fixed: false,
        options: Vec::new(),
        bundle: Vec::new(),
        parameters: [("a1".to_owned(), Some(1.2 + 0.5 * wave(n)))]
            .into_iter()
            .chain([("d".to_owned(), Some(-(1.2 + 0.5 * wave(n)) * 2.0 * wave(3 * n)))])
            .collect(),
        se: [("a1".to_owned(), Some(0.1)), ("d".to_owned(), Some(0.08))].into_iter().collect(),
    };
    let site = |n: usize| FitSite {
        name: format!("site{n:03}"),
        n: 200,
        effect: Some(0.4 * wave(n)),
        se: Some(0.1),
    };
    let round = |round: usize| TraceEntry {
        round,
        loglik: Some(-1e5 + round as f64),
        max_gradient: Some(10f64.powi(-(round as i32))),
        max_change: Some(10f64.powi(-(round as i32))),
        slowest_items: vec!["item001".into()],
    };
    Fit {
        format: FORMAT.into(),
        model: "2pl".into(),
        effects: "fixed".into(),
        algorithm: "newton".into(),
        mode: "plain".into(),
        n: 200 * sites as u64,
        loglik: Some(-1e5),
        npar: 2 * items,
        aic: Some(2e5),
        bic: Some(2e5),
        sabic: Some(2e5),
        converged: Some(true),
        rounds: 4,
        exchanges: 5,
        numbers_sent: 12_345,
        max_gradient: Some(1e-9),
        se_type: Some("observed".into()),
        condition_number: Some(100.0),
        quadrature: Quadrature { nodes: 61, from: -6.0, to: 6.0, weights: "density".into() },
        latent: Latent::standard_normal(),
        site_sd: None,
        se_site_sd: None,
        site_sd_interval: None,
        items: (0..items).map(item).collect(),
        sites: (0..sites).map(site).collect(),
        trace: (1..5).map(round).collect(),
        curves: None,
        ability_histogram: None,
        diagnostics: None,
        privacy: None,
        codebook_hash: "00".repeat(32),
        warnings: Vec::new(),
        seed: None,
        version: "0".into(),
        provenance: None,
    }
}
