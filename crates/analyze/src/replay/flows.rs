//! What each connection sends, and when: transfers, a request with its response, datagrams at a rate.

use subflow_quantity::{Duration, Rate, Size};
use subflow_scenario::builder::{FlowBuilder, Options};

use super::hosts::{Hosts, Side, both};
use super::{MOST_REPLAYED, milliseconds, rows_of_connection};
use crate::exchanges::ConnectionExchanges;
use crate::{Analysis, ConnectionRow};

/// A flow of the scenario.
#[derive(Clone, Debug)]
pub(super) struct ReplayedFlow {
    pub(super) name: String,
    pub(super) builder: FlowBuilder,
    /// When its last data arrived, from the begin of the scenario.
    pub(super) end_s: f64,
    pub(super) notes: Vec<String>,
}

/// All flows, in the order of the connections.
#[derive(Debug)]
pub(super) struct Flows {
    flows: Vec<ReplayedFlow>,
    /// When the first one begins, in seconds since the first packet of all.
    begin_s: f64,
    notes: Vec<String>,
}

/// Whether a sender that sent nothing for this share of its time waited for its application.
const IDLE_SHARE: f64 = 0.2;

/// The share of a connection's time that is most of it.
const MOSTLY: f64 = 0.5;

/// The connections that are replayed.
#[derive(Debug)]
pub(super) struct Chosen<'a> {
    /// In the order of the connections.
    pub(super) rows: Vec<&'a ConnectionRow>,
    /// What is left out.
    notes: Vec<String>,
}

impl<'a> Chosen<'a> {
    /// The connections with data, those with most of it if there are many.
    pub(super) fn of(analysis: &'a Analysis) -> Self {
        let bytes = |row: &ConnectionRow| {
            row.directions.iter().fold(0_u64, |sum, direction| sum.saturating_add(direction.bytes))
        };
        let mut rows: Vec<&ConnectionRow> = analysis.connections.iter().filter(|row| bytes(row) > 0).collect();
        let mut notes = Vec::new();
        let empty = analysis.connections.len() - rows.len();
        if empty > 0 {
            notes.push(format!("connections without data: {empty}, left out"));
        }
        let with_data = rows.len();
        rows.retain(|row| row.protocol != "udp" || sending_time(row).is_some());
        if rows.len() < with_data {
            let at_once = with_data - rows.len();
            notes.push(format!("UDP connections with one datagram, or all at the same time: {at_once}, left out"));
        }
        if rows.len() > MOST_REPLAYED {
            notes.push(format!(
                "connections with less data than {MOST_REPLAYED} others: {}, left out",
                rows.len() - MOST_REPLAYED
            ));
            rows.sort_by_key(|row| std::cmp::Reverse(bytes(row)));
            rows.truncate(MOST_REPLAYED);
            rows.sort_by_key(|row| row.number);
        }
        Self { rows, notes }
    }
}

impl Flows {
    /// The flows of `chosen`, between `hosts`.
    pub(super) fn of(analysis: &Analysis, hosts: &Hosts, chosen: Chosen<'_>) -> Self {
        let Chosen { rows, notes } = chosen;
        let begin = rows.iter().map(|row| row.start_s).fold(f64::INFINITY, f64::min);
        let flows = rows.iter().filter_map(|row| flow(analysis, hosts, row, begin)).collect();
        Self { flows, begin_s: begin, notes }
    }

    pub(super) const fn begin_s(&self) -> f64 {
        self.begin_s
    }

    pub(super) fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    pub(super) fn all(&self) -> &[ReplayedFlow] {
        &self.flows
    }

    pub(super) fn notes(&self) -> &[String] {
        &self.notes
    }
}

