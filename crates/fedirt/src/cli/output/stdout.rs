//! Standard output, with colours on a terminal only. A closed pipe is not an error.

use crate::error::CliError;
use std::io::{self, Write};

/// Prints a text, unless the program is to be quiet. A closed pipe (`| head`) is not an error; a full disk is.
pub(crate) fn print(text: &str) -> Result<(), CliError> {
    if super::quiet() {
        return Ok(());
    }
    // Where there are no colours, or NO_COLOR is set, the styles are removed from the text.
    finish(anstream::stdout(), text)
}

/// Prints a text unchanged, even where the program is to be quiet.
pub(crate) fn print_raw(text: &str) -> Result<(), CliError> {
    finish(io::stdout(), text)
}

fn finish(mut out: impl Write, text: &str) -> Result<(), CliError> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CliError::Output(error)),
        _ => Ok(()),
    }
}
