//! What the reader of a file noted, and what of it belongs into the results.

use fedirt_data::text::listed;
use fedirt_data::{Audience, Note, NoteKind};
use fedirt_model::fit::{Fit, FitSite, Warning};
use fedirt_protocol::in_process::SiteAfter;

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
