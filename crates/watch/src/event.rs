//! What happened to a connection, as the kernel reports it.

use std::io;

use serde::Serialize;
use subflow_linux::netlink::{MptcpEvent, PeerReset, SubflowEnds};
use subflow_quantity::Instant;
use subflow_report::Cell;

/// An event of the kernel. What does not apply to it is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Event {
    /// Seconds since the watch began, when it was read.
    pub time_s: f64,
    /// The local token of the connection, in hexadecimal digits.
    pub token: String,
    /// What happened: `created`, `established`, `closed`, `announced`, `withdrawn`, `subflow-established`,
    /// `subflow-closed` or `subflow-priority`.
    pub event: &'static str,
    /// Whether this host sent the first SYN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<bool>,
    /// The ends of the subflow.
    #[serde(flatten)]
    pub ends: Option<Ends>,
    /// The identifier of an address of the peer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<u8>,
    /// An address of the peer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Its port.
    pub port: Option<u16>,
    /// Why the peer reset the subflow.
    #[serde(flatten)]
    pub reset: Option<Reset>,
    /// The error of the subflow's socket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The ends of a subflow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ends {
    /// The address and port of this host.
    pub local: String,
    /// The address and port of the peer.
    pub remote: String,
    /// The identifier of the local address.
    pub local_id: u8,
    /// The identifier of the remote address.
    pub remote_id: u8,
    /// Whether it is used only if no other subflow is.
    pub backup: bool,
}

/// The reason of a reset (MP_TCPRST).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reset {
    /// The name of the reason (RFC 8684, table 3).
    pub reset_reason: String,
    /// Whether the reason may pass.
    pub reset_transient: bool,
}

/// A time in seconds since the watch began, to the millisecond.
pub(crate) fn seconds_of(at: Instant) -> f64 {
    (at.as_nanos() as f64 * 1e-6).round() / 1e3
}

/// The columns of `events.csv`.
pub(crate) const COLUMNS: [&str; 15] = [
    "time_s",
    "token",
    "event",
    "client",
    "local",
    "remote",
    "local_id",
    "remote_id",
    "backup",
    "id",
    "address",
    "port",
    "reset_reason",
    "reset_transient",
    "error",
];

impl Event {
    /// What the kernel reported at this time.
    pub(crate) fn new(at: Instant, event: &MptcpEvent) -> Self {
        let of = |token: &u32, event| Self {
            time_s: seconds_of(at),
            token: format!("{token:08x}"),
            event,
            ..Self::default()
        };
        let of_ends = |token, event, ends| Self { ends: Some(Ends::new(ends)), ..of(token, event) };
        match event {
            MptcpEvent::Created { token, initial, server } => {
                Self { client: Some(!server), ..of_ends(token, "created", initial) }
            }
            MptcpEvent::Established { token, initial, server, .. } => {
                Self { client: Some(!server), ..of_ends(token, "established", initial) }
            }
            MptcpEvent::Closed { token } => of(token, "closed"),
            MptcpEvent::Announced { token, id, address, port } => {
                Self { id: Some(*id), address: Some(address.to_string()), port: Some(*port), ..of(token, "announced") }
            }
            MptcpEvent::Withdrawn { token, id } => Self { id: Some(*id), ..of(token, "withdrawn") },
            MptcpEvent::SubflowEstablished { token, subflow } => of_ends(token, "subflow-established", subflow),
            MptcpEvent::SubflowClosed { token, subflow, reset, error } => Self {
                reset: reset.map(Reset::new),
                error: error.map(|error| io::Error::from_raw_os_error(error.into()).to_string()),
                ..of_ends(token, "subflow-closed", subflow)
            },
            MptcpEvent::SubflowPriority { token, subflow } => of_ends(token, "subflow-priority", subflow),
        }
    }

    /// The event without its time and its connection.
    pub fn what(&self) -> String {
        let ends = self.ends.as_ref().map(|Ends { local, remote, .. }| format!(" {local} – {remote}"));
        let backup = match (self.event, &self.ends) {
            ("subflow-priority", Some(ends)) if !ends.backup => Some(", no backup".to_owned()),
            (_, ends) => ends.as_ref().filter(|ends| ends.backup).map(|_| ", backup".to_owned()),
        };
        let address = self.address.as_ref().zip(self.port).map(|(address, port)| format!(" {address}, port {port}"));
        let id = self.id.map(|id| format!(", id {id}"));
        let reset = self.reset.as_ref().map(|Reset { reset_reason, reset_transient }| {
            let transient = if *reset_transient { ", transient" } else { "" };
            format!(", reset by the peer: {reset_reason}{transient}")
        });
        let error = self.error.as_ref().map(|error| format!(": {error}"));
        let parts = [ends, address, id, backup, reset, error];
        parts.into_iter().flatten().fold(self.event.to_owned(), |text, part| text + &part)
    }

    /// The event in a line.
    pub fn line(&self) -> String {
        format!("{:10.3} s  {}  {}", self.time_s, self.token, self.what())
    }

