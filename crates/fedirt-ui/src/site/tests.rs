//! The pages over HTTP, as a browser asks for them. Whole studies are walked through in `e2e/`.

use super::*;
use crate::site::serve::PagesSettings;
use fedirt_agent::{self as agent, Delivery, POLICY_TEMPLATE, Transport, TransportError};
use fedirt_model::statistics::Mode;
use fedirt_protocol::Timestamp;
use fedirt_protocol::invitation::Invitation;
use fedirt_protocol::plan::{PlanItem, StudyPlan, template};
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use std::time::Duration;

/// A coordinator that shows a plan, and takes every key.
struct Welcoming(String);

impl Transport for Welcoming {
    fn plan(&mut self, _: &Invitation) -> Result<String, TransportError> {
        Ok(self.0.clone())
    }
    fn enrol(&mut self, _: &[u8]) -> Result<Delivery, TransportError> {
        Ok(Delivery::Acknowledged)
    }
    fn send(&mut self, _: &str, _: &[u8]) -> Result<Delivery, TransportError> {
        Err(TransportError::Stopped)
    }
    fn poll(&mut self, _: &str, _: &[u8], _: Duration) -> Result<Option<Vec<u8>>, TransportError> {
        Err(TransportError::Stopped)
    }
    fn pause(&mut self, _: Duration) {}
}

/// A home that has enrolled as `north` in the study `bank`.
fn enrolled(path: &std::path::Path, text: String) -> Home {
    let random = &mut UnwrapErr(SysRng);
    let (home, _) = Home::init(path, random).unwrap();
    let policy = POLICY_TEMPLATE
        .replace("modes = [\"secure\"", "modes = [\"plain\", \"secure\"")
        .replace("allow_pooled_rows_inferred = false", "allow_pooled_rows_inferred = true");
    std::fs::write(path.join("policy.toml"), policy).unwrap();
    let invitation = Invitation {
        address: "https://coordinator.example".parse().unwrap(),
        study: "bank".into(),
        site: "north".into(),
        plan_hash: StudyPlan::hash(&text),
        secret: [7; 32],
        expires: Timestamp(1000),
        authority: None,
    };
    let mut transport = Welcoming(text);
    let offer = agent::look(invitation, &home.policy().unwrap(), &mut transport, Timestamp(1)).unwrap();
    agent::accept(&home, &offer, &mut transport, random).unwrap();
    home
}

/// The plan of the study `bank`.
fn plan_text(mode: Mode) -> String {
    let item = |j| PlanItem {
        name: format!("I{j}"),
        categories: vec![0, 1],
        merged: Vec::new(),
        model: None,
        fixed: None,
    };
    let items: Vec<PlanItem> = (1..=5).map(item).collect();
    template("bank", mode, &["north", "south", "west"].map(String::from), &items, 180)
}

/// A file of answers in which every item has both codes.
fn csv(seed: usize, students: usize) -> String {
    let mut text = String::from("id,I1,I2,I3,I4,I5\n");
    for i in 0..students {
        let row: Vec<String> = (1..=5).map(|j| ((i * (j + seed) + i / 7) % 3 % 2).to_string()).collect();
        text.push_str(&format!("s{seed}-{i},{}\n", row.join(",")));
    }
    text
}

/// Pages of a site that has enrolled in `bank`, and somebody who is logged in.
struct Visit {
    home: Home,
    folder: tempfile::TempDir,
    pages: Pages,
    agent: ureq::Agent,
    cookie: String,
    csrf: String,
}

impl Visit {
    fn new(mode: Mode, as_auditor: bool) -> Self {
        Self::at(plan_text(mode), as_auditor)
    }

    /// An officer of a study with this plan.
    fn of(plan: String) -> Self {
        Self::at(plan, false)
    }

