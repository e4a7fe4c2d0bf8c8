//! The commands, each in its own file.

mod bench;
mod check;
#[cfg(all(feature = "linux", target_os = "linux"))]
mod cleanup;
mod compare;
mod conclude;
#[cfg(feature = "conformance")]
mod conform;
mod ending_signals;
mod export;
mod journal;
#[cfg(feature = "publications")]
mod kept_runs;
mod list;
#[cfg(all(feature = "live", target_os = "linux"))]
mod live;
mod merge;
mod missing;
mod new;
#[cfg(all(feature = "linux", target_os = "linux"))]
mod on_linux;
mod prediction;
#[cfg(feature = "publications")]
mod reproduce;
mod run;
mod shell;
mod signals;
mod swept;
mod threads;
mod until;
#[cfg(all(feature = "linux", target_os = "linux"))]
mod validate;

pub(crate) use bench::bench;
pub(crate) use check::check;
#[cfg(all(feature = "linux", target_os = "linux"))]
pub(crate) use cleanup::cleanup;
pub(crate) use compare::compare;
#[cfg(feature = "conformance")]
pub(crate) use conform::conform;
pub(crate) use export::export;
pub(crate) use list::list;
#[cfg(all(feature = "live", target_os = "linux"))]
pub(crate) use live::{cc, paths, proxy, watch};
pub(crate) use merge::merge;
#[cfg(not(feature = "conformance"))]
pub(crate) use missing::conform;
#[cfg(not(all(feature = "linux", target_os = "linux")))]
use missing::on_linux;
#[cfg(not(feature = "publications"))]
pub(crate) use missing::reproduce;
#[cfg(not(all(feature = "live", target_os = "linux")))]
pub(crate) use missing::{cc, paths, proxy, watch};
#[cfg(not(all(feature = "linux", target_os = "linux")))]
pub(crate) use missing::{cleanup, validate};
pub(crate) use new::new;
#[cfg(feature = "publications")]
pub(crate) use reproduce::reproduce;
pub(crate) use run::run;
pub(crate) use shell::{completions, man, schema};
#[cfg(all(feature = "linux", target_os = "linux"))]
pub(crate) use validate::validate;
