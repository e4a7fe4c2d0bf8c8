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
//! values = [0, 999]                    # the least and the most; with `count = N` it is a list, and the stream's name
//!                                      # may have `${n}`
//!
//! [[metrics]]                          # what is measured of a run: `metrics.rs`
//! name = "goodput"
//! flows = "file"
//! column = "goodput_mbps"
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
//! [[experiments.each]]                 # changes of the scenario for each element of a list, or each number below one
//! of = { n = "${sources}" }
//! set = { "hosts.sources[]" = "i${n}", "flows.source${n}.to" = "sink" }     # [] adds to a list
//!
//! [[choices]]                          # what the publication leaves open, taken otherwise
//! name = "loss of acknowledgments"
//! set = { "links.a.loss.down" = "${loss} %" }
//!
//! [[claims]]
//! statement = "the new mode is ahead"
//! source = "figure 1"
//! published = "by 7 %"
//! check = "ahead"                      # one of `checks.rs`, or a function of the paper's code; further keys are for it
//! ```
//!
//! `sweep` is written as in a scenario, with variables in place of paths; the last axis varies fastest. A variable called
//! `set` changes the scenario like the table of that name. An experiment with `cases = true` has a cell for each set of
//! variables that the paper's code reads from measured tables.

use serde_json::Value;
use subflow_scenario::file::Problem;
use subflow_scenario::sweep::Parameters;

use super::checks::Rule;
use super::claims::Claim;
use super::effort::Effort;
use super::folder::Folder;
use super::keys::Keys;
use super::metrics::Metric;
use super::template::{fill, fill_all, shown};
use crate::Item;

/// The file.
const FILE: &str = "paper.toml";

/// A paper's file.
#[derive(Clone, Debug)]
pub(crate) struct Description {
    pub(crate) title: String,
    pub(crate) items: Vec<Item>,
    notes: Vec<Value>,
    pub(crate) variables: Parameters,
    pub(crate) set: Parameters,
    /// Lists of values that several sweeps name.
    pub(crate) axes: Parameters,
    pub(crate) draws: Vec<Draw>,
    pub(crate) metrics: Vec<Metric>,
    pub(crate) experiments: Vec<Experiment>,
    pub(crate) choices: Vec<Choice>,
    pub(crate) claims: Vec<Claim>,
}

/// A variable that differs from run to run. Draws from one stream are made one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Draw {
    pub(crate) variable: String,
    pub(crate) stream: String,
    /// The smallest and the largest value.
    pub(crate) values: [u64; 2],
    /// How many values a list of them has; a template. No list without.
    pub(crate) count: Option<Value>,
}

/// A set of cells.
#[derive(Clone, Debug)]
pub(crate) struct Experiment {
    /// A template of the item's name.
    pub(crate) item: String,
    pub(crate) scenario: String,
    pub(crate) variables: Parameters,
    pub(crate) set: Parameters,
    pub(crate) each: Vec<Each>,
    /// Variables, joined by commas, and their values, which may depend on the effort.
    pub(crate) sweep: Parameters,
    /// Whether the paper's code has further variables of its cells.
    pub(crate) has_cases: bool,
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

/// Changes of the scenario for each of several values of a variable.
#[derive(Clone, Debug)]
pub(crate) struct Each {
    pub(crate) variable: String,
    /// A template of a list, or of a number above all values.
    pub(crate) of: Value,
    /// Variables and the values that they need to have.
    pub(crate) only: Parameters,
    pub(crate) set: Parameters,
}

/// A choice other than that of the figures.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub(crate) name: String,
    /// Another scenario.
    pub(crate) scenario: Option<String>,
    pub(crate) variables: Parameters,
    pub(crate) set: Parameters,
    /// Other values of axes that several sweeps have.
    pub(crate) axes: Parameters,
}

impl Description {
    /// Reads the file of `folder`.
    pub(crate) fn read(folder: &Folder) -> Result<Self, Problem> {
        let root = Keys::of(&folder.source(FILE)?)?;
        root.only(&[
            "title",
            "scenario",
            "claims_not_run",
            "items",
            "notes",
            "variables",
            "set",
            "axes",
            "draws",
            "metrics",
            "experiments",
            "choices",
            "claims",
        ])?;
        let scenario = root.text("scenario")?;
        let not_run = root.text("claims_not_run")?;
        let metrics = root.tables("metrics", Metric::read)?;
        let item = |(name, title): (String, Value)| Item { name, title: shown(&title) };
        let items: Vec<Item> = root.table("items")?.into_iter().map(item).collect();
        if items.is_empty() {
            return Err(root
                .problem("items", "found none, expected at least one")
                .help("an item has a name and a title: items = { near = \"at 24 ms\" }"));
        }
        Ok(Self {
            title: root.needed("title")?,
            notes: root.list("notes")?,
            variables: root.table("variables")?,
            set: root.table("set")?,
            axes: root.table("axes")?,
            draws: root.tables("draws", Draw::read)?,
            experiments: root.tables("experiments", |keys| Experiment::read(keys, scenario.as_deref(), &items))?,
            choices: root.tables("choices", Choice::read)?,
            claims: root.tables("claims", |keys| {
                let rule = Rule::read(keys, &metrics)?;
                Claim::read(keys, rule, not_run.as_deref())
            })?,
            items,
            metrics,
        })
    }

