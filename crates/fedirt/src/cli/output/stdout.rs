//! Standard output: colours on a terminal only, and no complaint when the reader has seen enough.

use crate::error::CliError;
use std::io::{self, Write};

/// Prints a text. A reader that goes away early (`| head`) is no error; a full disk is.
pub(crate) fn print(text: &str) -> Result<(), CliError> {
    // Without colours, and also where NO_COLOR is set, the styles are taken out of the text.
    finish(anstream::stdout(), text)
}

/// Prints bytes as they are.
pub(crate) fn print_raw(text: &str) -> Result<(), CliError> {
    finish(io::stdout(), text)
}

fn finish(mut out: impl Write, text: &str) -> Result<(), CliError> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CliError::Output(error)),
        _ => Ok(()),
    }
}
