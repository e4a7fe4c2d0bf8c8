//! What is measured of a run, where that is a metric of its flows.
//!
//! | key | what it is |
//! |---|---|
//! | `name`, `unit` | what tables and claims call it, and its unit; the metric's own unless given |
//! | `column` | the metric of a flow, as the table `flows` of results names it; of several the sum |
//! | `flows` | which flows: a name, or the beginning of names before a `*`; all flows unless given |
//! | `of` | of several flows: their `sum` unless given, their `mean`, Jain's index as `fairness`, or a figure of `each` |
//! | `needed` | whether a run without it fails |

use subflow_lab::results::metrics::FLOW;
use subflow_lab::results::{FlowResult, RunResult};
use subflow_lab::statistics::{jain_index, mean};
use subflow_scenario::file::{Problem, did_you_mean};

use super::keys::Keys;
use super::results::Sample;

type OfFlow = subflow_lab::results::metrics::Metric<FlowResult>;

/// A figure of a run.
#[derive(Clone, Debug)]
pub(crate) struct Metric {
    pub(crate) name: String,
    pub(crate) unit: String,
    columns: Vec<&'static OfFlow>,
    flows: String,
    of: Of,
    is_needed: bool,
}

/// What of several flows it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Sum,
    Mean,
    Fairness,
    Each,
}

impl Metric {
    pub(super) fn read(keys: &Keys) -> Result<Self, Problem> {
        keys.only(&["name", "unit", "column", "flows", "of", "needed"])?;
        let columns = keys.texts("column")?.iter().map(|name| column(keys, name)).collect::<Result<Vec<_>, _>>()?;
        let Some(first) = columns.first() else {
            return Err(keys.problem("column", "it is missing, expected the name of a metric such as \"goodput_mbps\""));
        };
        let of = match keys.text("of")?.as_deref() {
            None | Some("sum") => Of::Sum,
            Some("mean") => Of::Mean,
            Some("fairness") => Of::Fairness,
            Some("each") => Of::Each,
            Some(other) => {
                return Err(keys.problem("of", format!("found {other:?}, expected sum, mean, fairness or each")));
            }
        };
        Ok(Self {
            name: keys.needed("name")?,
            unit: keys.text("unit")?.unwrap_or_else(|| if of == Of::Fairness { "" } else { first.unit }.to_owned()),
            flows: keys.text("flows")?.unwrap_or_else(|| "*".to_owned()),
            is_needed: keys.is("needed", false)?,
            columns,
            of,
        })
    }

    fn is_of(&self, flow: &FlowResult) -> bool {
        match self.flows.strip_suffix('*') {
            Some(beginning) => flow.name.starts_with(beginning),
            None => flow.line() == self.flows,
        }
    }

    fn measure(&self, result: &RunResult, sample: &mut Sample) -> Result<(), String> {
        let of_flow = |flow: &FlowResult| self.columns.iter().map(|column| column.value(flow)).sum::<Option<f64>>();
        let flows = result.flows.iter().filter(|flow| self.is_of(flow)).map(of_flow);
        if self.of == Of::Each {
            sample.extend(flows.map(|figure| figure.unwrap_or(f64::NAN)));
            return Ok(());
        }
        let figures: Vec<f64> = flows.flatten().collect();
        let figure = match self.of {
            Of::Mean => mean(&figures),
            Of::Fairness => jain_index(&figures),
            Of::Sum | Of::Each => figures.into_iter().reduce(|sum, figure| sum + figure),
        };
        if self.is_needed && figure.is_none() {
            return Err(format!("no flow {} has {}", self.flows, self.columns[0].column));
        }
        sample.push(figure.unwrap_or(f64::NAN));
        Ok(())
    }
}

/// What `metrics` are of a run.
pub(super) fn measure(metrics: &[Metric], result: &RunResult) -> Result<Sample, String> {
    let mut sample = Sample::new();
    metrics.iter().try_for_each(|metric| metric.measure(result, &mut sample))?;
    Ok(sample)
}

fn column(keys: &Keys, name: &str) -> Result<&'static OfFlow, Problem> {
    let all = || FLOW.iter().copied().flatten();
    all().find(|metric| metric.column == name).ok_or_else(|| {
        let help = did_you_mean(name, all().map(|metric| metric.column), "the table flows of results has them");
        keys.problem("column", format!("found {name:?}, expected the name of a metric of flows")).help(help)
    })
}
