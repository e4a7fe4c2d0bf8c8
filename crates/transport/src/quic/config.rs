//! The configuration of one end of a QUIC connection.

use std::net::IpAddr;
use std::sync::Arc;

use subflow_policy::congestion::{Algorithm, Reno};
use subflow_policy::path_manager::PathManagement;
use subflow_policy::scheduler::Scheduling;
use subflow_quantity::Duration;
use subflow_wire::quic::{ConnectionId, STATELESS_RESET_TOKEN_LENGTH, TransportParameters};

use super::tls::Tls;
use crate::mac::hmac_sha256;
use crate::mptcp::Bottleneck;

/// The exponent of two by which delays in acknowledgments are divided (RFC 9000, section 18.2: the default).
pub(super) const ACK_DELAY_EXPONENT: u32 = 3;
/// Bytes of the connection identifiers that an end issues.
pub const CONNECTION_ID_LENGTH: usize = 8;
/// Connection identifiers of the peer that an end keeps.
pub(super) const ACTIVE_CONNECTION_IDS: u64 = 4;

/// The key of tokens in stateless resets.
#[derive(Clone, PartialEq, Eq)]
pub struct ResetKey(pub [u8; 32]);

impl core::fmt::Debug for ResetKey {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str("ResetKey")
    }
}

impl ResetKey {
    /// The token of a connection identifier.
    pub(crate) fn token(&self, id: &ConnectionId) -> [u8; STATELESS_RESET_TOKEN_LENGTH] {
        let [token @ .., _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _] = hmac_sha256(&self.0, &[id.as_bytes()]);
        token
    }
}

/// The configuration of one end.
#[derive(Clone, Debug)]
pub struct Config {
    /// Congestion control; its windows count packets.
    pub congestion: Algorithm,
    /// Largest IP packet that the path carries, in bytes.
    pub mtu: u32,
    /// Initial congestion window in packets (RFC 9002, section 7.2: 10).
    pub initial_window: u32,
    /// Whether packets are spaced by the pacing rate (RFC 9002, section 7.7).
    pub pacing: bool,
    /// Whether packets are sent as capable of ECN, as long as the path and the peer treat them rightly (RFC 9000, section
    /// 13.4).
    pub ecn: bool,
    /// Later packets acknowledged after which a packet is lost (RFC 9002, section 6.1.1: 3).
    pub packet_threshold: u64,
    /// The RTT before the first sample (RFC 9002, section 6.2.2: 333 ms).
    pub initial_rtt: Duration,
    /// Ack-eliciting packets for each acknowledgment (RFC 9000, section 13.2.2: 2).
    pub ack_eliciting_threshold: u32,
    /// The longest delay of an acknowledgment, in whole milliseconds (RFC 9000, section 18.2: 25 ms).
    pub max_ack_delay: Duration,
    /// The idle time after which a connection ends, in whole milliseconds; `None`: never.
    pub idle_timeout: Option<Duration>,
    /// Bytes that the peer may send beyond those read, on all streams together.
    pub connection_window: u64,
    /// Bytes that the peer may send beyond those read, on each stream.
    pub stream_window: u64,
    /// Bidirectional streams that the peer may open in all.
    pub streams: u64,
    /// Most bytes written and not acknowledged; `None` for no bound.
    pub send_buffer: Option<u64>,
    /// Whether the application opens, reads and ends each stream by itself and closes the connection, as
    /// [`StreamEvent`](super::StreamEvent) describes. Otherwise the connection has a main stream, data of all others is read
    /// as it arrives, and it is closed when all streams are over.
    pub application_streams: bool,
    /// How much earlier than the pacing rate has it a packet may leave, for timers that are not exact: packets of that time
    /// may leave together (RFC 9002, section 7.7).
    pub pacing_burst: Duration,
    /// Bytes of the messages of the handshake with the null suite.
    pub handshake: HandshakeLengths,
    /// What protects packets, and what the handshake is done with; `None` for the null suite, which protects nothing.
    pub tls: Option<Arc<dyn Tls>>,
    /// Half-open connections to a port from which number on clients have to prove their address first, with the token of a
    /// Retry packet (RFC 9000, section 8.1.2), which takes a round trip; 0: always. `None`: never. Only of a server with
    /// [`tls`](Self::tls).
    pub retry_from: Option<usize>,
    /// The key of the tokens in stateless resets (RFC 9000, section 10.3), with which a server answers packets of connections
    /// that it does not know; `None`: it does not. It is a secret, which all servers at an address share. Only of a server
    /// with [`tls`](Self::tls).
    pub reset_key: Option<ResetKey>,
    /// Several paths at the same time (draft-ietf-quic-multipath), if the peer supports them as well; `None` for one path.
    pub multipath: Option<Multipath>,
}