fn flow(analysis: &Analysis, hosts: &Hosts, row: &ConnectionRow, begin: f64) -> Option<ReplayedFlow> {
    let ends = both(&row.client, &row.server)?;
    let named = |end: usize| hosts.find(ends[end]).map(|(host, interface)| host.interface(interface));
    let (client, server) = (named(0)?, named(1)?);
    let start_s = row.start_s - begin;
    let done = row.directions.iter().filter_map(|direction| direction.done_s).fold(row.start_s, f64::max);
    let mut notes = Vec::new();
    let bytes = row.directions.each_ref().map(|direction| direction.bytes);
    let mut builder = match row.protocol {
        "udp" => datagrams(analysis, row, [&client, &server], start_s, &mut notes)?,
        "sctp" => {
            let flow = FlowBuilder::sctp(&client, &server);
            let flow = if takes_several_paths(analysis, row) {
                notes.push("its data took several paths: concurrent multipath transfer".to_owned());
                flow.set("sctp", Options::new().set("cmt", true))
            } else {
                flow
            };
            with_data(flow, bytes, &mut notes)
        }
        protocol if protocol.starts_with("mptcp") => {
            let flow = FlowBuilder::mptcp(&client, &server).path_manager("default");
            let subflows = joined(analysis, hosts, row);
            let flow = if subflows.is_empty() { flow } else { flow.set("subflows", subflows) };
            if row.subflows > 1 {
                notes.push("when its further subflows were opened: as soon as it is established".to_owned());
            }
            in_turn(analysis, row, flow.clone(), &mut notes).unwrap_or_else(|| with_data(flow, bytes, &mut notes))
        }
        _ => {
            let flow = FlowBuilder::tcp(&client, &server);
            in_turn(analysis, row, flow.clone(), &mut notes).unwrap_or_else(|| with_data(flow, bytes, &mut notes))
        }
    };
    // At a receiver everything is acknowledged at once, and nothing is ever in flight.
    let own = rows_of_connection(analysis, row.number).iter();
    let of_data = own.filter(|it| it.bytes > bytes[0].max(bytes[1]) / 2);
    let idle: f64 = of_data.filter(|it| it.mean_rtt_ms.is_some()).filter_map(|it| it.idle_s).sum();
    let active = done - row.start_s;
    if let Some(rate) = reading_rate(analysis, row, active) {
        notes.push(format!(
            "the receiver's window was full most of the time: taken for an application that reads {rate}"
        ));
        builder = builder.set("read", Options::new().set("rate", rate));
    } else if idle > active * IDLE_SHARE && row.protocol != "udp" && exchanges(analysis, row).is_none() {
        notes.push(format!(
            "it sent nothing for {idle:.1} s of {active:.1} s, waiting for its application; here it sends at once"
        ));
    }
    let start = Duration::from_micros((start_s * 1e6).round() as u64);
    let builder = if start.is_zero() { builder } else { builder.start(start) };
    Some(ReplayedFlow { name: format!("flow{}", row.number), builder, end_s: done - begin, notes })
}

/// The rate at which the receiver's application read, if its window was full for most of so many seconds.
fn reading_rate(analysis: &Analysis, row: &ConnectionRow, active: f64) -> Option<Rate> {
    let direction = row.directions.iter().max_by_key(|direction| direction.bytes)?;
    let rows = rows_of_connection(analysis, row.number).iter();
    let full = rows.filter_map(|it| it.window_limited_s).fold(0.0, f64::max);
    let mbit = direction.goodput_mbps.filter(|_| full > active * MOSTLY)?;
    Some(Rate::from_bits_per_second((mbit * 1e6) as u64)).filter(|rate| rate.bits_per_second() > 0)
}

/// Whether an association sent a tenth of its data or more over a second path.
fn takes_several_paths(analysis: &Analysis, row: &ConnectionRow) -> bool {
    let mut bytes: Vec<u64> = rows_of_connection(analysis, row.number).iter().map(|path| path.bytes).collect();
    bytes.sort_unstable();
    bytes.iter().rev().nth(1).is_some_and(|second| second * 10 >= bytes.iter().sum())
}

/// The requests and responses of a connection, if it had several. One that sends more than it is sent asks for nothing.
fn exchanges<'a>(analysis: &'a Analysis, row: &ConnectionRow) -> Option<&'a ConnectionExchanges> {
    let [sent, answered] = row.directions.each_ref().map(|direction| direction.bytes);
    analysis.exchanges.iter().find(|it| it.number == row.number && answered >= sent)
}

/// A flow with them.
fn in_turn(
    analysis: &Analysis,
    row: &ConnectionRow,
    flow: FlowBuilder,
    notes: &mut Vec<String>,
) -> Option<FlowBuilder> {
    exchanges(analysis, row)?.of_flow(flow, notes)
}

/// A transfer if the client sent almost all, else a request with its response.
fn with_data(flow: FlowBuilder, [sent, answered]: [u64; 2], notes: &mut Vec<String>) -> FlowBuilder {
    if answered == 0 {
        return flow.send(Size::from_bytes(sent));
    }
    if sent > answered {
        notes.push(format!("the {answered} bytes that the server sent meanwhile: left out"));
        return flow.send(Size::from_bytes(sent));
    }
    if sent == 0 {
        notes.push("the server sent without a request; here it is asked with a byte".to_owned());
    } else {
        notes.push("how many requests there were: not told; here it is one, and one response".to_owned());
    }
    let exchange = Options::new()
        .set("request", Size::from_bytes(sent.max(1)))
        .set("response", Size::from_bytes(answered))
        .set("count", 1);
    flow.set("requests", exchange)
}

/// The end that sent most bytes of datagrams.
fn sender(row: &ConnectionRow) -> usize {
    usize::from(row.directions[1].bytes > row.directions[0].bytes)
}

/// How long it sent datagrams, in seconds; `None` if they were all sent at the same time.
fn sending_time(row: &ConnectionRow) -> Option<f64> {
    row.directions[sender(row)].duration_s.filter(|duration| *duration > 0.0)
}

