//! The graph of switches and links that routing works on.

/// One direction of a link between two switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The switch at its start.
    pub from: u32,
    /// The switch at its end.
    pub to: u32,
    /// Propagation delay in nanoseconds.
    pub delay_nanos: u64,
}

/// The edges of a path, in order. Empty if both ends are at one switch.
pub type Path = Vec<u32>;

/// Switches, numbered from 0, and links between them.
///
/// Link `n` has two directions, the edges `2 n` and `2 n + 1`: the number of an edge XOR 1 is its opposite direction.
/// The caller chooses the link numbers. Gaps are allowed, for example for links to hosts, which are not in the graph.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    edges: Vec<Option<Edge>>,
    incoming: Vec<Vec<u32>>,
    outgoing: Vec<Vec<u32>>,
}

impl Graph {
    /// Creates `switches` switches without links.
    pub fn new(switches: usize) -> Self {
        Self { edges: Vec::new(), incoming: vec![Vec::new(); switches], outgoing: vec![Vec::new(); switches] }
    }

    /// Adds link `number` between `a` and `b`; `delays_nanos` are those of a to b, and of b to a.
    pub fn add_link(&mut self, number: u32, a: u32, b: u32, delays_nanos: [u64; 2]) {
        let edges = 2 * number as usize + 2;
        if self.edges.len() < edges {
            self.edges.resize(edges, None);
        }
        for (direction, (from, to)) in [(a, b), (b, a)].into_iter().enumerate() {
            let edge = 2 * number + direction as u32;
            self.edges[edge as usize] = Some(Edge { from, to, delay_nanos: delays_nanos[direction] });
            self.outgoing[from as usize].push(edge);
            self.incoming[to as usize].push(edge);
        }
    }

    /// The number of switches.
    pub fn switches(&self) -> usize {
        self.outgoing.len()
    }

    /// Edge `number`, which must exist.
    #[inline]
    pub fn edge(&self, number: u32) -> Edge {
        self.edges[number as usize].expect("an edge between switches")
    }

    /// One more than the largest edge number.
    pub fn edge_numbers(&self) -> usize {
        self.edges.len()
    }

    /// The edges that end at `switch`, in the order in which they were added.
    pub fn into(&self, switch: u32) -> &[u32] {
        &self.incoming[switch as usize]
    }

    /// The edges that begin at `switch`, in the order in which they were added.
    pub fn out_of(&self, switch: u32) -> &[u32] {
        &self.outgoing[switch as usize]
    }

    /// All edges.
    pub fn edges(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.edges.len() as u32).filter(|&edge| self.edges[edge as usize].is_some())
    }

    /// An empty set of links with capacity for all of them.
    pub fn no_links(&self) -> LinkSet {
        LinkSet { links: vec![false; self.edges.len().div_ceil(2)] }
    }
}

/// A set of links. It contains both directions of a link or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkSet {
    links: Vec<bool>,
}

impl LinkSet {
    /// Whether the set contains the link of `edge`.
    #[inline]
    pub fn has(&self, edge: u32) -> bool {
        // Links that were added to the graph later are not in the set.
        self.links.get(edge as usize / 2).copied().unwrap_or(false)
    }

    /// Adds or removes the link of `edge`.
    pub fn set(&mut self, edge: u32, present: bool) {
        let link = edge as usize / 2;
        if self.links.len() <= link {
            self.links.resize(link + 1, false);
        }
        self.links[link] = present;
    }

    /// Adds all links of `path`.
    pub fn add(&mut self, path: &[u32]) {
        path.iter().for_each(|&edge| self.set(edge, true));
    }

    /// Whether the set contains any link of `path`.
    pub fn meets(&self, path: &[u32]) -> bool {
        path.iter().any(|&edge| self.has(edge))
    }
}
