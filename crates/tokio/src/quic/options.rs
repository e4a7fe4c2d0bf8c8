//! What the connections of an endpoint are made of.

use std::io;
use std::time::Duration;

use rand_core::RngCore;
use subflow_policy::bottleneck::RedCpi;
use subflow_policy::congestion::{Algorithm, Lia};
use subflow_policy::path_manager::{PathManagement, SingleMesh};
use subflow_policy::scheduler::{LowestLatency, Scheduler, Scheduling};
use subflow_transport::RandomSource;
use subflow_transport::mptcp::Bottleneck;
use subflow_transport::quic::{Config, MultipathConfig, ResetKey};

use crate::UnknownName;

/// How much earlier than their pacing has it packets may leave: timers of tokio are exact to a millisecond.
const PACING_BURST: subflow_quantity::Duration = subflow_quantity::Duration::from_millis(4);

/// The algorithms and bounds of all connections of an [`Endpoint`](super::Endpoint).
#[derive(Clone, Debug)]
pub struct Options {
    /// Congestion control over all paths. Default: `lia`.
    pub congestion: Algorithm,
    /// Several paths, if the peer has them as well (draft-ietf-quic-multipath-21). Default: with the scheduler `ll` and a
    /// path from each local address of the client (`single-mesh`).
    pub multipath: Option<MultipathConfig>,
    /// The largest IP packet that every path carries, in bytes; it is not searched for. Default: 1280, which every path of
    /// IPv6 carries. Datagrams have at least 1200 bytes of payload (RFC 9000, section 14).
    pub mtu: u16,
    /// The time without any packet of the peer after which a connection ends, in whole milliseconds; the peer may have a
    /// shorter one. `None`: never. Default: 30 s.
    pub idle_timeout: Option<Duration>,
    /// Most bytes of all streams of a connection that are kept for its application to read. Default: 8 MiB.
    pub receive_buffer: u64,
    /// Most of them on one stream. Default: 4 MiB.
    pub stream_receive_buffer: u64,
    /// Most bytes written on a stream that are not acknowledged: writing waits beyond. Default: 4 MiB.
    pub stream_send_buffer: u64,
    /// Streams that the peer may have open at a time. Default: 100.
    pub streams: u64,
    /// Connections of a server that are not established from which number on clients have to prove their address with a token
    /// first (Retry), which takes a round trip; 0: always, `None`: never. Default: 100.
    pub retry_from: Option<usize>,
    /// The key of a server's stateless resets, with which it answers packets of connections that it has forgotten, so that
    /// peers need not wait for their idle timeout: a secret that the servers at an address share, also after a restart.
    /// Default: random, for connections of this process.
    pub reset_key: Option<[u8; 32]>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            congestion: Lia::default().into(),
            multipath: Some(MultipathConfig::new(LowestLatency.into(), SingleMesh::default().into())),
            mtu: 1280,
            idle_timeout: Some(Duration::from_secs(30)),
            receive_buffer: 8 << 20,
            stream_receive_buffer: 4 << 20,
            stream_send_buffer: 4 << 20,
            streams: 100,
            retry_from: Some(100),
            reset_key: None,
        }
    }
}

impl Options {
    /// Options for several paths with the algorithms of these names. A scheduler that goes by correlations gets the detector
    /// `red-cpi`.
    ///
    /// # Errors
    ///
    /// There is no such algorithm; or the scheduler sends copies, which QUIC does not.
    pub fn named(congestion: &str, scheduler: &str, path_manager: &str) -> Result<Self, UnknownName> {
        let named = crate::Options::named(congestion, scheduler, path_manager)?;
        let sends_copies = |name: &str| Scheduling::from_name(name).is_some_and(|scheduler| scheduler.repeats());
        if sends_copies(scheduler) {
            let known = Scheduling::NAMES.iter().copied().filter(|name| !sends_copies(name)).collect();
            return Err(UnknownName { what: "a scheduler that sends no copies", name: scheduler.into(), known });
        }
        let detector = named.scheduler.goes_by_correlations().then(RedCpi::default);
        let bottleneck = detector.map(|detector| Bottleneck { detection: detector.into(), regroup: None });
        let multipath = MultipathConfig { bottleneck, ..MultipathConfig::new(named.scheduler, named.path_manager) };
        Ok(Self { congestion: named.congestion, multipath: Some(multipath), ..Self::default() })
    }

    /// Options for one path with the congestion control of this name.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn single_path(congestion: &str) -> Result<Self, UnknownName> {
        let manager: PathManagement = SingleMesh::default().into();
        let scheduler: Scheduling = LowestLatency.into();
        let options = Self::named(congestion, scheduler.name(), manager.name())?;
        Ok(Self { multipath: None, ..options })
    }

    /// The configuration of a server without TLS.
    ///
    /// # Errors
    ///
    /// The operating system gives no random numbers.
    pub(super) fn server_config(&self) -> io::Result<Config> {
        let mut key = self.reset_key.unwrap_or_default();
        if self.reset_key.is_none() {
            RandomSource::system().map_err(io::Error::other)?.fill_bytes(&mut key);
        }
        Ok(Config { retry_from: self.retry_from, reset_key: Some(ResetKey(key)), ..self.config() })
    }

    /// The configuration of the transport, without TLS.
    pub(super) fn config(&self) -> Config {
        let milliseconds = |timeout: Duration| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX).clamp(1, 1 << 40);
        let idle_timeout = self.idle_timeout.map(milliseconds).map(subflow_quantity::Duration::from_millis);
        Config {
            congestion: self.congestion.clone(),
            mtu: self.mtu.into(),
            idle_timeout,
            connection_window: self.receive_buffer,
            stream_window: self.stream_receive_buffer,
            streams: self.streams,
            application_streams: true,
            pacing_burst: PACING_BURST,
            multipath: self.multipath.clone(),
            ..Config::default()
        }
    }
}
