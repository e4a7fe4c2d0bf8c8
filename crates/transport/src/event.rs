//! What endpoints tell their application.

use crate::tcp::{Closed, Ends};

/// Something that happened on an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The connection is established.
    Established,
    /// The number of bytes received in order has reached the mark set with
    /// [`set_receive_mark`](crate::Endpoint::set_receive_mark).
    Received,
    /// A write that was cut short may be tried again.
    Writable,
    /// The peer will send no more.
    PeerFinished,
    /// Everything written, and the end of the stream, has been acknowledged.
    Acknowledged,
    /// The connection is over.
    Closed(Closed),
    /// A further MPTCP subflow is usable.
    SubflowEstablished(Ends),
    /// An MPTCP subflow is gone.
    SubflowClosed(Ends),
    /// The connection goes on as plain TCP (RFC 8684, section 3.7).
    FellBack,
}
