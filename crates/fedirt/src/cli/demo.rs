//! `fedirt demo`: a coordinator and three sites on this machine, with their pages, and a study that can be watched. They are
//! the same programs as those of the other commands; only the officers are simulated.

use crate::args::DemoArgs;
use crate::coordinator::told as coordinator_told;
use crate::error::CliError;
use crate::output::stdout;
use crate::simulate::write_sites;
use crate::site::told;
use crate::usage::UsageError;
use fedirt_agent::Home;
use fedirt_coordinator::edit::TomlEdit;
use fedirt_coordinator::{Folder, Running, Server, folder, invite};
use fedirt_model::simulate::{Missing, SiteEffects, SiteSizes, Spec, Truth};
use fedirt_model::statistics::Mode;
use fedirt_protocol::plan::{PlanItem, StudyPlan, template};
use fedirt_ui::site::{Pages, PagesSettings};
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

const STUDY: &str = "reading";
const SITES: [&str; 3] = ["north", "south", "west"];
const STUDENTS: usize = 400;
const ITEMS: usize = 20;
/// ε of a private demonstration, and of the students' budget.
const EPSILON: f64 = 1.0;
const DELTA: f64 = 1e-6;

pub(crate) fn run(args: &DemoArgs) -> Result<ExitCode, CliError> {
    if args.mode == Mode::Plain {
        let reason =
            "a site's policy refuses it unless its officer changes the policy; choose secure or private";
        return Err(UsageError::Excluded { flag: "--mode plain", reason }.into());
    }
    let (pace, wait) = (seconds("--pace", args.pace)?, seconds("--wait", args.wait)?);
    let temporary;
    let place = match &args.out {
        Some(path) if path.exists() => {
            return Err(UsageError::Exists(path.clone()).into());
        }
        Some(path) => path.as_path(),
        None => {
            temporary = tempfile::tempdir().map_err(CliError::file("the temporary folder"))?;
            temporary.path()
        }
    };
    let files = answers(&place.join("data"))?;
    let (hub, running) = coordinator(&place.join("hub"), args.mode)?;
    let sites = SITES
        .iter()
        .map(|site| serve(&place.join(site), args.mode, (!args.by_hand).then_some(pace)))
        .collect::<Result<Vec<_>, _>>()?;
    let port = running.address.port();
    let invitations = SITES
        .iter()
        .map(|site| invite::invite(&hub, STUDY, site, 1, Some(&format!("https://localhost:{port}"))))
        .collect::<Result<Vec<_>, _>>()
        .map_err(coordinator_told)?;
    let mut text = links(&running, &sites);
    if args.by_hand {
        text.push_str(
            "\nYou are the officers. Log in at each site, paste its invitation, and choose its file:\n",
        );
        for ((site, invited), file) in SITES.iter().zip(&invitations).zip(&files) {
            let line = invited.invitation.to_text().map_err(CliError::because)?;
            text.push_str(&format!("\n{site}: {}\n{line}\n", file.display()));
        }
    } else {
        text.push_str(&format!(
            "\nThe study begins in {} s, and each officer approves after {} s. Ctrl+C ends it.\n",
            wait.as_secs_f64(),
            pace.as_secs_f64()
        ));
    }
    stdout::print(&text)?;
    if !args.by_hand {
        std::thread::sleep(wait);
        let budget = (args.mode == Mode::Private).then_some((EPSILON, DELTA));
        for ((pages, invited), file) in sites.iter().zip(invitations).zip(&files) {
            pages.take_part(invited.invitation, file, "the demonstration", budget).map_err(told)?;
            std::thread::sleep(pace.min(Duration::from_secs(2)));
        }
    }
    running.until_signal().map_err(coordinator_told)?;
    drop(sites);
    Ok(ExitCode::SUCCESS)
}

fn seconds(flag: &'static str, value: f64) -> Result<Duration, CliError> {
    let duration = Duration::try_from_secs_f64(value).ok().filter(|duration| duration.as_secs() < 3600);
    duration.ok_or_else(|| {
        let needed = "a number of seconds from 0 to 3600 is needed";
        UsageError::value(flag, value, needed).into()
    })
}