    fn at(plan: String, as_auditor: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = enrolled(folder.path(), plan);
        let settings = PagesSettings { port: 0, auditor: Some("Lee".into()), automatic: None };
        let pages = Pages::start(folder.path(), settings).unwrap();
        let link = if as_auditor { pages.auditor.clone().unwrap() } else { pages.link.clone() };
        let agent = ureq::Agent::config_builder().http_status_as_error(false).max_redirects(0).build().into();
        let mut visit = Self { home, folder, pages, agent, cookie: String::new(), csrf: String::new() };
        let key = link.split_once('#').unwrap().1;
        let response = visit.send("/login", &format!("key={key}"), &[]);
        let set = response.headers()["set-cookie"].to_str().unwrap().to_owned();
        visit.cookie = set.split(';').next().unwrap().to_owned();
        let (_, text) = visit.get("/");
        let token = text.split("name=\"csrf\" value=\"").nth(1).unwrap();
        visit.csrf = token.split('"').next().unwrap().to_owned();
        visit
    }

    fn address(&self, path: &str) -> String {
        format!("{}{path}", self.pages.address.trim_end_matches('/').replace("localhost", "127.0.0.1"))
    }

    fn send(&self, path: &str, body: &str, headers: &[(&str, &str)]) -> ureq::http::Response<ureq::Body> {
        let origin = self.address("");
        let mut post =
            self.agent.post(self.address(path)).header("cookie", &self.cookie).header("origin", &origin);
        if headers.is_empty() {
            post = post.header("content-type", "application/x-www-form-urlencoded");
        }
        for (name, value) in headers {
            post = post.header(*name, *value);
        }
        post.send(body).unwrap()
    }

    fn get(&self, path: &str) -> (u16, String) {
        let mut response = self.agent.get(self.address(path)).header("cookie", &self.cookie).call().unwrap();
        (response.status().as_u16(), response.body_mut().read_to_string().unwrap())
    }

    fn post(&self, path: &str, fields: &[(&str, &str)]) -> (u16, String) {
        let mut body = format!("csrf={}", self.csrf);
        for (name, value) in fields {
            let value: String = value.bytes().map(|b| format!("%{b:02X}")).collect();
            body += &format!("&{name}={value}");
        }
        let mut response = self.send(path, &body, &[]);
        (response.status().as_u16(), response.body_mut().read_to_string().unwrap())
    }

    /// A file through the browser.
    fn upload(&self, name: &str, text: &str) -> u16 {
        let path = format!("/studies/bank/upload?name={name}");
        let headers = [("content-type", "application/octet-stream"), ("x-fedirt-form", self.csrf.as_str())];
        self.send(&path, text, &headers).status().as_u16()
    }

    fn check_with(&self, text: &str, missing: &str) -> String {
        assert_eq!(self.upload("north.csv", text), 303);
        assert_eq!(self.post("/studies/bank/columns", &[("id", "id"), ("missing", missing)]).0, 303);
        self.get("/studies/bank/check").1
    }
}

/// The value of a field.
fn field(page: &str, name: &str) -> String {
    let rest = page.split(&format!("name=\"{name}\" value=\"")).nth(1).unwrap();
    rest.split('"').next().unwrap().to_owned()
}

