//! The protocols of flows by name, and the keys that belong to one of them.

use subflow_policy::catalogue::Choice;

/// A protocol by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProtocolName {
    Tcp,
    Mptcp,
    Sctp,
    Quic,
    Mpquic,
    Udp,
}

impl ProtocolName {
    pub(crate) const ALL: [Choice<Self>; 6] = [
        Choice::new("tcp", Self::Tcp, "one connection over one path").source("RFC 9293"),
        Choice::new("mptcp", Self::Mptcp, "one connection over several subflows").source("RFC 8684"),
        Choice::new("sctp", Self::Sctp, "one association over one path, or with cmt over several at once")
            .source("RFC 9260"),
        Choice::new("quic", Self::Quic, "a connection over one path").source("RFC 9000"),
        Choice::new("mpquic", Self::Mpquic, "a QUIC connection over several paths")
            .source("draft-ietf-quic-multipath-21"),
        Choice::new("udp", Self::Udp, "packets at a constant rate, with pauses").source("RFC 768"),
    ];

    /// The keys that only its flows have. A flow with another protocol may have them in the file, so that a sweep over
    /// protocols is possible.
    pub(crate) const fn own_keys(self) -> &'static [&'static str] {
        match self {
            Self::Mptcp => &["path_manager", "bottleneck", "coupling", "subflows", "mptcp"],
            Self::Sctp => &["primary", "sctp"],
            Self::Quic => &["quic"],
            Self::Mpquic => &["path_manager", "bottleneck", "coupling", "subflows", "quic"],
            Self::Tcp | Self::Udp => &[],
        }
    }

    /// Its name in a scenario.
    pub(crate) fn name(self) -> &'static str {
        Self::ALL.iter().find(|choice| choice.value == self).map_or("", |choice| choice.description.name)
    }

    /// Whether its connections may have several streams that an application uses.
    pub(crate) const fn has_streams(self) -> bool {
        matches!(self, Self::Quic | Self::Mpquic)
    }

    /// Whether it has no algorithms and takes no keys of other protocols.
    pub(crate) const fn is_udp(self) -> bool {
        matches!(self, Self::Udp)
    }

    /// Whether its connections have one path, and nothing to schedule, whatever their configuration.
    pub(crate) const fn has_one_path(self) -> bool {
        matches!(self, Self::Tcp | Self::Quic)
    }
}
