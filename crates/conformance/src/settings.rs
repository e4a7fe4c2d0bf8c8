//! Options of the stack that a script sets.

use std::sync::Arc;

use subflow_policy::congestion::{Algorithm, Reno};
use subflow_policy::path_manager::{Passive, PathManagement};
use subflow_policy::scheduler::LowestLatency;
use subflow_quantity::Duration;
use subflow_scenario::file::{Place, Problem, did_you_mean, list};
use subflow_transport::mptcp::DataAcks;
use subflow_transport::tcp::TcpOptions;
use subflow_transport::tcp::config::{
    AckPolicy, DelayedAck, LossDetection, ReceiveBuffer, SendBuffer, WindowReduction,
};
use subflow_transport::{Change, Limits, Listener, mptcp, quic, sctp, tcp};
use subflow_wire::quic::TransportParameters;

use crate::value::Value;
use crate::vocabulary::Protocol;

/// The stack of a script. Timers are exact, so that packets leave when the RFC says.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    protocol: Protocol,
    tcp: tcp::Config,
    congestion: Algorithm,
    mptcp: mptcp::Config,
    sctp: sctp::Config,
    pub(crate) quic: quic::Config,
    /// What a peer of QUIC says about itself in the handshake, and the round trip to it during that.
    pub(crate) peer: TransportParameters,
    pub(crate) peer_rtt: Duration,
    /// Names of what was set.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "the kernel is a target on Linux only"))]
    names: Vec<&'static str>,
    pub(crate) limits: Limits,
}

enum Kind {
    Switch(fn(&mut Settings, bool)),
    /// A number up to this one.
    Number(u64, fn(&mut Settings, u64)),
    Time(fn(&mut Settings, Duration)),
    /// One of these names.
    Name(&'static [&'static str], fn(&mut Settings, &str)),
}

struct Setting {
    name: &'static str,
    protocols: &'static [Protocol],
    kind: Kind,
}

const STREAMS: &[Protocol] = &[Protocol::Tcp, Protocol::Mptcp];
const MPTCP: &[Protocol] = &[Protocol::Mptcp];
const SCTP: &[Protocol] = &[Protocol::Sctp];
const QUIC: &[Protocol] = &[Protocol::Quic, Protocol::Mpquic];
const MPQUIC: &[Protocol] = &[Protocol::Mpquic];
const LARGEST: u64 = 1 << 30;
/// The highest path identifier of both ends at first.
const PATHS: u64 = 2;

const fn setting(name: &'static str, protocols: &'static [Protocol], kind: Kind) -> Setting {
    Setting { name, protocols, kind }
}

