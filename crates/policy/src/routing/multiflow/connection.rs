//! The controller's state for one connection: the links that its subflows use, and disjoint paths held in reserve.

use crate::routing::{Graph, LinkSet, Path, disjoint_paths, shortest_path};

/// The topology of one connection.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    /// The links removed from its topology.
    used: LinkSet,
    /// Disjoint paths that were found together with one that is in use, with their first and last switch.
    reserve: Vec<(u32, u32, Path)>,
}

/// The input of a path search.
pub(super) struct Search<'a, W> {
    pub(super) graph: &'a Graph,
    pub(super) down: &'a LinkSet,
    /// The number of disjoint paths to search for at once.
    pub(super) set: usize,
    pub(super) weight: W,
}

impl<W: Fn(u32) -> u64 + Copy> Search<'_, W> {
    /// Disjoint paths without any link of `used`, shortest first.
    pub(super) fn paths(&self, from: u32, to: u32, used: &LinkSet) -> Vec<Path> {
        let mut banned = self.down.clone();
        self.graph.edges().filter(|&edge| used.has(edge)).for_each(|edge| banned.set(edge, true));
        match self.set {
            1 => shortest_path(self.graph, from, to, &banned, self.weight).into_iter().collect(),
            set => disjoint_paths(self.graph, from, to, set, &banned, self.weight),
        }
    }
}

impl Connection {
    pub(super) fn new(graph: &Graph) -> Self {
        Self { used: graph.no_links(), reserve: Vec::new() }
    }

    /// A path without any link that this connection uses. If there is none, its topology is reset to all links. `None`
    /// if there is no path at all.
    pub(super) fn next_path(
        &mut self,
        from: u32,
        to: u32,
        search: &Search<'_, impl Fn(u32) -> u64 + Copy>,
    ) -> Option<Path> {
        let usable = |path: &Path| !self.used.meets(path) && !search.down.meets(path);
        if let Some(at) = self.reserve.iter().position(|(a, b, path)| (*a, *b) == (from, to) && usable(path)) {
            let (.., path) = self.reserve.remove(at);
            self.used.add(&path);
            return Some(path);
        }
        let mut found = search.paths(from, to, &self.used);
        if found.is_empty() {
            *self = Self::new(search.graph);
            found = search.paths(from, to, &self.used);
        }
        let mut found = found.into_iter();
        let path = found.next()?;
        self.reserve.extend(found.map(|path| (from, to, path)));
        self.used.add(&path);
        Some(path)
    }

    /// Makes `used`, the links of its remaining subflows, the only ones that it uses.
    pub(super) fn use_only(&mut self, used: LinkSet) {
        self.used = used;
    }

    /// Marks `path` as used.
    pub(super) fn use_path(&mut self, path: &[u32]) {
        self.used.add(path);
    }
}
