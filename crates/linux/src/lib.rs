//! Emulation on Linux: the simulator's network in real time, between hosts that are network namespaces with the
//! kernel's own TCP and MPTCP, or our stack with real bytes.
//!
//! This crate is internal to Subflow: its items may change in any release.
//!
//! Two kernels over an emulated cable. It needs root, `/dev/net/tun` or veth devices, and Linux 5.19 or newer, with MPTCP
//! where sockets use it; [`require`] says what is missing. Therefore this example is only compiled by the tests:
//!
//! ```no_run
//! use std::net::IpAddr;
//!
//! use subflow_linux::{
//!     Emulator, Interrupt, KernelHost, KernelInterface, KernelSettings, Needs, Payload, Stream, StreamOptions,
//!     Transport, Userspace, WallClock, listen, require,
//! };
//! use subflow_network::{HostId, InterfaceId, LinkConfig, Network, PacketId, TimerId, TopologyBuilder};
//! use subflow_quantity::{Duration, Instant, Rate};
//! use subflow_wire::Dscp;
//!
//! /// All hosts are kernels: there is no stack of ours.
//! struct Nobody;
//!
//! impl Userspace for Nobody {
//!     fn handle_packet(&mut self, _: &mut Network, _: HostId, _: InterfaceId, _: PacketId, _: Payload<'_>) {}
//!     fn handle_timer(&mut self, _: &mut Network, _: TimerId) {}
//! }
//!
//! # fn main() -> subflow_linux::Result<()> {
//! let provided = require(&Needs::default())?;
//!
//! // The network of the simulator: a cable of 8 Mbit/s and 10 ms.
//! let names = ["client", "server"];
//! let addresses = [IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2])];
//! let mut topology = TopologyBuilder::new();
//! let hosts = names.map(|name| topology.host(name));
//! let interfaces = hosts.map(|host| topology.interface(host, "eth"));
//! (0..2).for_each(|end| topology.address(interfaces[end], addresses[end]));
//! let link = LinkConfig::new(Rate::from_mbit(8), Duration::from_millis(10));
//! topology.link("cable", interfaces[0], interfaces[1], link.clone(), link);
//! let network = topology.build(1).expect("a valid topology");
//!
//! // A network namespace for each host. Dropping it removes the namespace.
//! let settings = KernelSettings { device: provided.device, ..KernelSettings::default() };
//! let (mut kernels, mut devices) = (Vec::new(), Vec::new());
//! for end in 0..2 {
//!     let interface = KernelInterface { name: "eth".to_owned(), addresses: vec![addresses[end]] };
//!     let (kernel, ends) = KernelHost::create(names[end], &[interface], &settings)?;
//!     kernels.push(kernel);
//!     devices.extend(ends.into_iter().map(|device| (hosts[end], interfaces[end], device)));
//! }
//!
//! // Five bytes through both kernels, while the emulator carries their packets.
//! let options = StreamOptions {
//!     both_families: false,
//!     transport: Transport::Tcp,
//!     congestion: None,
//!     nagle: true,
//!     dscp: Dscp::DEFAULT,
//!     receive_buffer: None,
//!     send_buffer: None,
//! };
//! let interrupt = Interrupt::default();
//! let mut emulator = Emulator::new(network, Nobody, devices, WallClock::start(), interrupt.clone());
//! let listener = kernels[1].namespace().run(|| listen(&options, (addresses[1], 5001).into()))?;
//! std::thread::scope(|scope| {
//!     let transfer = scope.spawn(|| {
//!         let (local, remote) = ((addresses[0], 0).into(), (addresses[1], 5001).into());
//!         let client = kernels[0].namespace().run(|| Stream::connect(&options, local, remote, &interrupt))?;
//!         let server = Stream::accept(&listener, Transport::Tcp, &interrupt)?;
//!         let (client, server) = (client.expect("not interrupted"), server.expect("not interrupted"));
//!         client.write(b"hello").expect("the connection is open");
//!         let mut received = [0; 5];
//!         server.read(&mut received).expect("the connection is open");
//!         assert_eq!(&received, b"hello");
//!         subflow_linux::Result::Ok(())
//!     });
//!     emulator.run_while(Instant::ZERO + Duration::from_secs(5), |_, _| !transfer.is_finished())?;
//!     interrupt.raise();
//!     transfer.join().expect("the thread ends by itself")
//! })
//! # }
//! ```
//!
//! The feature `ebpf`, which is off by default, has the coupled congestion controls of [`congestion`]; building it
//! takes clang and libelf.
//!
//! | to find | look in |
//! |---|---|
//! | the event loop in real time | `emulator.rs`; how punctual it is: `punctuality.rs` |
//! | the wall clock, priorities of threads, the end of a run on request | `real_time.rs` |
//! | conversion between packets as bytes and as descriptions | `edge.rs`; their bytes: `packet_writer.rs`, `frames.rs`; `ping`: `echo.rs` |
//! | our stack on a host | `stack_host.rs` |
//! | a host that is a network namespace: devices, routes, settings | `kernel_host.rs` |
//! | network namespaces, and their removal after a crash | `namespace.rs` |
//! | files that outlive a killed process, and the identity of a network namespace in their names | `state_folder.rs` |
//! | which network namespaces exist | `census/` |
//! | what a proxy or a path manager is doing | `status.rs` |
//! | locks on files, also of processes that were killed a moment ago | `file_lock.rs`; on names: `state_lock.rs` |
//! | devices between a kernel's interface and us | `device.rs`: TUN (`tun.rs`) or veth (`veth.rs`) |
//! | switches, with their controller | `switches.rs`; their ports: `tap.rs` |
//! | addresses, routes, rules; the kernel's MPTCP endpoints | `netlink/` |
//! | path managers for the kernel's connections | `paths/` |
//! | the events of connections, read where that changes nothing | `passive_listener.rs` |
//! | kernel sockets and their state | `socket.rs`, `socket_info.rs`; without waiting, step by step: `stepped_socket.rs` |
//! | the processes that have sockets open | `socket_owners.rs` |
//! | our SCTP on a kernel's IP | `sctp_sockets.rs`; the check of what arrives: `pattern.rs` |
//! | the SCTP of programs | `sctp_traffic.rs` |
//! | the programs of a host: their PIDs, mounts and ends | `container.rs`; entered from outside: `host_namespaces.rs` |
//! | kernel counters | `counters.rs` |
//! | acknowledgments as they arrive, which the kernel's figures do not tell | `capture.rs` |
//! | coupled congestion control for kernel sockets, by eBPF | `congestion/` |
//! | requirements on the machine | `machine.rs`; what its kernel says of itself, and its settings: `kernel.rs` |
//! | all unsafe code | `sys.rs` |
//!
//! All changes happen in namespaces that this crate creates, or that [`Namespace::join`] names, except those of
//! [`congestion`] and [`paths`], which their users ask for. It never changes a route or a rule of the namespace in which
//! it was started.
#![cfg(target_os = "linux")]
// This crate needs the wall clock.
#![allow(clippy::disallowed_types)]

