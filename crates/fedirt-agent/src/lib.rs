//! The agent of a site: takes part in studies, from files in a [`Store`] and over calls of a [`Transport`].
//!
//! Both are traits. With the default features files are in a folder ([`DiskStore`]) and calls are HTTPS (`Https`), outbound
//! alone; without them nothing here knows a file system, a network or the computer's clock.
//!
//! ```text
//! home/policy.toml   the site's own rules           home/ledger.txt   what was given away, of whom (all studies)
//! home/salt.key      of row fingerprints            home/studies/STUDY/
//!   plan.toml        as approved                      coordinator.toml  where, and who this site is there
//!   identity.key     the site's key (0600)            journal.jsonl     what must not be forgotten, hash-chained
//!   secret/          round key and upload (0600)      results/          fit, own place, scores, transcript
//!   roster.json      that waits for approval          enrolment.bin     that waits for the courier (0600)
//!   officer.toml     what was chosen on the pages     answers/          a file from the browser, until the study is over
//! ```
//!
//! The order of every release: ledger → journal (`debited`, `released`) → upload beside the journal → journal
//! (`upload`) → transcript → network. A crash between any two leaves a home from which the agent goes on, with the
//! same bytes where an answer was given.

mod account;
mod approve;
mod enrol;
mod error;
mod home;
#[cfg(feature = "https")]
mod https;
mod journal;
mod journal_words;
mod ledger_lines;
mod machine_log;
mod mailbox;
mod officer;
mod policy_file;
mod preview;
mod responses;
mod results;
mod run;
mod status;
pub mod store;
mod study;
mod study_state;
#[cfg(test)]
mod tests;
mod transcript;
mod transport;
mod verified;
mod withdraw;

pub use account::{
    check_journal, check_ledger, foreseen, has_budget, known_populations, open_account, other_names,
};
pub use approve::{NotApproved, approve, roster_shown};
pub use enrol::{Offer, accept, look, refusals, refused_with};
pub use error::AgentError;
#[cfg(feature = "files")]
pub use home::system_clock;
pub use home::{Clock, Home};
#[cfg(feature = "https")]
pub use https::Https;
pub use journal::{JournalEntry, JournalEvent};
pub use ledger_lines::{LedgerLine, LedgerTable, ledger_table};
pub use mailbox::{PostBox, SiteMailbox};
pub use officer::{Answer, News, Officer, RosterAnswer};
pub use policy_file::TEMPLATE as POLICY_TEMPLATE;
pub use preview::{ItemGiven, Preview, RoundPreview, StatisticPreview, preview};
#[cfg(feature = "files")]
pub use responses::read_for_plan;
pub use responses::{OwnResponses, PlanMismatch, for_plan, options_for_plan};
pub use results::{Own, write_results};
pub use run::{Agent, End};
pub use status::{SiteStudyStatus, status};
#[cfg(feature = "files")]
pub use store::DiskStore;
pub use store::{Lock, MemoryStore, Readers, Store, StoreError};
pub use study::{Connection, Study, StudyFolder};
pub use study_state::{OfficerChoices, StudyState};
pub use transport::{Delivery, Transport, TransportError};
pub use verified::{Verified, verified};
pub use withdraw::{Withdrawal, withdraw};
