//! What the two hosts of a case are: addresses, paths, and how each end of its connections is configured.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use subflow_policy::congestion::{Algorithm, Reno};
use subflow_policy::path_manager::PathManagement;
use subflow_policy::scheduler::Scheduling;
use subflow_quantity::Duration;
use subflow_transport::sctp::config::{MessageOptions, Reliability, WindowGrowth};
use subflow_transport::tcp::TcpOptions;
use subflow_transport::tcp::config::{AckPolicy, Config, LossDetection, ReceiveBuffer, SendBuffer, WindowReduction};
use subflow_transport::{mptcp, quic, sctp};

/// The client of a case, by index.
pub const CLIENT: usize = 0;
/// Its server.
pub const SERVER: usize = 1;
/// The attacker.
pub const ATTACKER: usize = 2;

/// The time after which a QUIC connection ends without activity.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(600);

/// The port that the server, and an attacker that poses as one, answers on.
pub const PORT: u16 = 80;

/// Two hosts before they are built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// IPv6 instead of IPv4.
    pub ipv6: bool,
    /// Addresses of client and server, 1 to 3 each.
    pub addresses: [u8; 2],
    /// One-way delays in milliseconds; the path from client address `c` to server address `s` has the one at
    /// `3·c + s`, and those that are missing are 10 ms.
    pub delays_ms: Vec<u16>,
    /// Client and server.
    pub ends: [End; 2],
}

/// One end of the connections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct End {
    /// Congestion control, by name.
    pub congestion: String,
    /// Scheduler (MPTCP, QUIC over several paths), by name.
    pub scheduler: String,
    /// Path manager (MPTCP, QUIC over several paths), by name.
    pub path_manager: String,
    /// Plain TCP where the stack is MPTCP, one path where it is QUIC over several.
    pub plain: bool,
    /// Largest IP packet in bytes.
    pub mtu: u16,
    /// Receive buffer in bytes; `None` for one that adapts (TCP, MPTCP), or the default (SCTP).
    pub receive_buffer: Option<u64>,
    /// Send buffer in bytes.
    pub send_buffer: u64,
    /// TCP: selective acknowledgments are offered.
    pub sack: bool,
    /// TCP: timestamps are offered.
    pub timestamps: bool,
    /// TCP: RACK, proportional rate reduction and loss probes; otherwise RFC 6675 alone.
    pub rack: bool,
    /// TCP: every segment is acknowledged at once.
    pub every_segment: bool,
    /// TCP: after some timeouts, segments are sent again in small parts.
    pub black_hole_detection: bool,
    /// MPTCP: DSS checksums.
    pub checksum: bool,
    /// MPTCP: opportunistic retransmission and penalisation.
    pub opportunistic: bool,
    /// MPTCP: the number of periods after which data of stale subflows is sent on others; 0: after a timeout.
    pub stale_loss_count: u8,
    /// MPTCP: no joins to the address and port of the initial subflow.
    pub deny_join: bool,
    /// SCTP: as Linux, rather than RFC 9260 to the letter.
    pub linux: bool,
    /// SCTP: concurrent multipath transfer.
    pub cmt: bool,
    /// SCTP: NR-SACK is offered.
    pub nr_sack: bool,
    /// SCTP: bytes of a message that a write is cut into.
    pub message_size: u32,
    /// SCTP: messages are sent unordered.
    pub unordered: bool,
    /// SCTP: a message is given up after so many retransmissions.
    pub give_up_after: Option<u32>,
}

impl Default for End {
    fn default() -> Self {
        Self {
            congestion: "reno".into(),
            scheduler: "ll".into(),
            path_manager: "full-mesh".into(),
            plain: false,
            mtu: 1500,
            receive_buffer: None,
            send_buffer: 256 << 10,
            sack: true,
            timestamps: true,
            rack: true,
            every_segment: false,
            black_hole_detection: false,
            checksum: false,
            opportunistic: false,
            stale_loss_count: 0,
            deny_join: false,
            linux: false,
            cmt: false,
            nr_sack: false,
            message_size: 1452,
            unordered: false,
            give_up_after: None,
        }
    }
}

impl Setup {
    /// The addresses of a host, in their order.
    pub fn addresses_of(&self, host: usize) -> Vec<IpAddr> {
        (0..self.addresses[host]).map(|index| self.address(host, index.into())).collect()
    }

    /// Address `index` of a host, or of the attacker, who has 65536.
    pub fn address(&self, host: usize, index: u16) -> IpAddr {
        let number = index.wrapping_add(1);
        let [high, low] = number.to_be_bytes();
        match self.ipv6 {
            true => Ipv6Addr::new(0xfd00, host as u16 + 1, 0, 0, 0, 0, 0, number).into(),
            false => Ipv4Addr::new(10, host as u8 + 1, high, low).into(),
        }
    }