/// What an end with several paths has in addition.
#[derive(Clone, Debug)]
pub struct Multipath {
    /// Chooses the path of each packet with data. One that [sends copies](subflow_policy::scheduler::Scheduler::repeats)
    /// by itself sends none here.
    pub scheduler: Scheduling,
    /// Chooses the paths that a client opens. A server opens none.
    pub path_manager: PathManagement,
    /// Which paths share a bottleneck, for schedulers and congestion control that go by it.
    pub bottleneck: Option<Bottleneck>,
    /// The highest path identifier that the peer may use at first (`initial_max_path_id`). Each path that is closed
    /// raises it by one. At most 63: with the initial path, 64 paths are open at a time.
    pub max_path_id: u64,
    /// Local addresses whose paths are backups (PATH_STATUS_BACKUP).
    pub backup_addresses: Vec<IpAddr>,
}

impl Multipath {
    /// With `scheduler` and `path_manager`, and up to eight paths at a time.
    pub fn new(scheduler: Scheduling, path_manager: PathManagement) -> Self {
        Self { scheduler, path_manager, bottleneck: None, max_path_id: 7, backup_addresses: Vec::new() }
    }
}

/// Lengths of the messages of TLS 1.3, in bytes. Those that have transport parameters are at least as long as these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandshakeLengths {
    /// ClientHello.
    pub client_hello: u32,
    /// ServerHello.
    pub server_hello: u32,
    /// EncryptedExtensions, Certificate and CertificateVerify together.
    pub certificate: u32,
    /// Finished, of each end.
    pub finished: u32,
}

impl Default for HandshakeLengths {
    /// With X25519, a chain of two certificates with RSA keys of 2048 bits, and SHA-256.
    fn default() -> Self {
        Self { client_hello: 300, server_hello: 90, certificate: 2800, finished: 36 }
    }
}

impl Default for Config {
    /// The values that RFC 9000 and RFC 9002 recommend, and windows as large as those of Linux's TCP.
    fn default() -> Self {
        Self {
            congestion: Reno::default().into(),
            mtu: 1500,
            initial_window: 10,
            pacing: true,
            ecn: false,
            packet_threshold: 3,
            initial_rtt: Duration::from_millis(333),
            ack_eliciting_threshold: 2,
            max_ack_delay: Duration::from_millis(25),
            idle_timeout: Some(Duration::from_secs(30)),
            connection_window: 9_000_000,
            stream_window: 6_000_000,
            streams: 100,
            send_buffer: None,
            application_streams: false,
            pacing_burst: Duration::ZERO,
            handshake: HandshakeLengths::default(),
            tls: None,
            retry_from: None,
            reset_key: None,
            multipath: None,
        }
    }
}

impl Config {
    /// The key of stateless resets, where they are sent: without cryptography there are none.
    pub(super) fn reset_key_in_use(&self) -> Option<&ResetKey> {
        self.reset_key.as_ref().filter(|_| self.tls.is_some())
    }

    /// What this end says about itself in the handshake, but for connection identifiers.
    pub(super) fn transport_parameters(&self) -> TransportParameters {
        TransportParameters {
            max_idle_timeout: self.idle_timeout.map_or(0, Duration::as_millis),
            initial_max_data: self.connection_window,
            initial_max_stream_data_bidi_local: self.stream_window,
            initial_max_stream_data_bidi_remote: self.stream_window,
            initial_max_streams_bidi: self.streams,
            ack_delay_exponent: ACK_DELAY_EXPONENT.into(),
            max_ack_delay: self.max_ack_delay.as_millis(),
            active_connection_id_limit: ACTIVE_CONNECTION_IDS,
            // Connections of the null suite are simulated: nobody there would move.
            disable_active_migration: self.tls.is_some(),
            initial_max_path_id: self.multipath.as_ref().map(|multipath| multipath.max_path_id),
            ..TransportParameters::default()
        }
    }
}
