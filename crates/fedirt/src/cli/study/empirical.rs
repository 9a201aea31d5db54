//! `fedirt study empirical`.

use super::folder::StudyFolder;
use crate::args::EmpiricalArgs;
use crate::error::CliError;
use crate::usage::UsageError;
use fedirt::SiteResponses;
use fedirt_model::centre::ItemPlan;
use fedirt_studies::empirical::{Data, Empirical, Options};
use std::process::ExitCode;

pub(crate) fn run(args: &EmpiricalArgs) -> Result<ExitCode, CliError> {
    if !(args.epsilon > 0.0 && args.epsilon.is_finite()) {
        return Err(UsageError::value("--epsilon", args.epsilon, "a positive number is needed").into());
    }
    if args.files.len() == 1 && args.columns.site.is_none() {
        let reason = "two schools are needed, and one file without this flag is one school";
        return Err(UsageError::Missing { flag: "--site COLUMN", reason }.into());
    }
    let reading = fedirt_data::read(crate::input::files(&args.files), &args.columns.read_options())?;
    let mut items: Vec<String> = Vec::new();
    for name in reading.sites.iter().flat_map(|site| &site.items) {
        if !items.contains(name) {
            items.push(name.clone());
        }
    }
    let plan = |name: &String| ItemPlan {
        name: name.clone(),
        model: None,
        codes: None,
        merged: Vec::new(),
        anchor: None,
    };
    let plans: Vec<ItemPlan> = items.iter().map(plan).collect();
    let align = |site: &SiteResponses| Ok((site.name.clone(), fedirt_data::align(site, &plans)?));
    let sites = reading.sites.iter().map(align).collect::<Result<Vec<_>, CliError>>()?;
    let data = Data::new(&items, sites)?;
    let options = Options { epsilon: args.epsilon, draws: args.draws, seed: args.seed };
    let study = Empirical::new(data, options)?;
    let mut folder = StudyFolder::new(&args.folder, "study-empirical")?;
    let identity = study.identity().map_err(CliError::because)?;
    let tasks = study.tasks();
    let mut records = folder.run(&identity, &tasks, |task| study.key(task), |task| study.run(task))?;
    records.sort_by_key(|r| (r.method, r.draw));
    folder.finish(&study.report(&records)?)?;
    Ok(ExitCode::SUCCESS)
}
