//! An analysis as tables, as text and as JSON.

use serde_json::{Value, json};
use subflow_lab::table::{Align, Cell, Columns, Table};
use subflow_quantity::Packets;

use crate::{Analysis, BottleneckRow, ClockRow, ConnectionRow, DirectionRow, SubflowRow, TotalRow, Unread};

/// A connection's direction: the row of tables.
type Direction<'a> = (&'a ConnectionRow, &'static str, &'a DirectionRow);

/// A row for each direction of a connection that has data; one for the client's if none has.
fn directions(connections: &[ConnectionRow]) -> Vec<Direction<'_>> {
    let of = |row: &'static str, connection, direction| (connection, row, direction);
    let both = |connection: &'_ ConnectionRow| {
        let has_data = connection.directions.each_ref().map(|direction| direction.bytes > 0);
        [has_data[0] || !has_data[1], has_data[1]]
    };
    let rows = connections.iter().flat_map(|connection| {
        let [client, server] = &connection.directions;
        let rows = [of("client", connection, client), of("server", connection, server)];
        rows.into_iter().zip(both(connection)).filter(|(_, is_shown)| *is_shown).map(|(row, _)| row)
    });
    rows.collect()
}

/// The table of connections.
pub fn connections(connections: &[ConnectionRow]) -> Table {
    let rows = directions(connections);
    let mut columns = Columns::of(&rows);
    columns
        .counts(("connection", "", "Its number, from 1 on."), |row| Some(row.0.number as u64))
        .words(("protocol", "", "tcp, mptcp, sctp or udp."), |row| Some(row.0.protocol))
        .words(("client", "", "Address and port of the end that opened it."), |row| Some(&row.0.client))
        .words(("server", "", "Address and port of the other end."), |row| Some(&row.0.server))
        .words(("sender", "", "client or server: whose data the row is about."), |row| Some(row.1))
        .counts(("subflows", "", "Subflows or paths."), |row| Some(row.0.subflows as u64))
        .numbers(("start_s", "s", "Its first packet."), |row| Some(row.0.start_s))
        .numbers(("done_s", "s", "When its last data arrived."), |row| row.2.done_s)
        .counts(("packets", "", "Packets with and without data."), |row| Some(row.2.packets))
        .counts(("bytes", "bytes", "Data that reached the peer, each byte once."), |row| Some(row.2.bytes))
        .numbers(("goodput_mbps", "Mbit/s", "That data per time to its arrival."), |row| row.2.goodput_mbps)
        .counts(("retransmissions", "", "Segments or chunks sent again."), |row| Some(row.2.retransmissions))
        .counts(("timeouts", "", "Retransmission timeouts."), |row| Some(row.2.timeouts))
        .counts(("reinjected_bytes", "bytes", "MPTCP: sent on one subflow after another."), |row| {
            Some(row.2.reinjected_bytes)
        })
        .counts(("reinjected_segments", "", "MPTCP: segments with such bytes."), |row| Some(row.2.reinjected_segments))
        .numbers(("blocked_s", "s", "MPTCP: how long data waited for that of other subflows."), |row| row.2.blocked_s)
        .numbers(("data_ack_ms", "ms", "MPTCP: mean time from data to its DATA_ACK."), |row| row.2.data_ack_ms)
        .counts(("choices", "", "MPTCP: segments sent while several subflows had room."), |row| row.2.choices)
        .words(("scheduler", "", "MPTCP: the rule that these choices follow."), |row| {
            row.2.scheduler.as_ref().map(|it| it.rule.as_str())
        })
        .counts(("scheduler_choices", "", "MPTCP: how many of them follow it."), |row| {
            row.2.scheduler.as_ref().map(|it| it.followed)
        })
        .words(("outcome", "", "How the connection ended."), |row| Some(row.0.outcome));
    columns.table("connections")
}