/// Datagrams at the mean rate of the direction with most of them, also of those that did not arrive.
fn datagrams(
    analysis: &Analysis,
    row: &ConnectionRow,
    [client, server]: [&str; 2],
    start_s: f64,
    notes: &mut Vec<String>,
) -> Option<FlowBuilder> {
    const LARGEST: u64 = 1400;
    let sender = sender(row);
    let (direction, other) = (&row.directions[sender], &row.directions[1 - sender]);
    let duration = sending_time(row)?;
    if other.packets > 0 {
        notes.push(format!("the other direction, {} datagrams with {} bytes: left out", other.packets, other.bytes));
    }
    let from = [&row.client, &row.server][sender];
    let lost = rows_of_connection(analysis, row.number).iter().find(|it| it.from == *from).and_then(|it| it.lost);
    let mean = direction.bytes / direction.packets.saturating_sub(lost.unwrap_or(0)).max(1);
    if mean > LARGEST {
        notes.push(format!("its datagrams have {mean} bytes on average; here they have {LARGEST}, at the same rate"));
    }
    let packet = mean.clamp(1, LARGEST);
    let sent = (mean * direction.packets.max(1)).max(direction.bytes);
    let rate = Rate::from_bits_per_second(((sent as f64 * 8.0 / duration) as u64).max(1));
    let ends = if sender == 0 { [client, server] } else { [server, client] };
    let on_off = Options::new().set("rate", rate).set("packet", Size::from_bytes(packet));
    // The keys of `FlowBuilder::udp`, with packets of this size.
    Some(FlowBuilder::udp(ends[0], ends[1], rate).set("on_off", on_off).stop(milliseconds(start_s + duration)))
}

/// The subflows that joined the first one: pairs of interfaces, each once.
fn joined(analysis: &Analysis, hosts: &Hosts, row: &ConnectionRow) -> Vec<Options> {
    let rows = rows_of_connection(analysis, row.number).iter().filter(|it| it.subflow > 1);
    let mut pairs: Vec<[String; 2]> = Vec::new();
    for it in rows {
        let Some(ends) = both(&it.from, &it.to) else { continue };
        let found = ends.map(|end| hosts.find(end));
        let [Some(from), Some(to)] = found else { continue };
        let (client, server) = if from.0.side == Side::Client { (from, to) } else { (to, from) };
        let pair = [client.0.interface(client.1), server.0.interface(server.1)];
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    pairs.into_iter().map(|[from, to]| Options::new().set("from", from).set("to", to)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::hosts::tests::{analysis, connection};
    use super::*;
    use crate::SubflowRow;

    fn flows(analysis: &Analysis) -> Flows {
        let chosen = Chosen::of(analysis);
        let hosts = Hosts::of(analysis, &chosen.rows);
        Flows::of(analysis, &hosts, chosen)
    }

    fn text(flow: &ReplayedFlow) -> String {
        subflow_scenario::builder::ScenarioBuilder::new("x").flow(&flow.name, flow.builder.clone()).text()
    }

    #[test]
    fn transfers_and_downloads_are_told_by_who_sent_the_data() {
        let rows = vec![
            connection(1, "10.0.1.1:999", "10.0.2.1:80", [70_000, 0]),
            connection(2, "10.0.1.1:998", "10.0.2.1:80", [300, 70_000]),
            connection(3, "10.0.1.1:997", "10.0.2.1:80", [0, 0]),
        ];
        let join = |from: &str, to: &str| SubflowRow {
            connection: 2,
            subflow: 2,
            from: from.into(),
            to: to.into(),
            ..SubflowRow::default()
        };
        let analysis = analysis(rows, vec![join("10.0.2.1:80", "10.0.3.1:5")]);
        let flows = flows(&analysis);
        let [upload, download] = flows.all() else { panic!("{flows:?}") };
        assert!(text(upload).contains("send = \"70 kB\""), "{}", text(upload));
        let shown = text(download);
        assert!(shown.contains("requests = { request = \"300 bytes\", response = \"70 kB\", count = 1 }"), "{shown}");
        assert!(shown.contains("subflows = [{ from = \"client.eth1\", to = \"server.eth0\" }]"), "{shown}");
        assert_eq!(flows.notes(), ["connections without data: 1, left out"]);
    }

    #[test]
    fn notes_say_which_datagrams_are_left_out() {
        let udp = |number, bytes| ConnectionRow {
            protocol: "udp",
            ..connection(number, "10.0.1.1:999", "10.0.2.1:53", bytes)
        };
        let mut rows = vec![udp(1, [100, 0]), udp(2, [70_000, 500])];
        rows[0].directions[0].duration_s = Some(0.0);
        rows[1].directions[0].packets = 40;
        let analysis = analysis(rows, Vec::new());
        let flows = flows(&analysis);
        assert_eq!(flows.notes(), ["UDP connections with one datagram, or all at the same time: 1, left out"]);
        let [flow] = flows.all() else { panic!("{flows:?}") };
        let other = "the other direction, 1 datagrams with 500 bytes: left out";
        assert_eq!(
            flow.notes,
            [other, "its datagrams have 1750 bytes on average; here they have 1400, at the same rate"]
        );
    }
}