/// A file of answers for each site.
fn answers(place: &Path) -> Result<Vec<PathBuf>, CliError> {
    let spec = Spec {
        sites: SITES.len(),
        students: SiteSizes::Each(STUDENTS),
        items: ITEMS,
        model: "2pl".into(),
        categories: 2,
        effects: SiteEffects::Given(vec![0.35, -0.3, -0.05]),
        missing: Missing::AtRandom(0.02),
        latent_sd: 1.0,
        seed: 2026,
    };
    let truth = Truth::draw(&spec).map_err(CliError::because)?;
    std::fs::create_dir_all(place).map_err(CliError::file(place))?;
    let paths: Vec<PathBuf> = SITES.iter().map(|site| place.join(format!("{site}.csv"))).collect();
    write_sites(&paths, &spec, &truth)?;
    // The pages ask officers for absolute paths.
    paths.iter().map(|path| path.canonicalize().map_err(CliError::file(path))).collect()
}

/// A coordinator with a plan, on a free port of loopback.
fn coordinator(place: &Path, mode: Mode) -> Result<(Folder, Running), CliError> {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let (made, _) = Folder::init(place, Some(any), &[]).map_err(coordinator_told)?;
    let settings = std::fs::read_to_string(made.settings()).map_err(CliError::file(made.settings()))?;
    let mut settings = TomlEdit::new(&settings)?;
    settings.set("pages.listen", any.to_string())?;
    settings.set("log.level", "warn")?;
    std::fs::write(made.settings(), settings.text()).map_err(CliError::file(made.settings()))?;
    let item = |number| PlanItem {
        name: format!("i{number:02}"),
        categories: vec![0, 1],
        merged: Vec::new(),
        model: None,
        fixed: None,
    };
    let items: Vec<PlanItem> = (1..=ITEMS).map(item).collect();
    let text = template(STUDY, mode, &SITES.map(String::from), &items, (SITES.len() * STUDENTS) as u64);
    let mut plan = TomlEdit::new(&text)?;
    plan.set("purpose", "Put the reading tests of three schools on one scale.")?;
    for (key, value) in [
        ("contact.organisation", "Institute for Reading Research (made up for this demonstration)"),
        ("contact.person", "Dr. Ada Adler"),
        ("contact.telephone", "+00 000 000 00"),
        ("contact.legal_basis", "None is needed: these students are simulated"),
        ("contact.retention", "until this window is closed"),
    ] {
        plan.set(key, value)?;
    }
    let text = plan.text();
    StudyPlan::parse(&text).map_err(CliError::because)?;
    let path = made.plans().join(format!("{STUDY}.toml"));
    folder::create(&path, &text).map_err(CliError::file(&path))?;
    let server = Server { listen: Some(any), pages: Some(fedirt_ui::coordinator::prepare) };
    let running = server.start(place).map_err(coordinator_told)?;
    Ok((made, running))
}

/// A site's pages.
fn serve(place: &Path, mode: Mode, automatic: Option<Duration>) -> Result<Pages, CliError> {
    Home::init(place, &mut UnwrapErr(SysRng)).map_err(told)?;
    if mode == Mode::Secure {
        // The study is small and its students are made up: its officers consent to what exact sums tell.
        let path = place.join("policy.toml");
        let rules = std::fs::read_to_string(&path).map_err(CliError::file(&path))?;
        let mut rules = TomlEdit::new(&rules)?;
        rules.set("allow_pooled_rows_inferred", true)?;
        std::fs::write(&path, rules.text()).map_err(CliError::file(&path))?;
    }
    let settings = PagesSettings { port: 0, auditor: None, automatic };
    Pages::start(place, settings).map_err(told)
}

fn links(running: &Running, sites: &[Pages]) -> String {
    let mut text =
        "A study with three schools, on this machine alone. Open these in a browser:\n\n".to_owned();
    let first = running.pages.as_ref().and_then(|pages| pages.first_login.as_deref()).unwrap_or_default();
    text.push_str(&format!("  {:<14}{first}\n", "coordinator"));
    for (site, pages) in SITES.iter().zip(sites) {
        text.push_str(&format!("  {:<14}{}\n", format!("site {site}"), pages.link));
    }
    text
}
