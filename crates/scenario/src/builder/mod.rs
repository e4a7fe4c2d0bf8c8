//! Scenarios that a program builds.
//!
//! A [`ScenarioBuilder`] writes the text of a scenario file and has it read: rules, defaults and errors are those of a
//! file. An error shows the line of the text that was written.
//!
//! ```
//! use subflow_quantity::{Duration, Rate, Size};
//! use subflow_scenario::builder::{FlowBuilder, LinkBuilder, ScenarioBuilder};
//!
//! let plan = ScenarioBuilder::new("two-paths")
//!     .duration(Duration::from_secs(20))
//!     .host("phone", ["wifi", "lte"])
//!     .host("server", ["eth"])
//!     .router("internet")
//!     .link("wifi", LinkBuilder::between("phone.wifi", "internet").rate(Rate::from_mbit(20)))
//!     .link("lte", LinkBuilder::between("phone.lte", "internet").rate(Rate::from_mbit(10)))
//!     .link("core", LinkBuilder::between("internet", "server").rate(Rate::from_mbit(1000)))
//!     .flow("file", FlowBuilder::mptcp("phone", "server").congestion("lia").send(Size::from_bytes(5_000_000)))
//!     .sweep("flows.file.scheduler", ["ll", "rr"])
//!     .plan()
//!     .expect("a good scenario");
//! assert_eq!(plan.points.len(), 2);
//! ```

mod flow;
mod value;

use std::path::{Path, PathBuf};

use subflow_quantity::{Duration, Probability, Rate};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value};

use crate::file::{Document, Problem, Problems};
use crate::sweep::Plan;
use crate::{CustomAlgorithms, Scenario};

pub use flow::FlowBuilder;
pub use value::{Options, ScenarioValue};

/// A scenario in the making. Whatever is wrong with it is found when it is read.
#[derive(Clone, Debug)]
pub struct ScenarioBuilder {
    name: String,
    folder: PathBuf,
    custom: CustomAlgorithms,
    top: InlineTable,
    /// The tables of named things, in the order of a file.
    named: [(&'static str, Table); 4],
    timeline: Vec<InlineTable>,
    sweep: Table,
    /// The paths of what was added more than once.
    repeated: Vec<String>,
}

/// Places in [`ScenarioBuilder::named`].
const HOSTS: usize = 0;
const ROUTERS: usize = 1;
const LINKS: usize = 2;
const FLOWS: usize = 3;

impl ScenarioBuilder {
    /// A scenario without hosts; `name` is that of folders and reports.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            folder: PathBuf::new(),
            custom: CustomAlgorithms::default(),
            top: InlineTable::new(),
            named: ["hosts", "routers", "links", "flows"].map(|section| (section, Table::new())),
            timeline: Vec::new(),
            sweep: Table::new(),
            repeated: Vec::new(),
        }
    }

    /// The folder that paths of traces are relative to. Default: the working directory.
    #[must_use]
    pub fn folder(mut self, folder: &Path) -> Self {
        folder.clone_into(&mut self.folder);
        self
    }

    /// Algorithms of this program, which the scenario may name.
    #[must_use]
    pub fn custom(mut self, custom: CustomAlgorithms) -> Self {
        self.custom = custom;
        self
    }

    /// Sets any key at the top of the scenario, such as `title`, `warm_up` or `mptcp` ([`Options`] are a table).
    #[must_use]
    pub fn set(mut self, key: &str, value: impl ScenarioValue) -> Self {
        self.top.insert(key, value.into_value());
        self
    }

    /// The simulated time of a run.
    #[must_use]
    pub fn duration(self, duration: Duration) -> Self {
        self.set("duration", duration)
    }

