//! A scenario file as text and as a tree, with the changes of the command line applied.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toml_edit::{Document as Toml, DocumentMut, Table};

use super::dotted_path::{DottedPath, parse_assignment};
use super::foreign::{FileKind, Foreign};
use super::node::{Node, Value};
use super::swept::{drop_axis, line_of};
use super::{Origin, Place, Problem, Source};
use crate::{CustomAlgorithms, input};

/// A larger file is assumed to be a mistake.
const LARGEST_FILE_MIB: u64 = 16;

/// A scenario file that is valid TOML. Whether the scenario is valid is checked when it is read.
#[derive(Clone, Debug)]
pub struct Document {
    /// Name of the scenario: the file's name without its ending.
    pub name: String,
    /// The path as the user gave it.
    pub path: PathBuf,
    /// Algorithms that it may name next to those of the catalogues.
    pub custom: CustomAlgorithms,
    pub(crate) root: Node,
    /// Traces that are in no file, by the path in the scenario.
    pub(crate) traces: BTreeMap<String, &'static str>,
    /// Which files it may name.
    pub(crate) reach: Reach,
    text: Text,
    /// Whether the command line has taken a path out of the sweep.
    pub(crate) has_ended_sweep: bool,
}

/// The text with its layout. Most documents are never changed, and need no copy that can be.
#[derive(Clone, Debug)]
enum Text {
    AsRead(Toml<String>),
    Changed(DocumentMut),
}

impl Text {
    /// The table of the top level, to change it.
    fn table_mut(&mut self) -> &mut Table {
        if let Self::AsRead(toml) = self {
            *self = Self::Changed(toml.clone().into_mut());
        }
        match self {
            Self::Changed(text) => text.as_table_mut(),
            Self::AsRead(_) => unreachable!("it was just converted"),
        }
    }
}

/// Which files a scenario may name: traces and tables of sizes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Any file.
    #[default]
    Any,
    /// Those in the scenario's directory and in folders within it, of which symbolic links do not lead out.
    Directory,
    /// None.
    None,
}

/// A value of a document that is no table.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    /// Its path, as [`Document::set`] takes it.
    pub path: String,
    /// Its place in the text.
    pub place: Place,
    /// The value.
    pub value: serde_json::Value,
}

impl Document {
    /// Reads the file at `path`.
    pub fn load(path: &Path) -> Result<Self, Problem> {
        let help = match path.extension() {
            None => "a scenario is a TOML file, for example scenarios/wifi-lte.toml",
            Some(_) => "check the path; it is relative to the current directory",
        };
        let bytes = input::read(path, LARGEST_FILE_MIB).map_err(|error| cannot_read(path, &error).help(help))?;
        Self::of_bytes(path, bytes)
    }

    /// Reads what `reader` has left, such as standard input, as the contents of a file at `path`.
    pub fn load_from(path: &Path, reader: impl Read) -> Result<Self, Problem> {
        let bytes = input::read_from(reader, LARGEST_FILE_MIB).map_err(|error| cannot_read(path, &error))?;
        Self::of_bytes(path, bytes)
    }

    fn of_bytes(path: &Path, bytes: Vec<u8>) -> Result<Self, Problem> {
        let shown = path.display();
        let text = String::from_utf8(bytes).map_err(|error| {
            if let Some(problem) = foreign(path, error.as_bytes()) {
                return problem;
            }
            let good = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..good].iter().filter(|&&byte| byte == b'\n').count() + 1;
            Problem::nowhere(format!("{shown}:{line}: found a byte that is not UTF-8, expected a text file"))
                .help("a scenario is a TOML file in UTF-8")
        })?;
        Self::parse(path, text)
    }

    /// Reads `text` as the contents of a file at `path`.
    pub fn parse(path: &Path, text: String) -> Result<Self, Problem> {
        let source = Arc::new(Source { origin: Origin::User, name: path.display().to_string(), text });
        let toml = Toml::parse(source.text.clone()).map_err(|error| {
            foreign(path, source.text.as_bytes()).unwrap_or_else(|| syntax_problem(&source, &error))
        })?;
        let mut root = Node::new(toml.as_item(), &source, &(0..0));
        // A missing key of the top level is reported at the first byte, not for the whole text.
        root.place.span = 0..0;
        let name = path.file_stem().map_or_else(|| "scenario".to_owned(), |stem| stem.to_string_lossy().into_owned());
        let (custom, text) = (CustomAlgorithms::default(), Text::AsRead(toml));
        let (traces, reach) = (BTreeMap::new(), Reach::Any);
        Ok(Self { name, path: path.to_owned(), custom, root, traces, reach, text, has_ended_sweep: false })
    }

    /// Applies a `PATH=VALUE` of the command line's `option`, which errors name. VALUE is parsed as TOML; if that
    /// fails, it is a string. If PATH is swept, it is removed from the sweep.
    pub fn set(&mut self, option: &str, assignment: &str) -> Result<(), Problem> {
        let (path, node, value) = parse_assignment(option, assignment)?;
        self.has_ended_sweep |= drop_axis(&path, &mut self.root, self.text.table_mut())?;
        path.assign(&mut self.root, node)?;
        path.assign_text(self.text.table_mut(), value);
        Ok(())
    }

    /// Gives it the text of a trace, which is used in place of a file at `path` of the scenario.
    pub fn add_trace(&mut self, path: &str, text: &'static str) {
        self.traces.insert(path.to_owned(), text);
    }

    /// Restricts the files that it may name; one that is out of reach is a problem of its value.
    pub fn restrict(&mut self, reach: Reach) {
        self.reach = reach;
    }

    /// All values that are no tables, in the order of the text; a list is one value.
    pub fn leaves(&self) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        add_leaves(&self.root, "", &mut leaves);
        leaves
    }

    /// The path, as [`set`](Self::set) takes it, of the line of `[sweep]` that sweeps over `path` alone; `None` without
    /// such a line.
    pub fn line_of_sweep(&self, path: &str) -> Option<String> {
        let keys = DottedPath::parse(path.trim(), self.root.place.clone()).ok()?.keys;
        let line = line_of(&keys, &self.root)?;
        let keys = line.into_iter().map(|key| toml_edit::Key::new(key).display_repr().into_owned());
        Some(keys.collect::<Vec<_>>().join("."))
    }

    /// The scenario's text with all changes of the command line; comments are kept.
    pub fn text(&self) -> String {
        match &self.text {
            Text::AsRead(toml) => toml.clone().into_mut().to_string(),
            Text::Changed(text) => text.to_string(),
        }
    }

    /// The directory that paths in the scenario are relative to.
    pub fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }
}

