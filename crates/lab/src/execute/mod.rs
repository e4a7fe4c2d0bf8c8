//! Distributes jobs over the cores and returns their results in order.

mod batch;
mod cpu_time;
mod error;
mod pool;
mod stop;

pub use batch::{run_all, run_cells};
pub use cpu_time::CpuTimer;
pub use error::RunError;
pub use pool::{Progress, execute, execute_with};
pub use stop::Stop;
