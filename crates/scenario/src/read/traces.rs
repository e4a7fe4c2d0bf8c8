//! Trace files. Each is read once, however many sweep points use it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};
use subflow_network::{CapacityTrace, Trace};
use subflow_policy::catalogue::Choice;

use crate::conditions::Conditions;
use crate::csv_table::{Cause, LineError};
use crate::file::{Document, Field, Foreign, Problem, Reach, Section, Value};
use crate::flow_list::FlowList;
use crate::measurement::Columns;
use crate::{SizeTable, input, schema};

/// A larger file is assumed to be a mistake.
const LARGEST_FILE_MIB: u64 = 256;

/// How a truncated file shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastLine {
    /// A number whose last digits are missing is still a number: only a missing line end shows the truncation.
    MustEnd,
    /// The last value shows it, such as a probability of 1, or is one of very many.
    MayBreakOff,
}

/// The traces that a scenario uses, by the path in the file.
#[derive(Debug)]
pub(crate) struct Traces {
    directory: PathBuf,
    reach: Reach,
    /// Texts that are in no file.
    given: BTreeMap<String, &'static str>,
    capacity: RefCell<BTreeMap<String, Arc<CapacityTrace>>>,
    loss: RefCell<BTreeMap<String, Arc<Arc<[bool]>>>>,
    conditions: RefCell<BTreeMap<String, Arc<Conditions>>>,
    sizes: RefCell<BTreeMap<String, Arc<SizeTable>>>,
    flow_lists: RefCell<BTreeMap<String, Arc<FlowList>>>,
    /// SHA-256 of each file.
    digests: RefCell<BTreeMap<String, [u8; 32]>>,
}

