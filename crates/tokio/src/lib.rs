//! MPTCP for tokio: streams over [`subflow_transport`]'s stack, which runs in this process and needs no MPTCP in the
//! kernel.
//!
//! A [`Stack`] sends and receives IP packets through one [`Device`] for each path: a TUN device on Linux
//! ([`TunDevice`]), a [pair in memory](pair) in tests, or any other. [`Stack::connect`] and [`Stack::listen`] give
//! [`MptcpStream`]s, which implement `AsyncRead` and `AsyncWrite`. If the peer has no MPTCP they use plain TCP.
//!
//! ```no_run
//! use subflow_tokio::{Options, Path, Stack, pair};
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//!
//! # async fn example() -> std::io::Result<()> {
//! let (wifi, _) = pair(Default::default());
//! let (lte, _) = pair(Default::default());
//! let paths = vec![Path::new(wifi, ["10.1.0.2".parse().unwrap()]), Path::new(lte, ["10.2.0.2".parse().unwrap()])];
//! let stack = Stack::new(paths, Options::default())?;
//! let mut stream = stack.connect("10.9.0.1:80".parse().unwrap()).await?;
//! stream.write_all(b"GET / HTTP/1.0\r\n\r\n").await?;
//! let mut answer = Vec::new();
//! stream.read_to_end(&mut answer).await?;
//! # Ok(())
//! # }
//! ```
//!
//! | to find | look in |
//! |---|---|
//! | connecting, listening, paths that come and go | `stack.rs`, `listener.rs` |
//! | reading, writing, closing | `stream.rs` |
//! | algorithms and buffer sizes | `options.rs` |
//! | the task that receives packets and waits for timers | `driver.rs` |
//! | one connection between its stream and the stack | `connection.rs`; its bytes: `stream_buffer.rs` |
//! | everything behind the lock | `state.rs`; packets: `transmit.rs`, `segments.rs` |
//! | devices | `device.rs`, `tun_device.rs`, `memory_device.rs` |
//!
//! Keys, nonces, ports and initial sequence numbers are the operating system's random numbers.

mod connection;
mod device;
mod driver;
mod listener;
mod memory_device;
mod options;
mod segments;
mod stack;
mod state;
mod stream;
mod stream_buffer;
mod transmit;
#[cfg(target_os = "linux")]
mod tun_device;

pub use device::{Device, Received};
pub use listener::MptcpListener;
pub use memory_device::{MemoryDevice, MemoryLink, pair};
pub use options::{Options, UnknownName};
pub use stack::{Path, Stack};
pub use stream::{MptcpStream, SubflowState};
#[cfg(target_os = "linux")]
pub use tun_device::TunDevice;
