//! The results of a fit in sections of HTML, the same in the report and on the pages of coordinator and sites.
//!
//! A section holds no style attribute and no script that runs, so that it may stand under a strict content security policy;
//! what `viewer.js` needs of the items is text in a script element of type JSON.

mod check;
mod data;
mod flags;
mod html;
mod items;
mod summary;
pub(crate) mod words;

use fedirt_model::fit::Fit;
use std::borrow::Cow;

pub(crate) use html::across;
pub use html::{Numbers, figure_html, table_html};
pub(crate) use summary::{footer, heading};

use crate::figure::Figure;
use crate::{
    ability_density, convergence, expected_score, item_parameters, site_effects, test_information, text,
    wright_map,
};

/// Where the sections stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum For {
    /// In a file that is opened anywhere and asks for nothing.
    Report,
    /// On a page of the coordinator, where each item has an address.
    Page,
    /// On a page of a site, which is not told how the rounds went.
    Site,
}

/// How the results are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Where they stand.
    pub place: For,
    /// Most items that are shown one by one: a page of thousands would hardly open.
    pub most_items: usize,
    /// The item that the viewer shows first, counted from 0; the first with curves, if it has none.
    pub item: usize,
}

impl Options {
    /// The usual ones.
    pub fn new(place: For) -> Self {
        Self { place, most_items: 500, item: 0 }
    }
}

/// A part of the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// What was fitted, and how well.
    Summary,
    /// Items: table, viewer, gallery.
    Items,
    /// Whether the model is right.
    Check,
    /// The test as a whole.
    Test,
    /// Students and items on one scale.
    Scale,
    /// Sites and their effects.
    Sites,
    /// How the estimates were found.
    Rounds,
}

impl Part {
    /// Every part, in the order in which they are read.
    pub const ALL: [Self; 7] =
        [Self::Summary, Self::Items, Self::Check, Self::Test, Self::Scale, Self::Sites, Self::Rounds];

    /// The name in addresses.
    pub fn id(self) -> &'static str {
        match self {
            Self::Summary => "summary",
            Self::Items => "items",
            Self::Check => "check",
            Self::Test => "test",
            Self::Scale => "scale",
            Self::Sites => "sites",
            Self::Rounds => "rounds",
        }
    }

    /// The name in a menu.
    pub fn name(self) -> &'static str {
        match self {
            Self::Summary => "Summary",
            Self::Items => "Items",
            Self::Check => "Model check",
            Self::Test => "Test",
            Self::Scale => "Wright map",
            Self::Sites => "Sites",
            Self::Rounds => "Rounds",
        }
    }

    /// The heading of its section.
    pub fn title(self) -> &'static str {
        match self {
            Self::Check => "Is the model right?",
            Self::Scale => "Students and items on one scale",
            Self::Summary | Self::Items | Self::Test | Self::Sites | Self::Rounds => self.name(),
        }
    }
}

/// A section of the results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its id on the page.
    pub id: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// Its content, without the heading.
    pub html: String,
}

/// All sections, in the order in which they are read.
pub fn sections(fit: &Fit, options: &Options) -> Vec<Section> {
    let told = |part: &Part| options.place != For::Site || *part != Part::Rounds;
    Part::ALL.into_iter().filter(told).map(|part| section(fit, part, options)).collect()
}

/// One section.
pub fn section(fit: &Fit, part: Part, options: &Options) -> Section {
    let few = shown(fit, options.most_items);
    let html = match part {
        Part::Summary => summary::block(fit),
        Part::Items => not_all(fit, options.most_items) + &items::table_and_viewer(&few, options),
        Part::Check => check::section(&few),
        Part::Test => {
            figures(&[("test-information", test_information(fit)), ("expected-score", expected_score(fit))])
        }
        Part::Scale => scale(fit, &few, options.most_items),
        Part::Sites => {
            figure_html("site-effects", &site_effects(fit), Numbers::Beside)
                + &check::sites_without_effects(fit)
        }
        Part::Rounds => figure_html("convergence", &convergence(&fit.trace, &fit.mode), Numbers::Beside),
    };
    Section { id: part.id(), title: part.title(), html }
}

/// The banner of a run that did not converge, and the warnings: they belong above every part.
pub fn alarms(fit: &Fit) -> String {
    summary::alarms(fit)
}

fn scale(fit: &Fit, few: &Fit, most_items: usize) -> String {
    let mut out = String::new();
    if fit.latent.shape.is_some() {
        out += &figure_html("ability-density", &ability_density(fit), Numbers::Beside);
    }
    out += &not_all(fit, most_items);
    out += &across("wright-map", &wright_map(few));
    out + &figures(&[("item-parameters", item_parameters(few))])
}

/// Figures side by side where the page is wide enough.
fn figures(figures: &[(&str, Figure)]) -> String {
    let all: String = figures.iter().map(|(id, drawn)| figure_html(id, drawn, Numbers::Folded)).collect();
    format!("<div class=\"figures\">\n{all}</div>\n")
}

/// The fit with no more items than are shown one by one.
fn shown(fit: &Fit, most_items: usize) -> Cow<'_, Fit> {
    if fit.items.len() <= most_items {
        return Cow::Borrowed(fit);
    }
    let mut few = fit.clone();
    few.items.truncate(most_items);
    if let Some(items) = few.diagnostics.as_mut().and_then(|found| found.item_fit.as_mut()) {
        items.truncate(most_items);
    }
    Cow::Owned(few)
}

/// Says that not all items are shown.
fn not_all(fit: &Fit, most_items: usize) -> String {
    if fit.items.len() <= most_items {
        return String::new();
    }
    let all = text::count(fit.items.len() as u64);
    format!(
        "<p>The first {most_items} of {all} items are shown; <code>items.csv</code> has all of them.</p>\n"
    )
}
