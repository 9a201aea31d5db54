//! Runs many independent tasks in parallel, each of them once.
//!
//! A task has a key, and its record depends only on the settings and that key. So the records of a study are the same for
//! any number of threads, and an interrupted study can be resumed from its [`Journal`].

mod journal;

pub use journal::Journal;

use crate::StudyError;
use rayon::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::Write;
use std::sync::Mutex;

/// An observer of the progress of a study.
pub trait Watch: Sync {
    /// The study begins with this many tasks, of which `done` are in the journal.
    fn begin(&self, tasks: usize, done: usize);
    /// One more task is done.
    fn done(&self);
}

/// No observer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn begin(&self, _tasks: usize, _done: usize) {}
    fn done(&self) {}
}

/// The record of every task, in the order of the tasks. Tasks in the journal are not repeated.
pub fn run<T, R, W>(
    tasks: &[T],
    key: impl Fn(&T) -> String + Sync,
    work: impl Fn(&T) -> Result<R, StudyError> + Sync,
    journal: Journal<W>,
    watch: &dyn Watch,
) -> Result<Vec<R>, StudyError>
where
    T: Sync,
    R: Serialize + DeserializeOwned + Send,
    W: Write + Send,
{
    let mut found: Vec<Option<R>> = Vec::with_capacity(tasks.len());
    for task in tasks {
        found.push(journal.find(&key(task))?);
    }
    watch.begin(tasks.len(), found.iter().flatten().count());
    let journal = Mutex::new(journal);
    found
        .into_par_iter()
        .zip(tasks)
        // Without batches, because tasks differ in length.
        .with_max_len(1)
        .map(|(found, task)| match found {
            Some(record) => Ok(record),
            None => {
                let record = work(task)
                    .map_err(|error| StudyError::Task { key: key(task), error: Box::new(error) })?;
                let mut journal = journal.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                journal.add(&key(task), &record)?;
                drop(journal);
                watch.done();
                Ok(record)
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn square(counter: &AtomicUsize) -> impl Fn(&u32) -> Result<f64, StudyError> + Sync {
        move |x| {
            counter.fetch_add(1, Ordering::SeqCst);
            if *x == 7 { Err(StudyError::TooManyRounds(7)) } else { Ok(f64::from(*x).sqrt()) }
        }
    }

    #[test]
    fn a_stopped_study_goes_on_where_it_stopped() {
        let tasks: Vec<u32> = (0..6).collect();
        let (counter, mut file) = (AtomicUsize::new(0), Vec::new());
        let first = Journal::begin("s", &mut file).expect("a journal");
        run(&tasks[..4], |x| x.to_string(), square(&counter), first, &Unwatched).expect("roots");
        // Stopped while a record was being written.
        file.extend_from_slice(b"{\"key\":\"4\",\"rec");
        let text = String::from_utf8(file).expect("text");
        let mut rest = Vec::new();
        let second = Journal::resume("s", &text, &mut rest).expect("the same study");
        let all = run(&tasks, |x| x.to_string(), square(&counter), second, &Unwatched).expect("roots");
        assert_eq!(all, tasks.iter().map(|x| f64::from(*x).sqrt()).collect::<Vec<_>>());
        assert_eq!(counter.load(Ordering::SeqCst), 6);
    }

    #[test]
    fn a_failure_names_its_task() {
        let failed =
            run(&[1, 7], |x| format!("task {x}"), square(&AtomicUsize::new(0)), Journal::none(), &Unwatched);
        assert_eq!(
            failed.map_err(|e| e.to_string()),
            Err("task 7: 7 rounds are more than the accountant can count".into())
        );
    }

    #[test]
    fn other_settings_are_another_study() {
        let mut file = Vec::new();
        drop(Journal::begin("ten sites", &mut file).expect("a journal"));
        let text = String::from_utf8(file).expect("text");
        let other = Journal::resume("nine sites", &text, Vec::new());
        assert!(matches!(other, Err(StudyError::JournalSettings)));
        // A journal without settings belongs to no study; one whose settings are incomplete has no records.
        let unnamed = Journal::resume("ten sites", "{\"key\":\"4\",\"record\":2.0}\n", Vec::new());
        assert!(matches!(unnamed, Err(StudyError::JournalSettings)));
        assert!(Journal::resume("ten sites", &text[..9], Vec::new()).is_ok());
    }
}
