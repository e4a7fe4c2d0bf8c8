//! What the engine costs: scenarios made for measuring, and the figures that say so.

mod dumbbell;

pub use dumbbell::{Dumbbell, DumbbellResult};
