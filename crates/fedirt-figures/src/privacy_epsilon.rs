//! What rounds cost: ε after each of them, by two accountants.

use crate::canvas::{Anchor, Canvas, Ink};
use crate::figure::{Figure, Table, Width};
use crate::frame::{Frame, ticks_across};
use crate::scale::Scale;
use crate::text;

/// ε after some number of rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EpsilonAt {
    /// Rounds.
    pub rounds: u32,
    /// Tight, by the privacy-loss distribution.
    pub pld: f64,
    /// By Rényi accounting.
    pub rdp: f64,
}

/// The mechanism that the curves belong to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rounds {
    /// Share of students that take part in a round.
    pub sampling_rate: f64,
    /// SD of the noise over the clipping norm.
    pub noise_multiplier: f64,
    /// δ.
    pub delta: f64,
}

/// ε against rounds. The last point is the plan.
pub fn epsilon_by_rounds(mechanism: Rounds, points: &[EpsilonAt]) -> Figure {
    let title = "ε by rounds".to_owned();
    let Some(planned) = points.last() else {
        return Figure::without(title, "There are no rounds to draw.".into());
    };
    let description = format!(
        "ε against rounds at δ = {}, noise multiplier {} and sampling rate {}. After the planned {} it is {} by the \
         privacy-loss distribution and {} by Rényi accounting.",
        text::brief(mechanism.delta),
        text::brief(mechanism.noise_multiplier),
        text::brief(mechanism.sampling_rate),
        text::counted(u64::from(planned.rounds), "round", "rounds"),
        text::fixed(planned.pld, 3),
        text::fixed(planned.rdp, 3)
    );
    let mut table = Table::new("ε by rounds", &["Rounds", "ε (PLD)", "ε (RDP)"]);
    for point in points {
        let row = [point.rounds.to_string(), text::fixed(point.pld, 4), text::fixed(point.rdp, 4)];
        table.rows.push(row.to_vec());
    }
    let heading = format!(
        "ε at δ = {}, noise {}, rate {}",
        text::brief(mechanism.delta),
        text::brief(mechanism.noise_multiplier),
        text::brief(mechanism.sampling_rate)
    );
    Figure::drawn(title, description.clone(), |width| draw(points, planned, &heading, width, &description))
        .note("PLD is tight and is the figure to quote; RDP is the published algorithm's accountant.")
        .table(table)
}

fn draw(points: &[EpsilonAt], planned: &EpsilonAt, heading: &str, width: Width, description: &str) -> String {
    let w = width.pixels();
    let (left, right, top, bottom) = (52.0, w - 96.0, 40.0, 300.0);
    let first = points.first().map_or(1, |p| p.rounds);
    let last = f64::from(planned.rounds);
    let x = if first < planned.rounds {
        Scale::linear(f64::from(first), last, left, right)
    } else {
        Scale::linear(last - 1.0, last + 1.0, left, right)
    };
    let finite = points.iter().flat_map(|p| [p.pld, p.rdp]).filter(|e| e.is_finite());
    let y = Scale::nice(0.0, finite.fold(0.0, f64::max), bottom, top, 5);
    let frame = Frame { left, right, top, bottom, x, y };
    let mut canvas = Canvas::new(w, bottom + 46.0);
    frame.vertical(&mut canvas, heading, 5);
    whole_rounds(&mut canvas, &frame, (f64::from(first), last), ticks_across(width));
    canvas.dashed((x.at(last), top), (x.at(last), bottom), Ink::Muted, 1.0, "3 3");
    let rounds: Vec<f64> = points.iter().map(|p| f64::from(p.rounds)).collect();
    let mut ends = Vec::new();
    for (name, of, ink) in [
        ("PLD", (|p: &EpsilonAt| p.pld) as fn(&EpsilonAt) -> f64, Ink::Accent),
        ("RDP", |p: &EpsilonAt| p.rdp, Ink::Muted),
    ] {
        let values: Vec<f64> = points.iter().map(of).collect();
        canvas.curve(&frame.points(&rounds, &values), ink, 1.8);
        let end = of(planned);
        canvas.dot((x.at(last), y.at(end)), 3.5, ink);
        ends.push((y.at(end), ink, format!("{name} {}", text::fixed(end, 2))));
    }
    for (at, ink, name) in apart(ends, 15.0) {
        canvas.label((x.at(last) + 9.0, at + 4.0), Anchor::Start, ink, &name);
    }
    let plan = format!("plan: {}", text::counted(u64::from(planned.rounds), "round", "rounds"));
    canvas.text((right, top - 8.0), Anchor::Middle, Ink::Muted, &plan);
    canvas.finish(description)
}

