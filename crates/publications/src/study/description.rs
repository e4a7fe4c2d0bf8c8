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
use super::experiment::{Choice, Common, Experiment, at};
use super::folder::Folder;
use super::keys::Keys;
use super::metrics::Metric;
use super::template::{fill, shown};
use crate::Item;

/// The file.
const FILE: &str = "paper.toml";

/// A paper's file.
#[derive(Clone, Debug)]
pub(crate) struct Description {
    pub(crate) title: String,
    pub(crate) items: Vec<Item>,
    notes: Vec<Value>,
    pub(crate) common: Common,
    pub(crate) metrics: Vec<Metric>,
    pub(crate) experiments: Vec<Experiment>,
    pub(crate) choices: Vec<Choice>,
    pub(crate) claims: Vec<Claim>,
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
            common: Common::read(&root)?,
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
        let mut variables = at(&self.common.variables, effort);
        variables.extend(further);
        let alternatives = at(&self.common.variables, effort.alternatives());
        variables.extend(alternatives.into_iter().map(|(name, value)| (format!("{name}_of_alternatives"), value)));
        let says = |note: &Value| match note.get("if").and_then(Value::as_str).and_then(|name| variables.get(name)) {
            Some(value) => !["", "0", "false"].contains(&shown(value).as_str()),
            None => note.get("if").is_none(),
        };
        let noted = self.notes.iter().filter(|note| says(note)).filter_map(|note| effort.text_of(note));
        let filled = noted.map(|note| fill(note, &variables).map(|note| shown(&note)));
        filled.collect::<Result<_, _>>().map_err(|problem| Problem::nowhere(format!("notes: {problem}")))
    }
}
