//! Writes demonstration reports from simulated fits: `cargo run -p fedirt-figures --example demo -- DIRECTORY`.

#[path = "../tests/common/mod.rs"]
mod common;

use common::Plan;

fn main() -> std::io::Result<()> {
    let directory = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let reports = [
        ("binary", common::fit(Plan::default())),
        (
            "polytomous",
            common::fit(Plan { model: "gpcm", items: 18, categories: 4, sites: 3, ..Plan::default() }),
        ),
        ("short", common::fit(Plan { items: 7, sites: 3, ..Plan::default() })),
        ("long", common::fit(Plan { items: 200, sites: 40, ..Plan::default() })),
        ("troubled", common::troubled()),
        ("withheld", common::withheld()),
        ("groups", common::compared()),
        ("large", common::fit(Plan { items: 500, sites: 500, effects: "random", ..Plan::default() })),
    ];
    for (name, fit) in reports {
        let path = format!("{directory}/{name}.html");
        let page = fedirt_figures::report(&fit);
        println!("{path}: {} kB", page.len() / 1024);
        std::fs::write(path, page)?;
    }
    Ok(())
}
