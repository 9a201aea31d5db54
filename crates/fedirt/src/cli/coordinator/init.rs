//! `fedirt coordinator init`: makes a folder and a first plan.

use super::told;
use crate::args::CoordinatorInitArgs;
use crate::error::CliError;
use crate::output::stdout;
use crate::usage::UsageError;
use fedirt::{Input, Responses};
use fedirt_coordinator::{Folder, codebook, folder, forecast};
use fedirt_model::responses::MISSING;
use fedirt_model::statistics::Mode;
use fedirt_protocol::forecast::PlannedStudy;
use fedirt_protocol::plan::{PlanItem, StudyPlan, template_at};
use std::collections::BTreeSet;

pub(super) fn run(args: &CoordinatorInitArgs) -> Result<(), CliError> {
    // The plan is checked first, so that a mistake in it leaves no files behind.
    let plan = args.study.as_deref().map(|study| plan(args, study)).transpose()?;
    let (made, mut files) = Folder::init(&args.dir, args.listen, &args.host).map_err(told)?;
    if let (Some(study), Some(text)) = (&args.study, &plan) {
        let path = made.plans().join(format!("{study}.toml"));
        match folder::create(&path, text) {
            Ok(()) => files.push(path),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(CliError::file(path)(error)),
        }
    }
    let mut text = String::new();
    if let Some(plan) = plan.as_deref().filter(|_| args.mode == Mode::Private) {
        text.push_str(&expected(plan)?);
    }
    for file in &files {
        text.push_str(&format!("made {}\n", file.display()));
    }
    if files.is_empty() {
        text.push_str("all files exist already; nothing was changed\n");
    }
    text.push_str(&next_steps(args));
    stdout::print(&text)
}

fn next_steps(args: &CoordinatorInitArgs) -> String {
    let dir = args.dir.display();
    let Some(study) = &args.study else {
        return format!(
            "\nNext: a plan, with `fedirt coordinator init {dir} --study NAME --sites a,b,c --codebook FILE.csv --students N`\n"
        );
    };
    let site = args.sites.first().map_or("SITE", String::as_str);
    format!(
        "\nNext:\n  read {dir}/plans/{study}.toml, and change it before anyone is invited\n  fedirt coordinator start {dir}\n  fedirt coordinator invite {dir} {study} {site}\n"
    )
}

/// What each level of privacy costs, before anything is spent.
fn expected(plan: &str) -> Result<String, CliError> {
    let plan = StudyPlan::parse(plan).map_err(UsageError::Plan)?;
    if PlannedStudy::of(&plan).is_large() {
        return Ok("with so many items and sites, `fedirt privacy plan` tells what to expect\n\n".into());
    }
    let sentences: Vec<String> = forecast::levels(&plan)?.iter().map(|s| format!("  {s}\n")).collect();
    Ok(format!("what to expect at each level of privacy:\n{}\n", sentences.concat()))
}

/// The text of the plan, after it was checked.
fn plan(args: &CoordinatorInitArgs, study: &str) -> Result<String, CliError> {
    let options = args.columns.read_options();
    let reading = args.items_from.as_ref().map(|file| {
        let reading = fedirt::read(crate::input::files(std::slice::from_ref(file)), &options)?;
        // The categories of a private plan do not come from the answers, so there are no questions about them.
        if args.mode == Mode::Private { Ok(reading) } else { crate::input::ask(reading) }
    });
    let reading = reading.transpose()?;
    let items = match (&reading, &args.codebook) {
        (Some(reading), _) if args.mode == Mode::Private => declared_items(reading)?,
        (Some(reading), _) => items_of(reading),
        (None, Some(path)) => codebook::plan_items(&path.display().to_string(), Input::file(path))?,
        (None, None) => {
            let reason =
                "a plan lists the items; or --items-from FILE.csv takes them from a file with answers";
            return Err(UsageError::Missing { flag: "--codebook FILE.csv", reason }.into());
        }
    };
    let mut sites = args.sites.clone();
    if let (true, Some(reading)) = (sites.is_empty(), &reading) {
        sites = reading.sites.iter().map(|site| site.name.clone()).collect();
    }
    if sites.is_empty() {
        return Err(UsageError::Missing { flag: "--sites a,b,c", reason: "a plan names its sites" }.into());
    }
    let counted = reading.map(|reading| reading.sites.iter().map(|site| site.table.students() as u64).sum());
    let Some(students) = args.students.or(counted) else {
        let reason = "a plan says about how many students all sites have together";
        return Err(UsageError::Missing { flag: "--students N", reason }.into());
    };
    let level = args.level.unwrap_or_default();
    let text = template_at(study, (args.mode, level), &sites, &items, students);
    let terms = StudyPlan::parse(&text).and_then(|plan| plan.terms(&text)).map_err(UsageError::Plan)?;
    if terms.study.as_str().starts_with('.') {
        let needed = "a name must not begin with a dot";
        return Err(UsageError::value("--study", study, needed).into());
    }
    Ok(text)
}

/// The items of a file as 0/1 items, because a private plan must not reveal which codes occur.
fn declared_items(reading: &Responses) -> Result<Vec<PlanItem>, CliError> {
    let mut items = items_of(reading);
    let beyond = items.iter().filter(|item| item.categories.iter().any(|code| *code > 1));
    let problem = |item: &PlanItem| UsageError::CategoriesFromAnswers { item: item.name.clone() };
    CliError::usage(beyond.map(problem).collect())?;
    items.iter_mut().for_each(|item| item.categories = vec![0, 1]);
    Ok(items)
}

/// The items of a file, each with the codes that occur.
fn items_of(reading: &Responses) -> Vec<PlanItem> {
    let mut items: Vec<(String, BTreeSet<u8>)> = Vec::new();
    for site in &reading.sites {
        for (column, name) in site.items.iter().enumerate() {
            let codes = site.table.rows().map(|row| row[column]).filter(|code| *code != MISSING);
            match items.iter_mut().find(|(known, _)| known == name) {
                Some((_, known)) => known.extend(codes),
                None => items.push((name.clone(), codes.collect())),
            }
        }
    }
    let item = |(name, codes): (String, BTreeSet<u8>)| PlanItem {
        name,
        categories: codes.into_iter().collect(),
        merged: Vec::new(),
        model: None,
        fixed: None,
    };
    items.into_iter().map(item).collect()
}
