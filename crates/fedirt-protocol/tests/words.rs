//! What the project says of `secure`, in its documents, pages and messages.

use std::path::{Path, PathBuf};

/// Claims that exact sums under masks hide a site. From people who do not compute they do; from a coordinator that computes they
/// do not (SECURITY.md), so none of these stands anywhere, unless its sentence says from whom.
const CLAIMS: [&str; 12] = [
    "hides which site",
    "hide which site",
    "hides which school",
    "hide which school",
    "hides each site",
    "hides the site",
    "hides each school",
    "nor at which site",
    "without saying from which site",
    "came from is hidden",
    "no site\u{2019}s numbers",
    "no site's numbers",
];

/// What makes such a sentence true.
const FROM_WHOM: [&str; 3] = ["do not compute", "who read", "merely reads"];

fn texts(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the project").flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            if !matches!(name.as_str(), "target" | "node_modules" | "artifacts") && !name.starts_with('.') {
                texts(&path, found);
            }
        } else if ["md", "rs", "html", "js", "toml", "svg", "json"]
            .iter()
            .any(|end| name.ends_with(&format!(".{end}")))
        {
            found.push(path);
        }
    }
}

/// The claims in a text, each with its sentence.
fn claims(text: &str) -> Vec<String> {
    // Comments and strings that run over several lines are one sentence.
    let words: Vec<&str> =
        text.split_whitespace().filter(|word| !matches!(*word, "//" | "///" | "//!" | "\\" | "#")).collect();
    let text = words.join(" ").to_lowercase().replace("*which site*", "which site");
    let sentences = text.split_inclusive(['.', ';', '|']);
    let claimed = |sentence: &&str| {
        CLAIMS.iter().any(|claim| sentence.contains(claim))
            && !FROM_WHOM.iter().any(|whom| sentence.contains(whom))
    };
    sentences.filter(claimed).map(str::to_owned).collect()
}

#[test]
fn nothing_says_that_secure_hides_a_school_from_a_coordinator_that_computes() {
    // A text that says it is found, across lines too.
    assert_eq!(claims("/// Masks, which\n/// hides\n/// which site sent it. Fine.").len(), 1);
    assert!(claims("It hides which site sent a number from people who do not compute.").is_empty());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    texts(&root, &mut found);
    assert!(found.iter().any(|path| path.ends_with("SECURITY.md")) && found.len() > 100);
    let mut wrong = Vec::new();
    for path in found.iter().filter(|path| !path.ends_with("fedirt-protocol/tests/words.rs")) {
        let text = String::from_utf8_lossy(&std::fs::read(path).expect("a file of the project")).into_owned();
        wrong.extend(claims(&text).into_iter().map(|claim| format!("{}: {claim}", path.display())));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
