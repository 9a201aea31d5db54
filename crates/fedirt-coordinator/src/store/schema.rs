//! The tables, and how a connection is opened.

use crate::Error;
use rusqlite::Connection;
use std::path::Path;
use std::time::Duration;

/// The number of these tables; another layout is another number.
const VERSION: i64 = 1;

/// Only ever appended to: events, and commands' rows. Secrets are not stored; of invitations there is a hash.
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS studies (
    study TEXT PRIMARY KEY, plan TEXT NOT NULL, plan_hash BLOB NOT NULL, created_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS events (
    study TEXT NOT NULL, seq INTEGER NOT NULL, at_ms INTEGER NOT NULL, input BLOB NOT NULL,
    PRIMARY KEY (study, seq)
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
pub fn open(path: &Path) -> Result<Connection, Error> {
    make_private(path).map_err(Error::file(path))?;
    let store = Error::store(path);
    let opened = || -> rusqlite::Result<(Connection, i64)> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(Duration::from_secs(10))?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "trusted_schema", false)?;
        let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if version == 0 {
            connection.execute_batch(&format!(
                "BEGIN IMMEDIATE; {TABLES} PRAGMA user_version = {VERSION}; COMMIT;"
            ))?;
            return Ok((connection, VERSION));
        }
        Ok((connection, version))
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

/// The store and its log are for the owner alone; SQLite gives the log the rights of the store.
fn make_private(path: &Path) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}
