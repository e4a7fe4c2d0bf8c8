//! The arguments of the tools for this machine's connections.

mod cc;
pub(crate) mod paths;
mod proxy;
mod watch;

pub(crate) use cc::{Cc, CcAction, CcNames};
pub(crate) use paths::Paths;
pub(crate) use proxy::Proxy;
pub(crate) use watch::Watch;
