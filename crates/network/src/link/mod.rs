//! Links.

mod change;
mod config;

pub use change::LinkChange;
pub use config::{LinkConfig, LossPosition, Reordering, Service};
