//! Simulations that wait for an agent at each decision: what the Gymnasium environments of the package stand on.
//!
//! A decision comes up deep inside a transport, which cannot be left and entered again. The simulation therefore has a
//! thread of its own, and meets the agent at two channels: `port.rs`. The algorithms that ask are in
//! `scheduler_agent.rs` and `congestion_agent.rs`, the class for Python in `simulation.rs`.

mod congestion_agent;
mod port;
mod scheduler_agent;
mod simulation;

pub(crate) use simulation::{Decision, Simulation};
