//! `paper.toml` of a paper's folder: what it is, which experiments it has, and what it claims.
//!
//! ```toml
//! title = "Author: title (year)"
//! scenario = "testbed.toml"            # each cell is a point of it
//! items = { near = "at 24 ms", far = "at 90 ms" }
//! notes = ["A figure is the mean of ${runs} runs.", { hurried = "This is a part of it." }]
//!
//! [variables]                          # of every cell, unless an experiment, a choice or an axis has others
//! runs = { full = 30, quick = 3 }      # by effort
//! loss = 0
//!
//! [set]                                # changes of the scenario, as of `--set`
//! "links.a.delay" = "${rtt * 500} us"
//!
//! [[draws]]                            # a variable that differs from run to run
//! variable = "start"
//! stream = "start of the flow"         # the name of a random stream of the run's seed
//! values = [0, 999]
//!
//! [axes]                               # values that several sweeps have
//! modes = [["old", "ll"], ["new", "lws"]]
//!
//! [[experiments]]
//! item = "near"
//! published = true                     # the publication has it; a variable `published = false` takes cells out
//! variables = { rtt = 24 }
//! sweep = { loss = { full = [0, 1, 2], quick = [0, 2] }, "mode, scheduler" = "modes" }
//!
//! [[choices]]                          # what the publication leaves open, taken otherwise
//! name = "loss of acknowledgments"
//! set = { "links.a.loss.down" = "${loss} %" }
//!
//! [[claims]]
//! statement = "the new mode is ahead"
//! source = "figure 1"
//! published = "by 7 %"
//! check = "ahead"                      # a function of the paper's code, or of `checks.rs`; further keys are for it
//! ```
//!
//! `sweep` is written as in a scenario, with variables in place of paths; the last axis varies fastest. A variable called
//! `set` changes the scenario like the table of that name.

use indexmap::IndexMap;
use serde_json::Value;
use subflow_scenario::sweep::Parameters;
use toml_edit::{DocumentMut, InlineTable, Value as Toml};

use super::Folder;
use super::effort::Effort;
use super::template::{fill, shown, to_json};
use crate::Item;

/// The file.
pub(crate) const FILE: &str = "paper.toml";

/// A table of a file, in its order.
pub(crate) type Entries = IndexMap<String, Toml>;

/// A paper's file.
#[derive(Clone, Debug)]
pub(crate) struct Description {
    pub(crate) title: String,
    scenario: Option<String>,
    /// Name and title.
    pub(crate) items: Vec<(String, String)>,
    pub(crate) notes: Vec<Toml>,
    pub(crate) variables: Entries,
    pub(crate) set: Entries,
    /// Lists of values that several sweeps name.
    pub(crate) axes: Entries,
    pub(crate) draws: Vec<Draw>,
    pub(crate) experiments: Vec<Experiment>,
    pub(crate) choices: Vec<Choice>,
    pub(crate) claims: Vec<Claim>,
}

/// A variable that differs from run to run: `values` are the smallest and the largest. Draws from one stream are made one
/// after the other.
#[derive(Clone, Debug)]
pub(crate) struct Draw {
    pub(crate) variable: String,
    pub(crate) stream: String,
    pub(crate) values: [u64; 2],
}

/// A set of cells.
#[derive(Clone, Debug)]
pub(crate) struct Experiment {
    pub(crate) item: String,
    /// Its scenario, if it has one of its own.
    pub(crate) scenario: Option<String>,
    pub(crate) variables: Entries,
    pub(crate) set: Entries,
    /// Variables, joined by commas, and their values, which may depend on the effort.
    pub(crate) sweep: Entries,
    /// Whether the publication has it: verdicts under other choices are about these.
    pub(crate) is_published: bool,
    /// Whether metrics over time are measured.
    pub(crate) series: bool,
    /// Whether a run ends when its first flow has completed.
    pub(crate) until_complete: bool,
    /// Whether its runs are part of a quick look at all items.
    pub(crate) is_in_quick_look: bool,
    /// For runs on Linux: none that is simulated alone.
    pub(crate) on_linux: bool,
}

