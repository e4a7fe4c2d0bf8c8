//! Path computation: shortest paths, equal-cost paths, and disjoint paths for the subflows of a connection.
//!
//! | to find | look in |
//! |---|---|
//! | switches and links | `graph.rs` |
//! | Dijkstra, tables of equal-cost next hops, spanning trees | `shortest_path.rs` |
//! | min-sum sets of disjoint paths | `disjoint_paths.rs` |
//! | MultiFlow: a controller that places the subflows of a connection on disjoint paths | `multiflow/` |
//! | the fields of a packet that a router uses, and ECMP: which of several next hops a flow takes | `flow.rs` |
//!
//! All of this is pure code. The routers of a simulator and an OpenFlow controller call it in the same way: given the
//! first packet of a flow, its first and its last switch, it returns the links to use.

mod disjoint_paths;
mod flow;
mod graph;
mod multiflow;
mod shortest_path;

pub use disjoint_paths::disjoint_paths;
pub use flow::{FlowKey, Signal, choose, salt, token_of};
pub use graph::{Edge, Graph, LinkSet, Path};
pub use multiflow::{InitialSubflow, Multiflow, MultiflowOptions, Request, ReturnPath, Ties};
pub use shortest_path::{Metric, NextHops, shortest_path};
