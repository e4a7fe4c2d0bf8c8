//! MPTCP for tokio: streams over [`subflow_transport`]'s stack, which runs in this process and needs no MPTCP in the
//! kernel. With the feature `quic` also QUIC, over UDP sockets: see the module `quic`.
//!
//! This crate is internal to Subflow: its items may change in any release.
//!
//! A [`Stack`] sends and receives IP packets through one [`Device`] for each path: a TUN device on Linux
//! ([`TunDevice`]), a [pair in memory](pair) in tests, or any other. [`Stack::connect`] and [`Stack::listen`] give
//! [`MptcpStream`]s, which implement `AsyncRead` and `AsyncWrite`. If the peer has no MPTCP they use plain TCP.
//!
//! ```
//! use subflow_tokio::{MemoryLink, Options, Path, Stack, pair};
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//!
//! # #[tokio::main]
//! # async fn main() -> std::io::Result<()> {
//! // Two paths. On a machine the devices would be those of `TunDevice::create("wifi")`, which takes root.
//! let ((wifi, wifi_end), (lte, lte_end)) = (pair(MemoryLink::default()), pair(MemoryLink::default()));
//! let address = |text: &str| [text.parse().expect("an address")];
//! let client = vec![Path::new(wifi, address("10.1.0.1")), Path::new(lte, address("10.2.0.1"))];
//! let server = vec![Path::new(wifi_end, address("10.1.0.2")), Path::new(lte_end, address("10.2.0.2"))];
//! let (client, server) = (Stack::new(client, Options::default())?, Stack::new(server, Options::default())?);
//!
//! let listener = server.listen(80)?;
//! let mut request = client.connect("10.1.0.2:80".parse().expect("an address")).await?;
//! let (mut answer, _) = listener.accept().await?;
//! request.write_all(b"GET / HTTP/1.0\r\n\r\n").await?;
//! let mut received = [0; 18];
//! answer.read_exact(&mut received).await?;
//! assert_eq!(&received[..5], b"GET /");
//! # Ok(())
//! # }
//! ```
//!
//! | to find | look in |
//! |---|---|
//! | connecting, listening, paths that come and go | `stack.rs`, `listener.rs` |
//! | reading, writing, closing | `stream.rs` |
//! | the state of connections and subflows; what ended ones carried | `figures.rs`; `carried.rs` |
//! | algorithms and buffer sizes | `options.rs` |
//! | the task that receives packets and waits for timers | `driver.rs`; what it shares with QUIC's: `shared.rs` |
//! | one connection between its stream and the stack | `connection.rs`; its bytes: `stream_buffer.rs` |
//! | everything behind the lock | `state.rs`; packets: `transmit.rs`, `segments.rs` |
//! | QUIC over UDP sockets, with the feature `quic` | the table at the top of `quic/mod.rs` |
//! | devices, paths | `device.rs`, `tun_device.rs`, `memory_device.rs` |
//!
//! Keys, nonces, ports and initial sequence numbers are the operating system's random numbers.

mod carried;
mod connection;
mod device;
mod driver;
mod figures;
mod listener;
mod memory_device;
mod options;
#[cfg(feature = "quic")]
pub mod quic;
mod shared;
mod stack;
mod state;
mod stream;
mod stream_buffer;
mod transmit;
#[cfg(target_os = "linux")]
mod tun_device;

pub use carried::CarriedBytes;
pub use device::{Device, Path, Received};
pub use figures::{ConnectionState, SubflowState};
pub use listener::MptcpListener;
pub use memory_device::{MemoryDevice, MemoryLink, pair};
pub use options::{Options, UnknownName};
pub use stack::Stack;
pub use stream::MptcpStream;
#[cfg(target_os = "linux")]
pub use tun_device::TunDevice;
