//! Results as tables, and the store of finished runs. With features, tables are also Arrow data and Parquet files.
//!
//! This crate is internal to Subflow: its items may change in any release.
//!
//! The results of a run as a table:
//!
//! ```
//! use subflow_lab::execute::execute;
//! use subflow_lab::simulate::RunOptions;
//! use subflow_scenario::builder::{FlowBuilder, LinkBuilder, ScenarioBuilder};
//! use subflow_store::tables;
//!
//! let plan = ScenarioBuilder::new("transfer")
//!     .set("duration", "10 s")
//!     .host("client", ["eth"])
//!     .host("server", ["eth"])
//!     .link("cable", LinkBuilder::between("client", "server").set("rate", "8 Mbit/s"))
//!     .flow("file", FlowBuilder::tcp("client", "server").set("send", "1 MB"))
//!     .plan()
//!     .expect("a good scenario");
//! let experiment = execute(&plan, 0, &RunOptions::default(), &|_| {}).expect("the run succeeds");
//! let csv = tables::flows(&experiment).to_csv();
//! assert!(csv.starts_with("run,point,seed,flow,") && csv.lines().count() == 2);
//! ```
//!
//! | to find | look in |
//! |---|---|
//! | which columns and metadata a table has | `tables/`; the form of tables, and CSV: `subflow_lab::table` |
//! | a table in Arrow's format, with the feature `arrow` | `arrow.rs` |
//! | a table as a Parquet file, with the feature `parquet` | `parquet.rs` |
//! | what identifies a run | `key.rs`, also what tells builds of the program apart |
//! | a run as a file, and back | `record.rs` |
//! | the folder of a store | `store.rs` |
//! | of which plans a store has runs, and how many | `planned.rs` |
//! | the runs of a store as a table | `export.rs` |
//! | which process does runs for a store, and the request to end them | `users.rs` |
//! | the runs of a plan that a store lacks; results of a plan from stores | `sweep.rs` |
//!
//! A store is a folder with a file for each finished run, named by everything that decides on its results. It is
//! written file by file while runs are done, so nothing is lost that was finished; results are made of it at the end,
//! in the order of the plan. They are therefore the same whoever did the runs, where, when and in which order.

#[cfg(feature = "arrow")]
mod arrow;
mod error;
mod export;
mod key;
#[cfg(feature = "parquet")]
mod parquet;
mod planned;
mod record;
mod store;
mod sweep;
pub mod tables;
mod users;

#[cfg(feature = "arrow")]
pub use self::arrow::to_arrow;
#[cfg(feature = "parquet")]
pub use self::parquet::to_parquet;
pub use error::StoreError;
pub use export::export;
pub use key::{Key, program_is};
pub use planned::Share;
pub use record::Record;
pub use store::Store;
pub use sweep::{Collected, Filled, Settings, collect, fill, fill_with};
pub use tables::{COMMIT, DESCRIPTION, SCENARIO, SCENARIO_SHA256, SCHEMA, UNIT, VERSION};

/// The number of the format of records and of their keys.
pub(crate) const RECORD_FORMAT: u32 = 6;
/// The version of this program. Runs of another version may have other results. So may those of another build of it,
/// which stores are told apart by: keys are the same on all machines that share a study.
pub(crate) const PROGRAM_VERSION: &str = env!("CARGO_PKG_VERSION");
