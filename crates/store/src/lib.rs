//! Results as Arrow tables and Parquet files, and the store of finished runs.
//!
//! The results of a run as a table:
//!
//! ```
//! use subflow_lab::execute::execute;
//! use subflow_lab::simulate::RunOptions;
//! use subflow_scenario::builder::{FlowBuilder, LinkBuilder, ScenarioBuilder};
//! use subflow_store::{tables, to_csv};
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
//! let csv = to_csv(&tables::flows(&experiment));
//! assert!(csv.starts_with("run,point,seed,flow,") && csv.lines().count() == 2);
//! ```
//!
//! | to find | look in |
//! |---|---|
//! | which columns a table has | `tables/`; how columns are built: `columns.rs` |
//! | a table with its name | `table.rs`; as a Parquet file: `parquet.rs`, as CSV: `csv.rs` |
//! | what identifies a run | `key.rs`; what tells builds of the program apart: `program.rs` |
//! | a run as a Parquet file, and back | `record.rs` |
//! | the folder of a store | `store.rs` |
//! | the runs of a plan that a store lacks; results of a plan from stores | `sweep.rs` |
//!
//! A store is a folder with a file for each finished run, named by everything that decides on its results. It is
//! written file by file while runs are done, so nothing is lost that was finished; results are made of it at the end,
//! in the order of the plan. They are therefore the same whoever did the runs, where, when and in which order.

mod columns;
mod csv;
mod error;
mod key;
mod parquet;
mod program;
mod record;
mod store;
mod sweep;
mod table;
pub mod tables;

pub use self::csv::to_csv;
pub use self::parquet::to_parquet;
pub use error::StoreError;
pub use key::Key;
pub use program::program_is;
pub use record::Record;
pub use store::Store;
pub use sweep::{Collected, Filled, Settings, collect, fill, fill_with};
pub use table::{COMMIT, DESCRIPTION, SCENARIO, SCENARIO_SHA256, SCHEMA, Table, UNIT, VERSION};
