//! Standard output.

use std::io::{ErrorKind, Write};

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