const SETTINGS: &[Setting] = &[
    setting("mtu", STREAMS, Kind::Number(9000, |settings, bytes| settings.tcp.mtu = bytes.max(256) as u16)),
    setting("initial_window", STREAMS, Kind::Number(1000, |s, packets| s.tcp.initial_window = packets.max(1) as u32)),
    setting("timestamps", STREAMS, Kind::Switch(|s, on| s.tcp.timestamps = on)),
    setting("sack", STREAMS, Kind::Switch(|s, on| s.tcp.sack = on)),
    setting("initial_rto", STREAMS, Kind::Time(|s, time| s.tcp.initial_rto = time)),
    setting("min_rto", STREAMS, Kind::Time(|s, time| s.tcp.min_rto = time)),
    setting("max_rto", STREAMS, Kind::Time(|s, time| s.tcp.max_rto = time)),
    setting("max_retries", STREAMS, Kind::Number(100, |s, number| s.tcp.max_retries = number as u32)),
    setting("syn_retries", STREAMS, Kind::Number(100, |s, number| s.tcp.syn_retries = number as u32)),
    setting("syn_linear_timeouts", STREAMS, Kind::Number(100, |s, number| s.tcp.syn_linear_timeouts = number as u32)),
    setting("acks", STREAMS, Kind::Name(&["every", "delayed", "quick"], set_acks)),
    setting("loss_detection", STREAMS, Kind::Name(&["rack", "dupthresh"], set_loss_detection)),
    setting("reduction", STREAMS, Kind::Name(&["proportional", "immediate"], set_reduction)),
    setting("tail_loss_probe", STREAMS, Kind::Switch(|s, on| s.tcp.tail_loss_probe = on)),
    setting("frto", STREAMS, Kind::Switch(|s, on| s.tcp.frto = on)),
    setting("undo", STREAMS, Kind::Switch(|s, on| s.tcp.undo = on)),
    setting("idle_restart", STREAMS, Kind::Switch(|s, on| s.tcp.slow_start_after_idle = on)),
    setting("nagle", STREAMS, Kind::Switch(|s, on| s.tcp.nagle = on)),
    setting("receive_buffer", STREAMS, Kind::Number(LARGEST, |s, n| s.tcp.receive_buffer = ReceiveBuffer::Fixed(n))),
    setting("send_buffer", STREAMS, Kind::Number(LARGEST, |s, n| s.tcp.send_buffer = SendBuffer::Fixed(n))),
    setting("time_wait", STREAMS, Kind::Time(|s, time| s.tcp.time_wait = time)),
    setting("backlog", STREAMS, Kind::Number(4096, |s, n| s.limits.backlog = n as usize)),
    setting("data_acks", MPTCP, Kind::Name(&["as_peer", "short"], set_data_acks)),
    setting("checksums", MPTCP, Kind::Switch(|s, on| s.mptcp.checksum = on)),
    setting("deny_join", MPTCP, Kind::Switch(|s, on| s.mptcp.deny_join_to_initial_address = on)),
    setting("max_subflows", MPTCP, Kind::Number(64, |s, n| s.mptcp.max_subflows = n.max(1) as usize)),
    setting("without_subflow", MPTCP, Kind::Time(|s, time| s.mptcp.without_subflow = time)),
    setting("path_manager", MPTCP, Kind::Name(&["default", "full-mesh"], set_path_manager)),
    setting("mtu", SCTP, Kind::Number(9000, |s, bytes| s.sctp.mtu = bytes.max(256) as u32)),
    setting("streams", SCTP, Kind::Number(65_535, |s, n| s.sctp.streams = n.max(1) as u16)),
    setting("inbound_streams", SCTP, Kind::Number(65_535, |s, n| s.sctp.inbound_streams = n.max(1) as u16)),
    setting("message_size", SCTP, Kind::Number(1 << 20, |s, n| s.sctp.message_size = n.max(1) as u32)),
    setting("path_retries", SCTP, Kind::Number(100, |s, n| s.sctp.path_max_retransmissions = n as u32)),
    setting("association_retries", SCTP, Kind::Number(100, |s, n| s.sctp.association_max_retransmissions = n as u32)),
    setting("init_retries", SCTP, Kind::Number(100, |s, n| s.sctp.max_init_retransmits = n as u32)),
    setting(
        "potentially_failed",
        SCTP,
        Kind::Number(100, |s, n| {
            s.sctp.potentially_failed_max_retransmissions = Some(n as u32);
        }),
    ),
    setting(
        "heartbeats",
        SCTP,
        Kind::Switch(|s, on| {
            s.sctp.heartbeat_interval = on.then_some(Duration::from_secs(30));
        }),
    ),
    setting("cookie_life", SCTP, Kind::Time(|s, time| s.sctp.cookie_life = time)),
    setting("sack_delay", SCTP, Kind::Time(|s, time| s.sctp.sack_delay = time)),
    setting("bundling", SCTP, Kind::Switch(|s, on| s.sctp.nagle = on)),
    setting("partial_reliability", SCTP, Kind::Switch(|s, on| s.sctp.partial_reliability = on)),
    setting("inbound_buffer", SCTP, Kind::Number(LARGEST, |s, n| s.sctp.receive_buffer = n)),
    setting("mtu", QUIC, Kind::Number(9000, |s, bytes| s.quic.mtu = bytes.max(1280) as u32)),
    setting("initial_window", QUIC, Kind::Number(1000, |s, packets| s.quic.initial_window = packets.max(1) as u32)),
    setting("pacing", QUIC, Kind::Switch(|s, on| s.quic.pacing = on)),
    setting("packet_threshold", QUIC, Kind::Number(100, |s, packets| s.quic.packet_threshold = packets.max(1))),
    setting("initial_rtt", QUIC, Kind::Time(|s, time| s.quic.initial_rtt = time)),
    setting("ack_threshold", QUIC, Kind::Number(100, |s, n| s.quic.ack_eliciting_threshold = n.max(1) as u32)),
    setting("max_ack_delay", QUIC, Kind::Time(|s, time| s.quic.max_ack_delay = time)),
    setting("idle_timeout", QUIC, Kind::Time(|s, time| s.quic.idle_timeout = (time > Duration::ZERO).then_some(time))),
    setting("max_data", QUIC, Kind::Number(LARGEST, |s, bytes| s.quic.connection_window = bytes)),
    setting("max_stream_data", QUIC, Kind::Number(LARGEST, |s, bytes| s.quic.stream_window = bytes)),
    setting("max_streams", QUIC, Kind::Number(LARGEST, |s, number| s.quic.streams = number)),
    setting("certificate", QUIC, Kind::Number(1 << 20, |s, bytes| s.quic.handshake.certificate = bytes as u32)),
    setting("max_path_id", MPQUIC, Kind::Number(63, set_max_path_id)),
    setting("peer_rtt", QUIC, Kind::Time(|s, time| s.peer_rtt = time)),
    setting("peer_idle_timeout", QUIC, Kind::Number(LARGEST, |s, ms| s.peer.max_idle_timeout = ms)),
    setting("peer_max_data", QUIC, Kind::Number(LARGEST, |s, bytes| s.peer.initial_max_data = bytes)),
    setting("peer_max_stream_data", QUIC, Kind::Number(LARGEST, set_peer_max_stream_data)),
    setting("peer_max_streams", QUIC, Kind::Number(LARGEST, |s, n| s.peer.initial_max_streams_bidi = n)),
    setting("peer_max_ack_delay", QUIC, Kind::Number(LARGEST, |s, ms| s.peer.max_ack_delay = ms)),
    setting("peer_ack_delay_exponent", QUIC, Kind::Number(20, |s, n| s.peer.ack_delay_exponent = n)),
    setting("peer_id_limit", QUIC, Kind::Number(LARGEST, |s, n| s.peer.active_connection_id_limit = n)),
    setting("peer_max_path_id", MPQUIC, Kind::Number(1 << 32, |s, n| s.peer.initial_max_path_id = Some(n))),
];

