//! Sans-IO endpoints: TCP, MPTCP, SCTP, QUIC and UDP as state machines that receive the time as an argument and never process
//! payload bytes.
//!
//! Two hosts that talk to each other, without a network:
//!
//! ```
//! use std::net::{Ipv4Addr, SocketAddr};
//! use std::sync::Arc;
//!
//! use rand_core::SeedableRng;
//! use rand_pcg::Pcg64Mcg;
//! use subflow_policy::congestion::Algorithm;
//! use subflow_policy::path_manager::PathManagement;
//! use subflow_policy::scheduler::Scheduling;
//! use subflow_quantity::Instant;
//! use subflow_transport::{Host, Listener, mptcp};
//!
//! let host = |last| Host::new(vec![Ipv4Addr::new(10, 0, 0, last).into()], Pcg64Mcg::seed_from_u64(last.into()));
//! let (mut client, mut server) = (host(1), host(2));
//! let config = Arc::new(mptcp::Config::new(
//!     Algorithm::from_name("lia").expect("a congestion control"),
//!     Scheduling::from_name("ll").expect("a scheduler"),
//!     PathManagement::default(),
//! ));
//! server.listen(80, Listener::Mptcp(config.clone()));
//! let ends = [SocketAddr::new(client.addresses()[0], 0), SocketAddr::new(server.addresses()[0], 80)];
//! let id = client.connect_mptcp(config, ends[0], ends[1], Instant::ZERO).expect("the port is free");
//! client.endpoint_mut(id).write(1000);
//!
//! // Packets go to and fro until there are none. A real driver also lets time pass, and calls `handle_timeout`.
//! let (now, mut accepted) = (Instant::ZERO, None);
//! loop {
//!     let sent: Vec<_> = std::iter::from_fn(|| client.poll_transmit(now, id)).collect();
//!     sent.iter().for_each(|packet| drop(server.handle_packet(now, packet)));
//!     accepted = accepted.or(server.poll_accept());
//!     let mut answers: Vec<_> = std::iter::from_fn(|| server.poll_reply()).collect();
//!     if let Some(id) = accepted {
//!         answers.extend(std::iter::from_fn(|| server.poll_transmit(now, id)));
//!     }
//!     answers.iter().for_each(|packet| drop(client.handle_packet(now, packet)));
//!     if sent.is_empty() && answers.is_empty() {
//!         break;
//!     }
//! }
//! assert_eq!(accepted.map(|id| server.endpoint(id).bytes_received()), Some(1000));
//! ```
//!
//! A [`Host`] owns [`Endpoint`]s and assigns each arriving packet to one of them. A [`tcp::Connection`] is a TCP
//! connection or an MPTCP subflow, an [`mptcp::Connection`] an MPTCP connection over several subflows, an
//! [`sctp::Association`] an SCTP association, and a [`quic::Connection`] a QUIC connection.

mod change;
mod delivery_rate;
pub mod edge;
mod endpoint;
mod ends;
mod event;
mod figures;
mod host;
mod interval_set;
mod mac;
pub mod mptcp;
mod notes;
mod path_mtu;
mod prefetch;
pub mod quic;
mod random;
mod reach;
pub mod sctp;
mod socket;
mod stream;
pub mod tcp;
pub mod udp;

pub use change::Change;
pub use endpoint::{Endpoint, blank_packet};
pub use event::Event;
pub use figures::{AbandonedMessages, Figures, PathFigures, PathState, RetransmissionsByReason};
pub use host::{ConnectError, EndpointId, Host, Limits, Listener, StatelessReply};
pub use notes::{Note, Noted, Seen, Why};
pub use random::{RandomError, RandomSource, SystemRandom};
pub use reach::Reach;
pub use udp::UdpEndpoint;
