//! What the engine costs: scenarios made for measuring, and the figures that say so.

mod cost;
mod dumbbell;
mod fat_tree;

pub use cost::Cost;
pub use dumbbell::{Dumbbell, DumbbellResult};
pub use fat_tree::{FatTree, FatTreeResult};
