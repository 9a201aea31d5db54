//! Everything that leaves the program: streams, single files, a folder of results.

pub(crate) mod csv;
pub(crate) mod file;
pub(crate) mod folder;
pub(crate) mod json;
pub(crate) mod stderr;
pub(crate) mod stdout;
