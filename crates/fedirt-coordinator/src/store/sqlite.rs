//! The log in SQLite.

use super::{
    Command, Effect, Event, EventLog, InvitationRecord, LogError, OperatorInput, StudyRecord, schema,
};
use crate::Error;
use fedirt_protocol::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};
use std::path::Path;

/// A log in a file, which other programs may open at the same time.
#[derive(Debug)]
pub struct SqliteLog {
    connection: Connection,
    location: String,
}

impl SqliteLog {
    /// Opens the log, and makes it where it does not exist.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Ok(Self { connection: schema::open(path)?, location: path.display().to_string() })
    }

    fn told<T>(&self, result: rusqlite::Result<T>) -> Result<T, LogError> {
        result.map_err(|error| log_error(&self.location, error))
    }
}

/// An error of SQLite, with the place of the file.
pub(super) fn log_error(location: &str, error: rusqlite::Error) -> LogError {
    LogError { location: location.to_owned(), error: error.into() }
}

fn millis(at: Timestamp) -> i64 {
    i64::try_from(at.0).unwrap_or(i64::MAX)
}

fn timestamp(millis: i64) -> Timestamp {
    Timestamp(u64::try_from(millis).unwrap_or(0))
}

/// Writes something, in the transaction that is open.
fn apply(connection: &Connection, effect: &Effect) -> rusqlite::Result<()> {
    match effect {
        Effect::Event { study, event } => connection
            .prepare_cached(
                "INSERT INTO events (study, seq, at_ms, input, announced) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![study, event.seq, millis(event.at), event.input, event.announced]),
        Effect::UseInvitation { hash, key, at } => connection.execute(
            "UPDATE invitations SET used_key = ?2, used_ms = ?3 WHERE hash = ?1 AND used_key IS NULL",
            params![hash, key, millis(*at)],
        ),
        Effect::Answer { command, answer } => {
            connection.execute("UPDATE commands SET answer = ?2 WHERE id = ?1", params![command, answer])
        }
        Effect::Status { study, text } => connection
            .prepare_cached(
                "INSERT INTO status (study, text) VALUES (?1, ?2)
                 ON CONFLICT (study) DO UPDATE SET text = excluded.text",
            )?
            .execute(params![study, text]),
    }
    .map(drop)
}

fn studies(connection: &Connection) -> rusqlite::Result<Vec<StudyRecord>> {
    let mut query = connection.prepare("SELECT study, plan, created_ms FROM studies ORDER BY study")?;
    let rows = query.query_map([], |row| {
        Ok(StudyRecord { study: row.get(0)?, plan: row.get(1)?, created: timestamp(row.get(2)?) })
    })?;
    rows.collect()
}

fn has_begun(connection: &Connection, study: &str) -> rusqlite::Result<bool> {
    connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM events WHERE study = ?1) OR EXISTS (SELECT 1 FROM invitations WHERE study = ?1)",
        [study],
        |row| row.get(0),
    )
}

fn put_study(connection: &Connection, study: &StudyRecord, hash: &[u8; 32]) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO studies (study, plan, plan_hash, created_ms) VALUES (?1, ?2, ?3, ?4)";
    connection.execute(sql, params![study.study, study.plan, hash, millis(study.created)]).map(drop)
}

fn events(connection: &Connection, study: &str, after: i64, most: usize) -> rusqlite::Result<Vec<Event>> {
    let mut query = connection.prepare_cached(
        "SELECT seq, at_ms, input, announced FROM events WHERE study = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
    )?;
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let rows = query.query_map(params![study, after, most], |row| {
        let at = timestamp(row.get(1)?);
        Ok(Event { seq: row.get(0)?, at, input: row.get(2)?, announced: row.get(3)? })
    })?;
    rows.collect()
}

fn event_count(connection: &Connection) -> rusqlite::Result<u64> {
    let count: i64 = connection.query_row("SELECT count(*) FROM events", [], |row| row.get(0))?;
    Ok(count.unsigned_abs())
}

fn add_invitation(
    connection: &mut Connection,
    hash: &[u8; 32],
    study: &str,
    site: &str,
    expires: Timestamp,
) -> rusqlite::Result<usize> {
    let transaction = connection.transaction()?;
    let withdrawn = transaction.execute(
        "UPDATE invitations SET withdrawn = 1 WHERE study = ?1 AND site = ?2 AND used_key IS NULL AND withdrawn = 0",
        params![study, site],
    )?;
    transaction.execute(
        "INSERT INTO invitations (hash, study, site, expires_ms) VALUES (?1, ?2, ?3, ?4)",
        params![hash, study, site, millis(expires)],
    )?;
    transaction.commit()?;
    Ok(withdrawn)
}

fn invitation(row: &rusqlite::Row<'_>) -> rusqlite::Result<InvitationRecord> {
    Ok(InvitationRecord {
        study: row.get(0)?,
        site: row.get(1)?,
        expires: timestamp(row.get(2)?),
        withdrawn: row.get(3)?,
        used_key: row.get(4)?,
    })
}