#[test]
fn the_way_from_a_file_to_the_approval() {
    let visit = Visit::new(Mode::Secure, false);
    let (status, text) = visit.get("/studies/bank");
    assert!(status == 200 && text.contains("Choose your file"), "{text}");
    let text = visit.check_with(&csv(1, 60), "");
    assert!(
        text.contains("No data of your students have left this computer") && text.contains("60 students"),
        "{text}"
    );
    let (_, text) = visit.get("/studies/bank/preview");
    assert!(text.contains("Leaves as (an example)") && text.contains("loglik"), "{text}");
    let (_, text) = visit.get("/studies/bank/approve");
    let hash = field(&text, "file_sha256");
    let fields = [("by", "Ada"), ("asked", "each_round"), ("population", "north")];
    let (status, text) = visit.post("/studies/bank/approve", &fields);
    assert!(status == 422 && text.contains("has changed since it was shown"), "{text}");
    assert!(
        text.contains("value=\"Ada\"") && text.contains("value=\"each_round\" checked"),
        "what was entered stays: {text}"
    );
    let nobody = [("asked", "once"), ("file_sha256", hash.as_str())];
    assert_eq!(visit.post("/studies/bank/approve", &nobody).0, 422);
    let (status, _) = visit.post("/studies/bank/approve", &[&fields[..], &[("file_sha256", &hash)]].concat());
    assert_eq!(status, 303);
    let (_, text) = visit.get("/log");
    assert!(text.contains(&format!(
        "Ada approved what is sent: to be asked before each round; SHA-256 of the file {hash}"
    )));
    // The coordinator of this test has no address that can be called: the page says so, and pauses and goes on.
    let (_, text) = visit.get("/studies/bank/running");
    assert!(text.contains("Pause") || text.contains("has stopped"), "{text}");
    assert_eq!(visit.post("/studies/bank/running", &[("act", "pause")]).0, 303);
    assert!(visit.get("/studies/bank/running").1.contains("Paused"));
    let (status, text) = visit.post("/studies/bank/running", &[("act", "round"), ("turn", "round 1")]);
    assert!(status == 400 && text.contains("no longer open"), "{text}");
}

#[test]
fn a_bad_file_is_told_line_by_line() {
    let visit = Visit::new(Mode::Secure, false);
    let mut text = csv(1, 60);
    text =
        text.replacen("s1-3,", "s1-3,x", 1).replacen("s1-5,0", "s1-5,9", 1).replacen("s1-5,1", "s1-5,9", 1);
    let page = visit.check_with(&text, "");
    assert!(page.contains("line 5, column I1") && page.contains("id=\"problems\""), "{page}");
    assert!(visit.get("/studies/bank/preview").0 == 303, "nothing is shown of a file that is wrong");
    // A code that means "no answer" is declared, and counts as wrong no more.
    let page = visit.check_with(&text.replacen("s1-3,x", "s1-3,", 1), "9");
    assert!(!page.contains("id=\"problems\"") && page.contains("Missing answers"), "{page}");
    assert_eq!(visit.upload("empty.csv", ""), 400);
    let (status, page) = visit.post("/studies/bank/file", &[("path", "/nowhere/at/all.csv")]);
    assert!(status == 422 && page.contains("no file on this machine"), "{page}");
    assert!(page.contains("value=\"/nowhere/at/all.csv\""), "what was entered stays: {page}");
    let mut response = visit.send(
        "/studies/bank/upload?name=wrong.xlsx",
        "PK\u{3}\u{4}",
        &[("content-type", "application/octet-stream"), ("x-fedirt-form", visit.csrf.as_str())],
    );
    let page = response.body_mut().read_to_string().unwrap();
    // A ZIP file is no workbook where those are read, and an "Excel or ZIP file" where they are not.
    let named = page.contains("The workbook cannot be read") || page.contains("Excel");
    assert!(response.status().as_u16() == 400 && named, "{page}");
    assert!(visit.get("/studies/bank/file").1.contains("north.csv"), "the file before stays chosen");
}

#[test]
fn copies_stay_in_the_folder_of_the_study() {
    let visit = Visit::new(Mode::Secure, false);
    assert_eq!(visit.upload("..%2F..%2Fsecret.csv", &csv(1, 60)), 303);
    let copies = visit.folder.path().join("studies/bank/answers");
    let names: Vec<String> =
        std::fs::read_dir(&copies).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(names.len(), 1);
    assert!(names[0].ends_with("secret.csv") && !names[0].contains('/'), "{names:?}");
    // Without the page's token nothing is taken.
    let path = "/studies/bank/upload?name=x.csv";
    assert_eq!(visit.send(path, "a", &[("content-type", "application/octet-stream")]).status().as_u16(), 403);
}