/// A choice other than that of the figures.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub(crate) name: String,
    /// Another scenario.
    pub(crate) scenario: Option<String>,
    pub(crate) variables: Entries,
    pub(crate) set: Entries,
    /// Other values of axes that several sweeps have.
    pub(crate) axes: Entries,
}

/// A finding of the publication, or of ours beyond it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Claim {
    pub(crate) statement: String,
    pub(crate) source: String,
    pub(crate) published: Option<String>,
    pub(crate) beyond: bool,
    /// Whether it is checked against figures of runs on Linux, too.
    pub(crate) on_linux: bool,
    /// The name of the function that checks it.
    pub(crate) check: String,
    /// What is said where its cells were not run; `None` leaves the claim out then.
    pub(crate) if_not_run: Option<String>,
    /// All keys of the claim.
    pub(crate) arguments: Parameters,
}

impl Description {
    /// Reads the file of `folder`.
    ///
    /// # Panics
    ///
    /// The file is wrong. A test reads each.
    pub(crate) fn read(folder: &Folder) -> Self {
        let document: DocumentMut =
            folder.text(FILE).parse().unwrap_or_else(|error| panic!("{}: {error}", folder.name));
        let root = Keys(entries(&document.as_table().clone().into_inline_table()));
        let not_run = root.text("claims_not_run");
        let claim = |keys: Keys| Claim::of(&keys, not_run.as_deref());
        Self {
            title: root.text("title").unwrap_or_default(),
            scenario: root.text("scenario"),
            items: root.table("items").into_iter().map(|(name, title)| (name, written(&title))).collect(),
            notes: root.list("notes"),
            variables: root.table("variables"),
            set: root.table("set"),
            axes: root.table("axes"),
            draws: root.tables("draws").map(|keys| Draw::of(&keys)).collect(),
            experiments: root.tables("experiments").map(|keys| Experiment::of(&keys)).collect(),
            choices: root.tables("choices").map(|keys| Choice::of(&keys)).collect(),
            claims: root.tables("claims").map(claim).collect(),
        }
    }

    /// The notes at an effort, with the values of its variables and of `further` ones; some notes are for an effort alone.
    ///
    /// # Panics
    ///
    /// A note has a variable that is not there. A test looks for each.
    pub(crate) fn notes(&self, effort: Effort, further: &[(&str, String)]) -> Vec<String> {
        let mut variables = at(&self.variables, effort);
        variables.extend(further.iter().map(|(name, text)| ((*name).to_owned(), text.as_str().into())));
        let alternatives = at(&self.variables, effort.alternatives());
        variables.extend(alternatives.into_iter().map(|(name, value)| (format!("{name}_of_alternatives"), value)));
        let noted = self.notes.iter().filter_map(|note| effort.text_of(note));
        let filled = noted.map(|note| fill(note, &variables).unwrap_or_else(|problem| panic!("{note}: {problem}")));
        filled.map(|note| shown(&note)).collect()
    }

    /// The items. Papers live as long as the program.
    pub(crate) fn leaked_items(&self) -> &'static [Item] {
        let item = |(name, title): &(String, String)| Item { name: name.clone().leak(), title: title.clone().leak() };
        self.items.iter().map(item).collect::<Vec<_>>().leak()
    }

    /// The scenario of `experiment`.
    pub(crate) fn scenario<'a>(&'a self, experiment: &'a Experiment) -> &'a str {
        experiment.scenario.as_ref().or(self.scenario.as_ref()).expect("the paper or the experiment has a scenario")
    }
}

impl Draw {
    fn of(keys: &Keys) -> Self {
        let values = keys.list("values");
        let [Some(least), Some(most)] = [0, 1].map(|index| values.get(index)?.as_integer()) else {
            panic!("values of a draw: expected the smallest and the largest")
        };
        Self { variable: keys.needed("variable"), stream: keys.needed("stream"), values: [least as u64, most as u64] }
    }
}