/// The change of a connection that brings it to what is set.
type ChangeTo = fn(&Settings) -> Change;

/// Settings that may change during a connection.
const CHANGES: &[(&str, ChangeTo)] = &[
    ("nagle", |settings| Change::Nagle(settings.tcp.nagle)),
    ("acks", |settings| Change::Acknowledgments(settings.tcp.ack_policy)),
    ("max_retries", |settings| Change::Retries(settings.tcp.max_retries)),
    ("bundling", |settings| Change::Nagle(settings.sctp.nagle)),
    ("heartbeats", |settings| Change::Heartbeats(settings.sctp.heartbeat_interval)),
    ("path_retries", |settings| Change::PathRetries(settings.sctp.path_max_retransmissions)),
    ("association_retries", |settings| Change::AssociationRetries(settings.sctp.association_max_retransmissions)),
    ("sack_delay", |settings| Change::SackDelay(settings.sctp.sack_delay)),
];

impl Settings {
    pub(crate) fn new(protocol: Protocol) -> Self {
        let reno = || Algorithm::from(Reno::default());
        Self {
            protocol,
            tcp: tcp::Config { timer_tick: Duration::ZERO, timer_wheel: false, ..tcp::Config::default() },
            congestion: reno(),
            mptcp: mptcp::Config {
                data_acks: DataAcks::AsPeer,
                ..mptcp::Config::new(reno(), LowestLatency.into(), Passive.into())
            },
            sctp: sctp::Config::rfc9260(),
            quic: quic_config(reno(), protocol),
            peer: TransportParameters {
                initial_max_data: LARGEST,
                initial_max_stream_data_bidi_local: LARGEST,
                initial_max_stream_data_bidi_remote: LARGEST,
                initial_max_streams_bidi: 100,
                initial_max_path_id: (protocol == Protocol::Mpquic).then_some(PATHS),
                ..TransportParameters::default()
            },
            peer_rtt: Duration::from_millis(100),
            names: Vec::new(),
            limits: Limits::default(),
        }
    }

    /// Sets `name` to `value`, which is a time or not.
    pub(crate) fn set(
        &mut self,
        name: &str,
        (value, is_time): (&Value, bool),
        name_place: &Place,
        value_place: &Place,
    ) -> Result<(), Problem> {
        let known = || SETTINGS.iter().filter(|setting| setting.protocols.contains(&self.protocol));
        let Some(setting) = known().find(|setting| setting.name == name) else {
            let names = || known().map(|setting| setting.name);
            let help = did_you_mean(name, names(), &format!("the settings are {}", list(names())));
            return Err(Problem::at(name_place, format!("there is no setting {name:?}")).help(help));
        };
        let refused = |expected: String| {
            Problem::at(value_place, format!("{name} cannot be {value}")).help(format!("{expected} is expected"))
        };
        match (&setting.kind, value) {
            (Kind::Switch(apply), Value::Word(word)) if word == "on" || word == "off" => apply(self, word == "on"),
            (Kind::Number(most, apply), Value::Number(number)) if !is_time && number <= most => apply(self, *number),
            (Kind::Time(apply), Value::Number(nanos)) if is_time => apply(self, Duration::from_nanos(*nanos)),
            (Kind::Name(names, apply), Value::Word(word)) if names.contains(&word.as_str()) => apply(self, word),
            (Kind::Switch(_), _) => return Err(refused("on or off".to_owned())),
            (Kind::Number(most, _), _) => return Err(refused(format!("a number up to {most}"))),
            (Kind::Time(_), _) => return Err(refused("a time with a unit or a fraction, such as 200ms,".to_owned())),
            (Kind::Name(names, _), _) => return Err(refused(format!("one of {}", list(names.iter().copied())))),
        }
        self.names.push(setting.name);
        Ok(())
    }

