//! Events that endpoints report to their application.

use crate::tcp::{Closed, Ends};

/// Something that happened on an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The connection is established.
    Established,
    /// The number of bytes received in order has reached the mark set with
    /// [`set_receive_mark`](crate::Endpoint::set_receive_mark).
    Received,
    /// A write that was accepted only in part may be continued.
    Writable,
    /// The peer has ended its stream.
    PeerFinished,
    /// The first bytes of a [further stream](crate::Endpoint::open_stream) can be read: its number.
    StreamBegun(u64),
    /// All of a further stream has arrived: its number.
    StreamCompleted(u64),
    /// All data written and the end of the stream are acknowledged.
    Acknowledged,
    /// The connection is over.
    Closed(Closed),
    /// A further MPTCP subflow is usable.
    SubflowEstablished(Ends),
    /// An MPTCP subflow is closed.
    SubflowClosed(Ends),
    /// The connection has fallen back to plain TCP (RFC 8684, section 3.7).
    FellBack,
}
