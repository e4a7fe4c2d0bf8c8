//! Watching a kernel's MPTCP connections: their subflows over time, the events that the kernel reports, and which
//! subflows share a bottleneck. It changes nothing, and it shows nothing: `subflow watch` and Python do.
//!
//! This crate is internal to Subflow: its items may change in any release.
//!
//! It takes root rights and a kernel with MPTCP. Therefore this is only compiled by the tests:
//!
//! ```no_run
//! use subflow_watch::{Settings, Watcher, tables};
//! use subflow_quantity::Duration;
//!
//! let settings = Settings { duration: Some(Duration::from_secs(10)), ..Settings::default() };
//! let mut watcher = Watcher::start(settings)?;
//! let mut reports = Vec::new();
//! while let Some(look) = watcher.look(|| true)? {
//!     reports.extend(look.report);
//!     if look.is_last {
//!         break;
//!     }
//! }
//! let subflows = tables::subflows(&reports);
//! # Ok::<(), subflow_linux::Error>(())
//! ```
//!
//! | concern | file |
//! |---|---|
//! | when to look, and when to report | `watcher.rs` |
//! | connections and subflows over time | `observe.rs` |
//! | the kernel's events | `listen.rs`; what one says: `event.rs` |
//! | shared bottlenecks | `crates/lab/src/emulate/bottlenecks.rs` |
//! | a report, also as text | `report.rs` |
//! | reports as tables | `tables.rs` |
//! | a page of the whole time | `record.rs`, `record_events.rs` |
#![cfg(target_os = "linux")]

mod event;
mod listen;
mod observe;
mod record;
mod record_events;
mod report;
pub mod tables;
mod watcher;

pub use event::{Ends, Event, Reset};
pub use listen::Interval;
pub use record::Recorder;
pub use report::{Connection, Report, Subflow};
pub use subflow_lab::results::{Detection, Pair};
pub use watcher::{Look, Settings, Watcher, require};
