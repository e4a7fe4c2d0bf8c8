//! Benchmarks of the engine: their scenarios and results.

mod acknowledgments;
mod cost;
mod dumbbell;
mod fat_tree;
#[cfg(all(target_os = "linux", feature = "linux"))]
mod tun;

pub use cost::{Clock, Cost};
pub use dumbbell::{BulkProtocol, Dumbbell, DumbbellResult};
pub use fat_tree::{FatTree, FatTreeResult};
#[cfg(all(target_os = "linux", feature = "linux"))]
pub use tun::{TunResult, TunThroughput};
