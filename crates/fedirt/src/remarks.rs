//! What the reader of a file noted, and what of it belongs into the results.

use fedirt_data::{Audience, Note, NoteKind};
use fedirt_model::fit::{Fit, FitItem, FitSite, Warning};
use fedirt_protocol::in_process::SiteAfter;

/// Names of a list that are spelt out.
const LISTED: usize = 5;

/// Whether a note matters to whoever uses the results, and not only to whoever made the files.
fn matters(kind: &NoteKind) -> bool {
    match kind {
        NoteKind::UnusedColumn { .. }
        | NoteKind::EmptyItems(_)
        | NoteKind::EmptyRows(_)
        | NoteKind::EmptySite(_)
        | NoteKind::SiteCalledNa
        | NoteKind::NoLowCode { .. } => true,
        NoteKind::IdColumn(_) | NoteKind::LongFormat | NoteKind::BlankLines(_) | NoteKind::IdsDropped(_) => {
            false
        }
    }
}

/// Notes that become warnings of the fit, and the others.
pub(crate) fn sort(notes: &[Note]) -> (Vec<Warning>, Vec<String>) {
    let (kept, other): (Vec<&Note>, Vec<&Note>) = notes.iter().partition(|note| matters(&note.kind));
    let warning =
        |note: &Note| Warning { code: "reading".to_owned(), message: note.told(Audience::CommandLine) };
    (
        kept.into_iter().map(warning).collect(),
        other.into_iter().map(|note| note.told(Audience::CommandLine)).collect(),
    )
}

/// What a private fit in one process does not do.
pub(crate) fn no_ledger() -> Warning {
    let message = "this run is in no ledger: ε is for this run alone, and every further run on the same students adds to it. `fedirt site` keeps an account";
    Warning { code: "no_ledger".to_owned(), message: message.to_owned() }
}

/// A statement of how codes became categories, where they were not 0, 1, 2, … already.
pub(crate) fn recodes(items: &[FitItem]) -> Option<Warning> {
    let recoded: Vec<&FitItem> = items
        .iter()
        .filter(|i| i.codes.iter().enumerate().any(|(c, code)| c != usize::from(*code)))
        .collect();
    if recoded.is_empty() {
        return None;
    }
    let codes = |item: &FitItem| item.codes.iter().map(u8::to_string).collect::<Vec<_>>().join(", ");
    let same = recoded.iter().all(|item| item.codes == recoded[0].codes);
    let mut message = String::from("codes are read as categories 0, 1, … from the lowest up: ");
    if same {
        let names: Vec<&str> = recoded.iter().map(|item| item.name.as_str()).collect();
        message.push_str(&format!("codes {} of {}", codes(recoded[0]), listed(&names)));
    } else {
        let each: Vec<String> =
            recoded.iter().map(|item| format!("{} (codes {})", item.name, codes(item))).collect();
        message.push_str(&listed(&each));
    }
    Some(Warning { code: "recoded".to_owned(), message })
}

/// Sites whose students are scored as if they were at the average site, although sites differ.
pub(crate) fn scored_without_effect(fit: &Fit, after: &[SiteAfter]) -> Option<String> {
    // A site may know its own effect where the fit does not tell it.
    let own = |k: usize| after.get(k).and_then(|site| site.place).and_then(|place| place.effect);
    let without = |(k, site): &(usize, &FitSite)| site.effect.or_else(|| own(*k)).is_none();
    let names: Vec<&str> =
        fit.sites.iter().enumerate().filter(without).map(|(_, site)| site.name.as_str()).collect();
    (fit.effects != "none" && !names.is_empty()).then(|| {
        format!("scores.csv: no effect is known for {}: scored with 0, the average site", listed(&names))
    })
}

/// `A, B, C`, or the first few and how many there are.
pub(crate) fn listed<T: AsRef<str>>(names: &[T]) -> String {
    let shown: Vec<&str> = names.iter().map(AsRef::as_ref).take(LISTED).collect();
    match names.len() {
        n if n > LISTED => format!("{}, … ({n} in all)", shown.join(", ")),
        _ => shown.join(", "),
    }
}
