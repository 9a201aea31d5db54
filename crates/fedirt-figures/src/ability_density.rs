//! The distribution of ability beside a normal one of the same mean and SD: as estimated, or where it is taken to be normal, as the
//! answers have it.

use fedirt_model::fit::{Fit, LatentCheck, LatentShape};

use crate::canvas::{Anchor, Canvas, Ink, Readout};
use crate::figure::{Figure, Table, Width};
use crate::frame::{ABILITY, Frame, ticks_across};
use crate::scale::Scale;
use crate::shape;
use crate::text;

/// The density of ability where its shape was estimated.
pub fn ability_density(fit: &Fit) -> Figure {
    let title = "Distribution of ability".to_owned();
    let check = fit.diagnostics.as_ref().and_then(|diagnostics| diagnostics.latent.as_ref());
    let (theta, weights, (what, sentence)) = match (&fit.latent.shape, check) {
        (Some(shape), _) => {
            let words = format!(
                "Density of ability, estimated as {}, beside the normal one of the same mean and SD. {}",
                shape.population,
                in_words(shape)
            );
            (&shape.theta, &shape.weights, ("Estimated", words))
        }
        (None, Some(check)) => (&check.theta, &check.observed, ("Students", checked(check))),
        (None, None) => return Figure::without(title, "Ability is taken to be normal.".to_owned()),
    };
    let (mean, sd) = (fit.latent.mean, fit.latent.sd);
    let (low, high) = shape::range(fit);
    let nodes = (0..theta.len()).filter(|n| (low..=high).contains(&theta[*n]));
    let spacing = if theta.len() > 1 { theta[1] - theta[0] } else { 1.0 };
    let normal = |t: f64| (-0.5 * ((t - mean) / sd).powi(2)).exp() / (sd * std::f64::consts::TAU.sqrt());
    let points: Vec<Point> = nodes
        .map(|n| {
            let ability = theta[n];
            Point { ability, estimated: weights[n] / spacing, normal: normal(ability) }
        })
        .collect();
    let mut table = Table::new("Density of ability", &["Ability", what, "Normal"]);
    table.rows = (points.iter())
        .map(|p| vec![text::fixed(p.ability, 2), text::fixed(p.estimated, 4), text::fixed(p.normal, 4)])
        .collect();
    let label = what.to_lowercase();
    let figure =
        Figure::drawn(title, sentence.clone(), |width| draw(&points, (low, high), &label, width, &sentence))
            .table(table);
    if fit.latent.shape.is_some() {
        figure.note("The grey line is the normal distribution. Whether the difference matters is decided by comparing this fit with one that takes ability to be normal: fedirt compare gives the likelihood ratio and BIC.")
    } else {
        figure.note("The grey line is the normal distribution that the model assumes, the blue one the mean of what each student's answers say under it: with few items it leans on the normal. Skewness and kurtosis are one step of estimation away from it.")
    }
}

/// The test of the normal as sentences.
fn checked(check: &LatentCheck) -> String {
    let verdict = match check.p {
        Some(p) if p < 0.05 => "the answers contradict a normal distribution",
        Some(_) => "the answers do not contradict a normal distribution",
        None => "no test was made",
    };
    let statistic = check.score.map_or_else(String::new, |score| {
        let p = check.p.unwrap_or(f64::NAN);
        let p = if p < 0.0005 { "p < 0.001".to_owned() } else { format!("p = {p:.3}") };
        format!(" (χ² {} with {:.0} degrees of freedom, {p})", text::reading(score, 2), check.df)
    });
    format!(
        "Density of ability as the answers have it, beside the normal one: {verdict}{statistic}. Skewness about {}, excess kurtosis about {}.",
        text::reading(check.skewness, 2),
        text::reading(check.kurtosis, 2)
    )
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

fn draw(points: &[Point], (low, high): (f64, f64), what: &str, width: Width, description: &str) -> String {
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
    canvas.label((left + 6.0, top + 6.0), Anchor::Start, Ink::Accent, what);
    canvas.label((left + 6.0, top + 24.0), Anchor::Start, Ink::Muted, "normal");
    frame.horizontal(&mut canvas, ABILITY, ticks_across(width));
    frame.announce(&mut canvas);
    canvas.readout(Readout { axis: 'x', first: left, last: right, rows: points.len() });
    canvas.finish(description)
}