    /// The change of a connection to what `name` is set to; `None` if it does not change during a connection.
    pub(crate) fn change(&self, name: &str) -> Option<Change> {
        CHANGES.iter().find(|(known, _)| *known == name).map(|(_, change)| change(self))
    }

    /// The names of the settings of this protocol that may change during a connection.
    pub(crate) fn changing(&self) -> impl Iterator<Item = &'static str> {
        let has =
            |name: &str| SETTINGS.iter().any(|known| known.name == name && known.protocols.contains(&self.protocol));
        CHANGES.iter().map(|(name, _)| *name).filter(move |name| has(name))
    }

    pub(crate) fn tcp_options(&self) -> TcpOptions {
        TcpOptions { config: Arc::new(self.tcp.clone()), congestion: self.congestion.clone() }
    }

    /// The names of what was set.
    #[cfg(all(target_os = "linux", feature = "linux"))]
    pub(crate) fn names(&self) -> &[&'static str] {
        &self.names
    }

    /// The configuration of TCP.
    #[cfg(all(target_os = "linux", feature = "linux"))]
    pub(crate) fn tcp(&self) -> &tcp::Config {
        &self.tcp
    }

    pub(crate) fn mptcp(&self) -> Arc<mptcp::Config> {
        Arc::new(mptcp::Config { tcp: Arc::new(self.tcp.clone()), ..self.mptcp.clone() })
    }

    pub(crate) fn sctp(&self) -> Arc<sctp::Config> {
        Arc::new(self.sctp.clone())
    }

    pub(crate) fn listener(&self) -> Listener {
        match self.protocol {
            Protocol::Tcp => Listener::Tcp(self.tcp_options()),
            Protocol::Mptcp => Listener::Mptcp(self.mptcp()),
            Protocol::Sctp => Listener::Sctp(self.sctp()),
            Protocol::Quic | Protocol::Mpquic => Listener::Quic(Arc::new(self.quic.clone())),
        }
    }
}

/// QUIC whose packets leave at once, and whose server sends no more than a client's first packet allows it to.
fn quic_config(congestion: Algorithm, protocol: Protocol) -> quic::Config {
    let multipath = quic::MultipathConfig::new(LowestLatency.into(), Passive.into());
    let multipath = quic::MultipathConfig { max_path_id: PATHS, ..multipath };
    quic::Config {
        congestion,
        pacing: false,
        multipath: (protocol == Protocol::Mpquic).then_some(multipath),
        ..quic::Config::default()
    }
}

fn set_max_path_id(settings: &mut Settings, most: u64) {
    if let Some(multipath) = &mut settings.quic.multipath {
        multipath.max_path_id = most;
    }
}

fn set_peer_max_stream_data(settings: &mut Settings, bytes: u64) {
    let peer = &mut settings.peer;
    (peer.initial_max_stream_data_bidi_local, peer.initial_max_stream_data_bidi_remote) = (bytes, bytes);
}

fn set_acks(settings: &mut Settings, name: &str) {
    settings.tcp.ack_policy = match name {
        "every" => AckPolicy::EverySegment,
        "delayed" => AckPolicy::Delayed(DelayedAck { quick_start: false, ..DelayedAck::default() }),
        _ => AckPolicy::Delayed(DelayedAck::default()),
    };
}

fn set_loss_detection(settings: &mut Settings, name: &str) {
    settings.tcp.loss_detection = if name == "rack" { LossDetection::Rack } else { LossDetection::DupThresh };
}

fn set_reduction(settings: &mut Settings, name: &str) {
    settings.tcp.window_reduction =
        if name == "immediate" { WindowReduction::Immediate } else { WindowReduction::Proportional };
}

fn set_data_acks(settings: &mut Settings, name: &str) {
    settings.mptcp.data_acks = if name == "short" { DataAcks::Short } else { DataAcks::AsPeer };
}

fn set_path_manager(settings: &mut Settings, name: &str) {
    if let Some(path_manager) = PathManagement::from_name(name) {
        settings.mptcp.path_manager = path_manager;
    }
}
