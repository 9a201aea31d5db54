//! Log-likelihood and largest gradient, round by round.

use fedirt_model::fit::TraceEntry;

use crate::canvas::{Anchor, Canvas, Ink, Readout, TEXT};
use crate::figure::{Figure, Table, Width, withheld};
use crate::frame::{Frame, ticks_across};
use crate::scale::Scale;
use crate::text::{self, finite};

/// Log-likelihood and largest gradient by round, with the slowest items by name. `mode` is that of the fit.
pub fn convergence(trace: &[TraceEntry], mode: &str) -> Figure {
    let title = "Convergence".to_owned();
    let logliks = series(trace, |t| finite(t.loglik));
    let gradients = series(trace, |t| finite(t.max_gradient).filter(|g| *g > 0.0));
    if logliks.is_empty() && gradients.is_empty() {
        let why = if trace.is_empty() {
            "The fit holds no record of its rounds.".to_owned()
        } else {
            withheld(mode, "log-likelihood and gradients by round")
        };
        return Figure::without(title, why);
    }
    let slowest = trace.last().map(|t| t.slowest_items.as_slice()).unwrap_or_default();
    let mut description = format!("Course of {}", text::counted(trace.len() as u64, "round", "rounds"));
    if let Some((_, last)) = gradients.last() {
        description += &format!("; the largest gradient per student ended at {}", text::scientific(*last));
    }
    description.push('.');
    let mut table = Table::new(
        "Largest gradient per student and largest change of a parameter, by round",
        &["Round", "Log-likelihood", "Gradient", "Change", "Slowest items"],
    );
    for entry in trace {
        table.rows.push(vec![
            entry.round.to_string(),
            text::fixed_or_dash(finite(entry.loglik), 3),
            finite(entry.max_gradient).map_or_else(|| text::MISSING.to_owned(), |v| format!("{v:.1e}")),
            finite(entry.max_change).map_or_else(|| text::MISSING.to_owned(), |v| format!("{v:.1e}")),
            entry.slowest_items.join(", "),
        ]);
    }
    let mut figure = Figure::drawn(title, description.clone(), |width| {
        draw(trace, &logliks, &gradients, width, &description)
    })
    .note("Gradient: the largest absolute one per student, at the parameters that the round asked about.")
    .table(table);
    if !slowest.is_empty() {
        figure = figure.note(format!("Slowest in the last round: {}.", text::listed(slowest)));
    }
    figure
}

/// Room for the name of an item beside its point.
const NAME: f64 = 110.0;

fn series(trace: &[TraceEntry], of: impl Fn(&TraceEntry) -> Option<f64>) -> Vec<(f64, f64)> {
    trace.iter().filter_map(|t| Some((t.round as f64, of(t)?))).collect()
}

fn draw(
    trace: &[TraceEntry],
    logliks: &[(f64, f64)],
    gradients: &[(f64, f64)],
    width: Width,
    description: &str,
) -> String {
    let w = width.pixels();
    let rounds = (trace.first().map_or(1, |t| t.round) as f64, trace.last().map_or(1, |t| t.round) as f64);
    // The last decimals of a log-likelihood matter, so its labels are long.
    let named = trace.last().and_then(|t| t.slowest_items.first()).filter(|_| !gradients.is_empty());
    let beside = named.map_or(24.0, |name| 1.2 * text::width(name, TEXT).min(NAME) + 12.0);
    let (left, right) = (74.0, w - beside);
    let x = if rounds.0 < rounds.1 {
        Scale::linear(rounds.0, rounds.1, left, right)
    } else {
        Scale::linear(rounds.0 - 1.0, rounds.1 + 1.0, left, right)
    };
    let panels = usize::from(!logliks.is_empty()) + usize::from(!gradients.is_empty());
    let (gap, each) = (46.0, 150.0);
    let h = 34.0 + each * panels as f64 + gap * (panels - 1) as f64 + 46.0;
    let mut canvas = Canvas::new(w, h);
    let mut top = 34.0;
    let mut last = None;
    for (name, points, log) in
        [("Log-likelihood", logliks, false), ("Largest gradient (log scale), slowest item", gradients, true)]
    {
        if points.is_empty() {
            continue;
        }
        let bottom = top + each;
        let values = || points.iter().map(|p| p.1);
        let (low, high) =
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        // Room for a name above the highest point.
        let y = if log {
            Scale::log(low, 3.0 * high, bottom, top)
        } else {
            Scale::nice(low, high, bottom, top, 4)
        };
        let frame = Frame { left, right, top, bottom, x, y };
        frame.vertical(&mut canvas, name, 4);
        let pixels: Vec<(f64, f64)> = points.iter().map(|p| (x.at(p.0), y.at(p.1))).collect();
        canvas.curve(&pixels, Ink::Accent, 1.6);
        if points.len() <= 60 {
            for at in &pixels {
                canvas.dot(*at, 3.0, Ink::Accent);
            }
        }
        if log {
            name_slowest(&mut canvas, &frame, trace, points);
        }
        last = Some(frame);
        top = bottom + gap;
    }
    if let Some(frame) = last {
        whole_rounds(&mut canvas, &frame, rounds, ticks_across(width));
    }
    let even = trace.windows(2).all(|pair| pair[1].round == pair[0].round + 1);
    if even {
        canvas.readout(Readout { axis: 'x', first: x.at(rounds.0), last: x.at(rounds.1), rows: trace.len() });
    }
    canvas.finish(description)
}

/// The item with the largest gradient beside its round, where there is room for a name.
fn name_slowest(canvas: &mut Canvas, frame: &Frame, trace: &[TraceEntry], points: &[(f64, f64)]) {
    let room = (frame.right - frame.left) / points.len().max(2) as f64;
    for (i, &(round, value)) in points.iter().enumerate() {
        let is_last = i + 1 == points.len();
        let item = trace.iter().find(|t| t.round as f64 == round).and_then(|t| t.slowest_items.first());
        let Some(item) = item.filter(|name| is_last || text::width(name, TEXT) < room) else { continue };
        let (x, y) = (frame.x.at(round), frame.y.at(value));
        let name = text::shorten(item, TEXT, NAME);
        let at = if is_last { (x + 8.0, y + 4.0) } else { (x + 6.0, y - 6.0) };
        canvas.label(at, Anchor::Start, Ink::Text, &name);
    }
}

/// Rounds are counted, so only whole numbers stand at the axis.
fn whole_rounds(canvas: &mut Canvas, frame: &Frame, (first, last): (f64, f64), ticks: usize) {
    canvas.line((frame.left, frame.bottom), (frame.right, frame.bottom), Ink::Muted, 1.0);
    let every = ((last - first) / ticks as f64).ceil().max(1.0);
    let mut round = first;
    while round <= last {
        let x = frame.x.at(round);
        canvas.line((x, frame.bottom), (x, frame.bottom + 4.0), Ink::Muted, 1.0);
        canvas.text((x, frame.bottom + 17.0), Anchor::Middle, Ink::Muted, &text::reading(round, 0));
        round += every;
    }
    canvas.text(((frame.left + frame.right) / 2.0, frame.bottom + 36.0), Anchor::Middle, Ink::Text, "Round");
}
