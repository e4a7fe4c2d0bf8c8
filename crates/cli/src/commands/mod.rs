//! The commands, each in its own file.

mod bench;
mod cc;
mod check;
mod cleanup;
mod conform;
mod journal;
mod list;
mod merge;
mod new;
mod on_linux;
mod paths;
mod prediction;
mod proxy;
mod reproduce;
mod run;
mod shell;
mod swept;
mod threads;
mod validate;
mod watch;

pub(crate) use bench::bench;
pub(crate) use cc::cc;
pub(crate) use check::check;
pub(crate) use cleanup::cleanup;
pub(crate) use conform::conform;
pub(crate) use list::list;
pub(crate) use merge::merge;
pub(crate) use new::new;
pub(crate) use paths::paths;
pub(crate) use proxy::proxy;
pub(crate) use reproduce::reproduce;
pub(crate) use run::run;
pub(crate) use shell::{completions, man, schema};
pub(crate) use validate::validate;
pub(crate) use watch::watch;
