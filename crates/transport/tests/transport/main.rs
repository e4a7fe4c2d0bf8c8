//! TCP and MPTCP between two hosts: stories of one connection each, and properties over random ones.

#![allow(unreachable_pub, reason = "a test binary has no outside")]

mod harness;
mod host;
mod mptcp;
mod properties;
mod quic;
mod sctp;
mod tcp;
