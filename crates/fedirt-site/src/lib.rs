//! A site: the [`agent`] that takes part in studies from its home folder, and the officer's [`pages`].

pub mod agent;
pub mod pages;
