//! The output of a study: tables, settings, figures in two formats, and a page with the findings.

use fedirt_figures::{Figure, PictureError, StudyPage, StudySection, Table, study_page};

/// A file with its content and a short description.
#[derive(Debug, Clone, PartialEq)]
pub struct DataFile {
    /// Name.
    pub name: String,
    /// Content.
    pub content: Vec<u8>,
    /// A short description of the content.
    pub about: String,
}

impl DataFile {
    /// A file of text.
    pub fn new(name: &str, content: String, about: &str) -> Self {
        Self { name: name.into(), content: content.into_bytes(), about: about.into() }
    }
}

/// A part of the page.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Section {
    /// Heading.
    pub heading: String,
    /// Text before the pictures.
    pub paragraphs: Vec<String>,
    /// Pictures with the names of their files.
    pub pictures: Vec<(String, Figure)>,
    /// Tables, which are shown open.
    pub tables: Vec<Table>,
}

/// The page of a study.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Article {
    /// Heading.
    pub title: String,
    /// How much was run, in a few words.
    pub run: String,
    /// The findings in sentences, the most important first.
    pub findings: Vec<String>,
    /// Body.
    pub sections: Vec<Section>,
    /// The settings of the study.
    pub settings: Vec<(String, String)>,
}

/// A study written up: files to keep, and a text for a terminal.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyOutput {
    /// All files, by name.
    pub files: Vec<(String, Vec<u8>)>,
    /// Findings and main tables as text.
    pub text: String,
}

/// Pixels of a PNG for one of the drawing: 300 to the inch where the picture is 16 cm wide.
const SCALE: f32 = 3.0;

/// Name of the page.
const PAGE: &str = "index.html";

impl Article {
    /// All files of the study: the data, each picture as SVG and PNG, and the page.
    pub fn files(self, data: Vec<DataFile>) -> Result<Vec<(String, Vec<u8>)>, PictureError> {
        let mut listed: Vec<(String, String)> =
            data.iter().map(|file| (file.name.clone(), file.about.clone())).collect();
        let mut files: Vec<(String, Vec<u8>)> =
            data.into_iter().map(|file| (file.name, file.content)).collect();
        let mut sections = Vec::with_capacity(self.sections.len());
        for section in self.sections {
            let mut figures = Vec::with_capacity(section.pictures.len());
            for (name, figure) in section.pictures {
                if figure.missing.is_none() {
                    let (svg, png) = (format!("{name}.svg"), format!("{name}.png"));
                    files.push((svg.clone(), figure.standalone().into_bytes()));
                    files.push((png.clone(), figure.png(SCALE)?));
                    listed.push((format!("{svg}, {png}"), figure.title.clone()));
                }
                figures.push(figure);
            }
            let Section { heading, paragraphs, tables, .. } = section;
            sections.push(StudySection { heading, paragraphs, figures, tables });
        }
        let page = StudyPage {
            title: self.title,
            run: self.run,
            lead: self.findings,
            sections,
            settings: self.settings,
            files: listed,
            version: env!("CARGO_PKG_VERSION").into(),
        };
        files.push((PAGE.into(), study_page(&page).into_bytes()));
        Ok(files)
    }
}

/// Cells in columns for a terminal, the first `left` columns aligned left.
pub fn aligned(rows: &[Vec<String>], left: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| rows.iter().filter_map(|r| r.get(c)).map(|t| t.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::from(" ");
        for (c, text) in row.iter().enumerate() {
            let w = widths[c];
            line += &if c < left { format!(" {text:<w$}") } else { format!("  {text:>w$}") };
        }
        out += line.trim_end();
        out.push('\n');
    }
    out
}

const MINUS: &str = "−";

/// A number with this many significant digits: `0.0234`, `12.3`, `1234`.
pub fn brief(x: f64, digits: i32) -> String {
    if !x.is_finite() {
        return "–".into();
    }
    // Rounding errors of sums that are zero are shown as zero.
    if x.abs() < 1e-12 {
        return "0".into();
    }
    let magnitude = x.abs().log10().floor() as i32;
    if magnitude < -4 {
        return format!("{x:.1e}").replace('-', MINUS);
    }
    let decimals = (digits - 1 - magnitude).clamp(0, 12) as usize;
    format!("{x:.decimals$}").replace('-', MINUS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [["a", "10×50"], ["newton", "4"]].map(|r| r.map(str::to_owned).to_vec());
        assert_eq!(aligned(&rows, 1), "  a       10×50\n  newton      4\n");
    }

    #[test]
    fn numbers_are_short() {
        let cases = [
            (0.023_41, "0.0234"),
            (-1.5, "−1.50"),
            (1234.5, "1234"),
            (3.2e-7, "3.2e−7"),
            (1e-17, "0"),
            (0.0, "0"),
        ];
        for (x, text) in cases {
            assert_eq!(brief(x, 3), text);
        }
    }
}
