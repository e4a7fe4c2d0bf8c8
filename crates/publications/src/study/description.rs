//! `paper.toml` of a paper's folder: what it is, which experiments it has, and what it claims.
//! The book explains its keys (`docs/src/study-folder.md`), all but those for papers with code: an experiment with `cases`
//! has a cell for each set of variables that the code reads from these measured tables.

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use subflow_scenario::file::Problem;
use subflow_scenario::sweep::Parameters;

use super::cell::Cell;
use super::claims::Claim;
use super::effort::Effort;
use super::experiment::{Choice, Draw, Experiment, Variable, at};
use super::folder::Folder;
use super::metrics::Metric;
use super::panels::Panel;
use super::reader;
use super::show::Show;
use super::tables::{Columns, Readable};
use super::template::{fill, shown};
use crate::Item;

const FILE: &str = "paper.toml";

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Description {
    pub(crate) title: String,
    /// The scenario of experiments without one of their own.
    pub(crate) scenario: Option<String>,
    /// What is said of a claim whose cells were not run; without, such a claim is left out.
    pub(crate) claims_not_run: Option<String>,
    #[serde(deserialize_with = "items")]
    pub(crate) items: Vec<Item>,
    notes: Vec<Value>,
    /// The variables of all cells, and the changes of all scenarios.
    pub(crate) variables: Parameters,
    pub(crate) set: Parameters,
    /// Lists of values that several sweeps name.
    pub(crate) axes: Parameters,
    pub(crate) draws: Vec<Draw>,
    pub(crate) metrics: Vec<Metric>,
    pub(crate) experiments: Vec<Experiment>,
    pub(crate) choices: Vec<Choice>,
    pub(crate) claims: Vec<Claim>,
    /// The cells of published experiments on which verdicts under other choices rest; all unless given.
    judged: Vec<Parameters>,
    /// The cells that ratios of others are to.
    pub(crate) reference: Option<Variable>,
    /// The columns of the table of all cells, the tables to read, and the figures, where they are not the usual ones.
    pub(crate) rows: Columns,
    pub(crate) tables: Vec<Readable>,
    pub(crate) figures: Vec<Panel>,
}

fn items<'de, D: Deserializer<'de>>(table: D) -> Result<Vec<Item>, D::Error> {
    let titles = IndexMap::<String, String>::deserialize(table)?;
    Ok(titles.into_iter().map(|(name, title)| Item { name, title }).collect())
}

impl Description {
    pub(crate) fn read(folder: &Folder) -> Result<Self, Problem> {
        let file: Self = reader::read(&folder.source(FILE)?)?;
        let wrong = |message: String| Problem::nowhere(format!("{}: {FILE}: {message}", folder.name));
        if file.title.is_empty() {
            return Err(wrong("title: it is missing, expected a text".to_owned()));
        }
        if file.items.is_empty() {
            let help = "an item has a name and a title: items = { near = \"at 24 ms\" }";
            return Err(wrong("items: found none, expected at least one".to_owned()).help(help));
        }
        for Experiment { item, scenario, .. } in &file.experiments {
            if !item.contains("${") && !file.items.iter().any(|known| known.name == *item) {
                let known: Vec<&str> = file.items.iter().map(|item| item.name.as_str()).collect();
                return Err(wrong(format!("experiments, item: found {item:?}, expected one of {}", known.join(", "))));
            }
            if scenario.is_none() && file.scenario.is_none() {
                return Err(wrong(format!("experiments, item {item}: neither it nor the paper has a scenario")));
            }
        }
        let shows = file.rows.values().chain(file.tables.iter().flat_map(Readable::shows));
        let metrics = shows.filter_map(Show::metric).chain(file.figures.iter().flat_map(Panel::metrics));
        for name in metrics {
            if !file.metrics.iter().any(|metric| metric.name == name) {
                return Err(wrong(format!("rows, tables and figures: there is no metric {name:?}")));
            }
        }
        if let Some(title) = file.figures.iter().find_map(Panel::lacks_x) {
            return Err(wrong(format!("figures, {title:?}: x: it is missing; curves need it")));
        }
        match file.draws.iter().find(|draw| draw.values[0] > draw.values[1]) {
            Some(draw) => Err(wrong(format!("draws, {}: values: expected the smallest first", draw.variable))),
            None => Ok(file),
        }
    }

    /// Whether a verdict under other choices rests on this cell of a published experiment.
    pub(crate) fn is_judged(&self, cell: &Cell) -> bool {
        self.judged.is_empty() || self.judged.iter().any(|wanted| cell.has(wanted))
    }

    /// The notes at an effort, with the values of its variables and of `further` ones; some notes are for an effort
    /// alone, or only where a variable says something.
    pub(crate) fn notes(&self, effort: Effort, further: Parameters) -> Result<Vec<String>, Problem> {
        let mut variables = at(&self.variables, effort);
        variables.extend(further);
        let alternatives = at(&self.variables, effort.alternatives());
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
