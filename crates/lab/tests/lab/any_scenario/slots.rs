//! The places of values in a scenario, and boundary values for each; both from the schema.

use subflow_scenario::schema::{FieldSchema, TABLES};

/// Tables of the base scenario, and the schema of each by its path there.
const PLACES: &[(&str, &str)] = &[
    ("", "the top of the file"),
    ("routing.", "[routing]"),
    ("hosts.phone.", "[hosts.NAME]"),
    ("routers.near.", "[routers.NAME]"),
    ("links.wifi.", "[links.NAME]"),
    ("links.wifi.queue.", "links.NAME.queue = { … }"),
    ("links.wifi.loss.", "links.NAME.loss = { … }"),
    ("links.wifi.jitter.", "links.NAME.jitter = { … }"),
    ("links.wifi.reorder.", "links.NAME.reorder = { … }"),
    ("links.core.", "[links.NAME]"),
    ("links.core.queue.", "links.NAME.queue = { … }"),
    ("links.eth.", "[links.NAME]"),
    ("flows.bulk.", "[flows.NAME]"),
    ("flows.bulk.scheduler.", "flows.NAME.scheduler = { … }"),
    ("flows.bulk.path_manager.", "flows.NAME.path_manager = { … }"),
    ("flows.bulk.bottleneck.", "flows.NAME.bottleneck = { … }"),
    ("flows.bulk.tcp.", "[tcp], [hosts.NAME.tcp], [flows.NAME.tcp]"),
    ("flows.file.", "[flows.NAME]"),
    ("flows.chunks.", "[flows.NAME]"),
    ("flows.chunks.sctp.", "[sctp], [hosts.NAME.sctp], [flows.NAME.sctp]"),
    ("flows.page.", "[flows.NAME]"),
    ("flows.page.quic.", "[quic], [hosts.NAME.quic], [flows.NAME.quic]"),
    ("flows.voice.", "[flows.NAME]"),
    ("flows.voice.on_off.", "flows.NAME.on_off = { … }"),
    ("flows.ask.", "[flows.NAME]"),
    ("flows.ask.requests.", "flows.NAME.requests = { … }"),
    ("tcp.", "[tcp], [hosts.NAME.tcp], [flows.NAME.tcp]"),
    ("tcp.delayed_ack.", "delayed_ack = { … }"),
    ("tcp.sack_compression.", "sack_compression = { … }"),
    ("tcp.receive_buffer.", "receive_buffer = { … }"),
    ("tcp.send_buffer.", "send_buffer = { … }"),
    ("mptcp.", "[mptcp], [hosts.NAME.mptcp], [flows.NAME.mptcp]"),
    ("sctp.", "[sctp], [hosts.NAME.sctp], [flows.NAME.sctp]"),
    ("hosts.server.tcp.", "[tcp], [hosts.NAME.tcp], [flows.NAME.tcp]"),
    ("timeline.0.", "[[timeline]]"),
    ("timeline.1.", "[[timeline]]"),
];

/// Every path at which a value can be set, and the values.
pub(crate) fn all() -> Vec<(String, Vec<String>)> {
    let mut slots = Vec::new();
    for (prefix, schema) in PLACES {
        let table = TABLES.iter().find(|table| table.path == *schema).unwrap_or_else(|| panic!("no {schema}"));
        for field in &table.fields {
            let values = values(field);
            if !values.is_empty() {
                slots.push((format!("{prefix}{}", field.key), values));
            }
        }
    }
    slots
}

const DURATIONS: &[&str] = &["0 s", "1 ns", "999 ns", "1 us", "1 ms", "39 ms", "120 ms", "1 s", "3600 s", "1000000 s"];
const RATES: &[&str] = &["1 bit/s", "9600 bit/s", "997 kbit/s", "64 Mbit/s", "1 Gbit/s"];
const SIZES: &[&str] = &[
    "1 B",
    "29 B",
    "576 B",
    "1280 B",
    "1500 B",
    "3000 B",
    "9000 B",
    "16 kB",
    "65487 B",
    "65507 B",
    "65535 B",
    "1 MB",
    "16 MiB",
    "4294967295 B",
    "1 TiB",
    "1152921504606846976 B",
];
const NUMBERS: &[&str] = &[
    "0", "1", "2", "3", "5", "63", "64", "254", "255", "1000", "10000", "32767", "65535", "1000000", "0.0", "0.5",
    "1.0",
];
const PROBABILITIES: &[&str] = &["0 %", "0.000001 %", "50 %", "100 %"];
/// Names of the base scenario.
const ENDS: &[&str] = &["phone", "phone.lte", "server", "server.backup", "wifi", "core"];

/// Boundary values of `field` as TOML, from its description in the schema.
fn values(field: &FieldSchema) -> Vec<String> {
    let takes = field.takes();
    let of = |list: &[&str]| list.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>();
    // Long runs would make the test slow.
    if field.key == "duration" && takes.contains("such as \"30 s\"") {
        return of(&["1 ns", "1 us", "999 us", "50 ms", "400 ms"]);
    }
    let mut values = Vec::new();
    if let Some(names) = field.names() {
        values.extend(names.iter().map(|entry| format!("{:?}", entry.name)));
    }
    if takes.contains("true") {
        values.extend(["true", "false"].map(str::to_owned));
    }
    if takes.contains("probability") || takes.contains("as for a link") {
        values.extend(of(PROBABILITIES));
    }
    if takes.contains("duration") || takes.contains("period") {
        values.extend(of(DURATIONS));
    }
    if takes.contains("period") {
        values.extend(DURATIONS.iter().map(|mean| format!("{{ exponential = {mean:?} }}")));
    }
    if takes.contains("rate") {
        values.extend(of(RATES));
    }
    if takes.contains("token bucket") {
        values.extend(RATES.iter().map(|rate| format!("{{ rate = {rate:?}, burst = \"1500 B\" }}")));
        values.push("{ rate = \"9600 bit/s\", burst = \"1 GiB\", peak_rate = \"10000 Gbit/s\" }".to_owned());
        values.extend(of(&["10000 Gbit/s"]));
    }
    if takes.contains("size") || takes.contains("limit") || takes.contains("buffer") {
        values.extend(of(SIZES));
    }
    if takes.contains("packets") {
        values.extend(of(&["1 packets", "2 packets", "4294967295 packets"]));
    }
    for word in ["unlimited", "infinite", "peer-window"] {
        if takes.contains(word) {
            values.extend(of(&[word]));
        }
    }
    if takes.contains("false, or a table") {
        values.push("false".to_owned());
    }
    if takes.contains("number") || takes.contains("ratio") {
        values.extend(NUMBERS.iter().map(|number| (*number).to_owned()));
    }
    if takes.contains("host.interface\"") || takes.contains("a link") {
        values.extend(of(ENDS));
    }
    if takes.contains("{ up, down }") && values.len() > 1 {
        let pairs: Vec<String> =
            values.windows(2).map(|pair| format!("{{ up = {}, down = {} }}", pair[0], pair[1])).collect();
        values.extend(pairs);
    }
    values
}
