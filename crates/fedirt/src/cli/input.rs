//! Files as inputs of the reader, and the questions after reading.

use fedirt::{Input, Problems, Responses, questions};
use std::path::PathBuf;

/// Files, each opened when its turn comes.
pub(crate) fn files(paths: &[PathBuf]) -> impl Iterator<Item = Input<'static>> {
    paths.iter().map(|path| Input::file(path))
}

/// Asks about columns and codes that may not be answers.
pub(crate) fn ask(mut responses: Responses) -> Result<Responses, Problems> {
    responses.notes.extend(questions(&responses, &[])?);
    Ok(responses)
}
