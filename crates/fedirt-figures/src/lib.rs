//! Pictures of a fit, and the self-contained report made of them; pictures and pages of simulation studies.
//!
//! The input is [`fedirt_model::fit::Fit`], the content of `fit.json`, or the numbers of a study. Every picture is a
//! [`Figure`]: the
//! drawing in two widths, the numbers behind it, and words for those who cannot see it. What the mode of a
//! run did not release makes a figure without a drawing, whose `missing` field says why in a sentence.
//!
//! Nothing here reads files or clocks, and nothing that is drawn asks for anything over a network.

mod ability_density;
mod answers;
mod canvas;
mod caterpillar;
mod characteristic;
mod convergence;
mod dependence;
mod difficulties;
mod expected_score;
mod figure;
mod forest;
mod frame;
mod group_differences;
mod influence;
mod information;
mod ink;
mod marker;
mod observed;
mod overlay;
mod panels;
#[cfg(feature = "png")]
mod picture;
mod privacy_epsilon;
mod privacy_errors;
mod rebuilt;
mod results;
mod rows;
mod scale;
mod scree;
mod shape;
mod side_by_side;
pub mod text;
mod wright_map;

mod report;

pub use ability_density::ability_density;
pub use answers::{ItemAnswers, MissingMap, category_shares, missing_map, score_histogram};
pub use caterpillar::site_effects;
pub use characteristic::characteristic_curves;
pub use convergence::convergence;
pub use dependence::residual_correlations;
pub use difficulties::difficulties;
pub use expected_score::expected_score;
pub use figure::{Figure, Table};
pub use forest::item_parameters;
pub use group_differences::group_differences;
pub use influence::site_influence;
pub use information::{item_information, test_information};
pub use overlay::{MOST_OVERLAID, item_overlay};
pub use panels::{PanelPoint, PanelRow, Panels, panels};
#[cfg(feature = "png")]
pub use picture::PictureError;
pub use privacy_epsilon::{EpsilonAt, Rounds, epsilon_by_rounds};
pub use privacy_errors::{ErrorCurve, errors_by_epsilon};
pub use rebuilt::{Block, RebuiltRows, rebuilt_rows};
pub use report::{StudyPage, StudySection, report, study_page};
pub use results::{For, Numbers, Options, Part, Section, alarms, figure_html, section, sections, table_html};
pub use scree::scree;
pub use side_by_side::{SideBySide, SideColumn, SideEstimate, side_by_side};
pub use text::escape;
pub use wright_map::wright_map;