mod capture;
mod census;
pub mod congestion;
mod container;
mod counters;
mod device;
mod echo;
mod edge;
mod emulator;
mod error;
mod file_lock;
mod frames;
mod host_namespaces;
mod kernel;
mod kernel_host;
mod machine;
mod mount_point;
mod namespace;
pub mod netlink;
mod packet_writer;
mod passive_listener;
pub mod paths;
mod pattern;
mod process_stat;
mod punctuality;
mod real_time;
mod sctp_sockets;
mod sctp_traffic;
mod socket;
mod socket_info;
mod socket_owners;
mod stack_host;
mod state_folder;
mod state_lock;
pub mod status;
mod stepped_socket;
mod switches;
mod sys;
mod tap;
mod tun;
mod veth;

pub use capture::{Capture, Captured};
pub use census::{Census, Presence};
pub use container::{Container, User, end_group};
pub use counters::{Counters, InterfaceDrops, interface_drops};
pub use device::{Device, DeviceKind};
pub use edge::{ByteTap, Payload, Userspace};
pub use emulator::{Emulator, Wake};
pub use error::{Error, Result};
pub use file_lock::try_lock;
pub use host_namespaces::{HostNamespaces, HostProcess, leave_standard_streams, leave_terminal, pass_signals_on};
pub use kernel::{Sysctl, congestion_controls, kernel_release};
pub use kernel_host::{KernelHost, KernelInterface, KernelSettings};
pub use machine::{Needs, Provided, device_in_use, require};
pub use namespace::{Namespace, cleanup};
pub use packet_writer::PacketWriter;
pub use passive_listener::{PassiveListener, Unread};
pub use pattern::{Pattern, SctpData};
pub use punctuality::{Punctuality, Verdict};
pub use real_time::{Interrupt, Priority, WallClock, lock_memory, process_cpu_seconds};
pub use sctp_sockets::{SctpCarrier, SctpSockets};
pub use sctp_traffic::{SctpCarried, SctpTraffic};
pub use socket::{Stream, StreamOptions, listen, udp};
pub use socket_info::{ConnectionInfo, DataCounters, SubflowInfo, Transport};
pub use socket_owners::SocketOwner;
pub use stack_host::StackHost;
pub use state_folder::{NamespaceId, STATE_FOLDER, in_state_folder, is_current, remove_empty_state_folder};
pub use state_lock::{NoLock, StateLock};
pub use stepped_socket::{SteppedEvent, SteppedSocket};
pub use switches::{PortBytes, SwitchPort, Switches, is_command, require_switches};
pub use tap::{Cable, Neighbour, Tap};
pub use tun::{OFFLOAD_HEADER, Tun};
pub use veth::Veth;
