//! Pages in a browser: what all pages share, the psychometrician's pages ([`coordinator`]), and the pages of a site's officer
//! ([`site`]).
//!
//! - [`Gate`] stands before every page: hosts, sessions, roles, forgery tokens, attempts at logging in. A page is a
//!   [`Route`] that names the [`Right`] it needs, so that no handler can forget to ask.
//! - [`Frame`] and `templates/layout.html` are the page around the content; [`figure`] puts a picture into it.
//! - [`assets`] are the stylesheet and the scripts, served from the binary. No page asks another host for anything,
//!   and none has a script or a style of its own.
//! - [`events`] tells a page that something has changed (server-sent events).
//!
//! Clocks and randomness are arguments. Nothing in what pages share knows what a study is.

pub mod access;
pub mod assets;
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
