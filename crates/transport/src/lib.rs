//! Sans-IO endpoints: TCP, MPTCP, SCTP and UDP as state machines that receive the time as an argument and never process
//! payload bytes.
//!
//! A [`Host`] owns [`Endpoint`]s and assigns each arriving packet to one of them. A [`tcp::Connection`] is a TCP
//! connection or an MPTCP subflow, an [`mptcp::Connection`] an MPTCP connection over several subflows, and an
//! [`sctp::Association`] an SCTP association.

mod change;
pub mod edge;
mod endpoint;
mod event;
mod host;
mod interval_set;
mod mac;
pub mod mptcp;
mod notes;
mod path_mtu;
mod prefetch;
mod random;
pub mod sctp;
mod stream;
pub mod tcp;
pub mod udp;

pub use change::Change;
pub use endpoint::{Endpoint, blank_packet};
pub use event::Event;
pub use host::{ConnectError, EndpointId, Host, Limits, Listener};
pub use notes::{Note, Noted, Seen, Why};
pub use random::{RandomError, RandomSource, SystemRandom};
pub use udp::UdpEndpoint;
