//! Tools for this machine's connections.

mod cc;
pub(super) mod paths;
pub(super) mod proxy;
mod watch;

pub(crate) use cc::cc;
pub(crate) use paths::paths;
pub(crate) use proxy::proxy;
pub(crate) use watch::watch;