/// The table of subflows and paths.
pub fn subflows(rows: &[SubflowRow]) -> Table {
    let mut columns = Columns::of(rows);
    columns
        .counts(("connection", "", "Number of its connection."), |row| Some(row.connection as u64))
        .counts(("subflow", "", "Its number in the connection, from 1 on."), |row| Some(row.subflow as u64))
        .words(("from", "", "Address and port of the sender."), |row| Some(&row.from))
        .words(("to", "", "Address and port of the receiver."), |row| Some(&row.to))
        .counts(("packets", "", "Packets with and without data."), |row| Some(row.packets))
        .counts(("data_packets", "", "Packets with data."), |row| Some(row.data_packets))
        .counts(("bytes", "bytes", "Data that reached the peer."), |row| Some(row.bytes))
        .numbers(("goodput_mbps", "Mbit/s", "That data per duration of the connection."), |row| row.goodput_mbps)
        .counts(("retransmissions", "", "Segments or chunks sent again."), |row| Some(row.retransmissions))
        .counts(("fast", "", "Of them, caused by acknowledgments."), |row| Some(row.fast))
        .counts(("after_timeout", "", "Of them, after a timeout."), |row| Some(row.after_timeout))
        .counts(("probes", "", "Of them, tail loss probes."), |row| Some(row.probes))
        .counts(("timeouts", "", "Retransmission timeouts."), |row| Some(row.timeouts))
        .counts(("spurious", "", "D-SACK blocks of the peer; duplicate TSNs of SCTP."), |row| Some(row.spurious))
        .counts(("out_of_order", "", "Segments that fill a hole in the capture."), |row| Some(row.out_of_order))
        .counts(("lost", "", "Packets that another capture does not show."), |row| row.lost)
        .counts(("missing_bytes", "bytes", "Acknowledged and not captured."), |row| Some(row.missing_bytes))
        .numbers(("handshake_ms", "ms", "Round-trip time of the handshake."), |row| row.handshake_ms)
        .numbers(("minimum_rtt_ms", "ms", "Smallest round-trip time of data."), |row| row.minimum_rtt_ms)
        .numbers(("mean_rtt_ms", "ms", "Mean of these times."), |row| row.mean_rtt_ms)
        .numbers(("maximum_rtt_ms", "ms", "Largest of these times."), |row| row.maximum_rtt_ms)
        .numbers(("timestamp_rtt_ms", "ms", "Mean round-trip time by timestamps."), |row| row.timestamp_rtt_ms)
        .numbers(("heartbeat_rtt_ms", "ms", "SCTP: mean round-trip time by HEARTBEAT."), |row| row.heartbeat_rtt_ms)
        .numbers(("minimum_delay_ms", "ms", "Smallest one-way delay between two captures."), |row| row.minimum_delay_ms)
        .numbers(("mean_delay_ms", "ms", "Mean of these delays."), |row| row.mean_delay_ms)
        .numbers(("maximum_delay_ms", "ms", "Largest of these delays."), |row| row.maximum_delay_ms)
        .numbers(("overtaken_percent", "%", "Packets that a later one overtook between two captures."), |row| {
            row.overtaken_percent
        })
        .numbers(
            ("queue_at_losses_ms", "ms", "How much longer round trips were when half of the losses were noticed."),
            |row| row.queue_at_losses_ms,
        )
        .counts(
            ("losses_at_short_queue", "", "Loss episodes while round trips were shorter than half of that."),
            |row| row.losses_at_short_queue,
        )
        .numbers(("holes_s", "s", "How long data behind a hole waited at the receiver."), |row| row.holes_s)
        .counts(("largest_window_bytes", "bytes", "Largest congestion window, estimated."), |row| row.largest_window)
        .words(("congestion", "", "Family of the congestion control."), |row| {
            row.congestion.as_ref().map(|family| family.name)
        })
        .counts(("congestion_votes", "", "Loss episodes that fit it."), |row| {
            row.congestion.map(|family| family.votes.into())
        })
        .counts(("congestion_episodes", "", "Loss episodes that could be judged."), |row| {
            row.congestion.map(|family| family.episodes.into())
        })
        .numbers(("unused_s", "s", "How long a quarter of the window or more was free."), |row| row.unused_s)
        .counts(("most_in_flight_bytes", "bytes", "Most bytes sent and not acknowledged."), |row| row.most_in_flight)
        .numbers(("window_limited_s", "s", "How long the receiver's window was full."), |row| row.window_limited_s)
        .numbers(("idle_s", "s", "How long nothing was in flight."), |row| row.idle_s);
    columns.table("subflows")
}

