//! `fedirt study kills`: coordinator and sites are killed repeatedly, and the result must be the same in every field.

use super::super::error::StudyFailure;
use super::{Program, Running, free_port, invitation, text, wait_for};
use crate::args::KillsArgs;
use crate::error::CliError;
use crate::output::stdout;
use crate::report::read_fit;
use fedirt_coordinator::edit::TomlEdit;
use fedirt_model::fit::Fit;
use indicatif::{ProgressBar, ProgressStyle};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

const SITES: [&str; 3] = ["north", "south", "west"];
const STUDY: &str = "kills";
/// A study that has not ended after this long is stuck.
const TIMEOUT: Duration = Duration::from_secs(300);

/// How often processes were killed in a study, and what became of acknowledged messages.
#[derive(Default)]
struct KillCounts {
    coordinator: u64,
    sites: u64,
    acknowledged: usize,
    lost: usize,
}

pub(in crate::study) fn run(args: &KillsArgs) -> Result<ExitCode, CliError> {
    let mut random = ChaCha8Rng::seed_from_u64(args.seed);
    let bar = ProgressBar::new(args.kills);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} kills, {msg}") {
        bar.set_style(style);
    }
    let (mut total, mut studies, mut different) = (KillCounts::default(), 0, 0);
    while total.coordinator + total.sites < args.kills {
        studies += 1;
        bar.set_message(format!("study {studies}"));
        let folder = tempfile::tempdir().map_err(CliError::Output)?;
        let wanted = args.kills - total.coordinator - total.sites;
        let mut study = KilledStudy::set_up(folder.path())?;
        let outcome = study.play(wanted, &mut random, &|| bar.inc(1));
        let counts = match outcome {
            Ok(counts) => counts,
            Err(error) => {
                return Err(StudyFailure::Kept { error: Box::new(error), folder: folder.keep() }.into());
            }
        };
        total.coordinator += counts.coordinator;
        total.sites += counts.sites;
        total.acknowledged += counts.acknowledged;
        total.lost += counts.lost;
        different += u64::from(!study.same_result()?);
    }
    bar.finish_and_clear();
    let text = format!(
        "{} kills (-9) in {studies} studies of 3 sites: {} of the coordinator, {} of sites\n  {:>6}  acknowledged messages\n  {:>6}  of them lost\n  {:>6}  results that differ from `fedirt fit --secure` in any field but provenance\n",
        total.coordinator + total.sites,
        total.coordinator,
        total.sites,
        total.acknowledged,
        total.lost,
        different
    );
    stdout::print(&text)?;
    let fine = total.lost == 0 && different == 0;
    Ok(if fine { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

struct KilledStudy {
    program: Program,
    folder: PathBuf,
    coordinator: Option<Running>,
    sites: Vec<Option<Running>>,
}

impl KilledStudy {
    /// A coordinator, three sites that have enrolled, and their files.
    fn set_up(folder: &Path) -> Result<Self, CliError> {
        let program = Program::new(folder)?;
        let data = folder.join("data");
        program.run(&[
            "simulate",
            "--sites",
            "3",
            "--students",
            "80",
            "--items",
            "6",
            "--seed",
            "5",
            "--per-site",
            "--out",
            text(&data)?,
        ])?;
        let mut files: Vec<PathBuf> = std::fs::read_dir(&data)
            .map_err(CliError::file(&data))?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|e| e == "csv"))
            .filter(|path| !path.file_name().is_some_and(|n| n.to_string_lossy().starts_with("truth")))
            .collect();
        files.sort();
        for (file, site) in files.iter().zip(SITES) {
            let to = folder.join(format!("{site}.csv"));
            std::fs::copy(file, &to).map_err(CliError::file(&to))?;
        }
        let coordinator = folder.join("coordinator");
        let port = free_port()?;
        let listen = format!("127.0.0.1:{port}");
        program.run(&[
            "coordinator",
            "init",
            text(&coordinator)?,
            "--listen",
            &listen,
            "--study",
            STUDY,
            "--sites",
            &SITES.join(","),
            "--items-from",
            text(&folder.join("north.csv"))?,
            "--mode",
            "secure",
            "--students",
            "240",
        ])?;
        let mut study = Self {
            program,
            folder: folder.to_owned(),
            coordinator: None,
            sites: (0..SITES.len()).map(|_| None).collect(),
        };
        study.start_coordinator()?;
        wait_for(port)?;
        for site in SITES {
            study.enrol(site, &listen)?;
        }
        Ok(study)
    }

    fn enrol(&self, site: &str, listen: &str) -> Result<(), CliError> {
        let coordinator = self.folder.join("coordinator");
        let home = self.folder.join(format!("home-{site}"));
        let home = text(&home)?;
        self.program.run(&["site", "--home", home, "init"])?;
        let policy = Path::new(home).join("policy.toml");
        let rules = std::fs::read_to_string(&policy).map_err(CliError::file(&policy))?;
        let mut rules = TomlEdit::new(&rules)?;
        rules.set("trust_roster_from_coordinator", true)?;
        rules.set("allow_pooled_rows_inferred", true)?;
        std::fs::write(&policy, rules.text()).map_err(CliError::file(&policy))?;
        let address = format!("https://{}", listen.replace("127.0.0.1", "localhost"));
        let printed = self.program.run(&[
            "coordinator",
            "invite",
            text(&coordinator)?,
            STUDY,
            site,
            "--address",
            &address,
        ])?;
        let invitation = invitation(&printed)?;
        let since = Instant::now();
        loop {
            match self.program.run(&["site", "--home", home, "enrol", &invitation, "--yes"]) {
                Ok(_) => return Ok(()),
                // The coordinator may not be ready yet.
                Err(error) if since.elapsed() > Duration::from_secs(20) => return Err(error),
                Err(_) => std::thread::sleep(Duration::from_millis(100)),
            }
        }
    }

    fn start_coordinator(&mut self) -> Result<(), CliError> {
        let folder = self.folder.join("coordinator");
        self.coordinator = Some(Running(self.program.spawn(&["coordinator", "start", text(&folder)?])?));
        Ok(())
    }

    fn start_site(&mut self, k: usize) -> Result<(), CliError> {
        let home = self.folder.join(format!("home-{}", SITES[k]));
        let file = self.folder.join(format!("{}.csv", SITES[k]));
        let child = self.program.spawn(&[
            "site",
            "--home",
            text(&home)?,
            "join",
            STUDY,
            text(&file)?,
            "--population",
            "pupils",
            "--yes",
        ])?;
        self.sites[k] = Some(Running(child));
        Ok(())
    }

    fn result(&self) -> PathBuf {
        self.folder.join("coordinator/results").join(STUDY).join("fit.json")
    }

    fn site_result(&self, k: usize) -> PathBuf {
        self.folder.join(format!("home-{}", SITES[k])).join("studies").join(STUDY).join("results")
    }

    fn is_over(&self) -> bool {
        self.result().exists() && (0..SITES.len()).all(|k| self.site_result(k).join("fit.json").exists())
    }

    /// Kills and restarts processes until the study is over.
    fn play(
        &mut self,
        kills: u64,
        random: &mut ChaCha8Rng,
        killed: &dyn Fn(),
    ) -> Result<KillCounts, CliError> {
        let mut counts = KillCounts::default();
        for k in 0..SITES.len() {
            self.start_site(k)?;
        }
        let since = Instant::now();
        while !self.is_over() {
            if since.elapsed() > TIMEOUT {
                return Err(StudyFailure::Timeout { seconds: TIMEOUT.as_secs() }.into());
            }
            std::thread::sleep(Duration::from_millis(random.random_range(5..250)));
            if counts.coordinator + counts.sites < kills {
                let victim = random.random_range(0..=SITES.len());
                if victim == SITES.len() {
                    self.coordinator = None;
                    counts.coordinator += 1;
                    killed();
                } else if !self.site_result(victim).join("fit.json").exists() {
                    self.sites[victim] = None;
                    counts.sites += 1;
                    killed();
                }
                std::thread::sleep(Duration::from_millis(random.random_range(0..50)));
            }
            self.restart()?;
        }
        // What was acknowledged is compared when no process runs.
        self.sites.iter_mut().for_each(|site| *site = None);
        self.coordinator = None;
        (counts.acknowledged, counts.lost) = self.acknowledged_and_lost()?;
        Ok(counts)
    }

    /// Starts every process that is neither running nor finished.
    fn restart(&mut self) -> Result<(), CliError> {
        let ended = |running: &mut Option<Running>| match running {
            Some(Running(child)) => matches!(child.try_wait(), Ok(Some(_))),
            None => true,
        };
        if ended(&mut self.coordinator) {
            self.start_coordinator()?;
        }
        for k in 0..SITES.len() {
            if ended(&mut self.sites[k]) && !self.site_result(k).join("fit.json").exists() {
                self.start_site(k)?;
            }
        }
        Ok(())
    }

    /// The number of acknowledged messages, and how many of them the coordinator has lost.
    fn acknowledged_and_lost(&self) -> Result<(usize, usize), CliError> {
        let export = self.folder.join("export");
        let coordinator = self.folder.join("coordinator");
        self.program.run(&["coordinator", "export", text(&coordinator)?, STUDY, "--out", text(&export)?])?;
        let history = export.join("history.csv");
        let history = std::fs::read_to_string(&history).map_err(CliError::file(&history))?;
        let mut acknowledged: BTreeSet<String> = BTreeSet::new();
        for k in 0..SITES.len() {
            let path = self.site_result(k).join("transcript.jsonl");
            let transcript = std::fs::read_to_string(&path).map_err(CliError::file(&path))?;
            for line in transcript.lines() {
                let line: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
                if line["kind"] == "acknowledged"
                    && let Some(hash) = line["sha256"].as_str()
                {
                    acknowledged.insert(hash.to_owned());
                }
            }
        }
        let lost = acknowledged.iter().filter(|hash| !history.contains(hash.as_str())).count();
        Ok((acknowledged.len(), lost))
    }

    /// Whether the result is that of the same files in one process, in every field but its provenance.
    fn same_result(&self) -> Result<bool, CliError> {
        let reference = self.folder.join("reference");
        let files: Vec<PathBuf> = SITES.iter().map(|site| self.folder.join(format!("{site}.csv"))).collect();
        let mut arguments = vec!["fit"];
        for file in &files {
            arguments.push(text(file)?);
        }
        arguments.extend(["--secure", "--no-scores", "--out", text(&reference)?]);
        self.program.run(&arguments)?;
        // NaN and infinity do not occur in `fit.json`, so equal fits are equal in every digit.
        let read = |path: &Path| read_fit(path).map(|fit| Fit { provenance: None, ..fit });
        Ok(read(&reference.join("fit.json"))? == read(&self.result())?)
    }
}
