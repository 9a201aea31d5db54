//! The pages from a browser's side: every role at every route, hostile names, empty states, and a study from form to results.

mod browser;
#[path = "../../fedirt-coordinator/tests/common/mod.rs"]
mod common;

use browser::{Browser, start};
use common::{Client, drive, invited};
use fedirt_coordinator::{Folder, Running};
use fedirt_model::statistics::Mode;
use fedirt_protocol::plan::{PlanItem, template};
use fedirt_ui::{Right, Role, coordinator as pages};
use std::time::Instant;

fn house(studies: &[&str], mode: Mode) -> (tempfile::TempDir, Folder, Running) {
    let (dir, folder) = common::folder(studies, mode);
    let server = start(&folder);
    (dir, folder, server)
}

/// A study that has run to its end.
fn finished(mode: Mode) -> (tempfile::TempDir, Folder, Running) {
    let (dir, folder, server) = house(&["reading"], mode);
    let sites = ["north", "south", "west"];
    let client = |(seed, site): (u64, &&str)| {
        Client::new(invited(&folder, server.address, "reading", site), mode, seed)
    };
    let mut clients: Vec<Client> = (1..).zip(&sites).map(client).collect();
    clients.iter_mut().for_each(Client::join);
    drive(&mut clients, |_| false);
    let results = folder.results_of("reading").join("fit.json");
    let since = Instant::now();
    while !results.is_file() && since.elapsed().as_secs() < 20 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    // The status says so a moment after the file is there.
    std::thread::sleep(std::time::Duration::from_millis(700));
    (dir, folder, server)
}

/// The status of a page: an item's old address leads to its place among the others.
fn expected(path: &str) -> u16 {
    if path.contains("/results/items/") { 308 } else { 200 }
}

#[test]
fn every_role_at_every_route() {
    let (_dir, folder, server) = finished(Mode::Plain);
    for role in Role::ALL {
        let browser = Browser::enter(&folder, &server, role);
        for (method, path, right) in pages::listing() {
            let path =
                path.replace("{study}", "reading").replace("{item}", "1").replace("{file}", "plan.toml");
            if path.ends_with("/events") {
                continue;
            }
            let (status, text) = if method == "get" { browser.get(&path) } else { browser.post(&path, &[]) };
            let allowed = role.may(right);
            assert_eq!(status == 403, !allowed, "{role} {method} {path}: {status}\n{text}");
            assert_ne!(status, 500, "{role} {method} {path}");
            if method == "get" && allowed {
                assert_eq!(status, expected(&path), "{role} {path}: {text}");
            }
            if right == Right::Administer && method == "post" {
                assert!(
                    !role.may(Right::Administer) || status >= 400,
                    "nothing is done without its fields: {path}"
                );
            }
        }
    }
    server.stop().unwrap();
}

#[test]
fn strangers_see_nothing() {
    let (_dir, _folder, server) = house(&["reading"], Mode::Plain);
    let browser = Browser::stranger(&server);
    for (method, path, _) in pages::listing() {
        let path = path.replace("{study}", "reading").replace("{item}", "1").replace("{file}", "plan.toml");
        let (status, text) = if method == "get" { browser.get(&path) } else { browser.post(&path, &[]) };
        assert!(matches!(status, 303 | 401), "{method} {path}: {status}");
        assert!(!text.contains("north"), "{path}");
    }
    server.stop().unwrap();
}

#[test]
fn a_house_without_studies_says_how_to_begin() {
    let (_dir, folder, server) = house(&[], Mode::Plain);
    let (_, text) = Browser::enter(&folder, &server, Role::Administrator).get("/");
    assert!(text.contains("No study yet") && text.contains("href=\"/new\""), "{text}");
    let (_, text) = Browser::enter(&folder, &server, Role::Auditor).get("/");
    assert!(text.contains("No study yet") && !text.contains("href=\"/new\""), "{text}");
    server.stop().unwrap();
}

