//! The estimated distribution of ability beside a normal one of the same mean and SD.

use fedirt_model::fit::{Fit, LatentShape};

use crate::canvas::{Anchor, Canvas, Ink, Readout};
use crate::figure::{Figure, Table, Width};
use crate::frame::{ABILITY, Frame, ticks_across};
use crate::scale::Scale;
use crate::shape;
use crate::text;

/// The density of ability where its shape was estimated.
pub fn ability_density(fit: &Fit) -> Figure {
    let title = "Distribution of ability".to_owned();
    let Some(shape) = &fit.latent.shape else {
        return Figure::without(title, "Ability is taken to be normal.".to_owned());
    };
    let (mean, sd) = (fit.latent.mean, fit.latent.sd);
    let (low, high) = shape::range(fit);
    let nodes = (0..shape.theta.len()).filter(|n| (low..=high).contains(&shape.theta[*n]));
    let spacing = if shape.theta.len() > 1 { shape.theta[1] - shape.theta[0] } else { 1.0 };
    let normal = |t: f64| (-0.5 * ((t - mean) / sd).powi(2)).exp() / (sd * std::f64::consts::TAU.sqrt());
    let points: Vec<Point> = nodes
        .map(|n| {
            let ability = shape.theta[n];
            Point { ability, estimated: shape.weights[n] / spacing, normal: normal(ability) }
        })
        .collect();
    let description = format!(
        "Density of ability, estimated as {}, beside the normal one of the same mean and SD. {}",
        shape.population,
        in_words(shape)
    );
    let mut table = Table::new("Density of ability", &["Ability", "Estimated", "Normal"]);
    table.rows = (points.iter())
        .map(|p| vec![text::fixed(p.ability, 2), text::fixed(p.estimated, 4), text::fixed(p.normal, 4)])
        .collect();
    Figure::drawn(title, description.clone(), |width| draw(&points, (low, high), width, &description))
        .table(table)
        .note("The grey line is the normal distribution. Whether the difference matters is decided by comparing this fit with one that takes ability to be normal: fedirt compare gives the likelihood ratio and BIC.")
}

/// Skewness and kurtosis as a sentence.
fn in_words(shape: &LatentShape) -> String {
    let side = match shape.skewness {
        s if s > 0.1 => "the longer tail is on the right",
        s if s < -0.1 => "the longer tail is on the left",
        _ => "both tails are about as long",
    };
    format!(
        "Skewness {}: {side}; excess kurtosis {}.",
        text::reading(shape.skewness, 2),
        text::reading(shape.kurtosis, 2)
    )
}

struct Point {
    ability: f64,
    estimated: f64,
    normal: f64,
}

fn draw(points: &[Point], (low, high): (f64, f64), width: Width, description: &str) -> String {
    let (w, h) = (width.pixels(), if width.is_narrow() { 280.0 } else { 360.0 });
    let mut canvas = Canvas::new(w, h);
    let (left, right, top, bottom) = (46.0, w - 14.0, 34.0, h - 46.0);
    let highest = points.iter().map(|p| p.estimated.max(p.normal)).fold(0.0, f64::max);
    let frame = Frame {
        left,
        right,
        top,
        bottom,
        x: Scale::linear(low, high, left, right),
        y: Scale::nice(0.0, highest, bottom, top, 5),
    };
    frame.vertical(&mut canvas, "Density", 5);
    let abilities: Vec<f64> = points.iter().map(|p| p.ability).collect();
    let along = |of: fn(&Point) -> f64| frame.points(&abilities, &points.iter().map(of).collect::<Vec<_>>());
    let (estimated, normal) = (along(|p| p.estimated), along(|p| p.normal));
    canvas.band(&along(|_| 0.0), &estimated, Ink::Accent);
    canvas.curve(&normal, Ink::Muted, 1.5);
    canvas.curve(&estimated, Ink::Accent, 2.0);
    // Each name stands at the end of the picture where nothing else is.
    canvas.label((left + 6.0, top + 6.0), Anchor::Start, Ink::Accent, "estimated");
    canvas.label((left + 6.0, top + 24.0), Anchor::Start, Ink::Muted, "normal");
    frame.horizontal(&mut canvas, ABILITY, ticks_across(width));
    frame.announce(&mut canvas);
    canvas.readout(Readout { axis: 'x', first: left, last: right, rows: points.len() });
    canvas.finish(description)
}
