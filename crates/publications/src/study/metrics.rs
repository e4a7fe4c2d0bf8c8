//! What is measured of a run, where that is a metric of its flows.

use serde::{Deserialize, Deserializer, de};
use subflow_lab::results::metrics::FLOW;
use subflow_lab::results::{FlowResult, RunResult};
use subflow_lab::statistics::{jain_index, mean};
use subflow_scenario::file::did_you_mean;

use super::results::Sample;

type OfFlow = subflow_lab::results::metrics::Metric<FlowResult>;

/// A figure of a run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Metric {
    pub(crate) name: String,
    /// That of its first column unless given.
    unit: Option<String>,
    /// Metrics of a flow, of which it is the sum. None where the paper's code measures it.
    #[serde(default, rename = "column", deserialize_with = "columns")]
    pub(crate) columns: Vec<&'static OfFlow>,
    /// The name of a flow, or the beginning of names before a `*`.
    #[serde(default = "all_flows")]
    flows: String,
    #[serde(default)]
    of: Of,
    /// Whether a run without it fails.
    #[serde(default)]
    needed: bool,
    /// How many decimals people are shown.
    #[serde(default = "two")]
    pub(super) decimals: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Of {
    #[default]
    Sum,
    Mean,
    Fairness,
    Each,
}

fn all_flows() -> String {
    "*".to_owned()
}

fn two() -> usize {
    2
}

impl Metric {
    /// Its unit, that of its first column unless given.
    pub(crate) fn unit(&self) -> &str {
        let usual = if self.of == Of::Fairness { "" } else { self.columns.first().map_or("", |column| column.unit) };
        self.unit.as_deref().unwrap_or(usual)
    }

    pub(crate) fn is_of_each(&self) -> bool {
        self.of == Of::Each
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
        if self.needed && figure.is_none() {
            return Err(format!("no flow {} has {}", self.flows, self.columns[0].column));
        }
        sample.push(figure.unwrap_or(f64::NAN));
        Ok(())
    }
}

pub(super) fn measure(metrics: &[Metric], result: &RunResult) -> Result<Sample, String> {
    let mut sample = Sample::new();
    let mut of_flows = metrics.iter().filter(|metric| !metric.columns.is_empty());
    of_flows.try_for_each(|metric| metric.measure(result, &mut sample))?;
    Ok(sample)
}

/// The name of a metric of flows, or a list of such names.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected the name of a metric of flows, or a list of names")]
enum Names {
    One(String),
    Several(Vec<String>),
}

fn columns<'de, D: Deserializer<'de>>(names: D) -> Result<Vec<&'static OfFlow>, D::Error> {
    let names = match Names::deserialize(names)? {
        Names::One(name) => vec![name],
        Names::Several(names) => names,
    };
    let all = || FLOW.iter().copied().flatten();
    let column = |name: &String| {
        all().find(|metric| metric.column == *name).ok_or_else(|| {
            let help = did_you_mean(name, all().map(|metric| metric.column), "the table flows of results has them");
            de::Error::custom(format_args!("found {name:?}, expected the name of a metric of flows\n{help}"))
        })
    };
    names.iter().map(column).collect()
}
