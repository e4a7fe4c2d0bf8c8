//! What a controller of real switches needs: switches are found and flows end while it runs, other traffic is measured,
//! and subflows may have been placed before it was started.

use super::{Connection, FlowKey, Graph, Multiflow, Path, Placed};

impl Multiflow {
    /// Replaces the graph by one that has all of its switches and links, with the same numbers, and more.
    ///
    /// # Panics
    ///
    /// If a subflow uses a link that `graph` does not have.
    pub fn extend(&mut self, graph: Graph) {
        let edges = graph.edge_numbers();
        assert!(edges >= self.load.len(), "a graph is extended by one that has all of its links");
        self.load.resize(edges, 0);
        self.background.resize(edges, 0);
        self.graph = graph;
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The links that are down.
    pub fn down(&self) -> &super::LinkSet {
        &self.down
    }

    /// Sets the load of traffic that the controller did not place on `edge`, in subflows: `LeastLoaded` adds it to the
    /// number of subflows. Default: 0.
    pub fn set_background(&mut self, edge: u32, subflows: u32) {
        self.background[edge as usize] = subflows;
    }

    /// Forgets `flow`, which has ended. Its links are free for later subflows of its connection, unless others of them
    /// use these links, too. A connection without subflows is forgotten.
    pub fn forget(&mut self, flow: FlowKey) {
        self.opening.remove(&flow);
        let Some(Placed { path, token, .. }) = self.placed.remove(&flow) else { return };
        self.count(&path, false);
        let Some(token) = token else { return };
        let mut siblings = self.placed.values().filter(|placed| placed.token == Some(token)).peekable();
        if siblings.peek().is_none() {
            self.by_token.remove(&token);
        } else if let Some(connection) = self.by_token.get_mut(&token) {
            let mut used = self.graph.no_links();
            siblings.for_each(|placed| used.add(&placed.path));
            connection.use_only(used);
        }
    }

    /// Records that `flow` is on `path`, which an earlier controller chose; `token` is that of its connection, if known.
    pub fn adopt(&mut self, flow: FlowKey, [from, to]: [u32; 2], path: Path, token: Option<u32>) {
        if self.placed.contains_key(&flow) {
            return;
        }
        if let Some(token) = token {
            let connection = self.by_token.entry(token).or_insert_with(|| Connection::new(&self.graph));
            connection.use_path(&path);
        }
        self.place(flow, Placed { path, from, to, token });
    }

    /// The token of the connection of `flow`, if it has a path and the token is known.
    pub fn token_of_flow(&self, flow: FlowKey) -> Option<u32> {
        self.placed.get(&flow)?.token
    }

    /// The number of connections and of half-open connections in memory.
    pub fn connections(&self) -> [usize; 2] {
        [self.by_token.len(), self.opening.len()]
    }
}
