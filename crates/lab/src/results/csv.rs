//! Results as CSV: a row for each connection and each subflow of each run.

use std::collections::BTreeMap;

use serde_json::{Number, Value};
use subflow_scenario::sweep::{Measure, measures};

use super::{Abandoned, Experiment, FlowResult, Retransmitted, Run, SubflowResult};
use crate::comparison::word;
use crate::number;

const COLUMNS: [&str; 22] = [
    "flow",
    "subflow",
    "protocol",
    "congestion",
    "scheduler",
    "path_manager",
    "goodput_mbps",
    "bytes_delivered",
    "completion_s",
    "packets_sent",
    "retransmissions",
    "fast_retransmissions",
    "timeout_retransmissions",
    "fast_recoveries",
    "timeouts",
    "messages_abandoned",
    "bytes_abandoned",
    "duplicate_acks",
    "ended",
    "srtt_ms",
    "cwnd_packets",
    "valid",
];

/// The runs as CSV with a header line. Columns: `run`, `seed`, the swept paths, each with the numbers of its quantities
/// ([`measures`]), then the figures of a flow or subflow. A row without `subflow` is for the whole connection. Cells that
/// do not apply are empty. `valid` is false for a run in real time that was not true to time.
pub fn to_csv(experiment: &Experiment) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let sweep = Swept::all(experiment);
    let names = sweep.iter().flat_map(Swept::names);
    write(&mut writer, ["run", "seed"].map(str::to_owned).into_iter().chain(names).chain(COLUMNS.map(str::to_owned)));
    for (index, run) in experiment.runs.iter().enumerate() {
        let swept: Vec<String> = sweep.iter().flat_map(|swept| swept.cells(index)).collect();
        for flow in &run.result.flows {
            row(&mut writer, run, &swept, connection(flow));
            for subflow in &flow.subflows {
                row(&mut writer, run, &swept, of_subflow(flow, subflow));
            }
        }
    }
    let bytes = writer.into_inner().expect("writing to memory does not fail");
    String::from_utf8(bytes).expect("text in, text out")
}

/// The columns of a swept path, by run.
struct Swept<'e> {
    path: &'e str,
    values: Vec<Option<&'e Value>>,
    measures: Vec<(Measure, Vec<Option<f64>>)>,
}

impl<'e> Swept<'e> {
    fn all(experiment: &'e Experiment) -> Vec<Self> {
        let paths = experiment.runs.first().into_iter().flat_map(|run| run.parameters.keys());
        let of = |path: &'e String| {
            let values: Vec<_> = experiment.runs.iter().map(|run| run.parameters.get(path)).collect();
            Self { path, measures: measures(&values), values }
        };
        paths.map(of).collect()
    }

    fn names(&self) -> Vec<String> {
        let measured = self.measures.iter().map(|(measure, _)| format!("{}_{}", self.path, measure.suffix()));
        std::iter::once(self.path.to_owned()).chain(measured).collect()
    }

    fn cells(&self, run: usize) -> Vec<String> {
        let value = self.values[run].map(word).unwrap_or_default();
        let exact = |x: f64| Number::from_f64(x).map_or_else(String::new, |number| number.to_string());
        let measured = self.measures.iter().map(|(_, numbers)| numbers[run].map(exact).unwrap_or_default());
        std::iter::once(value).chain(measured).collect()
    }
}

type Cells = BTreeMap<&'static str, String>;

fn connection(flow: &FlowResult) -> Cells {
    let mut cells = algorithms(flow);
    cells.extend(by_reason(flow.retransmitted));
    if let Some(Abandoned { messages, bytes }) = flow.abandoned {
        cells.extend([("messages_abandoned", messages.to_string()), ("bytes_abandoned", bytes.to_string())]);
    }
    cells.extend([
        ("goodput_mbps", number::shown(flow.goodput_mbps)),
        ("bytes_delivered", flow.bytes_delivered.to_string()),
        ("completion_s", optional(flow.completion_s)),
        ("retransmissions", flow.retransmissions.to_string()),
        ("timeouts", flow.timeouts.to_string()),
        ("duplicate_acks", flow.duplicate_acks.to_string()),
        ("ended", flow.ended.unwrap_or_default().to_owned()),
    ]);
    cells
}

fn of_subflow(flow: &FlowResult, subflow: &SubflowResult) -> Cells {
    let mut cells = algorithms(flow);
    cells.extend(by_reason(subflow.retransmitted));
    cells.extend([
        ("subflow", subflow.name.clone()),
        ("goodput_mbps", number::shown(subflow.goodput_mbps)),
        ("packets_sent", subflow.packets_sent.to_string()),
        ("retransmissions", subflow.retransmissions.to_string()),
        ("srtt_ms", optional(subflow.srtt_ms)),
        ("cwnd_packets", optional(subflow.cwnd_packets)),
    ]);
    cells
}

/// The retransmissions of SCTP by reason.
fn by_reason(retransmitted: Option<Retransmitted>) -> impl Iterator<Item = (&'static str, String)> {
    retransmitted.into_iter().flat_map(|Retransmitted { fast, timeout, timeouts, fast_recoveries }| {
        [
            ("fast_retransmissions", fast.to_string()),
            ("timeout_retransmissions", timeout.to_string()),
            ("timeouts", timeouts.to_string()),
            ("fast_recoveries", fast_recoveries.to_string()),
        ]
    })
}

fn algorithms(flow: &FlowResult) -> Cells {
    let word = |word: &Option<String>| word.clone().unwrap_or_default();
    BTreeMap::from([
        ("flow", flow.name.clone()),
        ("protocol", flow.protocol.clone()),
        ("congestion", word(&flow.congestion)),
        ("scheduler", word(&flow.scheduler)),
        ("path_manager", word(&flow.path_manager)),
    ])
}

fn row(writer: &mut csv::Writer<Vec<u8>>, run: &Run, swept: &[String], mut cells: Cells) {
    if let Some(real_time) = &run.result.real_time {
        cells.insert("valid", real_time.valid.to_string());
    }
    let numbers = [run.run.to_string(), run.result.seed.to_string()];
    let cells = COLUMNS.iter().map(|column| cells.get(column).cloned().unwrap_or_default());
    write(writer, numbers.into_iter().chain(swept.iter().cloned()).chain(cells));
}

fn write(writer: &mut csv::Writer<Vec<u8>>, cells: impl Iterator<Item = String>) {
    writer.write_record(cells.collect::<Vec<_>>()).expect("writing to memory does not fail");
}

fn optional(x: Option<f64>) -> String {
    x.map(number::shown).unwrap_or_default()
}
