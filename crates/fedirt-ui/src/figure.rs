//! Figures and tables on a page, as they are in the report.

use crate::frame::Html;
pub use fedirt_figures::Numbers;
use fedirt_figures::{Figure, Table, figure_html, table_html};

/// A figure as HTML. `id` must be unique on the page.
pub fn figure(id: &str, figure: &Figure, numbers: Numbers) -> Html {
    Html(figure_html(id, figure, numbers))
}

/// A table whose columns the reader can sort.
pub fn table(table: &Table) -> Html {
    Html(table_html(table))
}
