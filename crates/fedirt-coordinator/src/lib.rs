//! The coordinator as a service: one process, one port, one folder.
//!
//! ```text
//! site ── HTTPS ── http ── study (a thread that owns the machine) ── store (a thread that owns the disk)
//! ```
//!
//! - [`http`] reads requests, checks signatures, and answers; it knows no study's inside.
//! - [`study`] hands inputs to `fedirt_protocol::Coordinator`, one study per thread.
//! - [`store`] writes what the machines took: all waiting events of all studies in one transaction. Only then is an
//!   input acknowledged, and only then do sites see what follows from it. A coordinator that is killed at any moment
//!   starts again from these events.
//! - [`server`] starts all of it, and serves pages for people at a port of their own where it is given them
//!   ([`server::PreparePages`]).
//! - [`folder`] is the folder of an operator: settings, plans, keys, results.

pub mod authority;
mod calls;
pub mod clock;
pub mod codebook;
mod core;
pub mod edit;
pub mod error;
pub mod folder;
pub mod forecast;
pub mod history;
pub mod http;
pub mod invite;
pub mod logs;
pub mod mailbox;
pub mod metrics;
pub mod operator;
pub mod repeat;
pub mod results;
pub mod server;
pub mod settings;
pub mod status;
pub mod store;
pub mod studies;
pub mod study;

pub use error::Error;
pub use folder::Folder;
pub use mailbox::CoordinatorMailbox;
pub use server::{Running, Server};
pub use settings::Settings;