/// Rounds are counted: whole numbers stand at the axis, the last among them.
fn whole_rounds(canvas: &mut Canvas, frame: &Frame, (first, last): (f64, f64), ticks: usize) {
    canvas.line((frame.left, frame.bottom), (frame.right, frame.bottom), Ink::Muted, 1.0);
    let shown = frame.x.ticks(ticks).into_iter().map(|tick| tick.value);
    let near = 0.6 * (last - first) / ticks as f64;
    let shown = shown.filter(|v| v.fract() == 0.0 && *v > first && *v < last - near);
    let ends = if first < last { vec![first, last] } else { vec![last] };
    for round in ends.into_iter().chain(shown.filter(|v| *v - first > near)) {
        let x = frame.x.at(round);
        canvas.line((x, frame.bottom), (x, frame.bottom + 4.0), Ink::Muted, 1.0);
        canvas.text((x, frame.bottom + 17.0), Anchor::Middle, Ink::Muted, &text::reading(round, 0));
    }
    let middle = (frame.left + frame.right) / 2.0;
    canvas.text((middle, frame.bottom + 36.0), Anchor::Middle, Ink::Text, "Rounds");
}

/// Labels moved apart so that none covers another: those that would meet stand in a block around their mean.
pub(crate) fn apart(mut labels: Vec<(f64, Ink, String)>, gap: f64) -> Vec<(f64, Ink, String)> {
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Middle and number of labels of each block, from the highest down.
    let mut blocks: Vec<(f64, f64)> = Vec::new();
    for (y, _, _) in &labels {
        let mut block = (*y, 1.0);
        while let Some(above) = blocks.pop() {
            if block.0 - above.0 >= 0.5 * gap * (block.1 + above.1) {
                blocks.push(above);
                break;
            }
            let number = block.1 + above.1;
            block = ((block.0 * block.1 + above.0 * above.1) / number, number);
        }
        blocks.push(block);
    }
    let places = blocks.iter().flat_map(|&(middle, number)| {
        (0..number as usize).map(move |i| middle + gap * (i as f64 - 0.5 * (number - 1.0)))
    });
    let places: Vec<f64> = places.collect();
    labels.iter_mut().zip(places).for_each(|(label, y)| label.0 = y);
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    const MECHANISM: Rounds = Rounds { sampling_rate: 0.1, noise_multiplier: 2.0, delta: 1e-6 };

    #[test]
    fn any_number_of_rounds_is_drawn() {
        for count in [0, 1, 2, 100] {
            let at = |rounds| EpsilonAt { rounds, pld: f64::from(rounds).sqrt(), rdp: f64::INFINITY };
            let points: Vec<EpsilonAt> = (1..=count).map(at).collect();
            let figure = epsilon_by_rounds(MECHANISM, &points);
            assert_eq!(figure.missing.is_some(), count == 0);
            assert!(!figure.svg.contains("NaN") && !figure.svg.contains("inf"), "{}", figure.svg);
            if count > 0 {
                assert!(figure.svg.contains("Rounds") && figure.svg.contains("plan: "));
            }
        }
    }

    #[test]
    fn labels_do_not_meet() {
        let label = |y: f64| (y, Ink::Text, String::new());
        let moved = apart(vec![label(10.0), label(11.0), label(50.0)], 15.0);
        let places: Vec<f64> = moved.iter().map(|l| l.0).collect();
        assert_eq!(places, [3.0, 18.0, 50.0]);
    }
}
