//! The reports of a watch as tables.

use subflow_lab::table::{Columns, Table};

use crate::{Connection, Event, Pair, Report, Subflow};

/// A row for each subflow in each report.
pub fn subflows(reports: &[Report]) -> Table {
    type Row<'r> = (&'r Report, &'r Connection, &'r Subflow);
    let rows: Vec<Row<'_>> = connections(reports)
        .flat_map(|(report, connection)| connection.subflows.iter().map(move |subflow| (report, connection, subflow)))
        .collect();
    let mut columns = Columns::of(&rows);
    columns
        .numbers(("time_s", "s", "Time of the report since the watch began."), |row| Some(row.0.time_s))
        .words(("token", "", "Local token of the connection."), |row| Some(&row.1.token))
        .flags(("client", "", "Whether this host sent the first SYN."), |row| Some(row.1.client))
        .counts(("subflow", "", "Number of the subflow in the connection."), |row| Some(row.2.number as u64))
        .words(("local", "", "Address and port of this host."), |row| Some(&row.2.local))
        .words(("remote", "", "Address and port of the peer."), |row| Some(&row.2.remote))
        .words(("state", "", "established or opening."), |row| Some(row.2.state))
        .flags(("backup", "", "Whether it is used only if no other is."), |row| Some(row.2.backup))
        .counts(("cwnd", "packets", "Congestion window."), |row| Some(row.2.cwnd.into()))
        .counts(("ssthresh", "packets", "Slow-start threshold, after a loss."), |row| row.2.ssthresh.map(Into::into))
        .counts(("in_flight", "packets", "Packets in flight."), |row| Some(row.2.in_flight.into()))
        .numbers(("srtt_ms", "ms", "Smoothed round-trip time."), |row| Some(row.2.srtt_ms))
        .numbers(("min_rtt_ms", "ms", "Smallest round-trip time."), |row| Some(row.2.min_rtt_ms))
        .numbers(("sent_mbps", "Mbit/s", "Acknowledged data since the last report."), |row| Some(row.2.sent_mbps))
        .numbers(("received_mbps", "Mbit/s", "Received data since the last report."), |row| Some(row.2.received_mbps))
        .counts(("retransmissions", "", "Retransmitted segments so far."), |row| Some(row.2.retransmissions))
        .counts(("timeouts", "", "Timeouts so far."), |row| Some(row.2.timeouts));
    columns.table("subflows")
}

/// A row for each detector and pair of subflows of a connection in each report.
pub fn bottlenecks(reports: &[Report]) -> Table {
    type Row<'r> = (&'r Report, &'r Connection, &'r str, &'r Pair);
    let rows: Vec<Row<'_>> = connections(reports)
        .flat_map(|(report, connection)| {
            let detections = connection.shared_bottlenecks.iter();
            detections.flat_map(move |detection| {
                detection.pairs.iter().map(move |pair| (report, connection, detection.detector.as_str(), pair))
            })
        })
        .collect();
    let mut columns = Columns::of(&rows);
    columns
        .numbers(("time_s", "s", "Time of the report since the watch began."), |row| Some(row.0.time_s))
        .words(("token", "", "Local token of the connection."), |row| Some(&row.1.token))
        .words(("detector", "", "Name of the detector."), |row| Some(row.2))
        .counts(("a", "", "Number of a subflow."), |row| Some(row.3.subflows[0] as u64))
        .counts(("b", "", "Number of another subflow."), |row| Some(row.3.subflows[1] as u64))
        .numbers(("degree", "1", "Degree of their correlation, once it is known."), |row| row.3.degree)
        .flags(("shared", "", "Whether they share a bottleneck, once it is known."), |row| row.3.shared);
    columns.table("bottlenecks")
}

/// A row for each event in the reports, as in `events.csv`.
pub fn events(reports: &[Report]) -> Table {
    let rows: Vec<&Event> = reports.iter().flat_map(|report| &report.interval.events).collect();
    let mut columns = Columns::of(&rows);
    columns
        .numbers(("time_s", "s", "Time when the event was read, since the watch began."), |event| Some(event.time_s))
        .words(("token", "", "Local token of the connection."), |event| Some(&event.token))
        .words(("event", "", "What happened."), |event| Some(event.event))
        .flags(("client", "", "Whether this host sent the first SYN."), |event| event.client)
        .words(("local", "", "Address and port of this host."), |event| {
            event.ends.as_ref().map(|ends| ends.local.as_str())
        })
        .words(("remote", "", "Address and port of the peer."), |event| {
            event.ends.as_ref().map(|ends| ends.remote.as_str())
        })
        .counts(("local_id", "", "Identifier of the local address."), |event| {
            event.ends.as_ref().map(|ends| ends.local_id.into())
        })
        .counts(("remote_id", "", "Identifier of the remote address."), |event| {
            event.ends.as_ref().map(|ends| ends.remote_id.into())
        })
        .flags(("backup", "", "Whether the subflow is used only if no other is."), |event| {
            event.ends.as_ref().map(|ends| ends.backup)
        })
        .counts(("id", "", "Identifier of an address of the peer."), |event| event.id.map(Into::into))
        .words(("address", "", "An address of the peer."), |event| event.address.as_deref())
        .counts(("port", "", "Its port."), |event| event.port.map(Into::into))
        .words(("reset_reason", "", "Why the peer reset the subflow."), |event| {
            event.reset.as_ref().map(|reset| reset.reset_reason.as_str())
        })
        .flags(("reset_transient", "", "Whether the reason may pass."), |event| {
            event.reset.as_ref().map(|reset| reset.reset_transient)
        })
        .words(("error", "", "Error of the subflow's socket."), |event| event.error.as_deref());
    columns.table("events")
}

fn connections(reports: &[Report]) -> impl Iterator<Item = (&Report, &Connection)> {
    reports.iter().flat_map(|report| report.connections.iter().map(move |connection| (report, connection)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interval;
    use crate::report::made::connection;

    #[test]
    fn the_tables_have_a_row_for_each_subflow_pair_and_event_of_each_report() {
        let event = Event { time_s: 0.5, token: "0000000a".to_owned(), event: "closed", ..Event::default() };
        let report = |time_s: f64, events: Vec<Event>| {
            let interval = Interval { events, ..Interval::default() };
            Report { time_s, connections: vec![connection()], interval }
        };
        let reports = [report(1.0, vec![event]), report(2.0, Vec::new())];
        let subflows = subflows(&reports);
        assert_eq!((subflows.len(), bottlenecks(&reports).len(), events(&reports).len()), (6, 6, 1));
        let csv = subflows.to_csv();
        let last = csv.lines().last().expect("a row");
        assert_eq!(
            last,
            "2.0,0000000a,true,2,10.0.2.1:40000,10.9.0.1:80,established,true,10,,3,20.04,20.0,1.0,0.0,4,0"
        );
        let names = events(&reports).columns.into_iter().map(|column| column.name);
        assert!(names.eq(crate::event::COLUMNS.map(str::to_owned)), "as in events.csv");
        assert!(bottlenecks(&reports).to_csv().contains("1.0,0000000a,red-cpi,0,1,0.9,true\n"));
    }
}