fn invitations(connection: &Connection, study: &str) -> rusqlite::Result<Vec<InvitationRecord>> {
    let sql = "SELECT study, site, expires_ms, withdrawn, used_key FROM invitations WHERE study = ?1";
    connection.prepare(sql)?.query_map([study], invitation)?.collect()
}

fn find_invitation(connection: &Connection, hash: &[u8; 32]) -> rusqlite::Result<Option<InvitationRecord>> {
    let sql = "SELECT study, site, expires_ms, withdrawn, used_key FROM invitations WHERE hash = ?1";
    connection.query_row(sql, [hash], invitation).optional()
}

fn add_command(
    connection: &Connection,
    study: &str,
    input: &OperatorInput,
    at: Timestamp,
) -> rusqlite::Result<i64> {
    let text = serde_json::to_string(input).map_err(|e| rusqlite::Error::ToSqlConversionFailure(e.into()))?;
    connection.execute(
        "INSERT INTO commands (study, input, at_ms) VALUES (?1, ?2, ?3)",
        params![study, text, millis(at)],
    )?;
    Ok(connection.last_insert_rowid())
}

fn command_answer(connection: &Connection, id: i64) -> rusqlite::Result<Option<String>> {
    connection.query_row("SELECT answer FROM commands WHERE id = ?1", [id], |row| row.get(0))
}

fn commands(connection: &Connection) -> rusqlite::Result<Vec<Command>> {
    let sql = "SELECT id, study, input FROM commands WHERE answer IS NULL ORDER BY id";
    let mut query = connection.prepare_cached(sql)?;
    let rows = query.query_map([], |row| {
        let text: String = row.get(2)?;
        Ok(Command { id: row.get(0)?, study: row.get(1)?, input: serde_json::from_str(&text).ok() })
    })?;
    rows.collect()
}

fn status_of(connection: &Connection, study: &str) -> rusqlite::Result<Option<String>> {
    connection.query_row("SELECT text FROM status WHERE study = ?1", [study], |row| row.get(0)).optional()
}

/// Begins a transaction, however long another program (a back-up, a command) holds the store.
fn begin(connection: &Connection) -> rusqlite::Result<()> {
    loop {
        match connection.execute_batch("BEGIN IMMEDIATE") {
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => {
                tracing::warn!("another program holds the store; waiting for it");
            }
            begun => return begun,
        }
    }
}

fn commit(connection: &Connection, effects: &[&Effect]) -> rusqlite::Result<()> {
    begin(connection)?;
    let written = effects.iter().try_for_each(|effect| apply(connection, effect));
    match written.and_then(|()| connection.execute_batch("COMMIT")) {
        Ok(()) => Ok(()),
        Err(error) => {
            // The first error is the one to tell. SQLite itself may have rolled back already.
            let _ = connection.execute_batch("ROLLBACK");
            Err(error)
        }
    }
}

impl EventLog for SqliteLog {
    fn commit(&mut self, effects: &[&Effect]) -> Result<(), LogError> {
        self.told(commit(&self.connection, effects))
    }

    fn events(&self, study: &str, after: i64, most: usize) -> Result<Vec<Event>, LogError> {
        self.told(events(&self.connection, study, after, most))
    }

    fn event_count(&self) -> Result<u64, LogError> {
        self.told(event_count(&self.connection))
    }

    fn studies(&self) -> Result<Vec<StudyRecord>, LogError> {
        self.told(studies(&self.connection))
    }

    fn has_begun(&self, study: &str) -> Result<bool, LogError> {
        self.told(has_begun(&self.connection, study))
    }

    fn put_study(&mut self, study: &StudyRecord, hash: &[u8; 32]) -> Result<(), LogError> {
        self.told(put_study(&self.connection, study, hash))
    }

    fn add_invitation(
        &mut self,
        hash: &[u8; 32],
        study: &str,
        site: &str,
        expires: Timestamp,
    ) -> Result<usize, LogError> {
        let added = add_invitation(&mut self.connection, hash, study, site, expires);
        self.told(added)
    }

    fn invitations(&self, study: &str) -> Result<Vec<InvitationRecord>, LogError> {
        self.told(invitations(&self.connection, study))
    }

    fn find_invitation(&self, hash: &[u8; 32]) -> Result<Option<InvitationRecord>, LogError> {
        self.told(find_invitation(&self.connection, hash))
    }

    fn add_command(&mut self, study: &str, input: &OperatorInput, at: Timestamp) -> Result<i64, LogError> {
        self.told(add_command(&self.connection, study, input, at))
    }

    fn command_answer(&self, id: i64) -> Result<Option<String>, LogError> {
        self.told(command_answer(&self.connection, id))
    }

    fn commands(&self) -> Result<Vec<Command>, LogError> {
        self.told(commands(&self.connection))
    }

    fn status_of(&self, study: &str) -> Result<Option<String>, LogError> {
        self.told(status_of(&self.connection, study))
    }
}
