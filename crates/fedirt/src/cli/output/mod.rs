//! Standard output and standard error.

pub(crate) mod stderr;
pub(crate) mod stdout;
