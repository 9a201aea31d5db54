//! The stylesheet and the scripts, which are part of the program and served from memory.

use axum::extract::{Path, RawQuery};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";

// Figures look and behave as in the report, because they use the same stylesheet and scripts.
const STYLE: &str =
    concat!(include_str!("../../fedirt-figures/assets/report.css"), include_str!("../assets/pages.css"));

/// Scripts as one, whose names nobody else sees.
macro_rules! script {
    ($($file:literal),* $(,)?) => { concat!("(() => {\n\"use strict\";\n", $(include_str!($file),)* "})();\n") };
}

const PAGE: &str = script!(
    "../assets/parts.js",
    "../../fedirt-figures/assets/readout.js",
    "../../fedirt-figures/assets/tables.js",
    "../../fedirt-figures/assets/save.js",
    "../assets/drafts.js",
    "../assets/times.js",
    "../assets/filter.js",
    "../assets/forms.js",
    "../assets/upload.js",
    "../assets/live.js",
);

/// In place of `page.js` where the results of a fit stand, with the viewer of items.
const RESULTS: &str = script!(
    "../../fedirt-figures/assets/curves.js",
    "../../fedirt-figures/assets/draw.js",
    "../../fedirt-figures/assets/readout.js",
    "../../fedirt-figures/assets/tables.js",
    "../../fedirt-figures/assets/save.js",
    "../../fedirt-figures/assets/overlay.js",
    "../../fedirt-figures/assets/viewer.js",
    "../../fedirt-figures/assets/gallery.js",
    "../../fedirt-figures/assets/print.js",
    "../assets/times.js",
    "../assets/filter.js",
    "../assets/forms.js",
);

const FILES: [(&str, &str, &str); 4] = [
    ("style.css", CSS, STYLE),
    ("first.js", JS, include_str!("../assets/first.js")),
    ("page.js", JS, PAGE),
    ("results.js", JS, RESULTS),
];

/// The name of each file with the first digits of the hash of its content.
static VERSIONS: LazyLock<Vec<(&str, String)>> = LazyLock::new(|| {
    let version = |text: &str| HEXLOWER.encode(&Sha256::digest(text)[..8]);
    FILES.iter().map(|(name, _, text)| (*name, version(text))).collect()
});

fn version(name: &str) -> &'static str {
    VERSIONS.iter().find(|(known, _)| *known == name).map_or("", |(_, version)| version)
}

/// The address of a file. It contains a hash of the content, so that browsers may cache the file for ever.
pub fn address(name: &str) -> String {
    format!("/assets/{name}?v={}", version(name))
}

/// `GET /assets/{name}`. No log-in is needed, because the log-in page uses these files too.
pub(crate) async fn serve(Path(name): Path<String>, RawQuery(query): RawQuery) -> Response {
    let Some((name, kind, text)) = FILES.into_iter().find(|(known, _, _)| *known == name) else {
        return (StatusCode::NOT_FOUND, "there is no such file\n").into_response();
    };
    let current = query.is_some_and(|query| query == format!("v={}", version(name)));
    let keep = if current { "public, max-age=31536000, immutable" } else { "no-cache" };
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, keep)], text).into_response()
}