/// An upload that was arriving when the program was killed holds answers that nobody chose.
#[test]
fn a_half_uploaded_file_is_erased_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    enrolled(folder.path(), plan_text(Mode::Secure));
    let draft = folder.path().join("studies/bank").join(file::DRAFT);
    std::fs::write(&draft, &csv(1, 60)[..500]).unwrap();
    let settings = PagesSettings { port: 0, auditor: None, automatic: None };
    let pages = Pages::start(folder.path(), settings).unwrap();
    assert!(!draft.exists());
    drop(pages);
}

#[test]
fn an_auditor_looks_and_changes_nothing() {
    let visit = Visit::new(Mode::Private, true);
    for (method, path, right, _) in ROUTES {
        let path = path.replace("{study}", "bank").replace("{file}", "fit.json");
        if method == "get" && !path.ends_with("/events") {
            let (status, text) = visit.get(&path);
            let refused = right == Right::Administer;
            assert_eq!(status == 403, refused, "{path}: {status}");
            assert!(!text.contains("name=\"act\""), "{path}");
        } else if method == "post" {
            assert_eq!(visit.post(&path, &[]).0, 403, "{path}");
        }
    }
    assert_eq!(visit.upload("a.csv", "a"), 403);
}

#[test]
fn strangers_see_nothing_and_old_links_open_nothing() {
    let visit = Visit::new(Mode::Secure, false);
    let response = visit.agent.get(visit.address("/studies/bank")).call().unwrap();
    assert_eq!(response.status().as_u16(), 303);
    let again = PagesSettings { port: 0, auditor: None, automatic: None };
    let error = Pages::start(visit.folder.path(), again).unwrap_err().to_string();
    assert!(error.contains("served already"), "{error}");
    let old = visit.pages.link.split_once('#').unwrap().1.to_owned();
    let Visit { home, folder, pages, agent, .. } = visit;
    drop(pages);
    let again = PagesSettings { port: 0, auditor: None, automatic: None };
    let pages = Pages::start(folder.path(), again).unwrap();
    assert_ne!(pages.link.split_once('#').unwrap().1, old);
    let visit = Visit { home, folder, pages, agent, cookie: String::new(), csrf: String::new() };
    assert_eq!(visit.send("/login", &format!("key={old}"), &[]).status().as_u16(), 403);
}

/// A page without some of its elements.
fn without(page: &str, element: &str) -> String {
    let (open, close) = (format!("<{element}"), format!("</{element}>"));
    let parts = page.split(&open).enumerate();
    parts
        .map(|(at, part)| if at == 0 { part } else { part.split_once(&close).map_or("", |(_, after)| after) })
        .collect()
}

/// What a page says, without the texts of files that it quotes (the plan, the rules) and without pictures, whose styles have variables.
fn said(page: &str) -> String {
    without(&without(page, "pre"), "svg")
}

/// Every page for an officer, with the study as it stands.
fn speaks_of_no_commands(visit: &Visit, state: &str) {
    for (method, path, ..) in ROUTES {
        if method != "get" || path.ends_with("/events") {
            continue;
        }
        let path = path.replace("{study}", "bank").replace("{file}", "fit.json");
        let (_, page) = visit.get(&path);
        let said = said(&page);
        assert!(!said.contains("--") && !said.contains("`fedirt "), "{state}, {path}: {said}");
    }
}

#[test]
fn no_page_speaks_of_flags_and_commands_in_any_state() {
    for mode in [Mode::Plain, Mode::Secure, Mode::Private] {
        let visit = Visit::new(mode, false);
        speaks_of_no_commands(&visit, "enrolled");
        // Texts, codes beyond a gap, a column that is nearly an item, and one that could be weights.
        let strange = csv(1, 60)
            .replacen("I3", "I_3", 1)
            .replacen("s1-5,0", "s1-5,x", 1)
            .replacen("s1-6,0", "s1-6,9", 1);
        visit.check_with(&strange, "");
        speaks_of_no_commands(&visit, "a strange file");
        assert_eq!(visit.upload("binary.sav", "$FL2 and nothing more"), 400);
        visit.check_with(&csv(1, 60), "");
        speaks_of_no_commands(&visit, "a file");
        let (_, page) = visit.get("/studies/bank/approve");
        let hash = field(&page, "file_sha256");
        let fields = [
            ("by", "Ada"),
            ("asked", "once"),
            ("population", "north"),
            ("budget", "2"),
            ("budget_delta", "1e-6"),
            ("file_sha256", &hash),
        ];
        assert_eq!(visit.post("/studies/bank/approve", &fields).0, 303);
        speaks_of_no_commands(&visit, "approved");
        assert_eq!(visit.post("/studies/bank/withdraw", &[("reason", "Parents object")]).0, 303);
        speaks_of_no_commands(&visit, "withdrawn");
        let (_, page) = visit.get("/studies/bank");
        assert!(page.contains("Reason: Parents object") && !page.contains(">Next<"), "{page}");
    }
}

