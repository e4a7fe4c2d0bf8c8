//! MultiFlow (Sandri, Silva, Verdi, 2016): a central controller places the subflows of a connection on disjoint paths.
//!
//! Switches send the controller the first packet of each flow. A flow with MP_CAPABLE takes the shortest path. An
//! MP_JOIN contains a token. The controller keeps a topology per token and removes the path of each join from it;
//! Dijkstra's algorithm finds the next path in the remaining links, and when there is none, the topology is reset
//! (algorithms 1 and 2 of the paper). All other packets take the default route.
//!
//! In [`MultiflowOptions`] this is [`PUBLISHED`](MultiflowOptions::PUBLISHED); the other options address its
//! weaknesses.

mod connection;
mod options;
mod real_network;
mod reroute;

use std::collections::BTreeMap;

use super::{FlowKey, Graph, LinkSet, Path, Signal, token_of};
use connection::{Connection, Search};
pub use options::{InitialSubflow, MultiflowOptions, ReturnPath, Ties};

/// The first packet of a flow.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The flow.
    pub flow: FlowKey,
    /// Its MPTCP handshake option.
    pub signal: Signal,
    /// The switch that its source is attached to.
    pub from: u32,
    /// The switch that its destination is attached to.
    pub to: u32,
    /// A random number that decides between equal choices.
    pub random: u64,
}

/// The controller.
#[derive(Clone, Debug)]
pub struct Multiflow {
    graph: Graph,
    options: MultiflowOptions,
    down: LinkSet,
    /// Per edge, the number of subflows placed on it.
    load: Vec<u32>,
    /// Per edge, the load of other traffic, in subflows.
    background: Vec<u32>,
    by_token: BTreeMap<u32, Connection>,
    /// Connections whose key is not yet known, by their initial subflow.
    opening: BTreeMap<FlowKey, Connection>,
    placed: BTreeMap<FlowKey, Placed>,
}

/// A subflow with a path of its own.
#[derive(Clone, Debug)]
struct Placed {
    path: Path,
    from: u32,
    to: u32,
    /// The connection from whose topology its path was removed.
    token: Option<u32>,
}

impl Multiflow {
    /// Creates a controller for the switches and links of `graph`.
    pub fn new(graph: Graph, options: MultiflowOptions) -> Self {
        Self {
            down: graph.no_links(),
            load: vec![0; graph.edge_numbers()],
            background: vec![0; graph.edge_numbers()],
            graph,
            options,
            by_token: BTreeMap::new(),
            opening: BTreeMap::new(),
            placed: BTreeMap::new(),
        }
    }

    /// The path of a new flow; `None` means the default route.
    pub fn route(&mut self, request: Request) -> Option<Path> {
        if let Signal::CapableReply { key } = request.signal {
            self.learn_token(request.flow.reversed(), token_of(key));
        }
        if let Some(known) = self.path_of(request.flow) {
            return Some(known);
        }
        match request.signal {
            Signal::Join { token } => self.place_join(request, token),
            Signal::Capable if self.options.initial == InitialSubflow::DefaultRoute => None,
            Signal::Capable => self.place_initial(request),
            Signal::CapableReply { .. } | Signal::None => None,
        }
    }

    /// The current path of `flow`; `None` means the default route.
    pub fn path_of(&self, flow: FlowKey) -> Option<Path> {
        if let Some(placed) = self.placed.get(&flow) {
            return Some(placed.path.clone());
        }
        match self.options.return_path {
            ReturnPath::Default => None,
            ReturnPath::Forward => {
                let forward = self.placed.get(&flow.reversed())?;
                Some(forward.path.iter().rev().map(|edge| edge ^ 1).collect())
            }
        }
    }

    /// Reports that the link of `edge` failed or works again. Subflows keep their paths until [`Self::reroute`].
    pub fn set_down(&mut self, edge: u32, down: bool) {
        self.down.set(edge, down);
    }

    fn place_join(&mut self, request: Request, token: u32) -> Option<Path> {
        let mut connection = self.by_token.remove(&token).unwrap_or_else(|| Connection::new(&self.graph));
        let path = self.next_path(&mut connection, request);
        self.by_token.insert(token, connection);
        let path = path?;
        self.place(request.flow, Placed { path: path.clone(), from: request.from, to: request.to, token: Some(token) });
        Some(path)
    }

    fn place_initial(&mut self, request: Request) -> Option<Path> {
        let mut connection = Connection::new(&self.graph);
        let path = match self.options.initial {
            InitialSubflow::Included => self.next_path(&mut connection, request),
            InitialSubflow::Apart | InitialSubflow::DefaultRoute => {
                let greedy = MultiflowOptions { set: 1, ..self.options };
                connection.next_path(request.from, request.to, &self.search(greedy, request.random))
            }
        }?;
        if self.options.initial == InitialSubflow::Included {
            self.opening.insert(request.flow, connection);
        }
        self.place(request.flow, Placed { path: path.clone(), from: request.from, to: request.to, token: None });
        Some(path)
    }

    /// Records the token of the connection that `initial` opened.
    fn learn_token(&mut self, initial: FlowKey, token: u32) {
        let Some(connection) = self.opening.remove(&initial) else { return };
        self.by_token.insert(token, connection);
        if let Some(placed) = self.placed.get_mut(&initial) {
            placed.token = Some(token);
        }
    }

    fn next_path(&self, connection: &mut Connection, request: Request) -> Option<Path> {
        connection.next_path(request.from, request.to, &self.search(self.options, request.random))
    }

    fn search(&self, options: MultiflowOptions, random: u64) -> Search<'_, impl Fn(u32) -> u64 + Copy> {
        Search {
            graph: &self.graph,
            down: &self.down,
            set: options.set,
            weight: weight(options.ties, [&self.load, &self.background], random),
        }
    }

    fn place(&mut self, flow: FlowKey, placed: Placed) {
        self.count(&placed.path, true);
        self.placed.insert(flow, placed);
    }

    fn count(&mut self, path: &[u32], more: bool) {
        for &edge in path {
            let load = &mut self.load[edge as usize];
            *load = if more { *load + 1 } else { *load - 1 };
        }
    }
}

/// The weight of an edge. Of equally short paths, the one with the smallest sum of weights is taken.
fn weight(ties: Ties, loads: [&[u32]; 2], random: u64) -> impl Fn(u32) -> u64 + Copy + use<'_> {
    move |edge| match ties {
        Ties::First => 0,
        Ties::Random => random_part(edge, random),
        // The random parts of a path's edges never add up to the weight of one subflow.
        Ties::LeastLoaded => {
            let load: u64 = loads.iter().map(|load| u64::from(load[edge as usize])).sum();
            (load << 28) + random_part(edge, random)
        }
    }
}

/// A random number below 2¹⁶ for `edge`.
fn random_part(edge: u32, random: u64) -> u64 {
    let mixed = (random ^ u64::from(edge)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 48
}

#[cfg(test)]
mod tests;
