//! Which way packets go: shortest paths, equal-cost paths, and disjoint paths for the subflows of one connection.
//!
//! | to find | look in |
//! |---|---|
//! | switches and links | `graph.rs` |
//! | Dijkstra, tables of equally short ways | `shortest_path.rs` |
//! | ECMP: which of several ways a flow takes | `ecmp.rs` |
//! | min-sum sets of disjoint paths | `disjoint_paths.rs` |
//! | MultiFlow: a controller that keeps the subflows of a connection apart | `multiflow/` |
//! | what a router sees of a packet | `flow.rs` |
//!
//! Everything here is pure. A simulator's routers and an OpenFlow controller ask it the same questions: here is a flow's
//! first packet, from this switch to that one; which links?

mod disjoint_paths;
mod ecmp;
mod flow;
mod graph;
mod multiflow;
mod shortest_path;

pub use disjoint_paths::disjoint_paths;
pub use ecmp::{choose, salt};
pub use flow::{FlowKey, Signal, token_of};
pub use graph::{Edge, Graph, LinkSet, Path};
pub use multiflow::{InitialSubflow, Multiflow, MultiflowOptions, Request, ReturnPath, Ties};
pub use shortest_path::{Metric, Towards, shortest_path};
