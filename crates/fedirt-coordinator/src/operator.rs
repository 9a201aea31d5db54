//! What operators tell a running coordinator from another process. The folder is theirs alone, so a row in its store is
//! proof enough; the coordinator looks for such rows now and then, and this process for the answer. The pages, which run in
//! the coordinator's own process, hand their commands to the study directly.

use crate::store::{EventLog, OperatorInput, SqliteLog};
use crate::study::DONE;
use crate::{Error, Folder, clock};
use std::time::{Duration, Instant};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Tells the coordinator something, and waits until it is done.
pub fn tell(folder: &Folder, study: &str, input: &OperatorInput) -> Result<(), Error> {
    let mut log = SqliteLog::open(&folder.store())?;
    let known = log.studies()?;
    if !known.iter().any(|s| s.study == study) {
        let names: Vec<String> = known.into_iter().map(|s| s.study).collect();
        return Err(Error::Told(format!("no study is called {study}; known: {}", names.join(", "))));
    }
    if !folder.is_running() {
        return Err(Error::NotRunning(folder.path().to_owned()));
    }
    let id = log.add_command(study, input, clock::now())?;
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        match log.command_answer(id)? {
            Some(answer) if answer == DONE => return Ok(()),
            Some(answer) => return Err(Error::Told(answer)),
            None => std::thread::sleep(Duration::from_millis(100)),
        }
    }
    Err(Error::Told("the coordinator has not answered yet; it will carry the command out when it can. Look at its log, and at `fedirt coordinator status`".into()))
}
