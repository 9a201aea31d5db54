//! Plans of a folder, and studies where they left off.

use super::machine::{Consequences, Machine};
use crate::store::{self, Study};
use crate::{Error, Folder, clock};
use fedirt_protocol::Terms;
use fedirt_protocol::plan::{self, StudyPlan};
use rusqlite::Connection;
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
pub fn bind(connection: &Connection, store: &Path, path: &Path) -> Result<(Study, Terms), Error> {
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
    let known =
        store::studies(connection).map_err(Error::store(store))?.into_iter().find(|s| s.study == name);
    if let Some(known) = known {
        if known.plan == text {
            return Ok((known, terms));
        }
        if store::has_begun(connection, name).map_err(Error::store(store))? {
            return Err(Error::content(
                path,
                "the plan was changed after the first invitation: sites have approved another text. Restore it, or give the new plan another study name",
            ));
        }
    }
    let study = Study { study: name.to_owned(), plan: text, created: clock::now() };
    store::put_study(connection, &study, &terms.plan_hash).map_err(Error::store(store))?;
    Ok((study, terms))
}

/// A study where it left off.
pub fn load(connection: &Connection, store: &Path, path: &Path) -> Result<Loaded, Error> {
    let (study, terms) = bind(connection, store, path)?;
    let replayed = Machine::replay(connection, terms, study.created);
    let (machine, consequences) =
        replayed.map_err(|e| Error::content(store, format!("{}: {e}", study.study)))?;
    Ok(Loaded { machine, consequences, plan: study.plan })
}