    /// The notes at an effort, with the values of its variables and of `further` ones; some notes are for an effort
    /// alone, or only where a variable says something.
    pub(crate) fn notes(&self, effort: Effort, further: Parameters) -> Result<Vec<String>, Problem> {
        let mut variables = at(&self.variables, effort);
        variables.extend(further);
        let alternatives = at(&self.variables, effort.alternatives());
        variables.extend(alternatives.into_iter().map(|(name, value)| (format!("{name}_of_alternatives"), value)));
        let says = |note: &Value| match note.get("if").and_then(Value::as_str).and_then(|name| variables.get(name)) {
            Some(value) => value.as_u64() != Some(0) && value != "",
            None => note.get("if").is_none(),
        };
        let noted = self.notes.iter().filter(|note| says(note)).filter_map(|note| effort.text_of(note));
        let filled = noted.map(|note| fill(note, &variables).map(|note| shown(&note)));
        filled.collect::<Result<_, _>>().map_err(|problem| Problem::nowhere(format!("notes: {problem}")))
    }
}

impl Draw {
    fn read(keys: &Keys) -> Result<Self, Problem> {
        keys.only(&["variable", "stream", "values", "count"])?;
        let values = keys.list("values")?;
        let [Some(least), Some(most)] = [0, 1].map(|index| values.get(index).and_then(Value::as_u64)) else {
            return Err(keys.problem("values", "expected the smallest and the largest, whole numbers from 0"));
        };
        if least > most {
            return Err(keys.problem("values", format!("found {least} before {most}, expected the smallest first")));
        }
        let count = keys.all().swap_remove("count");
        Ok(Self { variable: keys.needed("variable")?, stream: keys.needed("stream")?, values: [least, most], count })
    }
}

impl Experiment {
    fn read(keys: &Keys, scenario: Option<&str>, items: &[Item]) -> Result<Self, Problem> {
        keys.only(&[
            "item",
            "scenario",
            "variables",
            "set",
            "each",
            "sweep",
            "cases",
            "published",
            "series",
            "until_complete",
            "quick_look",
            "on_linux",
        ])?;
        let item = keys.needed("item")?;
        if !item.contains("${") && !items.iter().any(|known| known.name == item) {
            let names: Vec<&str> = items.iter().map(|item| item.name.as_str()).collect();
            return Err(keys.problem("item", format!("found {item:?}, expected one of {}", names.join(", "))));
        }
        let scenario = keys.text("scenario")?.or_else(|| scenario.map(str::to_owned));
        Ok(Self {
            item,
            scenario: scenario
                .ok_or_else(|| keys.problem("scenario", "neither the experiment nor the paper has one"))?,
            variables: keys.table("variables")?,
            set: keys.table("set")?,
            each: keys.tables("each", Each::read)?,
            sweep: keys.table("sweep")?,
            has_cases: keys.is("cases", false)?,
            is_published: keys.is("published", false)?,
            series: keys.is("series", false)?,
            until_complete: keys.is("until_complete", false)?,
            is_in_quick_look: keys.is("quick_look", true)?,
            on_linux: keys.is("on_linux", false)?,
        })
    }
}

impl Each {
    fn read(keys: &Keys) -> Result<Self, Problem> {
        keys.only(&["of", "where", "set"])?;
        let mut of = keys.table("of")?.into_iter();
        let (Some((variable, values)), None) = (of.next(), of.next()) else {
            return Err(keys.problem("of", "expected one variable with its values, as in { n = 4 }"));
        };
        Ok(Self { variable, of: values, only: keys.table("where")?, set: keys.table("set")? })
    }

    /// The values of its variable.
    pub(crate) fn values(&self, variables: &Parameters) -> Result<Vec<Value>, String> {
        match fill_all(&self.of, variables)? {
            Value::Array(values) => Ok(values),
            Value::Number(number) => match number.as_u64().filter(|number| *number <= MOST_VALUES) {
                Some(number) => Ok((0..number).map(Value::from).collect()),
                None => Err(format!("found {number} values of {}, expected at most {MOST_VALUES}", self.variable)),
            },
            other => Err(format!("{}: found {other}, expected a list or a number", self.variable)),
        }
    }
}

/// More are no list of hosts but a mistake.
const MOST_VALUES: u64 = 100_000;

impl Choice {
    fn read(keys: &Keys) -> Result<Self, Problem> {
        keys.only(&["name", "scenario", "variables", "set", "axes"])?;
        Ok(Self {
            name: keys.needed("name")?,
            scenario: keys.text("scenario")?,
            variables: keys.table("variables")?,
            set: keys.table("set")?,
            axes: keys.table("axes")?,
        })
    }
}

/// The values of `entries` at this effort.
pub(crate) fn at(entries: &Parameters, effort: Effort) -> Parameters {
    entries.iter().map(|(name, value)| (name.clone(), effort.choose(value).clone())).collect()
}
