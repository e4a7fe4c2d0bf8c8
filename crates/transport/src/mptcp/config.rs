//! What an MPTCP connection is made of.

use std::net::IpAddr;
use std::sync::Arc;

use subflow_policy::bottleneck::BottleneckDetection;
use subflow_policy::congestion::Algorithm;
use subflow_policy::path_manager::PathManagement;
use subflow_policy::scheduler::Scheduling;
use subflow_quantity::Duration;

use crate::tcp;

/// The size of the DATA_ACKs that are sent. Those of a peer may have either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataAcks {
    /// 4 bytes, whatever the peer sends: Linux MPTCP 0.9x.
    Short,
    /// As many as the latest data sequence number of the peer (RFC 8684, section 3.3.2; Linux since 5.10).
    AsPeer,
}

impl DataAcks {
    /// Option bytes in a data segment and in a pure acknowledgment. A DSS with a data sequence number of 8 bytes takes
    /// 24 with a DATA_ACK of 4, with checksum or without, and 28 with one of 8; without a mapping 8 and 12.
    pub(super) const fn reserved(self) -> (u32, u32) {
        match self {
            Self::Short => (24, 8),
            Self::AsPeer => (28, 12),
        }
    }
}

/// Shared-bottleneck detection for a connection, and the use of its results. A scheduler that uses correlations always
/// receives them.
#[derive(Clone, Debug)]
pub struct Bottleneck {
    /// The detector, without samples.
    pub detection: BottleneckDetection,
    /// If set, only subflows that share a bottleneck are coupled, and the groups are updated at this interval; `None`
    /// couples all. Subflows whose bottleneck is unknown stay coupled, so that the goals of RFC 6356 hold for them.
    pub regroup: Option<Duration>,
}

/// Everything about an MPTCP connection that is not its addresses.
#[derive(Clone, Debug)]
pub struct Config {
    /// Its subflows. The buffers are the connection's.
    pub tcp: Arc<tcp::Config>,
    /// Congestion control over all subflows.
    pub congestion: Algorithm,
    /// The packet scheduler.
    pub scheduler: Scheduling,
    /// The path manager.
    pub path_manager: PathManagement,
    /// Which subflows share a bottleneck, for schedulers and congestion control that go by it.
    pub bottleneck: Option<Bottleneck>,
    /// Keep every sample of every subflow ([`Connection::path_records`](super::Connection::path_records)): memory grows
    /// with time.
    pub record_paths: bool,
    /// The size of DATA_ACKs.
    pub data_acks: DataAcks,
    /// Require DSS checksums (RFC 8684, section 3.1, flag A).
    pub checksum: bool,
    /// Accept no joins to the address and port of the initial subflow (flag C).
    pub deny_join_to_initial_address: bool,
    /// Opportunistic retransmission (Raiciu et al., NSDI 2012, section 4.2): when the peer's window or the send buffer
    /// is full, a much faster subflow with room repeats the oldest outstanding data. On in Linux MPTCP 0.8x and 0.9x,
    /// absent from upstream Linux.
    pub opportunistic_retransmission: bool,
    /// The second half of it: the slower subflow that holds the window up has its own halved, at most once per round
    /// trip of the faster one.
    pub penalisation: bool,
    /// When data goes to other subflows than the one that it was given to. 0: at the first retransmission timeout of
    /// that one, what no other has carried. Otherwise as in upstream Linux (`net.mptcp.stale_loss_cnt`, 4 there): after
    /// more than this many periods without a sign of life, all that is outstanding.
    pub stale_loss_count: u8,
    /// Each subflow opens the connection's receive window by what it receives itself, and acknowledges every segment
    /// meanwhile, as in upstream Linux. Otherwise it opens by what all subflows receive, as in MPTCP 0.9x.
    pub subflows_open_window: bool,
    /// Local addresses whose subflows are backups (RFC 8684, section 3.3.8).
    pub backup_addresses: Vec<IpAddr>,
    /// Most subflows at a time, the initial one included; 64 is the most. One place of 64 stays the initial subflow's
    /// when it is over.
    pub max_subflows: usize,
    /// The number of SYNs with MP_CAPABLE, the first included, after which a connection that is not answered is opened
    /// without MPTCP (RFC 8684, section 3.1); 0 for no bound. Linux: 3 (`net.mptcp.syn_retrans_before_tcp_fallback` + 1).
    pub capable_syns: u32,
    /// How long a connection without any subflow waits for a new one.
    pub without_subflow: Duration,
}

impl Config {
    /// A connection with the defaults of Linux 6.12 for everything not named, but with one SYN with MP_CAPABLE less.
    pub fn new(congestion: Algorithm, scheduler: Scheduling, path_manager: PathManagement) -> Self {
        Self {
            tcp: Arc::new(tcp::Config::default()),
            congestion,
            scheduler,
            path_manager,
            bottleneck: None,
            record_paths: false,
            data_acks: DataAcks::Short,
            checksum: false,
            deny_join_to_initial_address: false,
            opportunistic_retransmission: false,
            penalisation: false,
            stale_loss_count: 0,
            subflows_open_window: false,
            backup_addresses: Vec::new(),
            max_subflows: subflow_policy::path_manager::MAX_SUBFLOWS,
            capable_syns: 2,
            without_subflow: Duration::from_secs(60),
        }
    }
}
