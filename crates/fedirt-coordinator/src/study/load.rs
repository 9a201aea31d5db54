//! Plans of a folder, and studies where they left off.

use super::machine::{Consequences, Machine};
use crate::store::{EventLog, StudyRecord};
use crate::{Error, Folder, clock};
use fedirt_protocol::Terms;
use fedirt_protocol::plan::{self, StudyPlan};
use std::path::{Path, PathBuf};

/// A study that can go on.
#[derive(Debug)]
pub struct Loaded {
    /// Its machine.
    pub machine: Machine,
    /// What sites have to fetch, and how it ended.
    pub consequences: Consequences,
    /// The plan's text.
    pub plan: String,
}

/// The plan files of a folder, in order.
pub fn plan_files(folder: &Folder) -> Result<Vec<PathBuf>, Error> {
    let path = folder.plans();
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&path).map_err(Error::file(&path))? {
        let file = entry.map_err(Error::file(&path))?.path();
        if file.extension().is_some_and(|e| e == "toml") && file.is_file() {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}

/// Reads a plan file, checks it against what the store knows, and keeps it there. A plan is bound from the first
/// invitation on.
pub fn bind(log: &mut dyn EventLog, path: &Path) -> Result<(StudyRecord, Terms), Error> {
    let length = std::fs::metadata(path).map_err(Error::file(path))?.len();
    if length > plan::MAX_BYTES as u64 {
        return Err(Error::content(path, format!("{length} bytes are too many for a plan")));
    }
    let text = std::fs::read_to_string(path).map_err(Error::file(path))?;
    let wrong = |error: plan::PlanError| Error::content(path, error.to_string());
    let terms = StudyPlan::parse(&text).and_then(|plan| plan.terms(&text)).map_err(wrong)?;
    let name = terms.study.as_str();
    if path.file_stem().is_none_or(|stem| stem != name) || name.starts_with('.') {
        return Err(Error::content(
            path,
            format!("a plan's file has the name of its study: call it {name}.toml, or change `study`"),
        ));
    }
    let known = log.studies()?.into_iter().find(|s| s.study == name);
    if let Some(known) = known {
        if known.plan == text {
            return Ok((known, terms));
        }
        if log.has_begun(name)? {
            return Err(Error::content(
                path,
                "the plan was changed after the first invitation: sites have approved another text. Restore it, or give the new plan another study name",
            ));
        }
    }
    let study = StudyRecord { study: name.to_owned(), plan: text, created: clock::now() };
    log.put_study(&study, &terms.plan_hash)?;
    Ok((study, terms))
}

/// A study where it left off.
pub fn load(log: &mut dyn EventLog, path: &Path) -> Result<Loaded, Error> {
    let (study, terms) = bind(log, path)?;
    let replayed = Machine::replay(log, terms, study.created);
    let (machine, consequences) =
        replayed.map_err(|error| Error::Replay { study: study.study.clone(), error })?;
    Ok(Loaded { machine, consequences, plan: study.plan })
}
