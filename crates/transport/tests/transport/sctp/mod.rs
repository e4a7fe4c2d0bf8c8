//! Stories of SCTP associations.

mod any_chunks;
mod buffers;
mod ecn;
mod handshake;
mod heartbeats;
mod hostile_data;
mod hostile_sacks;
mod init;
mod kernel_switches;
mod linux;
mod multipath;
mod path_failure;
mod properties;
mod reliability;
mod shutdown;
mod transfer;
mod verification_tags;
mod wrong_tags;
