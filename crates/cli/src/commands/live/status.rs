//! `subflow status`: what the proxies and path managers of this machine are doing.

use subflow_linux::status::{ConnectionStatus, InterfaceStatus, Status, statuses};
use subflow_report::{Cell, Table};

use crate::arguments::{BenchFormat, StatusArguments};
use crate::failure::Failure;
use crate::output::{print, say};

pub(crate) fn status(arguments: &StatusArguments) -> Result<(), Failure> {
    let (found, silent) = statuses()?;
    silent.iter().for_each(|line| say(line));
    if arguments.format == BenchFormat::Json {
        let json = serde_json::to_string_pretty(&found).map_err(|error| Failure::RunFailed(error.to_string()))?;
        return print(&(json + "\n"));
    }
    if found.is_empty() {
        return print("no proxy and no path manager is running\n");
    }
    print(&found.iter().map(text).collect::<Vec<_>>().join("\n"))
}

/// A process as text: a line, its interfaces, and the subflows of its connections.
fn text(status: &Status) -> String {
    let Status { kind, process, about, interfaces, connections, connections_omitted } = status;
    let count = connections.len() + connections_omitted;
    let plural = if count == 1 { "" } else { "s" };
    let mut text = format!("subflow {kind}, process {process}: {about}; {count} connection{plural}\n\n");
    let mut table = Table::new(["interface", "addresses", "subflows", "sent MB", "received MB"]);
    interfaces.iter().for_each(|interface| table.row(interface_row(interface)));
    text += &table.to_text();
    if !connections.is_empty() {
        let mut table =
            Table::new(["peer", "protocol", "interface", "from", "to", "sent MB", "received MB", "srtt ms"]);
        connections.iter().for_each(|connection| subflow_rows(connection, &mut table));
        text += &format!("\n{}", table.to_text());
    }
    if *connections_omitted > 0 {
        text += &format!("\nand {connections_omitted} more connections\n");
    }
    text
}

fn interface_row(interface: &InterfaceStatus) -> [Cell; 5] {
    let addresses: Vec<String> = interface.addresses.iter().map(ToString::to_string).collect();
    let addresses = if addresses.is_empty() { "none".to_owned() } else { addresses.join(", ") };
    [
        Cell::Text(interface.name.clone()),
        Cell::Text(addresses),
        Cell::Integer(interface.subflows as i64),
        megabytes(interface.sent_bytes),
        megabytes(interface.received_bytes),
    ]
}

fn subflow_rows(connection: &ConnectionStatus, table: &mut Table) {
    if connection.subflows.is_empty() {
        let [peer, protocol, none] = [connection.peer.to_string(), connection.protocol.clone(), "none".to_owned()];
        table.row([peer, protocol, none].map(Cell::Text).into_iter().chain(std::iter::repeat_n(Cell::Empty, 5)));
    }
    for subflow in &connection.subflows {
        let interface = subflow.interface.clone().unwrap_or_else(|| "none".to_owned());
        table.row([
            Cell::Text(connection.peer.to_string()),
            Cell::Text(connection.protocol.clone()),
            Cell::Text(if subflow.backup { format!("{interface}, backup") } else { interface }),
            Cell::Text(subflow.local.to_string()),
            Cell::Text(subflow.remote.to_string()),
            megabytes(subflow.sent_bytes),
            megabytes(subflow.received_bytes),
            subflow.srtt_ms.map_or(Cell::Empty, Cell::Number),
        ]);
    }
}

fn megabytes(bytes: u64) -> Cell {
    Cell::Number(bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use subflow_linux::status::SubflowStatus;

    use super::*;

    #[test]
    fn a_process_is_shown_with_its_interfaces_and_subflows() {
        let subflow = |local: &str, backup| SubflowStatus {
            interface: None,
            local: local.parse().expect("an end"),
            remote: "10.9.0.1:80".parse().expect("an end"),
            backup,
            sent_bytes: 1_500_000,
            received_bytes: 0,
            srtt_ms: Some(20.04),
        };
        let subflows = vec![subflow("10.0.0.1:4000", false), subflow("10.0.1.1:4001", true)];
        let connection = ConnectionStatus { peer: subflows[0].remote, protocol: "mptcp".to_owned(), subflows };
        let interface = |name: &str, last| InterfaceStatus {
            name: name.to_owned(),
            addresses: vec![[10, 0, last, 1].into()],
            ..InterfaceStatus::default()
        };
        let interfaces = vec![interface("wlan0", 0), interface("wwan0", 1)];
        let alone =
            ConnectionStatus { peer: "10.9.0.2:81".parse().expect("an end"), subflows: vec![], ..connection.clone() };
        let connections = vec![connection, alone];
        let status = Status::new("paths", "full-mesh for new connections".to_owned(), interfaces, connections);
        let text = text(&status);
        let line = |words: [&str; 2]| text.lines().any(|line| words.iter().all(|word| line.contains(word)));
        assert!(text.starts_with("subflow paths, process ") && text.contains("; 2 connections\n"), "{text}");
        assert!(line(["10.9.0.2:81", "none"]), "{text}");
        assert!(line(["wwan0", "10.0.1.1"]) && line(["wwan0, backup", "10.0.1.1:4001"]), "{text}");
        assert!(text.contains("1.50") && text.contains("20.0"), "{text}");
    }
}
