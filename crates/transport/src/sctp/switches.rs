//! The switches of concurrent multipath transfer, by the names that scenarios use.

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
    /// The names of all modes.
    pub const NAMES: &'static [&'static str] = &["rfc4960", "rfc9260", "cuc", "cuc-v2", "per-destination"];

    /// The mode of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "rfc4960" => Self::Rfc4960,
            "rfc9260" => Self::Rfc9260,
            "cuc" => Self::Cuc(CucVersion::One),
            "cuc-v2" => Self::Cuc(CucVersion::Two),
            "per-destination" => Self::PerDestination,
            _ => return None,
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rfc4960 => "rfc4960",
            Self::Rfc9260 => "rfc9260",
            Self::Cuc(CucVersion::One) => "cuc",
            Self::Cuc(CucVersion::Two) => "cuc-v2",
            Self::PerDestination => "per-destination",
        }
    }

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
    /// The names of both.
    pub const NAMES: &'static [&'static str] = &["association", "destination"];

    /// The scope of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "association" => Some(Self::Association),
            "destination" => Some(Self::Destination),
            _ => None,
        }
    }
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
    /// The names of all policies.
    pub const NAMES: &'static [&'static str] =
        &["rtx-alternate", "rtx-same", "rtx-asap", "rtx-cwnd", "rtx-ssthresh", "rtx-lossrate"];

    /// The policy of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "rtx-alternate" => Self::Alternate,
            "rtx-same" => Self::Same,
            "rtx-asap" => Self::Asap,
            "rtx-cwnd" => Self::LargestWindow,
            "rtx-ssthresh" => Self::LargestThreshold,
            "rtx-lossrate" => Self::LowestLossRate,
            _ => return None,
        })
    }
}

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
    /// The names of all.
    pub const NAMES: &'static [&'static str] = &["none", "receive", "send", "both"];

    /// The splitting of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "none" => Self::None,
            "receive" => Self::Receive,
            "send" => Self::Send,
            "both" => Self::Both,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_understood() {
        for name in WindowGrowth::NAMES {
            assert_eq!(WindowGrowth::from_name(name).map(WindowGrowth::name), Some(*name));
        }
        assert!(RetransmissionPolicy::NAMES.iter().all(|name| RetransmissionPolicy::from_name(name).is_some()));
        assert!(RecoveryScope::NAMES.iter().all(|name| RecoveryScope::from_name(name).is_some()));
        assert!(BufferSplitting::NAMES.iter().all(|name| BufferSplitting::from_name(name).is_some()));
        assert!(WindowGrowth::from_name("CUC").is_none() && RetransmissionPolicy::from_name("same").is_none());
    }
}
