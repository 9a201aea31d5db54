//! Pictures and pages of studies: they ask for nothing, escape everything, and become PNG.

mod demo;

use fedirt_figures::{Figure, StudyPage, StudySection, Table, study_page};
use resvg::tiny_skia::Pixmap;

#[test]
fn every_picture_has_a_png_that_is_not_blank() {
    for (name, figure) in demo::all() {
        let png = figure.png(1.0).unwrap();
        let map = Pixmap::decode_png(&png).unwrap();
        assert!(map.width() >= 600 && map.height() > 200, "{name}");
        let dark = map.pixels().iter().filter(|p| p.red() < 110 && p.green() < 110).count();
        assert!(dark > 1000, "{name}: {dark} dark pixels");
        assert_eq!(png, figure.png(1.0).unwrap(), "{name}");
        let twice = Pixmap::decode_png(&figure.png(2.0).unwrap()).unwrap();
        assert_eq!(twice.width(), 2 * map.width(), "{name}");
        assert!(
            figure.tables.iter().all(|t| t.rows.iter().all(|row| row.len() == t.headers.len())),
            "{name}"
        );
    }
}

#[test]
fn pages_ask_for_nothing_and_lead_with_findings() {
    let page = demo::page();
    let rest = page.replace("http://www.w3.org/2000/svg", "");
    for address in ["http://", "https://", "src=\"//", "href=\"//", "url(", "@import", "<link"] {
        assert!(!rest.contains(address), "{address}");
    }
    assert!(page.contains("default-src 'none'") && !page.contains("NaN\""));
    let findings = page.find("class=\"findings\"").unwrap();
    assert!(findings < page.find("<figure").unwrap());
    assert!(page.contains("href=\"./results.csv\"") && page.contains("4711"));
    let ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(ids.iter().enumerate().all(|(i, id)| !ids[..i].contains(id)));
    for target in page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(ids.contains(&target), "{target} is missing");
    }
}

#[test]
fn hostile_words_stay_words() {
    let hostile = "</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>\"'";
    let text = || hostile.to_owned();
    let figure = Figure::without(text(), text());
    let table = Table { caption: text(), headers: vec![text()], rows: vec![vec![text()]] };
    let page = study_page(&StudyPage {
        title: text(),
        run: text(),
        lead: vec![text()],
        sections: vec![StudySection {
            heading: text(),
            paragraphs: vec![text()],
            figures: vec![figure],
            tables: vec![table],
        }],
        settings: vec![(text(), text())],
        files: vec![(text(), text())],
        version: text(),
    });
    assert!(!page.contains("<img") && !page.contains("<!--"));
    assert_eq!(page.matches("<script").count(), 2, "one to mark, one to act");
    assert!(study_page(&StudyPage::default()).ends_with("</html>\n"));
}
