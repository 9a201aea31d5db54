//! `fedirt simulate`.

use crate::args::SimulateArgs;
use crate::error::CliError;
use crate::interrupt::{INTERRUPTED, Stopped};
use crate::output::{self, stderr};
use fedirt_data::files::{FileError, FileSet, replace};
use fedirt_model::responses::MISSING;
use fedirt_model::simulate::{MIXED, Missing, SiteEffects, SiteRows, Spec, Truth};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

pub(crate) fn run(args: &SimulateArgs) -> Result<ExitCode, CliError> {
    let spec = spec(args);
    let truth = Truth::draw(&spec).map_err(CliError::because)?;
    output::be_quiet(args.quiet);
    let folder = &args.out;
    let responses: Vec<PathBuf> = if args.per_site {
        truth.sites.iter().map(|s| folder.join(format!("{}.csv", s.name))).collect()
    } else {
        vec![folder.join("responses.csv")]
    };
    let mut set = FileSet::prepare(folder)?;
    let stopped = Stopped::watch();
    if let Err(error) = write(&mut set, &stopped, &responses, args, (&spec, &truth)) {
        if stopped.is_set() {
            stderr::note("interrupted; nothing was written");
            return Ok(ExitCode::from(INTERRUPTED));
        }
        return Err(error.into());
    }
    set.place()?;
    output::stdout::print(&report(args, &spec, &truth, &responses))?;
    Ok(ExitCode::SUCCESS)
}

/// Writes all files beside their places; Ctrl-C is an error.
fn write(
    set: &mut FileSet,
    stopped: &Stopped,
    responses: &[PathBuf],
    args: &SimulateArgs,
    (spec, truth): (&Spec, &Truth),
) -> Result<(), FileError> {
    for (k, path) in responses.iter().enumerate() {
        set.add(path, |out| {
            header(out, truth, !args.per_site)?;
            let sites = if args.per_site { k..k + 1 } else { 0..truth.sites.len() };
            sites
                .into_iter()
                .try_for_each(|k| site(&mut stopped.guard(&mut *out), spec, truth, k, !args.per_site))
        })?;
    }
    set.add(&args.out.join("truth.json"), |out| write_truth(out, spec, truth))?;
    set.add(&args.out.join("truth_items.csv"), |out| write_items(out, truth))
}

/// A file for each site.
pub(crate) fn write_sites(paths: &[PathBuf], spec: &Spec, truth: &Truth) -> Result<(), CliError> {
    for (k, path) in paths.iter().enumerate() {
        replace(path, |out| {
            header(out, truth, false)?;
            site(out, spec, truth, k, false)
        })?;
    }
    Ok(())
}

fn spec(args: &SimulateArgs) -> Spec {
    let model = fedirt_model::items::model(&args.model);
    let polytomous = model.map_or(args.model == MIXED, |model| model.polytomous());
    Spec {
        sites: args.sites,
        students: args.students.clone(),
        items: args.items,
        model: args.model.clone(),
        categories: args.categories.unwrap_or(if polytomous { 4 } else { 2 }),
        effects: if args.site_effects.is_empty() {
            let sd = args.site_sd.unwrap_or(if args.sites > 1 { 0.5 } else { 0.0 });
            SiteEffects::Drawn { sd, centred: true }
        } else {
            SiteEffects::Given(args.site_effects.clone())
        },
        missing: match (args.booklets, args.missing_rate) {
            (Some(number), _) => Missing::Booklets(number),
            (None, Some(rate)) => Missing::AtRandom(rate),
            (None, None) => Missing::Complete,
        },
        latent_sd: args.latent_sd.unwrap_or(1.0),
        seed: args.seed,
    }
}

fn header(out: &mut dyn Write, truth: &Truth, with_site: bool) -> std::io::Result<()> {
    out.write_all(if with_site { b"id,site" } else { b"id" })?;
    for item in &truth.items {
        write!(out, ",{}", item.name)?;
    }
    out.write_all(b"\n")
}

