//! Files in memory: gone with the program.

use super::{Lock, Readers, Store, StoreError};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use zeroize::{Zeroize, Zeroizing};

#[derive(Default)]
struct Content {
    files: Mutex<BTreeMap<String, Zeroizing<Vec<u8>>>>,
    locked: Mutex<BTreeSet<String>>,
    unlocked: Condvar,
}

/// Files in memory. Clones are the same store.
#[derive(Clone, Default)]
pub struct MemoryStore(Arc<Content>);

impl std::fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.files().keys()).finish()
    }
}

/// What a lock holds: its name, which is free again when this is dropped.
struct Held(Arc<Content>, String);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.locked.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.1);
        self.0.unlocked.notify_all();
    }
}

impl MemoryStore {
    fn files(&self) -> MutexGuard<'_, BTreeMap<String, Zeroizing<Vec<u8>>>> {
        self.0.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn locked(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.locked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn held(&self, file: &str) -> Lock {
        Lock::new(Held(self.0.clone(), file.to_owned()))
    }
}

impl Store for MemoryStore {
    fn read(&self, file: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.files().get(file).map(|content| content.to_vec()))
    }

    fn replace(&self, file: &str, content: &[u8], _readers: Readers) -> Result<(), StoreError> {
        self.files().insert(file.to_owned(), content.to_vec().into());
        Ok(())
    }

    fn append(&self, file: &str, content: &[u8]) -> Result<(), StoreError> {
        self.files().entry(file.to_owned()).or_default().extend_from_slice(content);
        Ok(())
    }

    fn erase(&self, file: &str) -> Result<(), StoreError> {
        if let Some(mut content) = self.files().remove(file) {
            content.zeroize();
        }
        Ok(())
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        let prefix = format!("{folder}/");
        let files = self.files();
        let inside = files.keys().filter_map(|file| file.strip_prefix(&prefix)?.split('/').next());
        let names: BTreeSet<&str> = inside.collect();
        Ok(names.into_iter().map(String::from).collect())
    }

    fn try_lock(&self, file: &str) -> Result<Option<Lock>, StoreError> {
        Ok(self.locked().insert(file.to_owned()).then(|| self.held(file)))
    }

    fn lock(&self, file: &str) -> Result<Lock, StoreError> {
        let mut locked = self.locked();
        while !locked.insert(file.to_owned()) {
            locked = self.0.unlocked.wait(locked).unwrap_or_else(PoisonError::into_inner);
        }
        Ok(self.held(file))
    }

    fn location(&self, file: &str) -> String {
        format!("memory:{file}")
    }
}
