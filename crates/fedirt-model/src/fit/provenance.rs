//! Where a fit comes from, so that it can be repeated.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How, when and from what a fit was made. Whoever runs the fit knows it; the calibration itself reads no clock and no files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The options of the fit, by the names of the command line's flags.
    pub options: BTreeMap<String, String>,
    /// The command that was typed, quoted for a shell. None where there was none.
    pub command: Option<String>,
    /// The version of fedirt that made the fit.
    pub version: String,
    /// When the estimates stood, in UTC (RFC 3339).
    pub time: Option<String>,
    /// The files that were read, in the order in which they were. None where sites read their own.
    pub files: Option<Vec<InputFile>>,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// Its name, as it was given.
    pub name: String,
    /// SHA-256 of its content, hexadecimal. None in `private`: it is a function of the rows.
    pub sha256: Option<String>,
}
