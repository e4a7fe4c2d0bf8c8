//! Options that change during a connection.

use subflow_quantity::Duration;

use crate::tcp::config::AckPolicy;

/// An option that may change during a connection, as socket options do. It applies from the next decision on; a timer
/// that runs is not set anew, but for HEARTBEATs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Whether a segment or packet that is not full waits while data is outstanding (off: `TCP_NODELAY`,
    /// `SCTP_NODELAY`).
    Nagle(bool),
    /// When TCP acknowledges (`TCP_QUICKACK`).
    Acknowledgments(AckPolicy),
    /// Consecutive timeouts of TCP before the connection is closed (`TCP_USER_TIMEOUT`, in timeouts).
    Retries(u32),
    /// The interval of SCTP's HEARTBEATs; `None` disables them (`SCTP_PEER_ADDR_PARAMS`).
    Heartbeats(Option<Duration>),
    /// Path.Max.Retrans (`SCTP_PEER_ADDR_PARAMS`).
    PathRetries(u32),
    /// Association.Max.Retrans (`SCTP_ASSOCINFO`).
    AssociationRetries(u32),
    /// SACK.Delay, at most 500 ms (RFC 9260, section 6.2; `SCTP_DELAYED_SACK`).
    SackDelay(Duration),
}
