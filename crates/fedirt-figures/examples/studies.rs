//! Writes pictures and a page of invented studies: `cargo run -p fedirt-figures --features png --example studies -- DIRECTORY`.

#[path = "../tests/demo/mod.rs"]
mod demo;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    for (name, figure) in demo::all() {
        std::fs::write(format!("{directory}/{name}.png"), figure.png(2.0)?)?;
        std::fs::write(format!("{directory}/{name}.svg"), figure.standalone())?;
    }
    std::fs::write(format!("{directory}/study.html"), demo::page())?;
    Ok(())
}
