//! One agent at a time: the system lets go of a lock when its holder dies, so that none is ever left behind.

use super::AgentError;
use std::fs::{File, TryLockError};
use std::path::Path;

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

fn open(path: &Path) -> Result<File, AgentError> {
    File::options().create(true).truncate(false).write(true).open(path).map_err(AgentError::at(path))
}

impl Lock {
    /// Takes the lock, or says that someone else has it.
    pub(super) fn take(path: &Path) -> Result<Self, AgentError> {
        let file = open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => {
                Err(AgentError::Running(path.parent().unwrap_or(path).to_path_buf()))
            }
            Err(TryLockError::Error(error)) => Err(AgentError::at(path)(error)),
        }
    }

    /// Waits for the lock: for steps that take an instant.
    pub(super) fn wait(path: &Path) -> Result<Self, AgentError> {
        let file = open(path)?;
        file.lock().map_err(AgentError::at(path))?;
        Ok(Self { _file: file })
    }
}
