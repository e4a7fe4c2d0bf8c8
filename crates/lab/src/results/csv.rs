//! Results as CSV: a row for each connection and each subflow of each run.

use std::collections::BTreeMap;

use super::{Abandoned, Experiment, FlowResult, Retransmitted, Run, SubflowResult};
use crate::number;

const COLUMNS: &[&str] = &[
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

/// The runs as CSV with a header line. Columns: `run`, `seed`, the swept paths, then the figures of a flow or subflow.
/// A row without `subflow` is for the whole connection. Cells that do not apply are empty. `valid` is false for a run
/// in real time that was not true to time.
pub fn to_csv(experiment: &Experiment) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let sweep = experiment.runs.first().map(|run| run.parameters.keys().map(String::as_str).collect::<Vec<_>>());
    let header = ["run", "seed"].into_iter().chain(sweep.unwrap_or_default()).chain(COLUMNS.iter().copied());
    write(&mut writer, header.map(str::to_owned));
    for run in &experiment.runs {
        for flow in &run.result.flows {
            row(&mut writer, run, connection(flow));
            for subflow in &flow.subflows {
                row(&mut writer, run, of_subflow(flow, subflow));
            }
        }
    }
    let bytes = writer.into_inner().expect("writing to memory does not fail");
    String::from_utf8(bytes).expect("text in, text out")
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

fn row(writer: &mut csv::Writer<Vec<u8>>, run: &Run, mut cells: Cells) {
    if let Some(real_time) = &run.result.real_time {
        cells.insert("valid", real_time.valid.to_string());
    }
    let numbers = [run.run.to_string(), run.result.seed.to_string()];
    let parameters = run.parameters.values().map(|value| match value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    let cells = COLUMNS.iter().map(|column| cells.get(column).cloned().unwrap_or_default());
    write(writer, numbers.into_iter().chain(parameters).chain(cells));
}

fn write(writer: &mut csv::Writer<Vec<u8>>, cells: impl Iterator<Item = String>) {
    writer.write_record(cells.collect::<Vec<_>>()).expect("writing to memory does not fail");
}

fn optional(x: Option<f64>) -> String {
    x.map(number::shown).unwrap_or_default()
}
