//! `fedirt coordinator mailbox`: a study whose messages a courier carries.

use super::told;
use crate::args::CoordinatorMailboxArgs;
use crate::error::CliError;
use crate::mailbox;
use crate::output::stdout;
use fedirt_coordinator::{CoordinatorMailbox, Folder, Settings, logs};
use std::sync::Arc;

pub(super) fn run(args: &CoordinatorMailboxArgs) -> Result<(), CliError> {
    let folder = Folder::open(&args.dir).map_err(told)?;
    let settings = Settings::read(&folder.settings()).map_err(told)?;
    logs::start(&settings.log);
    let served = Arc::new(CoordinatorMailbox::start(&args.dir, &args.study).map_err(told)?);
    let answering = served.clone();
    mailbox::serve(&args.at.socket, args.at.socket_group, move |request| answering.answer(&request))?;
    let dir = args.dir.display();
    stdout::print(&format!(
        "Mailbox of {0} at {1}\nNext: fedirt coordinator invite {dir} {0} SITE --address mailbox:\n      fedirt coordinator status {dir}\n",
        args.study,
        args.at.socket.display()
    ))?;
    // What was answered is on the disk, so that nothing is left to do at the end.
    served.until_signal().map_err(told)
}
