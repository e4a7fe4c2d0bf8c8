//! `subflow proxy`: SOCKS5 and HTTP CONNECT in, MPTCP over several interfaces out, or multipath QUIC to a server of ours.
//!
//! This crate is internal to Subflow: its items may change in any release.
//!
//! What a proxy would change on the machine can be asked without root rights:
//!
//! ```
//! use subflow_proxy::{Options, Settings, dry_run};
//!
//! let settings = Settings {
//!     listen: "127.0.0.1:1080".parse().expect("an address"),
//!     via: vec!["wlan0".to_owned(), "wwan0".to_owned()],
//!     options: Options::named("olia", "blest", "single-mesh").expect("they exist"),
//! };
//! match dry_run(&settings) {
//!     Ok(commands) => print!("{commands}"),
//!     // Without these interfaces it says which there are.
//!     Err(error) => eprintln!("{error}"),
//! }
//! ```
//!
//! Running it takes Linux, root, `/dev/net/tun`, and nft or iptables. Therefore this is only compiled by the tests:
//!
//! ```no_run
//! # use subflow_proxy::{Options, Settings, run};
//! # let (listen, via) = ("127.0.0.1:1080".parse().unwrap(), vec!["wlan0".to_owned(), "wwan0".to_owned()]);
//! # let settings = Settings { listen, via, options: Options::default() };
//! // Until SIGINT (2) or SIGTERM (15); then all changes are undone.
//! run(&settings, [2, 15], |line| eprintln!("{line}"))?;
//! # Ok::<(), subflow_proxy::Error>(())
//! ```
//!
//! | to find | look in |
//! |---|---|
//! | what a client asks for | `request.rs`: SOCKS5 (`socks.rs`), HTTP CONNECT (`http.rs`) |
//! | where it may go | `destination.rs` |
//! | one client: name resolution, connecting, copying | `session.rs` |
//! | the proxy from start to end | `serve.rs` |
//! | accepting clients, and how many there may be | `clients.rs`, `open_files.rs` |
//! | following the interfaces | `paths.rs` |
//! | a tunnel to a server of ours by multipath QUIC | the table at the top of `tunnel/mod.rs` |
//! | what a running proxy says about itself | `status.rs` |
//! | what is changed on the machine, and how it is undone | `machine/`: `plan.rs`, `firewall.rs`, `step.rs`, `journal.rs`, `pending.rs` |
//! | interfaces, their addresses and routes; their changes | `machine/interface.rs`, `machine/changes.rs` |
#![cfg(target_os = "linux")]

mod clients;
mod destination;
mod error;
mod http;
mod machine;
mod open_files;
mod paths;
mod request;
mod serve;
mod session;
mod socks;
mod status;
pub mod tunnel;

pub use error::{CommandFailure, Error, Result};
pub use machine::cleanup;
pub use serve::{Settings, dry_run, run};
pub use subflow_tokio::{Options, UnknownName};