fn add_leaves(node: &Node, path: &str, leaves: &mut Vec<Leaf>) {
    let Value::Table(entries) = &node.value else {
        return leaves.push(Leaf { path: path.to_owned(), place: node.place.clone(), value: node.to_json() });
    };
    let separator = if path.is_empty() { "" } else { "." };
    for entry in entries {
        let key = toml_edit::Key::new(&entry.key).display_repr().into_owned();
        add_leaves(&entry.node, &format!("{path}{separator}{key}"), leaves);
    }
}

/// The problem of a file that is no TOML because it is something else.
fn foreign(path: &Path, bytes: &[u8]) -> Option<Problem> {
    let Foreign { what, remedy, .. } = Foreign::recognise(bytes).filter(|it| it.kind != FileKind::Scenario)?;
    Some(Problem::nowhere(format!("{}: found {what}, expected a scenario", path.display())).help(remedy))
}

fn cannot_read(path: &Path, error: &io::Error) -> Problem {
    Problem::nowhere(format!("{}: cannot read the scenario: {error}", path.display()))
}

/// The problem of a text that is not TOML.
pub fn syntax_problem(source: &Arc<Source>, error: &toml_edit::TomlError) -> Problem {
    let length = source.text.len();
    let mut span = error.span().unwrap_or(length..length);
    span.end = span.end.min(length);
    span.start = span.start.min(span.end);
    while !source.text.is_char_boundary(span.start) {
        span.start -= 1;
    }
    while !source.text.is_char_boundary(span.end) {
        span.end += 1;
    }
    let place = Place { source: Arc::clone(source), span };
    let message = error.message().trim().replace('\n', "; ");
    let help = match message.contains("duplicate key") {
        true => "every name and every key stands once in its table",
        false => "text values stand in quotes: rate = \"50 Mbit/s\"",
    };
    Problem::at(&place, format!("this is not valid TOML: {message}")).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_with_a_mistake_is_not_foreign() {
        let message = |text: &str| {
            let problem = Document::parse(Path::new("x.toml"), text.to_owned()).expect_err("it is no TOML");
            problem.in_one_line()
        };
        assert!(message("[hosts]\na = [\"b\"\n").contains("not valid TOML"));
        assert!(message("#EXTM3U\n[").contains("found a playlist (HLS), expected a scenario"));
    }

    #[test]
    fn the_leaves_of_a_document_have_paths_that_set_takes_and_places_in_the_text() {
        let text =
            "duration = \"1 s\"\n[links.\"a b\"]\nrate = { up = \"1 Mbit/s\", down = 3 }\nbetween = [\"x\", \"y\"]\n";
        let document = Document::parse(Path::new("leaves.toml"), text.to_owned()).expect("TOML");
        let leaves = document.leaves();
        let shown: Vec<(&str, &str)> =
            leaves.iter().map(|leaf| (leaf.path.as_str(), &text[leaf.place.span.clone()])).collect();
        let expected = [
            ("duration", "\"1 s\""),
            ("links.\"a b\".rate.up", "\"1 Mbit/s\""),
            ("links.\"a b\".rate.down", "3"),
            ("links.\"a b\".between", "[\"x\", \"y\"]"),
        ];
        assert_eq!(shown, expected);
        let mut changed = document;
        changed.set("--set", "links.\"a b\".rate.up=2 Mbit/s").expect("there is such a value");
        assert_eq!(changed.leaves()[1].value, "2 Mbit/s");
    }
}