/// The table of what detectors say of pairs of subflows.
pub fn bottlenecks(rows: &[BottleneckRow]) -> Table {
    let mut columns = Columns::of(rows);
    columns
        .counts(("connection", "", "Number of the connection."), |row| Some(row.connection as u64))
        .words(("sender", "", "client or server: whose data the row is about."), |row| Some(row.sender))
        .counts(("first_subflow", "", "Number of a subflow."), |row| Some(row.subflows[0] as u64))
        .counts(("second_subflow", "", "Number of another."), |row| Some(row.subflows[1] as u64))
        .words(("detector", "", "Name of the detector."), |row| Some(row.detector))
        .numbers(("degree", "", "Degree of correlation, −1 to 1."), |row| Some(row.degree))
        .numbers(("threshold", "", "Degree of a shared bottleneck."), |row| Some(row.threshold))
        .flags(("shared", "", "Whether they share a bottleneck."), |row| Some(row.is_shared));
    columns.table("bottlenecks")
}

/// The table of connections of which only totals are kept.
pub fn totals(rows: &[TotalRow]) -> Table {
    let mut columns = Columns::of(rows);
    columns
        .words(("protocol", "", "tcp, mptcp, sctp or udp."), |row| Some(row.protocol))
        .words(("outcome", "", "How the connections ended."), |row| Some(row.outcome))
        .counts(("connections", "", "How many these are."), |row| Some(row.connections))
        .counts(("unfinished", "", "Of them, those that had not ended."), |row| Some(row.unfinished))
        .counts(("packets", "", "Their packets in both directions."), |row| Some(row.packets))
        .counts(("bytes", "bytes", "Data that reached the peers, each byte once."), |row| Some(row.bytes))
        .counts(("retransmissions", "", "Segments or chunks sent again."), |row| Some(row.retransmissions))
        .counts(("timeouts", "", "Retransmission timeouts."), |row| Some(row.timeouts));
    columns.table("totals")
}

