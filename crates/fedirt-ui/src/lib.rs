//! Web pages: the parts that all pages share, the psychometrician's pages ([`coordinator`]), and the pages of a site's officer
//! ([`site`]).
//!
//! - [`Gate`] checks every request: hosts, sessions, roles, tokens against forged requests, failed log-ins. A page is a
//!   [`Route`] that names the [`Right`] that it needs, so that no handler can forget the check.
//! - [`Frame`] and `templates/layout.html` are the layout around the content; [`figure`] renders figures.
//! - [`assets`] are the stylesheet and the scripts, served from memory. No page loads anything from another host,
//!   and none has inline scripts or styles.
//! - [`events`] tells a page that something has changed (server-sent events).
//!
//! The clock and the random generator are arguments. The shared parts do not depend on studies.

pub mod access;
pub mod assets;
mod complaints;
pub mod cookie;
pub mod coordinator;
pub mod error;
pub mod events;
pub mod fields;
pub mod figure;
pub mod frame;
pub mod gate;
pub mod guard;
pub mod headers;
pub mod limit;
mod login;
pub mod moment;
pub mod role;
pub mod route;
pub mod secret;
pub mod session;
pub mod site;

pub use access::{Access, AccessError, Login, Logins};
pub use error::PageError;
pub use fields::Fields;
pub use frame::{Frame, Html, Link, render};
pub use gate::{Gate, GateSettings, Outside};
pub use guard::Visitor;
pub use moment::Moment;
pub use role::{Right, Role};
pub use route::{Route, router};
pub use secret::Secret;