#[test]
fn hostile_names_are_text() {
    let (dir, folder) = common::folder(&[], Mode::Plain);
    let bad = "<script>alert(1)</script>";
    let item = |name: String| PlanItem {
        name,
        categories: vec![0, 1],
        merged: Vec::new(),
        model: None,
        fixed: None,
    };
    let items: Vec<PlanItem> = (0..3).map(|j| item(format!("{bad}\"'{j}"))).collect();
    let sites = ["a\"b'c", "x&y", "<img>"].map(String::from);
    let plan =
        template("reading", Mode::Plain, &sites, &items, 300).replace("Calibrate a common item bank.", bad);
    std::fs::write(folder.plans().join("reading.toml"), plan).unwrap();
    let server = start(&folder);
    assert!(server.refused.is_empty(), "{:?}", server.refused);
    std::fs::create_dir_all(folder.results_of("reading")).unwrap();
    let mut fit = browser::large_fit(3, 3);
    for item in &mut fit.items {
        item.name = format!("{bad}{}", item.name);
    }
    fit.sites[0].name = bad.into();
    fit.warnings.push(fedirt_model::fit::Warning { code: "x".into(), message: bad.into() });
    std::fs::write(folder.results_of("reading").join("fit.json"), serde_json::to_string(&fit).unwrap())
        .unwrap();
    let browser = Browser::enter(&folder, &server, Role::Administrator);
    for (method, path, _) in pages::listing() {
        let path = path.replace("{study}", "reading").replace("{item}", "1");
        if method == "get" && !path.contains("{file}") && !path.ends_with("/events") {
            let (status, text) = browser.get(&path);
            assert_eq!(status, expected(&path), "{path}: {text}");
            assert!(!text.contains("<script>alert") && !text.contains("<img"), "{path}");
            assert!(!text.contains(" style=\"") && !text.contains("<style"), "{path}");
        }
    }
    let (_, text) = browser.post("/studies/reading/compare", &[("fit", bad)]);
    assert!(text.contains("This is not a fit.json") && !text.contains(bad), "{text}");
    let (_, text) =
        browser.post("/new/check", &[("study", bad), ("purpose", bad), ("items", bad), ("sites", bad)]);
    assert!(text.contains("&#60;script") && !text.contains(bad), "{text}");
    drop(dir);
    server.stop().unwrap();
}

#[test]
fn a_study_from_the_form() {
    let (_dir, folder, server) = house(&[], Mode::Plain);
    let browser = Browser::enter(&folder, &server, Role::Administrator);
    let good = [
        ("study", "maths-1"),
        ("purpose", "To see whether \"it\" works"),
        ("items", "id,m1,m2,m3,m4"),
        ("categories", "2"),
        ("binary", "2pl"),
        ("graded", "gpcm"),
        ("sites", "north\nsouth\nwest"),
        ("students", "300"),
        ("mode", "secure"),
        ("epsilon", "1"),
        ("delta", "1e-6"),
        ("effects", "random"),
        ("colluders", "0"),
        ("n_min", "3"),
        ("on_loss", "end"),
        ("join_days", "2"),
        ("hello_hours", "1.5"),
        ("upload_hours", "24"),
    ];
    let (status, text) = browser.post("/new/check", &good);
    assert_eq!(status, 200, "{text}");
    assert!(
        text.contains("Mode secure")
            && text.contains("pooled table")
            && text.contains("join_seconds = 172800"),
        "{text}"
    );
    let with = |key: &str, value: &'static str| good.map(|(k, v)| if k == key { (k, value) } else { (k, v) });
    for (key, value, told) in [
        ("study", "../x", "does not begin with a dot"),
        ("students", "many", "A whole number from 1"),
        ("sites", "", "one per line"),
        ("items", "", "Paste a codebook"),
        ("n_min", "9", "cohort"),
        ("binary", "3pl", "no model"),
        ("hello_hours", "0", "A number from 0.01"),
    ] {
        let (status, text) = browser.post("/new", &with(key, value));
        assert!(status == 422 && text.contains(told), "{key}: {status} {text}");
    }
    assert_eq!(browser.post("/new", &good).0, 303);
    assert!(browser.post("/new", &good).1.contains("already"), "a plan is not written over");
    let plan = std::fs::read_to_string(folder.plans().join("maths-1.toml")).unwrap();
    for line in [
        "effects = \"random\"",
        "on_loss = \"end\"",
        "hello_seconds = 5400",
        "name = \"m4\"",
        "rows_and_sites_may_be_inferred = true",
    ] {
        assert!(plan.contains(line), "{line}\n{plan}");
    }
    // The study is served at once: a site can be invited and enrol.
    let (status, text) = browser.post("/studies/maths-1/invite", &[("site", "north"), ("days", "3")]);
    assert!(
        status == 200 && text.contains("shown once") && text.contains("class=\"invitation"),
        "{status} {text}"
    );
    assert!(browser.post("/studies/maths-1/invite", &[("days", "3")]).1.contains("Select at least one"));
    assert!(
        browser
            .post("/studies/maths-1/invite", &[("site", "x"), ("days", "3")])
            .1
            .contains("not among its sites")
    );
    assert!(
        browser.post("/studies/maths-1/invite", &[("site", "north"), ("days", "0")]).1.contains("1 to 365")
    );
    let (_, text) = browser.get("/");
    assert!(text.contains("maths-1") && text.contains("0 of 3"), "{text}");
    let (status, text) = browser.post("/studies/maths-1/begin", &[]);
    assert_eq!(status, 400, "nobody has joined: {text}");
    assert_eq!(browser.post("/studies/maths-1/end", &[("reason", "")]).0, 400);
    assert_eq!(browser.post("/studies/maths-1/end", &[("reason", "a trial")]).0, 303);
    std::thread::sleep(std::time::Duration::from_millis(900));
    let (status, text) = browser.get("/studies/maths-1/results");
    assert!(
        status == 404 && text.contains("<h1>maths-1") && text.contains("ended without results"),
        "{text}"
    );
    let (_, text) = browser.get("/studies/maths-1");
    assert!(text.contains("Ended without results") && text.contains("a trial"), "{text}");
    server.stop().unwrap();
}

