//! Files as inputs of the reader.

use fedirt_data::Input;
use std::path::PathBuf;

/// Files, each opened when its turn comes.
pub(crate) fn files(paths: &[PathBuf]) -> impl Iterator<Item = Input<'static>> {
    paths.iter().map(|path| Input::file(path))
}
