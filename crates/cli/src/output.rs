//! Standard output, and what goes to the folder for the results.

use std::io::{ErrorKind, Write};

use subflow_quantity::Size;
use subflow_report::output::{FigureFormat, Folder};

use crate::arguments::Figures;
use crate::failure::Failure;

/// Prints `text`. If the reader has closed the pipe (`subflow list | head`), the command ends without an error message.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::NobodyReads),
        Err(error) => Err(Failure::RunFailed(format!("cannot write to standard output: {error}"))),
    }
}

/// Prints a line on standard error. That it cannot be written is no reason to end a command: its results count.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// The format of `--figures`, which needs a folder for the results.
pub(crate) fn figure_format(asked: Option<Figures>, folder: Option<&Folder>) -> Result<Option<FigureFormat>, Failure> {
    match (asked, folder) {
        (Some(_), None) => Err(Failure::bad_input("--figures requires a folder for the results", "add --out DIR")),
        (Some(Figures::Svg), Some(_)) => Ok(Some(FigureFormat::Svg)),
        (None, _) => Ok(None),
    }
}

/// A size with two significant digits, such as `1.2 GB`; it can be read again.
pub(crate) fn about(size: Size) -> String {
    const UNITS: [(u64, &str); 4] =
        [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    let bytes = size.as_bytes();
    let Some((scale, unit)) = UNITS.into_iter().find(|(scale, _)| bytes >= *scale) else { return size.to_string() };
    let value = bytes as f64 / scale as f64;
    if value < 9.95 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_and_can_be_read_again() {
        let sizes = [0, 999, 1_000, 9_949_999, 9_950_000, 71_400_000_000, 5_000_000_000_000];
        let printed = sizes.map(|bytes| about(Size::from_bytes(bytes)));
        assert_eq!(printed, ["0 bytes", "999 bytes", "1.0 kB", "9.9 MB", "10 MB", "71 GB", "5.0 TB"]);
        assert!(printed.iter().all(|text| text.parse::<Size>().is_ok()));
    }
}
