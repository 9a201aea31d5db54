//! The table of sites, with intervals drawn if the terminal is wide enough.

use super::style;
use super::table::{Column, Table, cut};
use super::text::{count, fixed};
use fedirt_model::fit::{Fit, FitSite};

/// Maximum number of sites that are shown; `sites.csv` contains all.
const MOST: usize = 24;
/// Half-width of a 95 % interval in standard errors.
const NORMAL_95: f64 = 1.96;
/// Minimum and maximum width of the drawing.
const PICTURE: (usize, usize) = (16, 40);

pub(super) fn table(fit: &Fit, room: usize) -> String {
    let (head, tail) = cut(fit.sites.len(), MOST);
    let shown = || fit.sites.iter().enumerate().filter(|(k, _)| *k < head || *k >= tail);
    let plain = fill(fit, head, tail, None).natural_width();
    let space = room.saturating_sub(plain + 2).min(PICTURE.1);
    let axis = Axis::new(shown().map(|(_, site)| site), space).filter(|_| space >= PICTURE.0);
    fill(fit, head, tail, axis.as_ref()).render(room)
}

fn fill(fit: &Fit, head: usize, tail: usize, axis: Option<&Axis>) -> Table {
    let mut columns = vec![
        Column::words("site"),
        Column::numbers("n").expendable(1),
        Column::numbers("effect"),
        Column::numbers("SE").styled(style::FAINT),
    ];
    if axis.is_some() {
        columns.push(Column::words("95 % interval").styled(style::DRAWN));
    }
    let mut table = Table::new(columns);
    for (k, site) in fit.sites.iter().enumerate() {
        if k == head && head < tail {
            table.remark(format!("… {} more, use --out", tail - head));
        }
        if k < head || k >= tail {
            let mut cells = vec![site.name.clone(), count(site.n), fixed(site.effect, 3), fixed(site.se, 3)];
            cells.extend(axis.map(|axis| axis.draw(site)));
            table.row(cells);
        }
    }
    table
}

/// The scale of the drawing, from the lowest to the highest end of an interval.
struct Axis {
    low: f64,
    high: f64,
    places: usize,
}

fn interval(site: &FitSite) -> Option<(f64, f64, f64)> {
    let effect = site.effect.filter(|x| x.is_finite())?;
    let half = NORMAL_95 * site.se.filter(|x| x.is_finite()).unwrap_or(0.0);
    Some((effect - half, effect, effect + half))
}

impl Axis {
    fn new<'a>(sites: impl Iterator<Item = &'a FitSite>, places: usize) -> Option<Self> {
        let (mut low, mut high) = (0.0f64, 0.0f64);
        let mut any = false;
        for (from, _, to) in sites.filter_map(interval) {
            (low, high, any) = (low.min(from), high.max(to), true);
        }
        (any && high > low).then_some(Self { low, high, places })
    }

    fn place(&self, x: f64) -> usize {
        let share = (x - self.low) / (self.high - self.low);
        ((share * (self.places - 1) as f64).round().max(0.0) as usize).min(self.places - 1)
    }

    fn draw(&self, site: &FitSite) -> String {
        let mut line = vec![' '; self.places];
        line[self.place(0.0)] = '┊';
        if let Some((from, effect, to)) = interval(site) {
            line[self.place(from)..=self.place(to)].fill('─');
            if line[self.place(0.0)] == '─' {
                line[self.place(0.0)] = '┼';
            }
            line[self.place(effect)] = '●';
        }
        line.into_iter().collect::<String>().trim_end().to_owned()
    }
}