#[test]
fn a_plan_with_groups_asks_for_their_column() {
    let visit = Visit::of(
        plan_text(Mode::Secure) + "\n[groups]\nquestion = \"school type\"\nnames = [\"a\", \"b\"]\n",
    );
    let plain = csv(1, 60);
    let grouped = plain.lines().enumerate().map(|(at, line)| format!("{line},{}\n", ["b", "a"][at % 2]));
    let text: String = grouped.collect();
    assert_eq!(visit.upload("north.csv", &text.replacen(",b\n", ",school\n", 1)), 303);
    let (_, page) = visit.get("/studies/bank/columns");
    assert!(page.contains("school type") && page.contains("name=\"group\""), "{page}");
    assert_eq!(visit.post("/studies/bank/columns", &[("id", "id"), ("group", "school")]).0, 303);
    let (_, page) = visit.get("/studies/bank/check");
    assert!(!page.contains("id=\"problems\"") && page.contains("60 students"), "{page}");
    let twice = [("id", "id"), ("group", "id")];
    assert!(visit.post("/studies/bank/columns", &twice).0 >= 400);
}

/// Items are found by number, 9 is offered as no answer, options are scored by a key in the order of the items: all in one form.
#[test]
fn columns_with_other_names_and_options_are_described_in_one_form() {
    let visit = Visit::new(Mode::Secure, false);
    let row = |i: usize| {
        let answer = |j: usize| match (i * j + i / 7) % 5 {
            0 | 1 => "A",
            2 | 3 => "B",
            _ if j == 2 => "9",
            _ => "C",
        };
        format!("{i},{}\n", (1..=5).map(answer).collect::<Vec<_>>().join(","))
    };
    let text =
        String::from("Nr,Item 1,Item 2,Item 3,Item 4,Item 5\n") + &(0..60).map(row).collect::<String>();
    assert_eq!(visit.upload("raw.csv", &text), 303);
    let (_, page) = visit.get("/studies/bank/columns");
    assert!(page.contains("same number") && page.contains("<option selected>Item 3</option>"), "{page}");
    assert!(
        page.contains("value=\"options\" checked") && page.contains("name=\"no-answer\" value=\"9\""),
        "{page}"
    );
    let columns: Vec<(String, String)> =
        (0..5).map(|at| (format!("item-{at}"), format!("Item {}", at + 1))).collect();
    let columns = columns.iter().map(|(field, column)| (field.as_str(), column.as_str()));
    let said: Vec<(&str, &str)> =
        columns.chain([("answers", "options"), ("no-answer", "9"), ("id", "Nr")]).collect();
    let wrong = [&said[..], &[("weight", "Nr")]].concat();
    let (status, page) = visit.post("/studies/bank/columns", &wrong);
    assert!(
        status == 422 && page.contains("give the right option") && page.contains("cannot be used twice"),
        "{page}"
    );
    assert!(page.contains("<option selected>Nr</option>"), "what was entered stays: {page}");
    let (status, page) = visit.post("/studies/bank/columns", &[&said[..], &[("key", "A A B A C")]].concat());
    assert_eq!(status, 303, "{page}");
    let (_, page) = visit.get("/studies/bank/check");
    assert!(!page.contains("id=\"problems\"") && page.contains("5 of the plan&#39;s 5 items"), "{page}");
    let (_, page) = visit.get("/studies/bank/columns");
    assert!(page.contains("value=\"9\" checked") && page.contains("&#34;I3&#34;,B"), "{page}");
    // The next file with such columns is described by what was said.
    assert_eq!(visit.upload("again.csv", &text), 303);
    let (_, page) = visit.get("/studies/bank/columns");
    assert!(page.contains("as you said before") && page.contains("value=\"9\" checked"), "{page}");
}