/// The rows of one site. Students are numbered over all sites.
fn site(out: &mut dyn Write, spec: &Spec, truth: &Truth, k: usize, with_site: bool) -> std::io::Result<()> {
    let before: usize = truth.sites[..k].iter().map(|s| s.n).sum();
    let mut rows = SiteRows::new(spec, truth, k);
    let mut row = vec![MISSING; truth.items.len()];
    let mut line = Vec::with_capacity(32 + 3 * row.len());
    let mut id = before;
    while rows.next_into(&mut row) {
        id += 1;
        line.clear();
        write!(line, "s{id}")?;
        if with_site {
            write!(line, ",{}", truth.sites[k].name)?;
        }
        for &cell in &row {
            line.push(b',');
            match cell {
                // Missing answers are empty.
                MISSING => {}
                0..=9 => line.push(b'0' + cell),
                _ => write!(line, "{cell}")?,
            }
        }
        line.push(b'\n');
        out.write_all(&line)?;
    }
    Ok(())
}

fn write_truth(out: &mut dyn Write, spec: &Spec, truth: &Truth) -> std::io::Result<()> {
    let document = serde_json::json!({
        "format": "fedirt.truth/1",
        "version": env!("CARGO_PKG_VERSION"),
        "seed": spec.seed,
        "settings": spec,
        "latent": {"mean": 0.0, "sd": truth.latent_sd},
        "items": truth.items,
        "sites": truth.sites,
    });
    serde_json::to_writer_pretty(&mut *out, &document)?;
    out.write_all(b"\n")
}

