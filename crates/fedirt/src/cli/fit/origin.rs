//! Where a fit comes from: its options, its command, its files; and the script that repeats it.

use crate::args::FitArgs;
use crate::typed::Typed;
use fedirt::{Input, Settings};
use fedirt_data::results::shell_quoted;
use fedirt_model::fit::{Fit, InputFile, Provenance};
use fedirt_protocol::Timestamp;
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::path::{Component, Path};
use std::rc::Rc;
use std::time::SystemTime;

/// What is noted of the files of a fit while they are read.
pub(super) struct Origin {
    /// None in private fits, where a hash would be a function of the rows.
    hashed: bool,
    files: RefCell<Vec<(String, Rc<RefCell<Sha256>>)>>,
}

impl Origin {
    pub(super) fn new(args: &FitArgs) -> Self {
        let kept = args.json || args.out.is_some();
        Self { hashed: kept && !args.hides_students(), files: RefCell::default() }
    }

    /// A file to be read, whose hash is taken while it is.
    pub(super) fn open(&self, path: &Path) -> Input<'static> {
        let hash = Rc::new(RefCell::new(Sha256::new()));
        self.files.borrow_mut().push((path.display().to_string(), hash.clone()));
        let input = Input::file(path);
        if self.hashed { input.watched(move |bytes| hash.borrow_mut().update(bytes)) } else { input }
    }

    /// The provenance of a fit that has just ended.
    pub(super) fn provenance(&self, typed: &Typed, settings: &Settings) -> Provenance {
        let mut options = typed.options("fit");
        // Responses are named apart, and what is not typed has a value, too.
        options.remove("files");
        if self.hashed {
            options.entry("tolerance".to_owned()).or_insert_with(|| format!("{:e}", settings.tolerance));
            options.entry("max-rounds".to_owned()).or_insert_with(|| settings.max_rounds.to_string());
        }
        let hex = |hash: &RefCell<Sha256>| -> String {
            hash.borrow().clone().finalize().iter().map(|byte| format!("{byte:02x}")).collect()
        };
        let files = self.files.borrow();
        let file = |(name, hash): &(String, Rc<RefCell<Sha256>>)| InputFile {
            name: name.clone(),
            sha256: self.hashed.then(|| hex(hash)),
        };
        Provenance {
            options,
            command: typed.command(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            time: Timestamp::from(SystemTime::now()).rfc3339(),
            files: Some(files.iter().map(file).collect()),
        }
    }
}

/// `repeat.sh`: the command of the fit, run where it was run. None where the command cannot be written down.
pub(super) fn script(fit: &Fit, out: &Path) -> Option<String> {
    let provenance = fit.provenance.as_ref()?;
    let arguments = provenance.command.as_ref()?.strip_prefix("fedirt ")?;
    let mut text = format!("#!/bin/sh\n# Repeats this fit, made by fedirt {}", provenance.version);
    if let Some(time) = &provenance.time {
        text.push_str(&format!(" at {time}"));
    }
    text.push_str(".\n# FEDIRT names another program than the `fedirt` of the search path.\n");
    if fit.mode == "private" {
        text.push_str("# The noise is drawn anew: estimates will differ, and ε of both runs adds up.\n");
    }
    let hashed = || provenance.files.iter().flatten().filter_map(|file| Some((file, file.sha256.as_ref()?)));
    if hashed().next().is_some() {
        text.push_str("# SHA-256 of the files that were read:\n");
    }
    for (file, hash) in hashed() {
        // A line feed in a name would end the comment.
        text.push_str(&format!("#   {hash}  {}\n", file.name.escape_debug()));
    }
    text.push_str(&format!("cd -- {} || exit 2\n", home(out)?));
    text.push_str(&format!("exec \"${{FEDIRT:-fedirt}}\" {arguments}\n"));
    Some(text)
}

/// The folder where the fit was run, as seen from the script in the folder of the results: relative, so that both can be moved
/// together, unless the way between them is not plain.
fn home(out: &Path) -> Option<String> {
    let mut up = String::new();
    for part in out.components() {
        match part {
            Component::Normal(_) => up.push_str("/.."),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                let here = std::env::current_dir().ok()?;
                return Some(shell_quoted(here.to_str()?).into_owned());
            }
        }
    }
    Some(format!("\"$(dirname -- \"$0\"){up}\""))
}
