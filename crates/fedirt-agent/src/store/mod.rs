//! Where a site keeps what must outlive the program: its rules, its ledger, and journal, keys and results of each study.
//!
//! Everything in this crate reads and writes through [`Store`]. A file is named by its place in the home, with `/` between
//! folders: `studies/reading/journal.jsonl`. [`DiskStore`] keeps files in a folder, [`MemoryStore`] in memory; whoever runs the
//! agent elsewhere (in a browser, behind a mailbox) brings a store of their own.

#[cfg(feature = "files")]
mod disk;
mod memory;

#[cfg(feature = "files")]
pub use disk::DiskStore;
pub use fedirt_data::Readers;
pub use memory::MemoryStore;

use std::io;

/// Where files are kept. When a call that changes something returns without an error, the change survives a crash.
pub trait Store: std::fmt::Debug + Send + Sync {
    /// The content of a file; none if there is no such file.
    fn read(&self, file: &str) -> Result<Option<Vec<u8>>, StoreError>;
    /// Writes a whole file, or leaves what was there: a crash leaves the old content or the new one.
    fn replace(&self, file: &str, content: &[u8], readers: Readers) -> Result<(), StoreError>;
    /// Appends to a file, which is made if it is not there, for its owner alone. A crash may leave a part at the end.
    fn append(&self, file: &str, content: &[u8]) -> Result<(), StoreError>;
    /// Overwrites a file and removes it. One that is not there is fine.
    fn erase(&self, file: &str) -> Result<(), StoreError>;
    /// Names of what is directly in a folder, in order; none if there is no such folder.
    fn list(&self, folder: &str) -> Result<Vec<String>, StoreError>;
    /// Takes a lock; none if another holder has it. A holder that dies holds nothing any more.
    fn try_lock(&self, file: &str) -> Result<Option<Lock>, StoreError>;
    /// Waits for a lock: for steps that take an instant.
    fn lock(&self, file: &str) -> Result<Lock, StoreError>;
    /// Where a file is, for people.
    fn location(&self, file: &str) -> String;
}

/// A lock that is held until it is dropped.
pub struct Lock(#[expect(dead_code, reason = "what it holds is let go of when it is dropped")] Box<dyn Send>);

impl Lock {
    /// A lock that lets go when this is dropped.
    pub fn new(held: impl Send + 'static) -> Self {
        Self(Box::new(held))
    }
}

impl std::fmt::Debug for Lock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Lock")
    }
}

/// Why a store does not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[error(
    "{location}: {error}. Check that the folder is there, that it may be written to, and that the disk has room"
)]
pub struct StoreError {
    /// Where the file is.
    pub location: String,
    /// Why.
    pub error: io::Error,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// What every store does.
    fn check(store: Arc<dyn Store>) {
        assert_eq!(store.read("a/b").unwrap(), None);
        assert_eq!(store.list("a").unwrap(), [""; 0]);
        store.append("a/b", b"one").unwrap();
        store.append("a/b", b" two").unwrap();
        store.replace("a/c/d", b"x", Readers::Usual).unwrap();
        store.replace("a/c/d", b"", Readers::Owner).unwrap();
        assert_eq!(store.read("a/b").unwrap().unwrap(), b"one two");
        assert_eq!(store.read("a/c/d").unwrap().unwrap(), b"");
        assert_eq!(store.read("a/b/below/a/file").unwrap(), None);
        assert_eq!(store.list("a").unwrap(), ["b", "c"]);
        assert_eq!(store.list("a/b").unwrap(), [""; 0]);
        store.erase("a/b").unwrap();
        store.erase("a/b").unwrap();
        assert_eq!(store.list("a").unwrap(), ["c"]);
        assert!(store.location("a/c").ends_with("a/c"));

        let held = store.try_lock("x/lock").unwrap();
        assert!(held.is_some() && store.try_lock("x/lock").unwrap().is_none());
        assert!(store.try_lock("other").unwrap().is_some());
        let (shared, waits) = (store.clone(), std::sync::Barrier::new(2));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                waits.wait();
                shared.lock("x/lock").map(drop)
            });
            waits.wait();
            drop(held);
            waiting.join().unwrap().unwrap();
        });
        assert!(store.try_lock("x/lock").unwrap().is_some());
    }

    #[test]
    fn stores_keep_their_promises() {
        check(Arc::new(MemoryStore::default()));
        #[cfg(feature = "files")]
        {
            let folder = tempfile::tempdir().unwrap();
            check(Arc::new(DiskStore::at(&folder.path().join("home"))));
        }
    }

    #[test]
    fn a_store_in_memory_does_not_print_what_it_keeps() {
        let store = MemoryStore::default();
        store.replace("identity.key", b"secret", Readers::Owner).unwrap();
        let printed = format!("{store:?}");
        assert!(printed.contains("identity.key") && !printed.contains("secret") && !printed.contains("115"));
    }
}
