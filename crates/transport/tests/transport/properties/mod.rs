//! Properties of random connections, and of endpoints under arbitrary segments.

mod any_segments;
mod bounds;
mod case;
mod delivery;
pub(crate) mod disturbance;
pub(crate) mod thrown;