#[test]
fn results_and_downloads() {
    let (_dir, folder, server) = finished(Mode::Plain);
    let browser = Browser::enter(&folder, &server, Role::Auditor);
    let (_, text) = browser.get("/studies/reading");
    assert!(
        text.contains("Finished") && text.contains("Convergence") && text.contains("Log-likelihood"),
        "{text}"
    );
    let (_, text) = browser.get("/studies/reading/roster");
    assert!(text.contains("5 of 5") && text.contains("given by the same sites"), "{text}");
    let (_, text) = browser.get("/studies/reading/results");
    assert!(text.contains("id=\"items-table\"") && text.contains("<svg class=\"tiny\""), "{text}");
    assert!(browser.get("/studies/reading/results/items/6").0 == 404);
    let (_, text) = browser.get("/studies/reading/results/sites?show=shrunken");
    assert!(text.contains("towards zero"), "{text}");
    let (_, text) = browser.get("/studies/reading/privacy");
    assert!(text.contains("Round 1") && text.contains("exact sums"), "{text}");
    for (file, start) in [
        ("plan.toml", "# Study plan"),
        ("codebook.csv", "item,model"),
        ("repeat.sh", "#!/bin/sh"),
        ("history.csv", "event,time"),
        ("fit.json", "{"),
        ("fit.xlsx", "PK"),
        ("audit.tar", "reading/plan.toml"),
    ] {
        let (status, text) = browser.get(&format!("/studies/reading/download/{file}"));
        assert!(status == 200 && text.starts_with(start), "{file}: {status}");
    }
    for bad in ["access.toml", "..%2f..%2faccess.toml", "store.sqlite3"] {
        assert_eq!(browser.get(&format!("/studies/reading/download/{bad}")).0, 404, "{bad}");
    }
    assert_eq!(browser.get("/studies/none").0, 404);
    server.stop().unwrap();
}

#[test]
fn a_private_study_shows_what_private_releases() {
    let (_dir, folder, server) = finished(Mode::Private);
    let browser = Browser::enter(&folder, &server, Role::Analyst);
    let (_, text) = browser.get("/studies/reading");
    assert!(!text.contains("<dt>Log-likelihood") && text.contains("would depend on answers"), "{text}");
    let (_, text) = browser.get("/studies/reading/results");
    assert!(!text.contains("<th scope=\"col\">n</th>") && text.contains("does not release"), "{text}");
    let (_, text) = browser.get("/studies/reading/results/summary");
    assert!(
        text.contains("<dt>Log-likelihood</dt><dd>not released") && text.contains("<dt>(ε, δ)</dt><dd>(1, "),
        "{text}"
    );
    let (_, text) = browser.get("/studies/reading/results?item=2");
    assert!(text.contains("<option value=\"1\" selected>"), "{text}");
    let (status, text) = browser.post("/studies/reading/privacy", &[("epsilons", "1, 2")]);
    assert!(status == 200 && text.contains("outweighs the sampling error"), "{text}");
    let (_, text) = browser.post("/studies/reading/privacy", &[("epsilons", "1, x")]);
    assert!(text.contains("is not a number"), "{text}");
    server.stop().unwrap();
}