#[test]
fn words_and_reversed_items_are_scored() {
    let visit = Visit::new(Mode::Secure, false);
    let text = csv(1, 60).replace(",0", ",never").replace(",1", ",Always");
    assert_eq!(visit.upload("words.csv", &text), 303);
    let said = [("answers", "words"), ("levels", "never | always"), ("reversed", "I2"), ("id", "id")];
    let (status, page) = visit.post("/studies/bank/columns", &[("answers", "words"), ("levels", "a|b|c")]);
    assert!(status == 422 && page.contains("2 categories, and these are 3 words"), "{page}");
    assert_eq!(visit.post("/studies/bank/columns", &said).0, 303);
    let count = |page: &str, code: u8| -> u64 {
        let cell = format!("I2</td><td class=\"words\">{code}</td><td>");
        page.split(&cell).nth(1).unwrap().split('<').next().unwrap().parse().unwrap()
    };
    let (_, turned) = visit.get("/studies/bank/check");
    assert!(turned.contains("5 of the plan&#39;s 5 items"), "{turned}");
    assert_eq!(visit.post("/studies/bank/columns", &[said[0], said[1], said[3]]).0, 303);
    let (_, plain) = visit.get("/studies/bank/check");
    assert_ne!(count(&plain, 0), count(&plain, 1));
    assert_eq!([count(&turned, 0), count(&turned, 1)], [count(&plain, 1), count(&plain, 0)]);
}

#[test]
fn consents_are_given_on_the_page_of_rules() {
    let visit = Visit::new(Mode::Secure, false);
    assert_eq!(visit.post("/rules", &[("allow_reveal_lost_site", "on")]).0, 303);
    let policy = visit.home.policy().unwrap();
    assert!(policy.allow_reveal_lost_site && !policy.allow_pooled_rows_inferred);
    let text = visit.home.policy_text().unwrap();
    assert!(text.contains("# Whether a study may go on without a lost site"), "comments stay: {text}");
}

#[test]
fn the_recommended_budget_pays_for_the_study() {
    for (chosen, paid) in [("one", true), ("two", true), ("other", false)] {
        let visit = Visit::new(Mode::Private, false);
        visit.check_with(&csv(1, 60), "");
        let (_, page) = visit.get("/studies/bank/approve");
        assert!(
            page.contains("students of north") && page.contains("This study only (recommended)"),
            "{page}"
        );
        let hash = field(&page, "file_sha256");
        let fields = [
            ("by", "Ada"),
            ("asked", "once"),
            ("population", "north"),
            ("budget-for", chosen),
            ("file_sha256", &hash),
        ];
        let (status, page) = visit.post("/studies/bank/approve", &fields);
        assert_eq!(status == 303, paid, "{chosen}: {page}");
        let (_, receipt) = visit.get("/studies/bank/receipt");
        assert_eq!(receipt.contains(&hash) && receipt.contains("Ada"), paid, "{receipt}");
    }
}

#[test]
fn what_pages_say_is_escaped() {
    let visit = Visit::new(Mode::Secure, false);
    let text = csv(1, 60).replacen("id,", "<b>id</b>,", 1);
    assert_eq!(visit.upload("%3Cscript%3E.csv", &text), 303);
    let (_, page) = visit.get("/studies/bank/columns");
    assert!(page.contains("&#60;b&#62;id") && !page.contains("<b>id"), "{page}");
    assert!(!visit.get("/studies/bank/file").1.contains("<script>"));
}
