//! The whole program, as scripts and people run it.

mod bad_input;
mod categories;
mod check;
mod common;
mod compare;
#[cfg(unix)]
mod courier;
mod equal;
mod files;
mod flags;
mod hidden;
#[cfg(unix)]
mod interrupt;
#[cfg(unix)]
mod mailbox;
mod messy;
mod messy_table;
mod neighbours;
mod network;
mod output;
mod remedies;
mod report;
mod score;
mod streams;
mod studies;
