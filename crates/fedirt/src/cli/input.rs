//! Files as inputs of the reader, and the questions after reading.

use fedirt_data::{CodebookItem, Input, Problems, ReadOptions, Responses, Settled, questions};
use std::path::{Path, PathBuf};

/// Files, each opened when its turn comes.
pub(crate) fn files(paths: &[PathBuf]) -> impl Iterator<Item = Input<'static>> {
    paths.iter().map(|path| Input::file(path))
}

/// Asks about columns and codes that may not be answers, unless a codebook, fixed items or a selection of items settles them.
pub(crate) fn ask<'a>(
    mut responses: Responses,
    options: &ReadOptions,
    codebook: Option<&'a [CodebookItem]>,
    fixed: impl IntoIterator<Item = &'a str>,
) -> Result<Responses, Problems> {
    let declared = codebook.into_iter().flatten().filter(|item| item.categories.is_some());
    let declared = declared.map(|item| item.name.as_str());
    let settled = Settled {
        codes: declared.chain(fixed).map(str::to_owned).collect(),
        items: codebook.is_some() || !options.items.is_empty(),
    };
    let open = |file: &str| Some(Input::file(Path::new(file)));
    let notes = questions(&responses, options, &settled, open)?;
    responses.notes.extend(notes);
    Ok(responses)
}
