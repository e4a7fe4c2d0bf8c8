//! `subflow new`: a commented scenario to start from.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::arguments::{New, Template};
use crate::failure::Failure;
use crate::output::print;

pub(crate) fn new(arguments: &New) -> Result<(), Failure> {
    let template = arguments.kind;
    let path = arguments.file.clone().unwrap_or_else(|| PathBuf::from(format!("{}.toml", template.name())));
    write_new(&path, template.text())?;
    let shown = path.display();
    print(&format!("{shown} is written. Check it, then run it:\n  subflow check {shown}\n  subflow run {shown}\n"))
}

impl Template {
    fn name(self) -> &'static str {
        match self {
            Self::TwoPaths => "two-paths",
            Self::Mobile => "mobile",
            Self::SharedBottleneck => "shared-bottleneck",
            Self::Sctp => "sctp",
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::TwoPaths => include_str!("two-paths.toml"),
            Self::Mobile => include_str!("mobile.toml"),
            Self::SharedBottleneck => include_str!("shared-bottleneck.toml"),
            Self::Sctp => include_str!("sctp.toml"),
        }
    }
}

/// Writes a scenario to a new file. It is complete or absent.
pub(super) fn write_new(path: &Path, text: &str) -> Result<(), Failure> {
    let refused = |error: std::io::Error| match error.kind() {
        ErrorKind::AlreadyExists => {
            Failure::bad_input(format!("{}: the file exists", path.display()), "give another path, or remove the file")
        }
        _ => Failure::bad_input(
            format!("{}: cannot write the scenario: {error}", path.display()),
            "give a path in an existing, writable folder",
        ),
    };
    let mut file = std::fs::File::create_new(path).map_err(refused)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(|error| {
        // The file is new and incomplete. If it cannot be removed, the error message names it nevertheless.
        let _ = std::fs::remove_file(path);
        refused(error)
    })
}
