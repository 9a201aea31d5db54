//! Estimates of mirt and ltm on the same answers, if they are installed in R.
//!
//! Each thread has an R process of its own, which loads the packages once and answers one request per line.

use fedirt_model::responses::ResponseTable;
use fedirt_studies::StudyError;
use fedirt_studies::paper::{Estimates, External};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use tempfile::TempDir;

/// Packages that are run.
pub(crate) const PACKAGES: [&str; 2] = ["mirt", "ltm"];

/// Packages may be in a library that the user's environment file names, so that is read; profiles are not, since what
/// they print or load is not known.
const OPTIONS: [&str; 4] = ["--no-save", "--no-restore", "--no-site-file", "--no-init-file"];

/// The beginning of each line that the script prints. Other lines are output of packages, which is ignored.
const REPLY: &str = "fedirt-reply\t";

/// Answers `package<TAB>file` with `fedirt-reply<TAB>ok<TAB>slopes<TAB>difficulties` or
/// `fedirt-reply<TAB>error<TAB>reason`.
const SCRIPT: &str = r#"
options(warn = -1)
requests <- file("stdin", open = "r")
fits <- list(
  mirt = function(x) {
    suppressPackageStartupMessages(library(mirt))
    fit <- mirt(as.data.frame(x), 1, itemtype = "2PL", quadpts = 61, TOL = 1e-7,
                technical = list(NCYCLES = 5000), verbose = FALSE)
    found <- coef(fit, IRTpars = TRUE, simplify = TRUE)$items
    list(a = found[, "a"], b = found[, "b"])
  },
  ltm = function(x) {
    suppressPackageStartupMessages(library(ltm))
    found <- coef(ltm(x ~ z1, control = list(GHk = 41, iter.em = 100, iter.qN = 500)))
    list(a = found[, "Dscrmn"], b = found[, "Dffclt"])
  }
)
while (length(line <- readLines(requests, n = 1)) > 0) {
  words <- strsplit(line, "\t")[[1]]
  reply <- tryCatch({
    capture.output(found <- fits[[words[1]]](as.matrix(read.csv(words[2], header = TRUE))))
    join <- function(x) paste(sprintf("%.15g", x), collapse = ",")
    paste("ok", join(found$a), join(found$b), sep = "\t")
  }, error = function(e) paste("error", gsub("[\t\n]", " ", conditionMessage(e)), sep = "\t"))
  # A package may have left a line without an end.
  cat("\nfedirt-reply\t", reply, "\n", sep = "")
  flush(stdout())
}
"#;

/// R processes that wait for work.
#[derive(Debug)]
pub(crate) struct R {
    program: PathBuf,
    folder: TempDir,
    idle: Mutex<Vec<Process>>,
    /// Packages that R does not have.
    missing: Vec<&'static str>,
}

#[derive(Debug)]
struct Process {
    child: Child,
    requests: ChildStdin,
    replies: BufReader<ChildStdout>,
}

impl R {
    /// Looks for the packages. Without R all of them are missing.
    pub(crate) fn find(program: &std::path::Path) -> std::io::Result<Self> {
        let has = |package: &str| {
            let ask = format!("quit(status = !requireNamespace('{package}', quietly = TRUE))");
            let status = Command::new(program)
                .args(OPTIONS)
                .args(["-e", &ask])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            status.is_ok_and(|status| status.success())
        };
        let missing = PACKAGES.into_iter().filter(|package| !has(package)).collect();
        let folder = tempfile::tempdir()?;
        std::fs::write(folder.path().join("fits.R"), SCRIPT)?;
        Ok(Self { program: program.to_owned(), folder, idle: Mutex::new(Vec::new()), missing })
    }

    /// A sentence about what will not be run.
    pub(crate) fn remark(&self) -> Option<String> {
        let program = self.program.display();
        let missing = self.missing.join(" and ");
        (!self.missing.is_empty())
            .then(|| format!("R with {missing} was not found ({program}): the columns stay empty"))
    }

    /// Packages that R does not have.
    pub(crate) fn missing(&self) -> &[&'static str] {
        &self.missing
    }

    fn start(&self) -> std::io::Result<Process> {
        let mut child = Command::new(&self.program)
            .args(OPTIONS)
            .arg(self.folder.path().join("fits.R"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(requests), Some(replies)) => {
                Ok(Process { child, requests, replies: BufReader::new(replies) })
            }
            _ => Err(std::io::Error::other("R has no pipes")),
        }
    }

    fn ask(&self, package: &str, table: &ResponseTable) -> std::io::Result<String> {
        let mut rows: String =
            (0..table.items()).map(|j| format!("i{j}")).collect::<Vec<_>>().join(",") + "\n";
        for row in table.rows() {
            rows += &row.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
            rows.push('\n');
        }
        let mut file = tempfile::NamedTempFile::new_in(self.folder.path())?;
        file.write_all(rows.as_bytes())?;
        let idle = || self.idle.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let waiting = idle().pop();
        let mut process = match waiting {
            Some(process) => process,
            None => self.start()?,
        };
        writeln!(process.requests, "{package}\t{}", file.path().display())?;
        process.requests.flush()?;
        let mut line = String::new();
        loop {
            line.clear();
            if process.replies.read_line(&mut line)? == 0 {
                let _ = process.child.wait();
                return Err(std::io::Error::other("it ended without an answer"));
            }
            if let Some(reply) = line.strip_prefix(REPLY) {
                idle().push(process);
                return Ok(reply.trim_end().to_owned());
            }
        }
    }
}

impl Drop for R {
    fn drop(&mut self) {
        let idle = std::mem::take(self.idle.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner));
        for Process { mut child, requests, .. } in idle {
            // The script ends at the end of its input.
            drop(requests);
            let _ = child.wait();
        }
    }
}

impl External for R {
    fn estimate(&self, package: &str, table: &ResponseTable) -> Result<Estimates, StudyError> {
        if self.missing.contains(&package) {
            return Err(StudyError::NoPackage { package: package.to_owned() });
        }
        let reply = self.ask(package, table).map_err(StudyError::Rscript)?;
        read(&reply, table.items())
    }
}

/// Slopes and difficulties of a reply.
fn read(reply: &str, items: usize) -> Result<Estimates, StudyError> {
    let words: Vec<&str> = reply.split('\t').collect();
    let unreadable = || StudyError::UnreadableReply { reply: reply.to_owned() };
    let numbers = |text: &str| -> Option<Vec<f64>> {
        let all: Option<Vec<f64>> =
            text.split(',').map(|x| x.trim().parse().ok().filter(|x: &f64| x.is_finite())).collect();
        all.filter(|all| all.len() == items)
    };
    match words[..] {
        ["ok", a, b] => {
            let (a, b) = numbers(a).zip(numbers(b)).ok_or_else(unreadable)?;
            Ok(Estimates { a, b: b.into_iter().map(|b| vec![b]).collect(), ..Estimates::default() })
        }
        ["error", reason] => Err(StudyError::Package { reason: reason.to_owned() }),
        _ => Err(unreadable()),
    }
}

#[cfg(test)]
mod tests;
