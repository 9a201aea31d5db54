//! A store that stops at a point, as a machine does.

use crate::store::{Lock, Readers, Store, StoreError};
use std::io;
use std::sync::{Arc, Mutex};

/// A store that fails at one of the points before, in the middle of and after each change, and works otherwise.
#[derive(Debug)]
pub(super) struct StoppingStore {
    inner: Arc<dyn Store>,
    /// Points that are passed before the machine stops; none if it does not stop.
    fuse: Mutex<Option<usize>>,
}

impl StoppingStore {
    pub(super) fn around(inner: Arc<dyn Store>) -> Self {
        Self { inner, fuse: Mutex::new(None) }
    }

    /// Stops after so many points; gives how many were left.
    pub(super) fn set_fuse(&self, points: Option<usize>) -> Option<usize> {
        std::mem::replace(&mut self.fuse.lock().unwrap(), points)
    }

    fn point(&self, file: &str) -> Result<(), StoreError> {
        match &mut *self.fuse.lock().unwrap() {
            None => Ok(()),
            Some(0) => Err(StoreError {
                location: self.location(file),
                error: io::Error::other("the machine stopped"),
            }),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
        }
    }
}

impl Store for StoppingStore {
    fn read(&self, file: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.inner.read(file)
    }

    fn replace(&self, file: &str, content: &[u8], readers: Readers) -> Result<(), StoreError> {
        self.point(file)?;
        self.inner.replace(file, content, readers)?;
        self.point(file)
    }

    fn append(&self, file: &str, content: &[u8]) -> Result<(), StoreError> {
        self.point(file)?;
        let (first, rest) = content.split_at(content.len() / 2);
        self.inner.append(file, first)?;
        self.point(file)?;
        self.inner.append(file, rest)?;
        self.point(file)
    }

    fn erase(&self, file: &str) -> Result<(), StoreError> {
        self.point(file)?;
        self.inner.erase(file)?;
        self.point(file)
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        self.inner.list(folder)
    }

    fn try_lock(&self, file: &str) -> Result<Option<Lock>, StoreError> {
        self.inner.try_lock(file)
    }

    fn lock(&self, file: &str) -> Result<Lock, StoreError> {
        self.inner.lock(file)
    }

    fn location(&self, file: &str) -> String {
        self.inner.location(file)
    }
}
