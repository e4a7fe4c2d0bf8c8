//! What the connections of a stack are made of.

use std::sync::Arc;

use subflow_policy::bottleneck::RedCpi;
use subflow_policy::congestion::{Algorithm, Lia};
use subflow_policy::path_manager::{PathManagement, SingleMesh};
use subflow_policy::scheduler::{LowestLatency, Scheduler, Scheduling};
use subflow_quantity::Duration;
use subflow_transport::mptcp::{self, Bottleneck};
use subflow_transport::tcp;
use subflow_transport::tcp::config::{Autotuning, ReceiveBuffer};

/// The algorithms and bounds of all connections of a [`Stack`](crate::Stack).
#[derive(Clone, Debug)]
pub struct Options {
    /// Congestion control over all subflows. Default: `lia`.
    pub congestion: Algorithm,
    /// The scheduler. Default: `ll`, the subflow with the lowest RTT that has room.
    pub scheduler: Scheduling,
    /// The path manager. Default: `single-mesh`, a subflow from each local address.
    pub path_manager: PathManagement,
    /// Detection of shared bottlenecks, for schedulers that go by it. Default: none.
    pub bottleneck: Option<Bottleneck>,
    /// The largest IP packet of every path in bytes: at most the smallest MTU of the devices. Default: 1500.
    pub mtu: u16,
    /// Most bytes that a connection keeps for its application to read. Default: 6 MiB, as in Linux (`tcp_rmem`).
    pub receive_buffer: u64,
    /// Most bytes that a connection keeps until they are acknowledged; it keeps less while its congestion windows are
    /// small. Default: 4 MiB, as in Linux (`tcp_wmem`).
    pub send_buffer: u64,
    /// Require checksums of the data (RFC 8684, section 3.3). Default: no.
    pub checksum: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            congestion: Lia::default().into(),
            scheduler: LowestLatency.into(),
            path_manager: SingleMesh::default().into(),
            bottleneck: None,
            mtu: 1500,
            receive_buffer: 6 << 20,
            send_buffer: 4 << 20,
            checksum: false,
        }
    }
}

/// A name that no algorithm has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("found {name:?}, expected {what}")]
pub struct UnknownName {
    /// What it should name, as "a scheduler".
    pub what: &'static str,
    /// The name.
    pub name: String,
    /// The names that there are.
    pub known: Vec<&'static str>,
}

impl Options {
    /// Options with the algorithms of these names. A scheduler that goes by correlations gets the detector `red-cpi`.
    ///
    /// # Errors
    ///
    /// If there is no such algorithm.
    pub fn named(congestion: &str, scheduler: &str, path_manager: &str) -> Result<Self, UnknownName> {
        let unknown = |what, name: &str, known| UnknownName { what, name: name.to_owned(), known };
        let algorithm = Algorithm::from_name(congestion)
            .ok_or_else(|| unknown("a congestion control", congestion, Algorithm::NAMES.to_vec()))?;
        let scheduling = Scheduling::from_name(scheduler)
            .ok_or_else(|| unknown("a scheduler", scheduler, Scheduling::NAMES.to_vec()))?;
        let manager = PathManagement::from_name(path_manager)
            .ok_or_else(|| unknown("a path manager", path_manager, PathManagement::NAMES.to_vec()))?;
        let detector = scheduling.goes_by_correlations().then(RedCpi::default);
        let bottleneck = detector.map(|detector| Bottleneck { detection: detector.into(), regroup: None });
        Ok(Self { congestion: algorithm, scheduler: scheduling, path_manager: manager, bottleneck, ..Self::default() })
    }

    /// The configuration of the transport.
    pub(crate) fn config(&self) -> Arc<mptcp::Config> {
        let tcp = tcp::Config {
            mtu: self.mtu,
            // What an application writes at once is to leave at once, as with TCP_NODELAY.
            nagle: false,
            receive_buffer: ReceiveBuffer::Automatic(Autotuning {
                maximum: self.receive_buffer,
                ..Autotuning::LINUX_RECEIVE
            }),
            black_hole_detection: true,
            // Timers are not rounded to the ticks of a kernel.
            timer_tick: Duration::ZERO,
            ..tcp::Config::default()
        };
        Arc::new(mptcp::Config {
            tcp: Arc::new(tcp),
            bottleneck: self.bottleneck.clone(),
            data_acks: mptcp::DataAcks::AsPeer,
            checksum: self.checksum,
            ..mptcp::Config::new(self.congestion.clone(), self.scheduler.clone(), self.path_manager.clone())
        })
    }
}
