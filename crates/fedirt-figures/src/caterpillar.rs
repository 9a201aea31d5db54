//! Site effects with their intervals, in order.

use fedirt_model::fit::{Fit, FitSite};

use crate::canvas::{Anchor, Canvas, Ink, Readout, TEXT};
use crate::figure::{Figure, Table, Width, interval, withheld};
use crate::frame::{Frame, ticks_across};
use crate::rows::{self, Estimate, Rows};
use crate::scale::Scale;
use crate::text::{self, finite};

/// The effect of every site with its 95 % interval, abler sites first.
pub fn site_effects(fit: &Fit) -> Figure {
    let title = "Site effects".to_owned();
    let mut sites: Vec<(&FitSite, Estimate)> = fit
        .sites
        .iter()
        .filter_map(|site| {
            let value = finite(site.effect)?;
            Some((site, Estimate { value, limits: interval(value, site.se) }))
        })
        .collect();
    if sites.is_empty() {
        return Figure::without(title, why_missing(fit));
    }
    sites.sort_by(|a, b| b.1.value.total_cmp(&a.1.value).then_with(|| a.0.name.cmp(&b.0.name)));
    let (first, last) = (sites[0].0, sites[sites.len() - 1].0);
    let apart = sites.iter().filter(|(_, e)| stands_out(e)).count();
    let description = format!(
        "Effects of {} from {} ({}) to {} ({}), with 95\u{a0}% intervals; {apart} of the intervals exclude zero.",
        text::counted(sites.len() as u64, "site", "sites"),
        text::reading(first.effect.unwrap_or(0.0), 2),
        first.name,
        text::reading(last.effect.unwrap_or(0.0), 2),
        last.name
    );
    let figure = Figure::drawn(title, description.clone(), |width| draw(&sites, width, &description));
    notes(fit, sites.len(), apart, figure).table(table(&sites))
}

fn why_missing(fit: &Fit) -> String {
    if fit.sites.is_empty() {
        "The fit knows of no sites.".to_owned()
    } else if fit.effects == "none" {
        "The model has no site effects: all students come from one distribution of ability.".to_owned()
    } else {
        withheld(&fit.mode, "effects of single sites")
    }
}

fn notes(fit: &Fit, shown: usize, apart: usize, figure: Figure) -> Figure {
    let mut figure = figure.note(
        "Positive means abler, in units of ability. Intervals are 95\u{a0}%; those that exclude zero are coloured.",
    );
    if fit.effects == "random" {
        let sd = finite(fit.site_sd).map_or_else(String::new, |sd| {
            let se = finite(fit.se_site_sd)
                .map_or_else(String::new, |se| format!(", SE {}", text::reading(se, 3)));
            format!(" (SD between sites {}{se})", text::reading(sd, 3))
        });
        figure = figure.note(format!(
            "These are empirical-Bayes estimates{sd}: they are drawn towards zero, those of small sites most."
        ));
    } else {
        figure = figure.note("Effects sum to zero over the sites shown.");
    }
    if shown >= 20 {
        figure = figure.note(format!(
            "If all sites were alike, about {} of {shown} intervals would exclude zero by chance; here {apart} do.",
            (0.05 * shown as f64).round()
        ));
    }
    let without = fit.sites.len() - shown;
    if without > 0 {
        figure = figure.note(format!(
            "Left out: {} without an effect; the warnings say why.",
            text::counted(without as u64, "site", "sites")
        ));
    }
    figure
}

fn stands_out(estimate: &Estimate) -> bool {
    estimate.limits.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
}

fn draw(sites: &[(&FitSite, Estimate)], width: Width, description: &str) -> String {
    let w = width.pixels();
    let rows = Rows::new(38.0, sites.len());
    let h = rows.bottom() + 46.0;
    let mut canvas = Canvas::new(w, h);
    let room = if width.is_narrow() { 92.0 } else { 150.0 };
    let widest = sites
        .iter()
        .enumerate()
        .filter(|(row, _)| rows.labelled(*row))
        .map(|(_, (site, _))| text::width(&site.name, TEXT))
        .fold(20.0, f64::max);
    let left = widest.min(room) + 16.0;
    let right = if rows.roomy() { w - 52.0 } else { w - 14.0 };
    let estimates: Vec<Estimate> = sites.iter().map(|(_, estimate)| *estimate).collect();
    let (low, high) = rows::domain(&estimates);
    let frame = Frame {
        left,
        right,
        top: rows.top,
        bottom: rows.bottom(),
        x: Scale::nice(low.min(0.0), high.max(0.0), left, right, ticks_across(width)),
        y: Scale::linear(0.0, 1.0, 0.0, 1.0),
    };
    frame.vertical_grid(&mut canvas, ticks_across(width));
    let zero = frame.x.at(0.0);
    canvas.line((zero, rows.top), (zero, rows.bottom()), Ink::Muted, 1.0);
    frame.horizontal(&mut canvas, "Site effect (units of ability)", ticks_across(width));
    canvas.text((left - 8.0, rows.heading()), Anchor::End, Ink::Muted, "Site");
    if rows.far() {
        frame.labels_above(&mut canvas, ticks_across(width));
    }
    if rows.roomy() {
        canvas.text((w - 6.0, rows.heading()), Anchor::End, Ink::Muted, "n");
    }
    for (row, (site, estimate)) in sites.iter().enumerate() {
        let y = rows.at(row);
        let ink = if stands_out(estimate) { Ink::Accent } else { Ink::Muted };
        rows::mark(&mut canvas, &frame, &rows, y, *estimate, ink);
        if rows.labelled(row) {
            let name = text::shorten(&site.name, TEXT, room);
            canvas.text((left - 8.0, y + 4.0), Anchor::End, Ink::Text, &name);
        }
        if rows.roomy() {
            canvas.text((w - 6.0, y + 4.0), Anchor::End, Ink::Muted, &text::count(site.n));
        }
    }
    canvas.readout(Readout {
        axis: 'y',
        first: rows.at(0),
        last: rows.at(sites.len() - 1),
        rows: sites.len(),
    });
    canvas.finish(description)
}

fn table(sites: &[(&FitSite, Estimate)]) -> Table {
    let mut table = Table::new("Site effects", &["Site", "n", "Effect", "SE", "95\u{a0}% from", "to"]);
    for (site, estimate) in sites {
        table.rows.push(vec![
            site.name.clone(),
            site.n.to_string(),
            text::fixed(estimate.value, 3),
            text::fixed_or_dash(finite(site.se), 3),
            text::fixed_or_dash(estimate.limits.map(|l| l.0), 3),
            text::fixed_or_dash(estimate.limits.map(|l| l.1), 3),
        ]);
    }
    table
}