impl Traces {
    /// Those of `document`, whose paths are relative to its directory.
    pub(crate) fn new(document: &Document) -> Self {
        Self {
            directory: document.directory().to_owned(),
            reach: document.reach.clone(),
            given: document.traces.clone(),
            capacity: RefCell::default(),
            loss: RefCell::default(),
            conditions: RefCell::default(),
            sizes: RefCell::default(),
            flow_lists: RefCell::default(),
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

    /// The conditions over time in the file that `field` names, with columns and units of its own if it is a table.
    pub(super) fn conditions(&self, field: &Field<'_>) -> Result<Arc<Conditions>, Problem> {
        let Value::Table(_) = field.value() else {
            let expected = "the path of a CSV file, or a table";
            return self.read(field, expected, &self.conditions, LastLine::MustEnd, Conditions::parse);
        };
        let section = field.section(&schema::TRACE)?;
        let columns = columns(field, &section)?;
        // The same file with other columns is another trace.
        let (file, other) = (section.required("file")?, RefCell::default());
        self.read(&file, "a path", &other, LastLine::MayBreakOff, |text| columns.parse(text))
    }

    /// The distribution of sizes in the file that `field` names.
    pub(super) fn sizes(&self, field: &Field<'_>) -> Result<Arc<SizeTable>, Problem> {
        self.read(field, "a path", &self.sizes, LastLine::MayBreakOff, SizeTable::parse)
    }

    /// The list of flows in the file that `field` names.
    pub(super) fn flow_list(&self, field: &Field<'_>) -> Result<Arc<FlowList>, Problem> {
        self.read(field, "a path", &self.flow_lists, LastLine::MustEnd, FlowList::parse)
    }

    /// A flow of the list that `field` names, in `line` of the file, is not as expected.
    pub(super) fn wrong_flow(
        &self,
        field: &Field<'_>,
        line: usize,
        found: String,
        expected: impl Into<String>,
    ) -> Problem {
        match field.string("a path") {
            Ok(name) => self.broken(field, name, &LineError::new(line, found, expected)),
            Err(problem) => problem,
        }
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
        let digests = self.digests.borrow();
        digests.keys().map(|name| (name.clone(), self.directory.join(name))).collect()
    }

    /// The names of all traces read, with the SHA-256 of their files.
    pub(crate) fn digests(&self) -> BTreeMap<String, [u8; 32]> {
        self.digests.borrow().clone()
    }

    fn text(&self, field: &Field<'_>, name: &str, expected: &str) -> Result<String, Problem> {
        let path = self.directory.join(name);
        let given = self.given.get(name).map(|text| (*text).to_owned());
        let in_file = || self.check_reach(name).and_then(|()| read(&path));
        let text = given.map_or_else(in_file, Ok).map_err(|error| {
            field
                .expected(expected)
                .label(format!("{}: {error}", path.display()))
                .help("paths are relative to the scenario's directory")
        })?;
        self.digests.borrow_mut().insert(name.to_owned(), Sha256::digest(&text).into());
        Ok(text)
    }

    /// Fails where the scenario may not name this file. Whether there is such a file is not told then.
    fn check_reach(&self, name: &str) -> Result<(), String> {
        let is_within = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        let is_plain = Path::new(name).components().all(is_within);
        // The directory of a file's name alone is empty.
        let directory = Path::new(".").join(&self.directory);
        let resolved = || Some((directory.canonicalize().ok()?, directory.join(name).canonicalize().ok()?));
        match self.reach {
            Reach::Any => Ok(()),
            Reach::None => Err("this scenario has no directory, so it cannot name files".to_owned()),
            Reach::Directory if !is_plain => Err("outside of the scenario's directory".to_owned()),
            Reach::Directory => match resolved() {
                Some((directory, file)) if !file.starts_with(&directory) => {
                    Err("a link that leads out of the scenario's directory".to_owned())
                }
                _ => Ok(()),
            },
        }
    }

    fn broken(&self, field: &Field<'_>, name: &str, error: &LineError) -> Problem {
        let LineError { line, found, expected, cause } = error;
        let (label, help) = cause.advice();
        let path = self.directory.join(name);
        let shown: String = found.chars().take(60).collect();
        field.problem(format!("{}:{line}: found {shown}, expected {expected}", path.display())).label(label).help(help)
    }
}

/// The columns that a table names.
fn columns(field: &Field<'_>, section: &Section<'_>) -> Result<Columns, Problem> {
    let name =
        |key| section.given(key).map(|field| field.string("the name of a column").map(str::to_owned)).transpose();
    let unit = |key, units: &[Choice<f64>]| section.value(key).choice("a unit", units);
    let with = |column: Option<String>, unit| column.map(|name| (name, unit));
    let (delay, rtt, delay_unit) = (name("delay")?, name("rtt")?, unit("delay_unit", &schema::TIME_UNITS)?);
    if let (Some(_), Some(both)) = (&delay, section.given("rtt")) {
        return Err(both
            .problem("found delay and rtt, expected one of them")
            .help("half of a round-trip time is a delay"));
    }
    let columns = Columns {
        time: section.value("time").string("the name of a column")?.to_owned(),
        time_unit: unit("time_unit", &schema::TIME_UNITS)?,
        rate: with(name("rate")?, unit("rate_unit", &schema::RATE_UNITS)?),
        delay: with(delay, delay_unit).or(with(rtt, delay_unit / 2.0)),
        loss: with(name("loss")?, unit("loss_unit", &schema::LOSS_UNITS)?),
    };
    match columns.rate.is_none() && columns.delay.is_none() && columns.loss.is_none() {
        true => Err(field.problem("found no column but that of times, expected rate, delay, rtt or loss")),
        false => Ok(columns),
    }
}

fn read(path: &Path) -> Result<String, String> {
    // Reading a pipe would block, and its contents could not be copied next to the results.
    if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Err("not a file".to_owned());
    }
    let bytes = input::read(path, LARGEST_FILE_MIB).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|error| match Foreign::recognise(error.as_bytes()) {
        Some(Foreign { what, remedy, .. }) => format!("{what}; {remedy}"),
        None => "not text in UTF-8".to_owned(),
    })
}