#[test]
fn five_hundred_items_and_sites_open_quickly() {
    let (_dir, folder, server) = house(&["reading", "maths"], Mode::Plain);
    for study in ["reading", "maths"] {
        std::fs::create_dir_all(folder.results_of(study)).unwrap();
        let text = serde_json::to_string(&browser::large_fit(500, 500)).unwrap();
        std::fs::write(folder.results_of(study).join("fit.json"), text).unwrap();
    }
    let browser = Browser::enter(&folder, &server, Role::Auditor);
    for path in [
        "results",
        "results",
        "results/test",
        "results/sites",
        "results/check",
        "results/summary",
        "results?item=250",
        "compare?with=maths",
        "download/fit.xlsx",
    ] {
        let since = Instant::now();
        let (status, text) = browser.get(&format!("/studies/reading/{path}"));
        assert_eq!(status, 200, "{path}: {text}");
        // In a program without optimisation, on a busy machine: the limit for people is 1 s.
        assert!(since.elapsed().as_millis() < 3000, "{path}: {:?}", since.elapsed());
        assert!(text.len() < 3_000_000, "{path}: {} bytes", text.len());
    }
    server.stop().unwrap();
}

#[test]
fn a_revoked_login_is_out_and_a_new_one_is_in() {
    let (_dir, folder, server) = house(&["reading"], Mode::Plain);
    assert!(server.pages.as_ref().unwrap().first_login.as_ref().unwrap().contains("/login#"));
    let browser = Browser::enter(&folder, &server, Role::Auditor);
    assert_eq!(browser.get("/").0, 200);
    pages::revoke(&folder, "auditor").unwrap();
    assert_eq!(browser.get("/").0, 401);
    server.stop().unwrap();
    let server = start(&folder);
    assert_eq!(server.pages.as_ref().unwrap().first_login, None, "the first key is printed once");
    server.stop().unwrap();
}

#[test]
fn over_tls_the_cookie_is_bound_to_its_host() {
    let (_dir, folder) = common::folder(&["reading"], Mode::Plain);
    let settings = std::fs::read_to_string(folder.settings()).unwrap();
    std::fs::write(folder.settings(), settings.replace("tls = false", "tls = true")).unwrap();
    let server = start(&folder);
    let address = server.pages.as_ref().unwrap().address.clone();
    assert!(address.starts_with("https://127.0.0.1:"), "{address}");
    let agent = common::agent(&invited(&folder, server.address, "reading", "north"));
    let key = pages::admit(&folder, "ada", Role::Auditor).unwrap().reveal();
    let post = agent.post(format!("{address}login")).config().max_redirects(0).build();
    let response = post
        .header("origin", address.trim_end_matches('/'))
        .header("content-type", "application/x-www-form-urlencoded")
        .send(format!("key={key}"))
        .unwrap();
    let cookie = response.headers()["set-cookie"].to_str().unwrap();
    assert!(cookie.starts_with("__Host-fedirt-coordinator-") && cookie.contains("; Secure"), "{cookie}");
    assert!(cookie.contains("; HttpOnly; SameSite=Strict"), "{cookie}");
    server.stop().unwrap();
}

#[test]
fn a_page_hears_of_changes_and_the_server_can_still_stop() {
    use std::io::Read;
    let (_dir, folder, server) = house(&["reading"], Mode::Plain);
    let browser = Browser::enter(&folder, &server, Role::Auditor);
    let mut stream = browser.listen("/studies/reading/events");
    let mut heard = String::new();
    let mut hear = |wanted: &str| {
        let mut bytes = [0; 256];
        while !heard.contains(wanted) {
            let n = stream.read(&mut bytes).unwrap();
            assert!(n > 0, "the stream ended: {heard}");
            heard.push_str(std::str::from_utf8(&bytes[..n]).unwrap());
        }
    };
    hear("event: ready");
    let client = Client::new(invited(&folder, server.address, "reading", "north"), Mode::Plain, 1);
    assert_eq!(client.enrol().0, 204);
    hear("event: changed");
    let since = Instant::now();
    server.stop().unwrap();
    assert!(since.elapsed().as_secs() < 5, "open streams do not hold the server up");
}
