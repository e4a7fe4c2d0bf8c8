//! What is compared.

use std::fmt;
use std::str::FromStr;

use crate::number;
use crate::results::{FlowResult, GroupResult, RunResult, flows_and_groups};

/// Which direction is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Larger values are.
    Higher,
    /// Smaller values are.
    Lower,
}

/// A number that a run has, or each of its flows.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its name in tables and in JSON.
    pub column: &'static str,
    /// Its unit; empty for counts.
    pub unit: &'static str,
    /// What it is.
    pub meaning: &'static str,
    /// Which direction is better.
    pub better: Better,
    of: Of,
}

/// A metric of one flow or group, or of the whole run, in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    /// Rounded as in the JSON, so that results that were read have the same values. `None` for a run that lacks it,
    /// such as the completion of a transfer that did not end.
    pub value: Option<f64>,
    /// Of the completion of a group: flows that did not complete, and that `value` therefore says nothing of.
    pub unfinished: usize,
}

impl Measured {
    /// Whether it lacks what the baseline has: the metric, or the completion of some flows of a group.
    pub(super) fn lacks(self, baseline: Self) -> bool {
        baseline.value.is_some() && (self.value.is_none() || self.unfinished > baseline.unfinished)
    }
}

#[derive(Clone, Copy, Debug)]
enum Of {
    Flow(fn(&FlowResult) -> Option<f64>),
    Completion,
    Group(fn(&GroupResult) -> Option<f64>),
    Run(fn(&RunResult) -> Option<f64>),
}

impl PartialEq for Metric {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Metric {
    /// All metrics.
    pub const ALL: [Self; 10] = [
        Self::flow("goodput", "goodput_mbps", "Mbit/s", "goodput of a flow", Better::Higher, |f| Some(f.goodput_mbps)),
        Self {
            name: "completion",
            column: "completion_s",
            unit: "s",
            meaning: "time to the completion of a flow; of a group the mean of its flows that completed",
            better: Better::Lower,
            of: Of::Completion,
        },
        Self::flow(
            "exchange",
            "exchange_mean_ms",
            "ms",
            "mean time of a request and its response",
            Better::Lower,
            |f| f.exchanges.as_ref()?.mean_ms,
        ),
        Self::flow("exchange-p95", "exchange_p95_ms", "ms", "95th percentile of it", Better::Lower, |f| {
            f.exchanges.as_ref()?.p95_ms
        }),
        Self::flow("retransmissions", "retransmissions", "", "segments of a flow sent again", Better::Lower, |f| {
            Some(f.retransmissions as f64)
        }),
        Self::flow("timeouts", "timeouts", "", "retransmission timeouts of a flow", Better::Lower, |f| {
            Some(f.timeouts as f64)
        }),
        Self::flow(
            "reinjected",
            "reinjected_bytes",
            "bytes",
            "data sent again on another subflow",
            Better::Lower,
            |f| Some(f.reinjected_bytes as f64),
        ),
        Self {
            name: "completion-p99",
            column: "completion_p99_s",
            unit: "s",
            meaning: "99th percentile of the time to completion in a group of flows",
            better: Better::Lower,
            of: Of::Group(|group| group.quantile_s(0.99)),
        },
        Self::run("total-goodput", "total_goodput_mbps", "Mbit/s", "sum of the flows' goodput", |run| {
            Some(run.total_goodput_mbps())
        }),
        Self::run("fairness", "jain_index", "", "Jain's index of the flows' goodput", RunResult::jain_index),
    ];

    /// Those that are compared unless others are chosen, where flows have them.
    pub fn usual() -> Vec<Self> {
        Self::ALL[..3].to_vec()
    }

    const fn flow(
        name: &'static str,
        column: &'static str,
        unit: &'static str,
        meaning: &'static str,
        better: Better,
        of: fn(&FlowResult) -> Option<f64>,
    ) -> Self {
        Self { name, column, unit, meaning, better, of: Of::Flow(of) }
    }

    const fn run(
        name: &'static str,
        column: &'static str,
        unit: &'static str,
        meaning: &'static str,
        of: fn(&RunResult) -> Option<f64>,
    ) -> Self {
        Self { name, column, unit, meaning, better: Better::Higher, of: Of::Run(of) }
    }

    /// Its values in a run: for each flow or group, with its name, or one without a name.
    pub fn values(&self, run: &RunResult) -> Vec<(Option<String>, Measured)> {
        let measured = |value: Option<f64>, unfinished| Measured { value: value.map(number::rounded), unfinished };
        let of_flows = |of: &dyn Fn(&FlowResult) -> Measured| -> Vec<(Option<String>, Measured)> {
            flows_and_groups(run).iter().map(|flow| (Some(flow.name.clone()), of(flow))).collect()
        };
        match self.of {
            Of::Flow(of) => of_flows(&|flow| measured(of(flow), 0)),
            Of::Completion => {
                let groups = GroupResult::all(run);
                let unfinished =
                    |name: &str| groups.iter().find(|group| group.name == name).map_or(0, GroupResult::unfinished);
                of_flows(&|flow| measured(flow.completion_s, unfinished(&flow.name)))
            }
            Of::Group(of) => GroupResult::all(run)
                .iter()
                .map(|group| (Some(group.name.clone()), measured(of(group), group.unfinished())))
                .collect(),
            Of::Run(of) => vec![(None, measured(of(run), 0))],
        }
    }
}

impl FromStr for Metric {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|metric| text == metric.name || text == metric.column);
        known.ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|metric| metric.name).collect();
            format!("found {text:?}, expected a metric: {}", names.join(", "))
        })
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A metric and a percentage, such as `goodput 5 %`. `between` are the signs that may stand between them.
pub(super) fn with_percentage(text: &str, between: &[&str]) -> Result<(Metric, f64), String> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_')).unwrap_or(text.len());
    // "goodput+-2%" ends before the sign; a name ends with no "-".
    let (name, rest) = text.split_at(end);
    let metric = name.parse::<Metric>()?;
    let rest = rest.trim_start();
    let rest = match between.iter().find_map(|sign| rest.strip_prefix(sign)) {
        Some(rest) => rest,
        None if between.is_empty() => rest,
        None => {
            return Err(format!("found {rest:?} after {name:?}, expected {} and a percentage", between.join(" or ")));
        }
    };
    let number = rest.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    match number.filter(|percent| percent.is_finite() && *percent >= 0.0) {
        Some(percent) => Ok((metric, percent)),
        None => Err(format!("found {:?} after {name:?}, expected a percentage such as 5 %", rest.trim())),
    }
}
