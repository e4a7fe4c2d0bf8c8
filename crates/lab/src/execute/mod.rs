//! Distributes jobs over the cores and returns their results in order.

mod batch;
mod pool;
mod probe;

pub use batch::{run_all, run_cells};
pub use pool::{Progress, execute, execute_with, keeps_series, run_job, run_job_with};
pub use probe::{Probe, probe};
