//! Reading and writing single rows.

use super::{Effect, Event};
use fedirt_protocol::Timestamp;
use rusqlite::{Connection, OptionalExtension, Result, params};
use serde::{Deserialize, Serialize};

/// A study as it was first read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Study {
    /// Name.
    pub study: String,
    /// The plan's text.
    pub plan: String,
    /// From when the first deadline counts.
    pub created: Timestamp,
}

/// An invitation as the store knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invitation {
    /// For which study.
    pub study: String,
    /// For which site.
    pub site: String,
    /// Until when.
    pub expires: Timestamp,
    /// Whether a later one replaced it.
    pub withdrawn: bool,
    /// The key that it admitted.
    pub used_key: Option<Vec<u8>>,
}

/// What an operator wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperatorInput {
    /// Not to wait for further sites.
    Begin,
    /// To go on without sites.
    Drop {
        /// Which.
        sites: Vec<String>,
    },
    /// To end the study.
    End {
        /// Why.
        reason: String,
    },
}

/// A command that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Its number.
    pub id: i64,
    /// For which study.
    pub study: String,
    /// What, if it can be read.
    pub input: Option<OperatorInput>,
}

fn millis(at: Timestamp) -> i64 {
    i64::try_from(at.0).unwrap_or(i64::MAX)
}

fn timestamp(millis: i64) -> Timestamp {
    Timestamp(u64::try_from(millis).unwrap_or(0))
}

/// Writes something.
pub(super) fn apply(connection: &Connection, effect: &Effect) -> Result<()> {
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

/// All studies.
pub fn studies(connection: &Connection) -> Result<Vec<Study>> {
    let mut query = connection.prepare("SELECT study, plan, created_ms FROM studies ORDER BY study")?;
    let rows = query.query_map([], |row| {
        Ok(Study { study: row.get(0)?, plan: row.get(1)?, created: timestamp(row.get(2)?) })
    })?;
    rows.collect()
}

/// Whether a plan is bound: someone was invited, or something happened.
pub fn has_begun(connection: &Connection, study: &str) -> Result<bool> {
    connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM events WHERE study = ?1) OR EXISTS (SELECT 1 FROM invitations WHERE study = ?1)",
        [study],
        |row| row.get(0),
    )
}

/// Keeps a study's plan, in the place of one that did not bind yet.
pub fn put_study(connection: &Connection, study: &Study, hash: &[u8; 32]) -> Result<()> {
    let sql = "INSERT OR REPLACE INTO studies (study, plan, plan_hash, created_ms) VALUES (?1, ?2, ?3, ?4)";
    connection.execute(sql, params![study.study, study.plan, hash, millis(study.created)]).map(drop)
}

/// Hands a study's events on, in order.
pub fn events<E>(
    connection: &Connection,
    study: &str,
    wrong: impl Fn(rusqlite::Error) -> E,
    mut take: impl FnMut(Event) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let sql = "SELECT seq, at_ms, input, announced FROM events WHERE study = ?1 ORDER BY seq";
    let mut query = connection.prepare(sql).map_err(&wrong)?;
    let mut rows = query.query([study]).map_err(&wrong)?;
    while let Some(row) = rows.next().map_err(&wrong)? {
        let read = || -> Result<Event> {
            let at = timestamp(row.get(1)?);
            Ok(Event { seq: row.get(0)?, at, input: row.get(2)?, announced: row.get(3)? })
        };
        take(read().map_err(&wrong)?)?;
    }
    Ok(())
}

/// How many events there are.
pub fn event_count(connection: &Connection) -> Result<i64> {
    connection.query_row("SELECT count(*) FROM events", [], |row| row.get(0))
}

/// Keeps an invitation. Earlier ones of this site that nobody used are withdrawn; returns how many.
pub fn add_invitation(
    connection: &mut Connection,
    hash: &[u8; 32],
    study: &str,
    site: &str,
    expires: Timestamp,
) -> Result<usize> {
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

/// The invitation of a secret, by its hash.
pub fn find_invitation(connection: &Connection, hash: &[u8; 32]) -> Result<Option<Invitation>> {
    let sql = "SELECT study, site, expires_ms, withdrawn, used_key FROM invitations WHERE hash = ?1";
    let row = connection.query_row(sql, [hash], |row| {
        Ok(Invitation {
            study: row.get(0)?,
            site: row.get(1)?,
            expires: timestamp(row.get(2)?),
            withdrawn: row.get(3)?,
            used_key: row.get(4)?,
        })
    });
    row.optional()
}

/// Leaves a command for the server, and returns its number.
pub fn add_command(
    connection: &Connection,
    study: &str,
    input: &OperatorInput,
    at: Timestamp,
) -> Result<i64> {
    let text = serde_json::to_string(input).map_err(|e| rusqlite::Error::ToSqlConversionFailure(e.into()))?;
    connection.execute(
        "INSERT INTO commands (study, input, at_ms) VALUES (?1, ?2, ?3)",
        params![study, text, millis(at)],
    )?;
    Ok(connection.last_insert_rowid())
}

/// What came of a command.
pub fn command_answer(connection: &Connection, id: i64) -> Result<Option<String>> {
    connection.query_row("SELECT answer FROM commands WHERE id = ?1", [id], |row| row.get(0))
}

/// The commands that wait.
pub fn commands(connection: &Connection) -> Result<Vec<Command>> {
    let sql = "SELECT id, study, input FROM commands WHERE answer IS NULL ORDER BY id";
    let mut query = connection.prepare_cached(sql)?;
    let rows = query.query_map([], |row| {
        let text: String = row.get(2)?;
        Ok(Command { id: row.get(0)?, study: row.get(1)?, input: serde_json::from_str(&text).ok() })
    })?;
    rows.collect()
}

/// What a study was last said to be doing.
pub fn status_of(connection: &Connection, study: &str) -> Result<Option<String>> {
    connection.query_row("SELECT text FROM status WHERE study = ?1", [study], |row| row.get(0)).optional()
}