    /// Its row in `events.csv`.
    pub(crate) fn row(&self) -> [Cell; COLUMNS.len()] {
        let text = |text: Option<&String>| text.map_or(Cell::Empty, |text| Cell::Text(text.clone()));
        let number = |number: Option<u16>| number.map_or(Cell::Empty, |number| Cell::Integer(number.into()));
        let is = |is: Option<bool>| is.map_or(Cell::Empty, |is| Cell::Text(if is { "yes" } else { "no" }.to_owned()));
        let (ends, reset) = (self.ends.as_ref(), self.reset.as_ref());
        [
            Cell::Number(self.time_s),
            Cell::Text(self.token.clone()),
            Cell::Text(self.event.to_owned()),
            is(self.client),
            text(ends.map(|ends| &ends.local)),
            text(ends.map(|ends| &ends.remote)),
            number(ends.map(|ends| ends.local_id.into())),
            number(ends.map(|ends| ends.remote_id.into())),
            is(ends.map(|ends| ends.backup)),
            number(self.id.map(Into::into)),
            text(self.address.as_ref()),
            number(self.port),
            text(reset.map(|reset| &reset.reset_reason)),
            is(reset.map(|reset| reset.reset_transient)),
            text(self.error.as_ref()),
        ]
    }
}

impl Ends {
    fn new(ends: &SubflowEnds) -> Self {
        let SubflowEnds { local, remote, local_id, remote_id, backup } = *ends;
        Self { local: local.to_string(), remote: remote.to_string(), local_id, remote_id, backup }
    }
}

impl Reset {
    /// With the reason's name (RFC 8684, table 3).
    fn new(PeerReset { reason, transient }: PeerReset) -> Self {
        let name = match reason {
            0 => "unspecified",
            1 => "mptcp-specific",
            2 => "lack-of-resources",
            3 => "administratively-prohibited",
            4 => "too-much-outstanding-data",
            5 => "unacceptable-performance",
            6 => "middlebox-interference",
            _ => "",
        };
        let reset_reason = if name.is_empty() { format!("code-{reason}") } else { name.to_owned() };
        Self { reset_reason, reset_transient: transient }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn subflow(backup: bool) -> SubflowEnds {
        let [local, remote] = ["10.0.1.1:40000", "10.9.0.1:80"].map(|end| end.parse().expect("an address"));
        SubflowEnds { local, remote, local_id: 2, remote_id: 0, backup }
    }

    fn read(event: &MptcpEvent) -> Event {
        Event::new(Instant::from_nanos(1_234_567_890), event)
    }

    #[test]
    fn a_closed_subflow_has_its_reset_and_its_error() {
        let reset = Some(PeerReset { reason: 3, transient: false });
        let event = read(&MptcpEvent::SubflowClosed { token: 10, subflow: subflow(true), reset, error: Some(104) });
        let error = io::Error::from_raw_os_error(104).to_string();
        let json = serde_json::to_value(&event).expect("plain data");
        let expected = json!({
            "time_s": 1.235, "token": "0000000a", "event": "subflow-closed",
            "local": "10.0.1.1:40000", "remote": "10.9.0.1:80", "local_id": 2, "remote_id": 0, "backup": true,
            "reset_reason": "administratively-prohibited", "reset_transient": false, "error": error,
        });
        assert_eq!(json, expected);
        let what =
            "subflow-closed 10.0.1.1:40000 – 10.9.0.1:80, backup, reset by the peer: administratively-prohibited";
        assert_eq!(event.line(), format!("     1.235 s  0000000a  {what}: {error}"));
        assert_eq!((event.row()[8].clone(), event.row()[9].clone()), (Cell::Text("yes".into()), Cell::Empty));
    }

    #[test]
    fn what_does_not_apply_is_absent() {
        let closed = serde_json::to_value(read(&MptcpEvent::Closed { token: 10 })).expect("plain data");
        assert_eq!(closed, json!({ "time_s": 1.235, "token": "0000000a", "event": "closed" }));
        let address = "10.9.1.1".parse().expect("an address");
        let announced = read(&MptcpEvent::Announced { token: 10, id: 4, address, port: 80 });
        assert_eq!(announced.what(), "announced 10.9.1.1, port 80, id 4");
        assert_eq!(serde_json::to_value(&announced).expect("plain data")["id"], 4);
    }

    #[test]
    fn a_changed_priority_says_which() {
        let changed = |backup| read(&MptcpEvent::SubflowPriority { token: 1, subflow: subflow(backup) }).what();
        assert!(changed(true).ends_with(":80, backup"), "{}", changed(true));
        assert!(changed(false).ends_with(":80, no backup"), "{}", changed(false));
    }

    #[test]
    fn a_reason_without_a_name_has_its_number() {
        let reason = |reason| Reset::new(PeerReset { reason, transient: true }).reset_reason;
        assert_eq!([6, 7].map(reason), ["middlebox-interference", "code-7"]);
    }
}
