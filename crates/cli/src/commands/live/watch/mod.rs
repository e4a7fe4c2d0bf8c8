//! `subflow watch`: the MPTCP connections of this machine, and which of their subflows share a bottleneck.

#[cfg(target_os = "linux")]
mod detect;
#[cfg(target_os = "linux")]
mod event;
#[cfg(target_os = "linux")]
mod listen;
#[cfg(target_os = "linux")]
mod observe;
#[cfg(target_os = "linux")]
mod record;
#[cfg(target_os = "linux")]
mod record_events;
#[cfg(target_os = "linux")]
mod report;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod screen;

#[cfg(target_os = "linux")]
pub(crate) use run::watch;

#[cfg(not(target_os = "linux"))]
pub(crate) fn watch(_: &crate::arguments::Watch) -> Result<(), crate::failure::Failure> {
    Err(super::on_linux::only_linux())
}
