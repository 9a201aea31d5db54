//! Sums from which a correlation follows.

/// Sums of an item's score and of the mean score in the other items of the same row.
#[derive(Clone, Copy, Default)]
pub(crate) struct Moments {
    pub(crate) rows: u64,
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
    yy: f64,
}

impl Moments {
    pub(crate) fn add(&mut self, x: f64, y: f64) {
        self.rows += 1;
        self.x += x;
        self.y += y;
        self.xx += x * x;
        self.xy += x * y;
        self.yy += y * y;
    }

    /// `None` where one of the two does not vary.
    pub(crate) fn correlation(&self) -> Option<f64> {
        let n = self.rows as f64;
        let covariance = n * self.xy - self.x * self.y;
        let variances = (n * self.xx - self.x * self.x) * (n * self.yy - self.y * self.y);
        (variances > 1e-9 * n).then(|| covariance / variances.sqrt())
    }
}
