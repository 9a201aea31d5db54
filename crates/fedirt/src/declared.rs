//! Categories of private fits: what the user declares, whatever the rows are.
//!
//! Which codes occur depends on single students, and a result that shows it has no ε. So the categories come from the
//! codebook; without one every item has the codes 0 and 1. Any other code is an error for the person at the keyboard.

use crate::args::FitArgs;
use fedirt_data::{Input, NoteKind, Reading, undeclared_codes};
use fedirt_model::centre::ItemPlan;
use std::collections::HashMap;
use std::path::Path;

/// The codes of an item that nobody declared otherwise.
const UNDECLARED: [u8; 2] = [0, 1];

/// Long files name items in their rows: a student without answers could take one away.
pub(crate) fn items_from_rows(args: &FitArgs, reading: &Reading) -> Option<String> {
    let long = reading.notes.iter().any(|note| note.kind == NoteKind::LongFormat);
    (long && args.codebook.is_none()).then(|| {
        "long files: a private fit needs --codebook (CSV: item, model, categories), for the items must not depend on the answers"
            .to_owned()
    })
}

/// Gives every item its declared codes; complains about those that the files have beyond them.
pub(crate) fn settle(args: &FitArgs, plan: &mut [ItemPlan], reading: &Reading) -> Vec<String> {
    let mut problems = Vec::new();
    for item in plan.iter_mut().filter(|item| item.codes.is_none()) {
        if let Some(model) =
            item.model.as_deref().filter(|model| matches!(*model, "pcm" | "gpcm" | "grm" | "nrm"))
        {
            problems.push(format!(
                "item {}: {model} has more than two categories, and a private fit takes their number from a codebook, never from the answers: --codebook FILE (CSV: item, model, categories)",
                item.name
            ));
        }
        item.codes = Some(UNDECLARED.to_vec());
    }
    if !problems.is_empty() {
        return problems;
    }
    let declared: HashMap<&str, &[u8]> =
        plan.iter().filter_map(|item| Some((item.name.as_str(), item.codes.as_deref()?))).collect();
    let options = args.columns.read_options(args.weight.as_ref());
    for site in &reading.sites {
        for mut strange in undeclared_codes(site, |name| declared.get(name).copied()) {
            strange.locate(&options, |file| Some(Input::file(Path::new(file))));
            let codes: Vec<String> = declared
                .get(strange.item.as_str())
                .map_or(Vec::new(), |codes| codes.iter().map(ToString::to_string).collect());
            problems.push(format!(
                "{strange} is none of those declared ({}). A private fit takes categories from a codebook, never from the answers: --codebook FILE (CSV: item, categories, and lowest where codes begin above 0), or --missing {} if it means no answer",
                codes.join(", "),
                strange.code
            ));
        }
    }
    problems
}
