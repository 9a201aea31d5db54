//! The log in memory.

use super::{Command, Effect, Event, EventLog, InvitationRecord, LogError, OperatorInput, StudyRecord};
use fedirt_protocol::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Debug)]
struct CommandRow {
    study: String,
    input: OperatorInput,
    answer: Option<String>,
}

#[derive(Debug, Default)]
struct Tables {
    studies: BTreeMap<String, StudyRecord>,
    events: BTreeMap<(String, i64), Event>,
    invitations: BTreeMap<[u8; 32], InvitationRecord>,
    commands: BTreeMap<i64, CommandRow>,
    status: BTreeMap<String, String>,
}

/// A log in memory. Clones are the same log, so that a coordinator that starts again finds what was written.
#[derive(Debug, Clone, Default)]
pub struct MemoryLog(Arc<Mutex<Tables>>);

/// An event has a number that is taken.
#[derive(Debug, thiserror::Error)]
#[error("event {0} is there already")]
struct EventTwice(i64);

impl MemoryLog {
    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tables {
    /// Whether all of it can be written.
    fn check(&self, effects: &[&Effect]) -> Result<(), EventTwice> {
        let mut new = BTreeSet::new();
        for effect in effects {
            let Effect::Event { study, event } = effect else { continue };
            if self.events.contains_key(&(study.clone(), event.seq)) || !new.insert((study, event.seq)) {
                return Err(EventTwice(event.seq));
            }
        }
        Ok(())
    }

    fn apply(&mut self, effect: &Effect) {
        match effect {
            Effect::Event { study, event } => {
                self.events.insert((study.clone(), event.seq), event.clone());
            }
            Effect::UseInvitation { hash, key, at: _ } => {
                if let Some(invitation) = self.invitations.get_mut(hash) {
                    invitation.used_key.get_or_insert(key.to_vec());
                }
            }
            Effect::Answer { command, answer } => {
                if let Some(command) = self.commands.get_mut(command) {
                    command.answer = Some(answer.clone());
                }
            }
            Effect::Status { study, text } => drop(self.status.insert(study.clone(), text.clone())),
        }
    }
}

impl EventLog for MemoryLog {
    fn commit(&mut self, effects: &[&Effect]) -> Result<(), LogError> {
        let mut tables = self.tables();
        let told = |error: EventTwice| LogError { location: "in memory".into(), error: error.into() };
        tables.check(effects).map_err(told)?;
        effects.iter().for_each(|effect| tables.apply(effect));
        Ok(())
    }

    fn events(&self, study: &str, after: i64, most: usize) -> Result<Vec<Event>, LogError> {
        let tables = self.tables();
        let from = (study.to_owned(), after.saturating_add(1));
        let of_study = tables.events.range(from..).take_while(|((of, _), _)| of == study);
        Ok(of_study.map(|(_, event)| event.clone()).take(most).collect())
    }

    fn event_count(&self) -> Result<u64, LogError> {
        Ok(self.tables().events.len() as u64)
    }

    fn studies(&self) -> Result<Vec<StudyRecord>, LogError> {
        Ok(self.tables().studies.values().cloned().collect())
    }

    fn has_begun(&self, study: &str) -> Result<bool, LogError> {
        let tables = self.tables();
        let invited = tables.invitations.values().any(|invitation| invitation.study == study);
        Ok(invited || tables.events.keys().any(|(of, _)| of == study))
    }

    fn put_study(&mut self, study: &StudyRecord, _plan_hash: &[u8; 32]) -> Result<(), LogError> {
        self.tables().studies.insert(study.study.clone(), study.clone());
        Ok(())
    }

    fn add_invitation(
        &mut self,
        hash: &[u8; 32],
        study: &str,
        site: &str,
        expires: Timestamp,
    ) -> Result<usize, LogError> {
        let mut tables = self.tables();
        let mut withdrawn = 0;
        let earlier = tables.invitations.values_mut().filter(|i| i.study == study && i.site == site);
        for invitation in earlier.filter(|i| i.used_key.is_none() && !i.withdrawn) {
            invitation.withdrawn = true;
            withdrawn += 1;
        }
        let (study, site) = (study.to_owned(), site.to_owned());
        let invitation = InvitationRecord { study, site, expires, withdrawn: false, used_key: None };
        tables.invitations.insert(*hash, invitation);
        Ok(withdrawn)
    }

    fn invitations(&self, study: &str) -> Result<Vec<InvitationRecord>, LogError> {
        let tables = self.tables();
        Ok(tables.invitations.values().filter(|invitation| invitation.study == study).cloned().collect())
    }

    fn find_invitation(&self, hash: &[u8; 32]) -> Result<Option<InvitationRecord>, LogError> {
        Ok(self.tables().invitations.get(hash).cloned())
    }

    fn add_command(&mut self, study: &str, input: &OperatorInput, _at: Timestamp) -> Result<i64, LogError> {
        let mut tables = self.tables();
        let id = tables.commands.last_key_value().map_or(1, |(id, _)| id + 1);
        tables
            .commands
            .insert(id, CommandRow { study: study.to_owned(), input: input.clone(), answer: None });
        Ok(id)
    }

    fn command_answer(&self, id: i64) -> Result<Option<String>, LogError> {
        Ok(self.tables().commands.get(&id).and_then(|command| command.answer.clone()))
    }

    fn commands(&self) -> Result<Vec<Command>, LogError> {
        let tables = self.tables();
        let waiting = tables.commands.iter().filter(|(_, command)| command.answer.is_none());
        let command = |(id, row): (&i64, &CommandRow)| Command {
            id: *id,
            study: row.study.clone(),
            input: Some(row.input.clone()),
        };
        Ok(waiting.map(command).collect())
    }

    fn status_of(&self, study: &str) -> Result<Option<String>, LogError> {
        Ok(self.tables().status.get(study).cloned())
    }
}
