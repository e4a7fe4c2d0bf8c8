//! Tools for this machine's connections.

mod cc;
mod logging;
pub(super) mod paths;
pub(super) mod proxy;
mod status;
mod watch;

pub(crate) use cc::cc;
pub(crate) use paths::paths;
pub(crate) use proxy::proxy;
pub(crate) use status::status;
pub(crate) use watch::watch;
