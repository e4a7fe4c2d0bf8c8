//! Trace files. Each is read once, however many sweep points use it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};
use subflow_network::{CapacityTrace, Trace};

use crate::SizeTable;
use crate::conditions::Conditions;
use crate::csv_table::{Cause, LineError};
use crate::file::{Document, Field, Problem, Value};
use crate::input;

/// A larger file is assumed to be a mistake.
const LARGEST_FILE_MIB: u64 = 256;

/// How a truncated file shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastLine {
    /// A number whose last digits are missing is still a number: only a missing line end shows the truncation.
    MustEnd,
    /// By the last value, such as a probability of 1.
    ShowsItself,
}

/// The traces that a scenario uses, by the path in the file.
#[derive(Debug)]
pub(crate) struct Traces {
    directory: PathBuf,
    /// Texts that are in no file.
    given: BTreeMap<String, &'static str>,
    capacity: RefCell<BTreeMap<String, Arc<CapacityTrace>>>,
    loss: RefCell<BTreeMap<String, Arc<Arc<[bool]>>>>,
    conditions: RefCell<BTreeMap<String, Arc<Conditions>>>,
    sizes: RefCell<BTreeMap<String, Arc<SizeTable>>>,
    /// SHA-256 of each file.
    digests: RefCell<BTreeMap<String, [u8; 32]>>,
}

impl Traces {
    /// Those of `document`, whose paths are relative to its directory.
    pub(crate) fn new(document: &Document) -> Self {
        Self {
            directory: document.directory().to_owned(),
            given: document.traces.clone(),
            capacity: RefCell::default(),
            loss: RefCell::default(),
            conditions: RefCell::default(),
            sizes: RefCell::default(),
            digests: RefCell::default(),
        }
    }

    /// The capacity trace at the path that `field` names.
    pub(super) fn capacity(&self, field: &Field<'_>, expected: &str) -> Result<Arc<CapacityTrace>, Problem> {
        self.read(field, expected, &self.capacity, LastLine::MustEnd, CapacityTrace::parse)
    }

    /// The capacity trace that was read from the path that `field` names; `None` if it names none.
    pub(super) fn known_capacity(&self, field: &Field<'_>) -> Option<Arc<CapacityTrace>> {
        let Value::String(name) = field.value() else { return None };
        self.capacity.borrow().get(name).map(Arc::clone)
    }

    /// The loss trace at the path that `field` names: whether each packet is lost.
    pub(super) fn loss(&self, field: &Field<'_>) -> Result<Arc<[bool]>, Problem> {
        self.read(field, "the path of a loss trace", &self.loss, LastLine::MustEnd, Trace::parse)
            .map(|trace| (*trace).clone())
    }

    /// The conditions over time in the file that `field` names.
    pub(super) fn conditions(&self, field: &Field<'_>) -> Result<Arc<Conditions>, Problem> {
        self.read(field, "the path of a CSV file", &self.conditions, LastLine::MustEnd, Conditions::parse)
    }

    /// The distribution of sizes in the file that `field` names.
    pub(super) fn sizes(&self, field: &Field<'_>) -> Result<Arc<SizeTable>, Problem> {
        self.read(field, "a path", &self.sizes, LastLine::ShowsItself, SizeTable::parse)
    }

    /// What `parse` makes of the file that `field` names, unless it is `known` already.
    fn read<T, E: Into<LineError>>(
        &self,
        field: &Field<'_>,
        expected: &str,
        known: &RefCell<BTreeMap<String, Arc<T>>>,
        last_line: LastLine,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Result<Arc<T>, Problem> {
        let name = field.string(expected)?;
        if let Some(known) = known.borrow().get(name) {
            return Ok(Arc::clone(known));
        }
        let text = self.text(field, name, expected)?;
        if last_line == LastLine::MustEnd && !text.is_empty() && !text.ends_with('\n') {
            let line = text.matches('\n').count() + 1;
            let last = text.rsplit('\n').next().unwrap_or_default();
            let error = LineError::new(line, format!("'{last}'"), "a line end after it").because(Cause::Truncated);
            return Err(self.broken(field, name, &error));
        }
        let parsed = Arc::new(parse(&text).map_err(|error| self.broken(field, name, &error.into()))?);
        known.borrow_mut().insert(name.to_owned(), Arc::clone(&parsed));
        Ok(parsed)
    }

    /// The paths of all traces read: as written in the scenario, and resolved.
    pub(crate) fn files(&self) -> Vec<(String, PathBuf)> {
        let (capacity, loss) = (self.capacity.borrow(), self.loss.borrow());
        let (conditions, sizes) = (self.conditions.borrow(), self.sizes.borrow());
        capacity
            .keys()
            .chain(loss.keys())
            .chain(conditions.keys())
            .chain(sizes.keys())
            .map(|name| (name.clone(), self.directory.join(name)))
            .collect()
    }

    /// The names of all traces read, with the SHA-256 of their files.
    pub(crate) fn digests(&self) -> BTreeMap<String, [u8; 32]> {
        self.digests.borrow().clone()
    }

    fn text(&self, field: &Field<'_>, name: &str, expected: &str) -> Result<String, Problem> {
        let path = self.directory.join(name);
        let given = self.given.get(name).map(|text| (*text).to_owned());
        let text = given.map_or_else(|| read(&path), Ok).map_err(|error| {
            field
                .expected(expected)
                .label(format!("{}: {error}", path.display()))
                .help("paths are relative to the scenario's directory")
        })?;
        self.digests.borrow_mut().insert(name.to_owned(), Sha256::digest(&text).into());
        Ok(text)
    }

    fn broken(&self, field: &Field<'_>, name: &str, error: &LineError) -> Problem {
        let LineError { line, found, expected, cause } = error;
        let (label, help) = cause.advice();
        let path = self.directory.join(name);
        let shown: String = found.chars().take(60).collect();
        field.problem(format!("{}:{line}: found {shown}, expected {expected}", path.display())).label(label).help(help)
    }
}

fn read(path: &Path) -> Result<String, String> {
    // Reading a pipe would block, and its contents could not be copied next to the results.
    if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Err("not a file".to_owned());
    }
    let bytes = input::read(path, LARGEST_FILE_MIB).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "not text in UTF-8".to_owned())
}
