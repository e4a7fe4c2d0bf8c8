//! Routing, observed by packets: MPTCP handshakes are sent through a network, and the tests check which links they use.

mod ecmp;
mod failures;
mod graphs;
mod multiflow;
mod testbed;
