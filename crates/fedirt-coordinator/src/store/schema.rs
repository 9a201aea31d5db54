//! The tables, and how a connection is opened.

use super::sqlite::log_error;
use crate::Error;
use fedirt_data::{Readers, files};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::path::Path;
use std::time::Duration;

/// The number of these tables; another layout is another number.
const VERSION: i64 = 2;

/// What makes a store of layout 1 one of layout 2: its events have no announcements.
const FROM_1_TO_2: &str = "ALTER TABLE events ADD COLUMN announced BLOB;";

/// Only ever appended to: events, and commands' rows. Secrets are not stored; of invitations there is a hash.
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS studies (
    study TEXT PRIMARY KEY, plan TEXT NOT NULL, plan_hash BLOB NOT NULL, created_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS events (
    study TEXT NOT NULL, seq INTEGER NOT NULL, at_ms INTEGER NOT NULL, input BLOB NOT NULL,
    announced BLOB, PRIMARY KEY (study, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS invitations (
    hash BLOB PRIMARY KEY, study TEXT NOT NULL, site TEXT NOT NULL, expires_ms INTEGER NOT NULL,
    withdrawn INTEGER NOT NULL DEFAULT 0, used_key BLOB, used_ms INTEGER
) STRICT;
CREATE TABLE IF NOT EXISTS commands (
    id INTEGER PRIMARY KEY AUTOINCREMENT, study TEXT NOT NULL, input TEXT NOT NULL, at_ms INTEGER NOT NULL,
    answer TEXT
) STRICT;
CREATE TABLE IF NOT EXISTS status (study TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT;
";

/// Opens the store, and makes it where it does not exist.
pub(super) fn open(path: &Path) -> Result<Connection, Error> {
    // The store and its log are for the owner alone; SQLite gives the log the rights of the store.
    files::append(path, Readers::Owner, &[]).map_err(Error::file(path))?;
    let store = |error| Error::Store(log_error(&path.display().to_string(), error));
    let opened = || -> rusqlite::Result<(Connection, i64)> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(Duration::from_secs(10))?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "trusted_schema", false)?;
        let version = |connection: &Connection| -> rusqlite::Result<i64> {
            connection.pragma_query_value(None, "user_version", |row| row.get(0))
        };
        if version(&connection)? < VERSION {
            // Looked up again inside the transaction: another program may have been faster.
            let transaction = Transaction::new_unchecked(&connection, TransactionBehavior::Immediate)?;
            let change = match version(&transaction)? {
                0 => Some(TABLES),
                1 => Some(FROM_1_TO_2),
                _ => None,
            };
            if let Some(change) = change {
                transaction.execute_batch(change)?;
                transaction.pragma_update(None, "user_version", VERSION)?;
            }
            transaction.commit()?;
        }
        let found = version(&connection)?;
        Ok((connection, found))
    };
    match opened().map_err(store)? {
        (connection, VERSION) => Ok(connection),
        (_, other) => Err(Error::content(
            path,
            format!(
                "the store has layout {other}, and this program knows {VERSION}: use the program that wrote it"
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Event, EventLog, SqliteLog};
    use fedirt_protocol::Timestamp;

    /// The events table as layout 1 had it.
    const LAYOUT_1: &str = "CREATE TABLE events (
        study TEXT NOT NULL, seq INTEGER NOT NULL, at_ms INTEGER NOT NULL, input BLOB NOT NULL,
        PRIMARY KEY (study, seq)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO events VALUES ('reading', 1, 5, x'0102');
    PRAGMA user_version = 1;";

    #[test]
    fn stores_of_older_programs_open_and_of_newer_ones_do_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("store.sqlite3");
        Connection::open(&path).and_then(|old| old.execute_batch(LAYOUT_1)).expect("an old store");
        let mut found = Vec::new();
        for _ in 0..2 {
            let log = SqliteLog::open(&path).expect("it is brought up to date once");
            found.extend(log.events("reading", 0, 9).expect("its events can be read"));
        }
        let event = Event { seq: 1, at: Timestamp(5), input: vec![1, 2], announced: None };
        assert_eq!(found, [event.clone(), event]);
        let newer = Connection::open(&path).and_then(|c| c.pragma_update(None, "user_version", VERSION + 1));
        newer.expect("a store of the future");
        assert!(open(&path).is_err_and(|error| error.to_string().contains("use the program that wrote it")));
    }
}
