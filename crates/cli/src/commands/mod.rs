//! The commands, each in its own file.

#[cfg(feature = "analyze")]
mod analyze;
mod bench;
mod check;
mod compare;
#[cfg(feature = "conformance")]
mod conform;
mod ending_signals;
#[cfg(feature = "import")]
mod interchange;
mod journal;
#[cfg(feature = "publications")]
mod kept_runs;
mod list;
#[cfg(all(feature = "live", target_os = "linux"))]
mod live;
mod missing;
#[cfg(all(feature = "linux", target_os = "linux"))]
mod network;
mod new;
#[cfg(all(feature = "linux", target_os = "linux"))]
mod on_linux;
mod prediction;
mod programs;
#[cfg(feature = "publications")]
mod reproduce;
mod results;
mod run;
#[cfg(all(feature = "live", target_os = "linux"))]
pub(crate) mod run_screen;
#[cfg(feature = "serve")]
mod serve;
mod shell;
mod signals;
mod store;
mod sweep_options;
mod threads;
mod until;

#[cfg(feature = "analyze")]
pub(crate) use analyze::analyze;
pub(crate) use bench::bench;
pub(crate) use check::check;
pub(crate) use compare::compare;
#[cfg(feature = "conformance")]
pub(crate) use conform::conform;
#[cfg(feature = "import")]
pub(crate) use interchange::import;
pub(crate) use list::list;
#[cfg(all(feature = "live", target_os = "linux"))]
pub(crate) use live::{cc, paths, proxy, status, watch};
#[cfg(not(feature = "analyze"))]
pub(crate) use missing::analyze;
#[cfg(not(feature = "conformance"))]
pub(crate) use missing::conform;
#[cfg(not(feature = "import"))]
pub(crate) use missing::import;
#[cfg(not(all(feature = "linux", target_os = "linux")))]
use missing::on_linux;
#[cfg(not(feature = "publications"))]
pub(crate) use missing::reproduce;
#[cfg(not(all(feature = "live", target_os = "linux")))]
pub(crate) use missing::run_screen;
#[cfg(not(feature = "serve"))]
pub(crate) use missing::serve;
#[cfg(not(all(feature = "live", target_os = "linux")))]
pub(crate) use missing::{cc, paths, proxy, status, watch};
#[cfg(not(all(feature = "linux", target_os = "linux")))]
pub(crate) use missing::{cleanup, down, enter_shell, exec, link, ps, set, up, validate};
#[cfg(all(feature = "linux", target_os = "linux"))]
pub(crate) use network::{down, enter_shell, exec, link, ps, set, up};
pub(crate) use new::new;
#[cfg(all(feature = "linux", target_os = "linux"))]
pub(crate) use on_linux::{cleanup, validate};
#[cfg(feature = "publications")]
pub(crate) use reproduce::reproduce;
pub(crate) use run::run;
#[cfg(feature = "serve")]
pub(crate) use serve::serve;
pub(crate) use shell::{completions, man, schema};
pub(crate) use store::{export, merge};
