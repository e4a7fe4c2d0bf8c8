//! What is known to differ between the stack and Linux.

use std::collections::BTreeMap;
use std::path::Path;

use subflow_scenario::file::Problem;

/// Scripts that Linux does not pass, each with the reason.
#[derive(Clone, Debug, Default)]
pub struct Differences(BTreeMap<String, String>);

impl Differences {
    /// Reads a list: lines with the name of a script (`tcp/nagle`) and the reason; `#` begins a comment.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or a line has no reason.
    pub fn load(path: &Path) -> Result<Self, Problem> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            let message = format!("{} cannot be read: {error}", path.display());
            Problem::nowhere(message).help("name a list of differences")
        })?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let read = |line: &str| match line.split_once(char::is_whitespace) {
            Some((name, reason)) => Ok((name.to_owned(), reason.trim().to_owned())),
            None => Err(Problem::nowhere(format!("{}: {line} has no reason", path.display()))
                .help("each line is the name of a script, such as tcp/nagle, and the reason")),
        };
        lines.map(read).collect::<Result<_, _>>().map(Self)
    }

    /// Why Linux is known not to pass the script in the file `path`.
    pub fn reason(&self, path: &Path) -> Option<&str> {
        let folder = path.parent()?.file_name()?.to_str()?;
        let name = format!("{folder}/{}", path.file_stem()?.to_str()?);
        self.0.get(&name).map(String::as_str)
    }
}