/// The columns of a fit's items.csv that have a true value, so that the file can anchor a calibration.
fn write_items(out: &mut dyn Write, truth: &Truth) -> std::io::Result<()> {
    let steps = truth.items.iter().map(|i| i.d.len()).max().unwrap_or(0);
    out.write_all(b"item,model,categories,a")?;
    for letter in ["d", "b"] {
        for c in 1..=steps {
            if steps == 1 { write!(out, ",{letter}")? } else { write!(out, ",{letter}{c}")? }
        }
    }
    out.write_all(b"\n")?;
    for item in &truth.items {
        write!(out, "{},{},{},{}", item.name, item.model, item.categories, item.a)?;
        for values in [&item.d, &item.b] {
            for c in 0..steps {
                out.write_all(b",")?;
                if let Some(value) = values.get(c) {
                    write!(out, "{value}")?;
                }
            }
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// The message about the written files, with a command to fit them.
fn report(args: &SimulateArgs, spec: &Spec, truth: &Truth, responses: &[PathBuf]) -> String {
    let folder = args.out.display();
    let plural = |n: usize, word: &str| if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") };
    let mut text = format!(
        "Simulated {} at {}, {} ({}), seed {}.\n",
        plural(truth.students(), "student"),
        plural(truth.sites.len(), "site"),
        plural(truth.items.len(), "item"),
        spec.model,
        spec.seed
    );
    let files = if responses.len() == 1 && !args.per_site {
        "responses.csv".to_owned()
    } else {
        plural(responses.len(), "response file")
    };
    text += &format!("Wrote {files}, truth.json and truth_items.csv to {folder}.\n");
    let mean = truth.sites.iter().map(|s| s.effect).sum::<f64>() / truth.sites.len() as f64;
    if mean.abs() > 1e-9 {
        text += &format!(
            "The given site effects have the mean {mean:.4}: a fit with fixed effects reports effects and difficulties shifted by it.\n"
        );
    }
    let model = match spec.model.as_str() {
        "mixed" => {
            let named = truth.items.iter().filter(|i| i.model == "grm").map(|i| format!("{}=grm", i.name));
            let named: Vec<String> = named.collect();
            if named.is_empty() { String::new() } else { format!(" --item-model {}", named.join(",")) }
        }
        model => format!(" --model {model}"),
    };
    let data = if args.per_site {
        args.out.join("site*.csv").display().to_string()
    } else {
        format!("{} --site site", responses[0].display())
    };
    text += &format!("\nFit it with\n  fedirt fit {data} --id id{model}\n");
    text
}

#[cfg(test)]
mod tests {
    use crate::args::{Cli, Command};
    use clap::Parser;
    use std::path::Path;

    /// Runs `fedirt simulate` with these words and the folder, as `main` would; the message where it refuses.
    fn simulate(words: &str, folder: &Path) -> Result<(), String> {
        let words = format!("fedirt simulate {words} --out {}", folder.display());
        let cli = Cli::try_parse_from(words.split_whitespace()).map_err(|e| e.to_string())?;
        let Command::Simulate(args) = cli.command else { return Err("another command".into()) };
        super::run(&args).map(|_| ()).map_err(|e| e.to_string())
    }

    fn read(folder: &Path, name: &str) -> String {
        std::fs::read_to_string(folder.join(name)).unwrap()
    }

    #[test]
    fn the_same_seed_writes_the_same_files() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let words = "--sites 3 --students 6-8 --items 5 --model mixed --booklets 3 --seed 4";
        simulate(words, one.path()).unwrap();
        simulate(words, two.path()).unwrap();
        // Twice into one folder: its own files are replaced.
        simulate(words, two.path()).unwrap();
        for name in ["responses.csv", "truth.json", "truth_items.csv"] {
            assert_eq!(read(one.path(), name), read(two.path(), name), "{name}");
        }
        assert_eq!(std::fs::read_dir(two.path()).unwrap().count(), 3);
        let responses = read(one.path(), "responses.csv");
        assert!(responses.starts_with("id,site,i01,i02,i03,i04,i05\ns1,site01,"), "{responses}");
        let items = read(one.path(), "truth_items.csv");
        assert!(items.starts_with("item,model,categories,a,d1,d2,d3,b1,b2,b3\ni01,2pl,2,"), "{items}");
    }

    #[test]
    fn what_is_written_can_be_read_and_fitted() {
        let folder = tempfile::tempdir().unwrap();
        simulate("--sites 2 --students 40 --items 4 --missing-rate 0.2 --per-site --seed 1", folder.path())
            .unwrap();
        let files = [folder.path().join("site01.csv"), folder.path().join("site02.csv")];
        let options = fedirt::ReadOptions { id: Some("id".into()), ..fedirt::ReadOptions::default() };
        let reading = fedirt_data::read(crate::input::files(&files), &options).unwrap();
        let sizes: Vec<_> = reading.sites.iter().map(|s| (s.name.as_str(), s.table.students())).collect();
        assert_eq!(sizes, [("site01", 40), ("site02", 40)]);
        assert_eq!(reading.sites[0].items.len(), 4);
    }

    #[test]
    fn refusals_say_what_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("new");
        for (words, wanted) in [
            ("--sites 0 --students 5 --items 3 --seed 1", "at least one site"),
            ("--sites 2 --students few --items 3 --seed 1", "no number of students"),
            ("--sites 2 --students 5,6,7 --items 3 --seed 1", "for 3 sites, and there are 2"),
            ("--sites 2 --students 5 --items 3 --model 3pl --seed 1", "there is no model"),
            ("--sites 2 --students 5 --items 3 --categories 4 --seed 1", "2pl takes two categories"),
            ("--sites 2 --students 5 --items 3 --site-effects -1,0,1 --seed 1", "3 site effects are given"),
            (
                "--sites 2 --students 5 --items 3 --site-effects -1,1 --site-sd 1 --seed 1",
                "cannot be used with",
            ),
            (
                "--sites 2 --students 5 --items 3 --booklets 3 --missing-rate 0.1 --seed 1",
                "cannot be used with",
            ),
            ("--sites 2 --students 5 --items 3 --missing-rate 1.5 --seed 1", "less than 1"),
            ("--sites 2 --students 5 --items 3 --latent-sd 2 --seed 1", "only rasch and pcm"),
            ("--sites 2 --students 5 --items 3", "--seed"),
        ] {
            let message = simulate(words, &inside).unwrap_err();
            assert!(message.contains(wanted), "{words}: {message}");
        }
        assert!(!inside.exists(), "a refusal writes nothing");
    }
}