    /// The seed of the first run.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        self.set("seed", seed)
    }

    /// The number of runs of each point, each with its own seed.
    #[must_use]
    pub fn repeat(self, repeat: u32) -> Self {
        self.set("repeat", repeat)
    }

    /// A host with these interfaces: names, or [`Options`] with `name` and other keys of an interface.
    #[must_use]
    pub fn host<V: ScenarioValue>(self, name: &str, interfaces: impl IntoIterator<Item = V>) -> Self {
        let interfaces = Array::from_iter(interfaces.into_iter().map(ScenarioValue::into_value));
        self.add(HOSTS, name, Value::Array(interfaces))
    }

    /// A host with further keys, such as `tcp`; `interfaces` is one of them.
    #[must_use]
    pub fn host_with(self, name: &str, keys: Options) -> Self {
        self.add(HOSTS, name, keys.into_value())
    }

    /// A router.
    #[must_use]
    pub fn router(self, name: &str) -> Self {
        self.add(ROUTERS, name, Value::InlineTable(InlineTable::new()))
    }

    /// A link.
    #[must_use]
    pub fn link(self, name: &str, link: LinkBuilder) -> Self {
        self.add(LINKS, name, link.0.into_value())
    }

    /// A flow, or a group of flows.
    #[must_use]
    pub fn flow(self, name: &str, flow: FlowBuilder) -> Self {
        self.add(FLOWS, name, flow.0.into_value())
    }

    /// An event of the timeline: what it changes is in `event`, such as `link` and `down`.
    #[must_use]
    pub fn at(mut self, time: Duration, event: Options) -> Self {
        let mut entry = InlineTable::new();
        entry.insert("at", time.into_value());
        entry.extend(event.0);
        self.timeline.push(entry);
        self
    }

    /// Sweeps over these values of the key at `path`; paths joined by commas change together.
    #[must_use]
    pub fn sweep<V: ScenarioValue>(self, path: &str, values: impl IntoIterator<Item = V>) -> Self {
        let values = Array::from_iter(values.into_iter().map(ScenarioValue::into_value));
        self.add_swept(path, Value::Array(values))
    }

    /// Sweeps over this range of the key at `path`, such as `"10 ms .. 50 ms step 10 ms"`. A design that draws values
    /// also takes a range without a step: `"10 ms .. 50 ms"`, `"1 .. 1000 log"`.
    #[must_use]
    pub fn sweep_range(self, path: &str, range: &str) -> Self {
        self.add_swept(path, range.into())
    }

    /// Which combinations of swept values have runs: [`Options`] with `name`, `points` and `seed`. Default: all.
    #[must_use]
    pub fn design(self, design: Options) -> Self {
        self.add_swept("design", design.into_value())
    }

    /// The text of the scenario file.
    pub fn text(&self) -> String {
        let mut document = DocumentMut::new();
        for (key, value) in &self.top {
            document.insert(key, Item::Value(value.clone()));
        }
        for (section, table) in self.named.iter().filter(|(_, table)| !table.is_empty()) {
            document.insert(section, Item::Table(table.clone()));
        }
        if !self.timeline.is_empty() {
            let events = self.timeline.iter().cloned().map(Value::InlineTable);
            document.insert("timeline", Item::Value(Value::Array(Array::from_iter(events))));
        }
        if !self.sweep.is_empty() {
            document.insert("sweep", Item::Table(self.sweep.clone()));
        }
        document.to_string()
    }

    /// The text of a file that a program wrote of something else, with a heading and notes as comments before it.
    ///
    /// # Errors
    ///
    /// It is no good scenario: the first problem, in one line.
    pub fn text_with_notes(&self, heading: &str, notes: &[String]) -> Result<String, String> {
        let comments: String = notes.iter().map(|note| format!("# - {}\n", note.replace('\n', " "))).collect();
        let text = format!("# {heading}\n{comments}\n{}", self.text());
        let file = PathBuf::from(format!("{}.toml", self.name));
        match Document::parse(&file, text.clone()).map(Plan::read) {
            Ok(Ok(_)) => Ok(text),
            Ok(Err(Problems { first, .. })) => Err(first.first().map(Problem::in_one_line).unwrap_or_default()),
            Err(problem) => Err(problem.in_one_line()),
        }
    }

    /// The scenario as a document, which can be changed further. Names and swept paths that were added twice are an
    /// error, as they are in a file.
    pub fn document(&self) -> Result<Document, Problem> {
        if let Some(path) = self.repeated.first().cloned().or_else(|| self.set_and_added()) {
            let problem = Problem::nowhere(format!("{}: {path} is given twice, expected once", self.name));
            return Err(problem.help("every name and every swept path is added once"));
        }
        let mut document = Document::parse(&self.folder.join("<builder>"), self.text())?;
        document.name.clone_from(&self.name);
        document.custom = self.custom.clone();
        Ok(document)
    }

    /// The scenario, without its sweep.
    pub fn scenario(&self) -> Result<Scenario, Problems> {
        Scenario::read(&self.document()?)
    }

    /// All points of its sweep.
    pub fn plan(&self) -> Result<Plan, Problems> {
        Plan::read(self.document()?)
    }

    fn add(mut self, section: usize, name: &str, value: Value) -> Self {
        let (section, table) = &mut self.named[section];
        if table.insert(name, Item::Value(value)).is_some() {
            self.repeated.push(format!("{section}.{name}"));
        }
        self
    }

    fn add_swept(mut self, path: &str, value: Value) -> Self {
        if self.sweep.insert(path, Item::Value(value)).is_some() {
            self.repeated.push(format!("sweep.{path:?}"));
        }
        self
    }

    /// A table that `set` has given as a whole, and to which something was added.
    fn set_and_added(&self) -> Option<String> {
        let named = self.named.iter().map(|(section, table)| (*section, table.is_empty()));
        let others = [("timeline", self.timeline.is_empty()), ("sweep", self.sweep.is_empty())];
        let mut both = named.chain(others).filter(|(key, is_empty)| !is_empty && self.top.contains_key(key));
        both.next().map(|(key, _)| key.to_owned())
    }
}

/// A link in the making. Each property is for both directions, unless [`each`](Self::each) sets it.
#[derive(Clone, Debug)]
pub struct LinkBuilder(Options);

impl LinkBuilder {
    /// A link between two ends, each a router, a host or a host's interface.
    pub fn between(first: &str, second: &str) -> Self {
        Self(Options::new()).set("between", [first, second])
    }

    /// Sets any key of a link, such as `jitter` or `overhead`.
    #[must_use]
    pub fn set(self, key: &str, value: impl ScenarioValue) -> Self {
        Self(self.0.set(key, value))
    }

    /// Sets a key for each direction: up is from the first end to the second.
    #[must_use]
    pub fn each(self, key: &str, up: impl ScenarioValue, down: impl ScenarioValue) -> Self {
        self.set(key, Options::new().set("up", up).set("down", down))
    }

    /// The rate of both directions; `set("rate", "unlimited")` and traces are other kinds.
    #[must_use]
    pub fn rate(self, rate: Rate) -> Self {
        self.set("rate", rate)
    }

    /// The propagation delay.
    #[must_use]
    pub fn delay(self, delay: Duration) -> Self {
        self.set("delay", delay)
    }

    /// The queue: its limit as [`Packets`](subflow_quantity::Packets), a size, a time or a
    /// [`Bdp`](subflow_quantity::Bdp), or [`Options`] with a discipline.
    #[must_use]
    pub fn queue(self, queue: impl ScenarioValue) -> Self {
        self.set("queue", queue)
    }

    /// The probability that a packet is lost; `set("loss", …)` takes other models.
    #[must_use]
    pub fn loss(self, probability: Probability) -> Self {
        self.set("loss", probability)
    }
}
