//! A folder, a small test simulated in it, and a way to run the program there.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

/// Answers of one site.
#[derive(Clone)]
pub(crate) struct SiteData {
    pub(crate) name: &'static str,
    pub(crate) rows: Vec<Vec<String>>,
}

/// Items of the simulated test.
pub(crate) const ITEMS: [&str; 6] = ["M1", "M2", "M3", "M4", "M5", "M6"];

/// A random number in (0, 1) from a counter: the same on every machine.
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64 + 1e-17
}

/// Three sites of a test of five 0/1 items and one with categories 0, 1, 2; some answers are missing.
pub(crate) fn simulated() -> Vec<SiteData> {
    let mut state = 7;
    let sites = [("north", 120, -0.4), ("south", 140, 0.1), ("west", 110, 0.3)];
    let rows = |(name, students, effect): (&'static str, usize, f64)| {
        let mut rows = Vec::new();
        for _ in 0..students {
            let radius = (-2.0 * uniform(&mut state).ln()).sqrt();
            let ability = effect + radius * (std::f64::consts::TAU * uniform(&mut state)).cos();
            let mut row: Vec<String> = (0..6)
                .map(|j| {
                    let e = (0.8 + 0.15 * j as f64) * ability;
                    let d = 1.0 - 0.4 * j as f64;
                    let steps: &[f64] = if j < 5 { &[d] } else { &[0.9, -0.2] };
                    let mut weights = vec![1.0];
                    weights.extend(steps.iter().enumerate().map(|(c, d)| ((c + 1) as f64 * e + d).exp()));
                    let mut u = uniform(&mut state) * weights.iter().sum::<f64>();
                    let category = weights.iter().position(|w| {
                        u -= w;
                        u < 0.0
                    });
                    category.unwrap_or(0).to_string()
                })
                .collect();
            if uniform(&mut state) < 0.1 {
                row[(uniform(&mut state) * 6.0) as usize] = String::new();
            }
            rows.push(row);
        }
        SiteData { name, rows }
    };
    sites.map(rows).to_vec()
}

/// One CSV text per site.
pub(crate) fn wide(site: &SiteData) -> String {
    let mut text = format!("{}\n", ITEMS.join(","));
    for row in &site.rows {
        text.push_str(&format!("{}\n", row.join(",")));
    }
    text
}

/// One CSV text with a column of sites and one of ids.
pub(crate) fn with_site_column(sites: &[SiteData]) -> String {
    let mut text = format!("id,school,{}\n", ITEMS.join(","));
    for site in sites {
        for (i, row) in site.rows.iter().enumerate() {
            text.push_str(&format!("{}{i},{},{}\n", site.name, site.name, row.join(",")));
        }
    }
    text
}

/// A folder that goes when the test ends.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("the test can be set up") }
    }

    /// A folder with north.csv, south.csv, west.csv, and all.csv with the column `school`.
    pub(crate) fn simulated() -> Self {
        let bench = Self::new();
        let sites = simulated();
        for site in &sites {
            bench.write(&format!("{}.csv", site.name), wide(site));
        }
        bench.write("all.csv", with_site_column(&sites));
        bench
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).expect("the test can be set up");
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).expect("the test can be set up")
    }

    /// Names in a folder, sorted.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        names(&self.path(folder))
    }

    pub(crate) fn command(&self, arguments: &str) -> assert_cmd::Command {
        let mut command = assert_cmd::Command::cargo_bin("fedirt").expect("the test can be set up");
        command.current_dir(self.folder.path()).args(arguments.split_whitespace());
        command
    }

    /// Runs the program; arguments are split at spaces.
    pub(crate) fn run(&self, arguments: &str) -> Output {
        self.command(arguments).output().expect("the test can be set up")
    }

    /// Runs the program, which must end with this status; returns what it printed on both streams.
    pub(crate) fn expect(&self, status: i32, arguments: &str) -> (String, String) {
        let output = self.run(arguments);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(status), "fedirt {arguments}\n{out}\n{err}");
        assert!(!err.contains("panicked"), "{err}");
        (out, err)
    }

    /// The fit that `fit … --json` prints, without its provenance: that of the same answers is the same.
    pub(crate) fn fit(&self, arguments: &str) -> Value {
        let (out, _) = self.expect(0, &format!("fit {arguments} --json"));
        let mut fit: Value = serde_json::from_str(&out).expect("the test can be set up");
        fit["provenance"].take();
        fit
    }
}

pub(crate) fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .expect("the test can be set up")
        .map(|entry| {
            entry.expect("the test can be set up").file_name().into_string().expect("names are text")
        })
        .collect();
    names.sort();
    names
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("the test can be set up")
}

/// Rows of a CSV text without quotes, after its header.
pub(crate) fn rows(text: &str) -> Vec<Vec<&str>> {
    text.lines().skip(1).map(|line| line.split(',').collect()).collect()
}

pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Two JSON values with the same shape whose numbers agree within a tolerance.
pub(crate) fn assert_close(a: &Value, b: &Value, tolerance: f64, place: &str) {
    match (a, b) {
        (Value::Number(_), Value::Number(_)) => {
            let (x, y) = (number(a), number(b));
            assert!((x - y).abs() <= tolerance * (1.0 + x.abs()), "{place}: {x} and {y}");
        }
        (Value::Array(x), Value::Array(y)) => {
            assert_eq!(x.len(), y.len(), "{place}");
            x.iter().zip(y).enumerate().for_each(|(i, (x, y))| {
                assert_close(x, y, tolerance, &format!("{place}[{i}]"));
            });
        }
        (Value::Object(x), Value::Object(y)) => {
            assert!(x.keys().eq(y.keys()), "{place}");
            x.iter().for_each(|(key, x)| assert_close(x, &y[key], tolerance, &format!("{place}.{key}")));
        }
        _ => assert_eq!(a, b, "{place}"),
    }
}
