//! Emulation on Linux: the simulator's network in real time, between hosts that are network namespaces with the
//! kernel's own TCP and MPTCP, or our stack with real bytes.
//!
//! | to find | look in |
//! |---|---|
//! | the event loop in real time | `emulator.rs`; how punctual it is: `punctuality.rs` |
//! | conversion between packets as bytes and as descriptions | `edge.rs` |
//! | our stack on a host | `station.rs` |
//! | a host that is a network namespace: devices, routes, settings | `kernel_host.rs` |
//! | network namespaces, and their removal after a crash | `namespace.rs` |
//! | devices between a kernel's interface and us | `device.rs`: TUN (`tun.rs`) or veth (`veth.rs`) |
//! | switches, with their controller | `switches.rs`; their ports: `tap.rs` |
//! | addresses, routes, rules; the kernel's MPTCP endpoints | `netlink/` |
//! | path managers for the kernel's connections | `paths/` |
//! | kernel sockets and their state | `socket.rs`, `socket_info.rs`; without waiting, step by step: `stepped_socket.rs` |
//! | our SCTP on a kernel's IP | `sctp_sockets.rs`; the check of what arrives: `sctp_data.rs` |
//! | kernel counters | `counters.rs` |
//! | acknowledgments as they arrive, which the kernel's figures do not tell | `capture.rs` |
//! | coupled congestion control for kernel sockets, by eBPF | `congestion/` |
//! | requirements on the machine | `machine.rs`; what its kernel says of itself: `kernel.rs` |
//! | all unsafe code | `sys.rs` |
//!
//! All changes happen in namespaces that this crate creates, except those of [`congestion`] and [`paths`], which their
//! users ask for. It never changes a route or a rule of the namespace in which it was started.
#![cfg(target_os = "linux")]
// This crate needs the wall clock.
#![allow(clippy::disallowed_types)]

mod buffers;
mod capture;
mod clock;
pub mod congestion;
mod counters;
mod device;
mod edge;
mod emulator;
mod error;
mod interrupt;
mod kernel;
mod kernel_host;
mod machine;
mod namespace;
pub mod netlink;
mod packet_writer;
pub mod paths;
mod pattern;
mod port_bytes;
mod priority;
mod punctuality;
mod sctp_data;
mod sctp_sockets;
mod socket;
mod socket_info;
mod station;
mod stepped_socket;
mod switches;
mod sys;
mod sysctl;
mod tap;
mod tun;
mod veth;

pub use capture::{Capture, Captured};
pub use clock::WallClock;
pub use counters::{Counters, InterfaceDrops, interface_drops};
pub use device::{Device, DeviceKind};
pub use edge::{ByteTap, Payload, Userspace};
pub use emulator::{Emulator, Wake};
pub use error::{Error, Result};
pub use interrupt::{Interrupt, ending_signals};
pub use kernel::{congestion_controls, kernel_release};
pub use kernel_host::{KernelHost, KernelInterface, KernelSettings};
pub use machine::{Needs, Provided, require};
pub use namespace::{Namespace, cleanup};
pub use packet_writer::PacketWriter;
pub use pattern::Pattern;
pub use port_bytes::PortBytes;
pub use priority::{Priority, lock_memory, process_cpu_seconds};
pub use punctuality::{Punctuality, Verdict};
pub use sctp_data::SctpData;
pub use sctp_sockets::{SctpCarrier, SctpSockets};
pub use socket::{Stream, StreamOptions, Transport, listen, udp};
pub use socket_info::{ConnectionInfo, SubflowInfo};
pub use station::Station;
pub use stepped_socket::{SteppedEvent, SteppedSocket};
pub use switches::{SwitchPort, Switches, require_switches};
pub use sysctl::Sysctl;
pub use tap::{Cable, Neighbour, Tap};
pub use tun::{OFFLOAD_HEADER, Tun};
pub use veth::Veth;
