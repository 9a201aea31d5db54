//! `fedirt coordinator start`.

use super::told;
use crate::args::CoordinatorStartArgs;
use crate::error::CliError;
use crate::output::{stderr, stdout};
use fedirt_coordinator::{Folder, Running, Server, Settings, logs};

pub(super) fn run(args: &CoordinatorStartArgs) -> Result<(), CliError> {
    let folder = Folder::open(&args.dir).map_err(told)?;
    let settings = Settings::read(&folder.settings()).map_err(told)?;
    logs::start(&settings.log);
    let server = Server { listen: args.listen, pages: Some(fedirt_ui::coordinator::prepare) };
    let running = server.start(&args.dir).map_err(told)?;
    for error in &running.refused {
        stderr::error(&format!("not served: {error}"));
    }
    stdout::print(&start_message(&running, args))?;
    running.until_signal().map_err(told)
}

/// The message after the start.
fn start_message(running: &Running, args: &CoordinatorStartArgs) -> String {
    let dir = args.dir.display();
    let mut text =
        format!("Listening at {}; the address for sites is {}\n", running.address, running.public_address);
    if let Some(fingerprint) = &running.authority {
        text.push_str(&format!("Certificate authority (SHA-256) {fingerprint}\n"));
    }
    if let Some(pages) = &running.pages {
        text.push_str(&match &pages.first_login {
            Some(link) => format!("Pages: open {link}\n       (printed only once; `fedirt coordinator access {dir}` makes further log-ins)\n"),
            None => format!("Pages at {}\n", pages.address),
        });
    }
    for name in running.studies.keys() {
        text.push_str(&format!("Study {name}\n"));
    }
    match running.studies.keys().next() {
        Some(study) => text.push_str(&format!(
            "Next: fedirt coordinator invite {dir} {study} SITE\n      fedirt coordinator status {dir}\n"
        )),
        None => text.push_str(&format!(
            "There is no plan in {dir}/plans yet. Set one up on the pages, or with fedirt coordinator init {dir} --study NAME …\n"
        )),
    }
    text
}
