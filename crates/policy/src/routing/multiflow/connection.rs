//! What a controller keeps for one connection: the links that its subflows have used, and disjoint paths in reserve.

use crate::routing::{Graph, LinkSet, Path, disjoint_paths, shortest_path};

/// One connection's own view of the topology.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    /// The links taken out of its topology.
    used: LinkSet,
    /// Disjoint paths found together with one that was taken, with the switches at their ends.
    reserve: Vec<(u32, u32, Path)>,
}

/// What a path is looked for in.
pub(super) struct Search<'a, W> {
    pub(super) graph: &'a Graph,
    pub(super) down: &'a LinkSet,
    /// How many disjoint paths are looked for at once.
    pub(super) set: usize,
    pub(super) weight: W,
}

impl<W: Fn(u32) -> u64 + Copy> Search<'_, W> {
    /// Disjoint paths without any link of `used`, shortest first.
    fn paths(&self, from: u32, to: u32, used: &LinkSet) -> Vec<Path> {
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

    /// A path without any link that this connection has used; once there is none, its topology is whole again. `None`
    /// where no path leads at all.
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

    /// A path in place of `broken`: apart from the connection's other subflows if there is one, else any.
    pub(super) fn detour(
        &mut self,
        from: u32,
        to: u32,
        broken: &[u32],
        search: &Search<'_, impl Fn(u32) -> u64 + Copy>,
    ) -> Option<Path> {
        // The healthy links of the broken path are this subflow's own, unless it shared them.
        let mut others = self.used.clone();
        broken.iter().for_each(|&edge| others.set(edge, false));
        let greedy = Search { set: 1, graph: search.graph, down: search.down, weight: search.weight };
        let apart = greedy.paths(from, to, &others).into_iter().next();
        let path = apart.or_else(|| greedy.paths(from, to, &search.graph.no_links()).into_iter().next())?;
        others.add(&path);
        self.used = others;
        Some(path)
    }
}
