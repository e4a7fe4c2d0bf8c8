//! Sans-IO endpoints: TCP, MPTCP, SCTP and UDP as state machines that are told the time and never touch bytes.
//!
//! A [`Host`] owns [`Endpoint`]s and finds the one that a packet belongs to; [`tcp::Connection`] is one TCP connection
//! or MPTCP subflow, [`mptcp::Connection`] an MPTCP connection over several of them; [`sctp::Association`] is an SCTP
//! association.

pub mod edge;
mod endpoint;
mod event;
mod host;
mod interval_set;
mod mac;
pub mod mptcp;
mod random;
pub mod sctp;
mod stream;
pub mod tcp;
pub mod udp;

pub use endpoint::{Endpoint, blank_packet};
pub use event::Event;
pub use host::{ConnectError, EndpointId, Host, Limits, Listener};
pub use random::{RandomError, RandomSource, SystemRandom};
pub use udp::UdpEndpoint;
