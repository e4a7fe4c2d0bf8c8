//! Bytes and packets: golden bytes, properties, and what tshark reads. One program, which takes less to compile than one
//! for each file.

mod common;
mod icmp;
mod mptcp_options;
mod packets;
mod pcapng;
mod properties;
mod quic;
mod quic_properties;
mod sctp;
mod sctp_properties;
mod tcp_options;
mod tshark;
