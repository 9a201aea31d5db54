//! What single sites change: for each the item parameter that would change most without it, as a dumbbell.

use fedirt_model::fit::{Fit, SiteInfluence};

use crate::canvas::{Anchor, Canvas, Ink, Readout, TEXT};
use crate::figure::{Figure, Table, Width};
use crate::frame::Frame;
use crate::rows::Rows;
use crate::scale::Scale;
use crate::text;

/// Sites that are drawn: the most influential.
const MOST: usize = 20;

/// The influence of the sites, where it is known by name.
pub fn site_influence(fit: &Fit) -> Figure {
    let title = "Influence of single sites".to_owned();
    let diagnostics = fit.diagnostics.as_ref();
    let found = diagnostics.and_then(|diagnostics| diagnostics.influence.as_ref());
    let Some(sites) = found.and_then(|found| found.sites.as_ref()).filter(|sites| !sites.is_empty()) else {
        let known = diagnostics.and_then(|d| d.not_available.iter().find(|n| n.name == "influence"));
        let why = known.map_or_else(
            || "It is not known by name.".to_owned(),
            |missing| format!("Not available: {}.", missing.reason),
        );
        return Figure::without(title, why);
    };
    let shown = &sites[..sites.len().min(MOST)];
    let first = &shown[0];
    let description = format!(
        "For each site the item parameter that would change most without it. Without {} the {} of item {} would move by {} standard errors.",
        first.site,
        first.parameter,
        first.item,
        text::reading(first.change, 1)
    );
    let headers = ["Site", "Item", "Parameter", "Estimate", "Without the site", "Change in SE"];
    let mut table = Table::new("What would change most without each site", &headers);
    table.rows.extend(sites.iter().map(|site| {
        vec![
            site.site.clone(),
            site.item.clone(),
            site.parameter.clone(),
            text::fixed(site.estimate, 3),
            text::fixed(site.without, 3),
            text::fixed(site.change, 2),
        ]
    }));
    let mut figure = Figure::drawn(title, description.clone(), |width| draw(shown, width, &description))
        .note("Each line goes from the estimate of all sites (hollow) to what it would be without the site (filled), in standard errors of the estimate; one step of estimation from all sites. Beyond one standard error the site carries the result.")
        .table(table);
    if sites.len() > MOST {
        figure = figure.note(format!("The {MOST} most influential of {} sites are drawn.", sites.len()));
    }
    figure
}

fn draw(shown: &[SiteInfluence], width: Width, description: &str) -> String {
    let w = width.pixels();
    let rows = Rows::new(24.0, shown.len());
    let mut canvas = Canvas::new(w, rows.bottom() + 46.0);
    let name = |site: &SiteInfluence| format!("{} · {} {}", site.site, site.item, site.parameter);
    let room = if width.is_narrow() { 130.0 } else { 200.0 };
    let left = shown.iter().map(|site| text::width(&name(site), TEXT)).fold(40.0, f64::max).min(room) + 16.0;
    let right = w - 14.0;
    let farthest = shown.iter().map(|site| site.change.abs()).fold(1.2, f64::max);
    let frame = Frame {
        left,
        right,
        top: rows.top,
        bottom: rows.bottom(),
        x: Scale::nice(-farthest, farthest, left, right, 5),
        y: Scale::linear(0.0, 1.0, 0.0, 1.0),
    };
    frame.vertical_grid(&mut canvas, 5);
    frame.horizontal(&mut canvas, "Change without the site, in standard errors", 5);
    for limit in [-1.0, 1.0] {
        let x = frame.x.at(limit);
        canvas.dashed((x, rows.top), (x, rows.bottom()), Ink::Muted, 1.0, "4 3");
    }
    for (row, site) in shown.iter().enumerate() {
        let y = rows.at(row);
        let ink = if site.change.abs() > 1.0 { Ink::Alarm } else { Ink::Accent };
        let (from, to) = (frame.x.at(0.0), frame.x.at(site.change));
        canvas.line((from, y), (to, y), ink, 1.5);
        canvas.ring((from, y), 3.2, Ink::Muted);
        canvas.dot((to, y), 4.0, ink);
        let label = text::shorten(&name(site), TEXT, room);
        canvas.text((left - 8.0, y + 4.0), Anchor::End, Ink::Text, &label);
    }
    canvas.readout(Readout {
        axis: 'y',
        first: rows.at(0),
        last: rows.at(shown.len() - 1),
        rows: shown.len(),
    });
    canvas.finish(description)
}
