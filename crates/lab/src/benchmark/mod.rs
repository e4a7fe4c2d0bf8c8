//! Benchmarks of the engine: their scenarios and results.

mod acknowledgments;
mod cost;
mod dumbbell;
mod fat_tree;
#[cfg(target_os = "linux")]
mod tun;

pub use cost::{Clock, Cost};
pub use dumbbell::{BulkProtocol, Dumbbell, DumbbellResult};
pub use fat_tree::{FatTree, FatTreeResult};
#[cfg(target_os = "linux")]
pub use tun::{TunResult, TunThroughput};
