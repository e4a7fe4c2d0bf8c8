//! Algorithms without a network: congestion controls, detectors of shared bottlenecks, and a queue of another crate.

mod bottleneck;
mod congestion;
mod queue;
