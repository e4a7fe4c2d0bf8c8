//! Standard output, and what goes to the folder for the results.

use std::io::{ErrorKind, Write};

use subflow_report::output::{FigureFormat, Folder};

use crate::arguments::Figures;
use crate::failure::Failure;

/// Prints `text`. A reader that went away (`subflow list | head`) ends the command without a complaint.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::NobodyReads),
        Err(error) => Err(Failure::RunFailed(format!("cannot write to standard output: {error}"))),
    }
}

/// The format that `--figures` asks for; there must be a folder to write them to.
pub(crate) fn figure_format(asked: Option<Figures>, folder: Option<&Folder>) -> Result<Option<FigureFormat>, Failure> {
    match (asked, folder) {
        (Some(_), None) => Err(Failure::bad_input("--figures: there is no folder to write them to", "add --out DIR")),
        (Some(Figures::Svg), Some(_)) => Ok(Some(FigureFormat::Svg)),
        (None, _) => Ok(None),
    }
}
