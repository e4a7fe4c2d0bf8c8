//! The switches of concurrent multipath transfer, by the names that scenarios use.

use subflow_policy::catalogue::Choice;
use subflow_policy::scheduler::Scheduling;

use super::cuc::CucVersion;

/// Which acknowledgments may grow a destination's window. All of them ask that the window was fully used, and that the
/// destination, or the association, is not in fast recovery (see [`RecoveryScope`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowGrowth {
    /// `rfc4960`: only a SACK that advances the cumulative TSN (RFC 4960, section 7.2).
    Rfc4960,
    /// `rfc9260`: every SACK that acknowledges something new, in gap blocks, too (RFC 9260, section 7.2).
    Rfc9260,
    /// `cuc`, `cuc-v2`: a SACK that advances the destination's pseudo-cumulative acknowledgment (Iyengar et al. 2006).
    Cuc(CucVersion),
    /// `per-destination`: every SACK that acknowledges something new, with fast recovery kept per destination
    /// (leitner2019, chapter 3).
    PerDestination,
}

impl WindowGrowth {
    /// All modes, by the names that scenarios use.
    pub const ALL: &'static [Choice<Self>] = &[
        Choice::new("rfc4960", Self::Rfc4960, "acknowledgments that move the cumulative TSN")
            .source("RFC 4960, section 7.2.1"),
        Choice::new("rfc9260", Self::Rfc9260, "all that acknowledge new data").source("RFC 9260, section 7.2.1"),
        Choice::new("cuc", Self::Cuc(CucVersion::One), "those that move the destination's pseudo-cumulative TSN")
            .source("Iyengar, Amer, Stewart 2006 (CUC)"),
        Choice::new("cuc-v2", Self::Cuc(CucVersion::Two), "the same, with retransmissions tracked separately")
            .source("Iyengar, Amer, Stewart 2006 (CUCv2)"),
        Choice::new(
            "per-destination",
            Self::PerDestination,
            "all that acknowledge new data, with fast recovery per destination",
        )
        .source("Leitner 2019"),
    ];

    /// The scope of fast recovery that belongs to it: the destination for `per-destination`, otherwise the association.
    pub fn usual_scope(self) -> RecoveryScope {
        match self {
            Self::PerDestination => RecoveryScope::Destination,
            _ => RecoveryScope::Association,
        }
    }
}

/// The scope of fast recovery (RFC 9260, section 7.2.4; leitner2019, section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryScope {
    /// `association`: while it lasts no other window is reduced by a fast retransmission, and none grows.
    Association,
    /// `destination`: each has its own flag and exit point.
    Destination,
}

impl RecoveryScope {
    /// Both, by the names that scenarios use.
    pub const ALL: &'static [Choice<Self>] = &[
        Choice::new("association", Self::Association, "the association has one fast recovery")
            .source("RFC 9260, section 7.2.4"),
        Choice::new("destination", Self::Destination, "each destination has its own fast recovery")
            .source("Leitner 2019"),
    ];
}

/// The destination of retransmissions (Iyengar, Amer, Stewart 2006, section V, except for the first policy).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetransmissionPolicy {
    /// `rtx-alternate`: after a fast retransmission's indications the same destination, after a timeout another active
    /// one (RFC 9260, section 6.4.1). Not for CMT, where all destinations are in use.
    Alternate,
    /// `rtx-same`: the destination that it was sent to last.
    Same,
    /// `rtx-asap`: any destination with free window at that time, a random one of several.
    Asap,
    /// `rtx-cwnd`: the one with the largest congestion window.
    LargestWindow,
    /// `rtx-ssthresh`: the one with the largest slow-start threshold.
    LargestThreshold,
    /// `rtx-lossrate`: the one with the smallest share of chunks lost so far.
    LowestLossRate,
}

impl RetransmissionPolicy {
    /// All policies, by the names that scenarios use.
    pub const ALL: &'static [Choice<Self>] = &[
        Choice::new("rtx-alternate", Self::Alternate, "after a timeout another active destination; not for cmt")
            .source("RFC 9260, section 6.4.1"),
        Choice::new("rtx-same", Self::Same, "the destination that it was sent to last").source(CMT),
        Choice::new("rtx-asap", Self::Asap, "any destination with free window, a random one of several").source(CMT),
        Choice::new("rtx-cwnd", Self::LargestWindow, "the destination with the largest congestion window").source(CMT),
        Choice::new("rtx-ssthresh", Self::LargestThreshold, "the destination with the largest slow-start threshold")
            .source(CMT),
        Choice::new("rtx-lossrate", Self::LowestLossRate, "the destination with the lowest loss rate").source(CMT),
    ];
}

/// The source of the retransmission policies.
const CMT: &str = "Iyengar, Amer, Stewart 2006, section V";

/// The destination of new data.
#[derive(Clone, Debug)]
pub enum Distribution {
    /// To the primary destination; while it is inactive to the first active one (RFC 9260, section 6.4).
    Primary,
    /// CMT: to the destination with the most free window, `cwnd − outstanding` (leitner2019, section 3.2).
    LargestFreeWindow,
    /// CMT: chosen by this scheduler, as in MPTCP.
    Scheduler(Scheduling),
}

/// Whether destinations may take only their part of a buffer (Dreibholz et al., "Transmission Scheduling Optimizations
/// for CMT", 2010), so that a slow one does not block the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferSplitting {
    /// `none`: first come, first served.
    None,
    /// `receive`: outstanding data of a destination takes at most its part of the peer's receive buffer.
    Receive,
    /// `send`: outstanding data of a destination takes at most its part of the send buffer.
    Send,
    /// `both`.
    Both,
}

impl BufferSplitting {
    /// All, by the names that scenarios use.
    pub const ALL: &'static [Choice<Self>] = &[
        Choice::new("none", Self::None, "all paths share both buffers"),
        Choice::new("receive", Self::Receive, "each path has its share of the receive buffer"),
        Choice::new("send", Self::Send, "each path has its share of the send buffer"),
        Choice::new("both", Self::Both, "each path has its share of both"),
    ];
}
