//! `subflow paths`: the path managers of the simulator for this machine's MPTCP connections.

#[cfg(target_os = "linux")]
mod configuration;
#[cfg(target_os = "linux")]
mod daemon;
#[cfg(target_os = "linux")]
mod logging;

#[cfg(target_os = "linux")]
pub(crate) use daemon::{cleanup, paths};

#[cfg(not(target_os = "linux"))]
pub(crate) fn paths(_: &crate::arguments::Paths) -> Result<(), crate::failure::Failure> {
    Err(super::on_linux::only_linux())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn cleanup(_: &mut dyn FnMut(&str)) -> Result<(), crate::failure::Failure> {
    Ok(())
}