    /// The one-way delay between an address of the client and one of the server.
    pub fn delay(&self, client: usize, server: usize) -> Duration {
        Duration::from_millis(self.delays_ms.get(3 * client + server).copied().unwrap_or(10).into())
    }
}

impl End {
    fn tcp_config(&self) -> Config {
        let base = Config::default();
        Config {
            mtu: self.mtu,
            sack: self.sack,
            timestamps: self.timestamps,
            tail_loss_probe: self.rack,
            loss_detection: if self.rack { LossDetection::Rack } else { LossDetection::DupThresh },
            window_reduction: if self.rack { WindowReduction::Proportional } else { WindowReduction::Immediate },
            black_hole_detection: self.black_hole_detection,
            ack_policy: if self.every_segment { AckPolicy::EverySegment } else { base.ack_policy },
            receive_buffer: self.receive_buffer.map_or(base.receive_buffer, ReceiveBuffer::Fixed),
            send_buffer: SendBuffer::Fixed(self.send_buffer),
            ..base
        }
    }

    fn congestion(&self) -> Algorithm {
        Algorithm::from_name(&self.congestion).unwrap_or_else(|| panic!("no congestion control {:?}", self.congestion))
    }

    pub(crate) fn tcp_options(&self) -> TcpOptions {
        TcpOptions { config: Arc::new(self.tcp_config()), congestion: self.congestion() }
    }

    pub(crate) fn mptcp_config(&self) -> mptcp::Config {
        let scheduler = Scheduling::from_name(&self.scheduler);
        let scheduler = scheduler.unwrap_or_else(|| panic!("no scheduler {:?}", self.scheduler));
        let path_manager = PathManagement::from_name(&self.path_manager);
        let path_manager = path_manager.unwrap_or_else(|| panic!("no path manager {:?}", self.path_manager));
        mptcp::Config {
            tcp: Arc::new(self.tcp_config()),
            checksum: self.checksum,
            deny_join_to_initial_address: self.deny_join,
            opportunistic_retransmission: self.opportunistic,
            penalisation: self.opportunistic,
            stale_loss_count: self.stale_loss_count,
            // As upstream Linux, in both.
            subflows_open_window: self.stale_loss_count > 0,
            ..mptcp::Config::new(self.congestion(), scheduler, path_manager)
        }
    }

    pub(crate) fn quic_config(&self, is_multipath: bool) -> quic::Config {
        /// Congestion control that needs delivery rates, which QUIC does not measure.
        const BY_RATES: [&str; 3] = ["bbr", "bbr3", "c-mpbbr"];
        let scheduler = Scheduling::from_name(&self.scheduler);
        let scheduler = scheduler.unwrap_or_else(|| panic!("no scheduler {:?}", self.scheduler));
        let path_manager = PathManagement::from_name(&self.path_manager);
        let path_manager = path_manager.unwrap_or_else(|| panic!("no path manager {:?}", self.path_manager));
        let window = self.receive_buffer.unwrap_or(256 << 10);
        let needs_rates = BY_RATES.contains(&self.congestion.as_str());
        quic::Config {
            congestion: if needs_rates { Reno::default().into() } else { self.congestion() },
            mtu: self.mtu.into(),
            pacing: self.rack,
            ack_eliciting_threshold: if self.every_segment { 1 } else { 2 },
            idle_timeout: Some(IDLE_TIMEOUT),
            connection_window: window,
            stream_window: window,
            streams: 10,
            send_buffer: Some(self.send_buffer),
            multipath: is_multipath.then(|| quic::MultipathConfig::new(scheduler, path_manager)),
            ..quic::Config::default()
        }
    }

    pub(crate) fn sctp_config(&self) -> sctp::Config {
        let base = if self.linux { sctp::Config::linux() } else { sctp::Config::rfc9260() };
        let base = if self.cmt { base.with_cmt(WindowGrowth::PerDestination) } else { base };
        let reliability = self.give_up_after.map_or(Reliability::Full, Reliability::Retransmissions);
        let receive_buffer = self.receive_buffer.unwrap_or(1 << 20);
        sctp::Config {
            mtu: self.mtu.into(),
            nr_sack: self.nr_sack,
            message_size: self.message_size,
            message: MessageOptions { unordered: self.unordered, reliability, ..MessageOptions::default() },
            receive_buffer,
            partial_delivery_point: receive_buffer / 2,
            send_buffer: Some(self.send_buffer),
            record_deliveries: true,
            ..base
        }
    }
}
