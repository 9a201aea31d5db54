//! A seeded simulation of faults over the machines.
//!
//! A world holds one coordinator and a few sites, each with a disk, and a network between them. From a seed it draws a
//! study, then loses, repeats, delays and reorders messages, stops and restarts either side between any two things it
//! does, lets clocks jump, replays old messages, and in some worlds lies to sites. After a while the faults stop.
//!
//! **A run fails** if
//! - a finished result is not, to the last bit, that of an undisturbed run of the sites that contributed;
//! - a site sends two different vectors under one key, or answers a lower attempt than it has answered;
//! - a site's cohorts are no chain (exact sums), counted independently of the machine;
//! - a site sends numbers without an entry in its ledger, or before they are on its disk;
//! - a ledger's chain of hashes does not verify;
//! - an acknowledged message is forgotten;
//! - nothing happens any more though the faults have stopped and nobody vanished.
//!
//! **It does not fail** if a study ends because a site vanished, waits for one that vanished (`on_loss = wait`), or
//! if a lied-to site refuses, which stops the study. In `plain` a coordinator that lies may spoil its own result.
//!
//! **Known nondeterminism:** none; a seed replays the same run.

mod checks;
mod coordinator_shell;
mod site_shell;
mod study;
mod world;

#[cfg(test)]
mod reproduction;
#[cfg(test)]
mod tests;

pub use world::{Ending, Report, run};
