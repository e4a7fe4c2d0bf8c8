//! The arguments of `subflow proxy`.

use std::net::SocketAddr;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Proxy {
    /// Where applications connect, by SOCKS5 or HTTP CONNECT
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:1080")]
    pub(crate) listen: SocketAddr,
    /// An interface to use, the preferred one first; may be given up to 16 times
    #[arg(long, value_name = "INTERFACE", required = true)]
    pub(crate) via: Vec<String>,
    /// The scheduler; `subflow list schedulers` names them
    #[arg(long, value_name = "NAME", default_value = "ll")]
    pub(crate) scheduler: String,
    /// The congestion control; `subflow list congestion` names them
    #[arg(long, value_name = "NAME", default_value = "lia")]
    pub(crate) congestion: String,
    /// The path manager; `subflow list path-managers` names them
    #[arg(long, value_name = "NAME", default_value = "full-mesh")]
    pub(crate) paths: String,
    /// Largest packet in bytes [default: the least MTU of the interfaces]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u16).range(1280..))]
    pub(crate) mtu: Option<u16>,
    /// Print the changes of this machine that it would make, and those that undo them
    #[arg(long)]
    pub(crate) dry_run: bool,
}
