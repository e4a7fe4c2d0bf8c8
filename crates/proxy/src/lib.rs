//! `subflow proxy`: SOCKS5 and HTTP CONNECT in, MPTCP over several interfaces out.
//!
//! | to find | look in |
//! |---|---|
//! | what a client asks for | `request.rs`: SOCKS5 (`socks.rs`), HTTP CONNECT (`http.rs`) |
//! | one client: name resolution, connecting, copying | `session.rs` |
//! | the proxy from start to end | `serve.rs` |
//! | what is changed on the machine, and how it is undone | `machine/`: `plan.rs`, `firewall.rs`, `step.rs`, `journal.rs` |
//! | interfaces, their addresses and routes; their changes | `machine/interface.rs`, `machine/changes.rs` |
#![cfg(target_os = "linux")]

mod error;
mod http;
mod machine;
mod request;
mod serve;
mod session;
mod socks;

pub use error::{Error, Result};
pub use machine::cleanup;
pub use serve::{Settings, dry_run, run};
pub use subflow_tokio::{Options, UnknownName};