impl Analysis {
    /// The connections and subflows as tables for people, and the notes.
    pub fn to_text(&self) -> String {
        let packets: u64 = self.files.iter().map(|file| file.packets).sum();
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let files = self.files.len();
        let mut text = format!(
            "{} of {:.3} s in {files} file{}\n\n{}\n{}",
            Packets::new(packets),
            self.duration_s,
            plural(files),
            shown_connections(&self.connections).to_text(),
            shown_subflows(&self.subflows).to_text(),
        );
        if !self.totals.is_empty() {
            text += &format!("\n{}", shown_totals(&self.totals).to_text());
        }
        for note in self.notes() {
            text += &format!("\n{note}");
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text
    }

    /// Everything as one JSON object.
    pub fn to_json(&self) -> Value {
        let file = |file: &crate::CapturedFile| {
            json!({
                "path": file.path.display().to_string(),
                "host": file.host + 1,
                "packets": file.packets,
                "bytes": file.bytes,
                "damage": file.damage.as_ref().map(|damage| json!({ "offset": damage.offset, "reason": damage.reason })),
            })
        };
        let clock = |row: &ClockRow| {
            let ClockRow { file, offset_ms, skew_ppm, uncertainty_ms } = row;
            json!({
                "file": file, "offset_ms": offset_ms, "skew_ppm": skew_ppm, "uncertainty_ms": uncertainty_ms,
            })
        };
        let mut object = json!({
            "files": self.files.iter().map(file).collect::<Vec<_>>(),
            "duration_s": self.duration_s,
            "connections": connections(&self.connections),
            "subflows": subflows(&self.subflows),
            "bottlenecks": bottlenecks(&self.bottlenecks),
            "clocks": self.clocks.iter().map(clock).collect::<Vec<_>>(),
            "notes": self.notes(),
        });
        if !self.totals.is_empty() {
            object["totals"] = json!(totals(&self.totals));
        }
        object
    }

    /// What was not read, and what the figures leave out, in sentences.
    pub fn notes(&self) -> Vec<String> {
        let hosts = self.files.iter().map(|file| file.host).max().unwrap_or(0);
        let of_one_host = (0..=hosts).filter_map(|host| {
            let files = self.files.iter().filter(|file| file.host == host);
            let names: Vec<String> = files.map(|file| file.path.display().to_string()).collect();
            let (last, others) = names.split_last().filter(|(_, others)| !others.is_empty())?;
            Some(format!("{} and {last} are read together: they are of one host.", others.join(", ")))
        });
        let damaged = self.files.iter().filter_map(|file| {
            let damage = file.damage.as_ref()?;
            let (path, offset, reason) = (file.path.display(), damage.offset, &damage.reason);
            Some(format!("{path} is damaged at byte {offset}: {reason}. The packets before are in the figures."))
        });
        let unread = self.unread.iter();
        let unread = unread.map(|(why, packets)| format!("Not read: {}, {}.", Packets::new(*packets), said(*why)));
        let sum = |of: fn(&TotalRow) -> u64| self.totals.iter().map(of).sum::<u64>();
        let (left, unfinished) = (sum(|row| row.connections), sum(|row| row.unfinished));
        let left = (left > 0).then(|| {
            format!(
                "Of {left} connections there are only totals, since {} were followed: first of those that had ended, with \
                 least data.",
                crate::MOST_FLOWS
            )
        });
        let unfinished = (unfinished > 0).then(|| {
            format!(
                "Of them, {unfinished} had not ended: what they sent later is of another connection without a begin."
            )
        });
        let cut = (self.cut_headers > 0).then(|| {
            let cut = Packets::new(self.cut_headers);
            format!("Of {cut} of TCP, options were not captured: capture 96 bytes or more.")
        });
        let put_together = (self.put_together > 0)
            .then(|| format!("Put together from fragments: {}.", Packets::new(self.put_together)));
        let copies = (self.duplicates > 0)
            .then(|| format!("Left out: {} that the capture has twice.", Packets::new(self.duplicates)));
        let connections = self.connections.iter().flat_map(|connection| {
            connection.notes.iter().map(|note| format!("Connection {}: {note}.", connection.number))
        });
        let clocks = self.clocks.iter().map(|row| {
            format!(
                "The clock of {} is {:.3} ms ahead and {:.1} ppm faster, which is removed (± {:.3} ms if delays differ by \
                 direction).",
                self.files[row.file - 1].path.display(),
                row.offset_ms,
                row.skew_ppm,
                row.uncertainty_ms
            )
        });
        of_one_host
            .chain(damaged)
            .chain(unread)
            .chain(put_together)
            .chain(left)
            .chain(unfinished)
            .chain(cut)
            .chain(copies)
            .chain(clocks)
            .chain(connections)
            .chain(self.inferred())
            .collect()
    }
}

fn said(unread: Unread) -> String {
    match unread {
        Unread::LinkType(number) => format!("link type {number} is not supported"),
        Unread::NotIp => "no IP".to_owned(),
        Unread::Protocol(number) => format!("IP protocol {number}"),
        Unread::Fragment => "fragments of which others were not captured".to_owned(),
        Unread::Cut => "captured without their headers".to_owned(),
        Unread::Malformed => "malformed".to_owned(),
    }
}

fn shown_connections(rows: &[ConnectionRow]) -> Table {
    let rows = directions(rows);
    let count = |count: u64| Cell::Integer(count.cast_signed());
    let mut columns = Columns::of(&rows);
    columns
        .shown("#", 0, Align::Right, |row| count(row.0.number as u64))
        .shown("protocol", 0, Align::Left, |row| row.0.protocol.into())
        .shown("from", 0, Align::Left, |row| {
            (if row.1 == "client" { &row.0.client } else { &row.0.server }).as_str().into()
        })
        .shown("to", 0, Align::Left, |row| {
            (if row.1 == "client" { &row.0.server } else { &row.0.client }).as_str().into()
        })
        .shown("Mbit/s", 3, Align::Right, |row| row.2.goodput_mbps.into())
        .shown("MB", 3, Align::Right, |row| (row.2.bytes as f64 / 1e6).into())
        .shown("done s", 3, Align::Right, |row| row.2.done_s.into())
        .shown("retrans", 0, Align::Right, |row| count(row.2.retransmissions))
        .shown("RTOs", 0, Align::Right, |row| count(row.2.timeouts))
        .shown("reinj. kB", 1, Align::Right, |row| (row.2.reinjected_bytes as f64 / 1e3).into())
        .shown("outcome", 0, Align::Left, |row| row.0.outcome.into());
    columns.table("connections")
}

fn shown_subflows(rows: &[SubflowRow]) -> Table {
    let count = |count: u64| Cell::Integer(count.cast_signed());
    let mut columns = Columns::of(rows);
    columns
        .shown("#", 0, Align::Right, |row| format!("{}.{}", row.connection, row.subflow).into())
        .shown("from", 0, Align::Left, |row| row.from.as_str().into())
        .shown("to", 0, Align::Left, |row| row.to.as_str().into())
        .shown("Mbit/s", 3, Align::Right, |row| row.goodput_mbps.into())
        .shown("packets", 0, Align::Right, |row| count(row.packets))
        .shown("retrans", 0, Align::Right, |row| count(row.retransmissions))
        .shown("fast", 0, Align::Right, |row| count(row.fast))
        .shown("RTO", 0, Align::Right, |row| count(row.after_timeout))
        .shown("TLP", 0, Align::Right, |row| count(row.probes))
        .shown("D-SACK", 0, Align::Right, |row| count(row.spurious))
        .shown("RTT ms", 1, Align::Right, |row| row.mean_rtt_ms.into())
        .shown("flight kB", 1, Align::Right, |row| row.most_in_flight.map(|bytes| bytes as f64 / 1e3).into());
    if rows.iter().any(|row| row.lost.is_some() || row.mean_delay_ms.is_some()) {
        columns.shown("lost", 0, Align::Right, |row| row.lost.map_or(Cell::Empty, count)).shown(
            "delay ms",
            1,
            Align::Right,
            |row| row.mean_delay_ms.into(),
        );
    }
    columns.table("subflows")
}

fn shown_totals(rows: &[TotalRow]) -> Table {
    let count = |count: u64| Cell::Integer(count.cast_signed());
    let mut columns = Columns::of(rows);
    columns
        .shown("others", 0, Align::Left, |row| row.protocol.into())
        .shown("outcome", 0, Align::Left, |row| row.outcome.into())
        .shown("connections", 0, Align::Right, |row| count(row.connections))
        .shown("packets", 0, Align::Right, |row| count(row.packets))
        .shown("MB", 3, Align::Right, |row| (row.bytes as f64 / 1e6).into())
        .shown("retrans", 0, Align::Right, |row| count(row.retransmissions))
        .shown("RTOs", 0, Align::Right, |row| count(row.timeouts));
    columns.table("totals")
}
