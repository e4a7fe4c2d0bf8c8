//! Switches and the links between them, as routing sees them.

/// One direction of a link between two switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The switch it leaves.
    pub from: u32,
    /// The switch it comes to.
    pub to: u32,
    /// Propagation delay in nanoseconds.
    pub delay_nanos: u64,
}

/// The edges that a packet goes over, in order. Empty where both ends are at one switch.
pub type Path = Vec<u32>;

/// Switches, numbered from 0, and links between them.
///
/// Link `n` has two directions, the edges `2 n` and `2 n + 1`: an edge's other direction is its number exclusive-or 1.
/// The numbers are the caller's; there may be gaps, such as those of links to hosts, which routing leaves out.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    edges: Vec<Option<Edge>>,
    incoming: Vec<Vec<u32>>,
    outgoing: Vec<Vec<u32>>,
}

impl Graph {
    /// `switches` switches without a link.
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

    /// How many switches there are.
    pub fn switches(&self) -> usize {
        self.outgoing.len()
    }

    /// Edge `number`, which there is.
    #[inline]
    pub fn edge(&self, number: u32) -> Edge {
        self.edges[number as usize].expect("an edge between switches")
    }

    /// One more than the greatest number of an edge.
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

    /// A set of no links, with room for all of them.
    pub fn no_links(&self) -> LinkSet {
        LinkSet { links: vec![false; self.edges.len().div_ceil(2)] }
    }
}

/// A set of links. A link is in it with both directions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkSet {
    links: Vec<bool>,
}

impl LinkSet {
    /// Whether the link of `edge` is in it.
    #[inline]
    pub fn has(&self, edge: u32) -> bool {
        self.links[edge as usize / 2]
    }

    /// Adds the link of `edge`, or takes it away.
    pub fn set(&mut self, edge: u32, present: bool) {
        self.links[edge as usize / 2] = present;
    }

    /// Adds all links of `path`.
    pub fn add(&mut self, path: &[u32]) {
        path.iter().for_each(|&edge| self.set(edge, true));
    }

    /// Whether any link of `path` is in it.
    pub fn meets(&self, path: &[u32]) -> bool {
        path.iter().any(|&edge| self.has(edge))
    }
}