impl Experiment {
    fn of(keys: &Keys) -> Self {
        Self {
            item: keys.needed("item"),
            scenario: keys.text("scenario"),
            variables: keys.table("variables"),
            set: keys.table("set"),
            sweep: keys.table("sweep"),
            is_published: keys.is("published", false),
            series: keys.is("series", false),
            until_complete: keys.is("until_complete", false),
            is_in_quick_look: keys.is("quick_look", true),
            on_linux: keys.is("on_linux", false),
        }
    }
}

impl Choice {
    fn of(keys: &Keys) -> Self {
        Self {
            name: keys.needed("name"),
            scenario: keys.text("scenario"),
            variables: keys.table("variables"),
            set: keys.table("set"),
            axes: keys.table("axes"),
        }
    }
}

impl Claim {
    fn of(keys: &Keys, not_run: Option<&str>) -> Self {
        Self {
            statement: keys.needed("statement"),
            source: keys.text("source").unwrap_or_default(),
            published: keys.text("published"),
            beyond: keys.is("beyond", false),
            on_linux: keys.is("on_linux", true),
            check: keys.needed("check"),
            if_not_run: not_run.map(|text| text.replace("${item}", &keys.text("item").unwrap_or_default())),
            arguments: keys.0.iter().map(|(key, value)| (key.clone(), to_json(value))).collect(),
        }
    }

    /// A key of it as text.
    pub(crate) fn text(&self, key: &str) -> &str {
        self.arguments.get(key).and_then(Value::as_str).unwrap_or_else(|| panic!("{}: no {key}", self.statement))
    }

    /// A key of it as a number.
    pub(crate) fn number(&self, key: &str) -> f64 {
        self.arguments.get(key).and_then(Value::as_f64).unwrap_or_else(|| panic!("{}: no {key}", self.statement))
    }

    /// A key of it as a list.
    pub(crate) fn list(&self, key: &str) -> &[Value] {
        self.arguments.get(key).and_then(Value::as_array).unwrap_or_else(|| panic!("{}: no {key}", self.statement))
    }

    /// A key of it as a list of texts.
    pub(crate) fn texts(&self, key: &str) -> Vec<&str> {
        self.list(key).iter().filter_map(Value::as_str).collect()
    }
}

/// The values of `entries` at this effort.
pub(crate) fn at(entries: &Entries, effort: Effort) -> Parameters {
    entries.iter().map(|(name, value)| (name.clone(), to_json(effort.choose(value)))).collect()
}

/// A table that is being read.
struct Keys(Entries);

impl Keys {
    fn text(&self, key: &str) -> Option<String> {
        self.0.get(key).map(written)
    }

    fn needed(&self, key: &str) -> String {
        self.text(key).unwrap_or_else(|| panic!("{key} is missing in {:?}", self.0.keys().collect::<Vec<_>>()))
    }

    fn is(&self, key: &str, default: bool) -> bool {
        self.0.get(key).map_or(default, |value| value.as_bool().unwrap_or_else(|| panic!("{key}: expected a boolean")))
    }

    fn list(&self, key: &str) -> Vec<Toml> {
        let list = self.0.get(key).and_then(Toml::as_array);
        list.into_iter().flatten().cloned().collect()
    }

    fn table(&self, key: &str) -> Entries {
        self.0.get(key).and_then(Toml::as_inline_table).map(entries).unwrap_or_default()
    }

    fn tables(&self, key: &str) -> impl Iterator<Item = Self> {
        let table = |value: Toml| match value {
            Toml::InlineTable(table) => Self(entries(&table)),
            other => panic!("found {other}, expected a table"),
        };
        self.list(key).into_iter().map(table)
    }
}

fn entries(table: &InlineTable) -> Entries {
    table.iter().map(|(key, value)| (key.to_owned(), value.clone())).collect()
}

fn written(value: &Toml) -> String {
    value.as_str().unwrap_or_else(|| panic!("found {value}, expected a text")).to_owned()
}
