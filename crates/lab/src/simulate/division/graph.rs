//! A network as the partition sees it.

/// Nodes, first hosts, then routers, with their links and expected work.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    pub(super) hosts: usize,
    /// The expected work of each node.
    pub(super) weights: Vec<u64>,
    pub(super) links: Vec<Link>,
    /// Nodes that must be in the same part.
    pub(super) joined: Vec<[usize; 2]>,
}

/// A link of both directions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) ends: [usize; 2],
    /// Its shorter delay in nanoseconds; zero if it cannot be between two parts.
    pub(super) delay: u64,
}

/// The work of one end of a flow. All flows count the same.
const FLOW_END: u64 = 1000;

impl Graph {
    pub(super) fn new(hosts: usize, routers: usize) -> Self {
        Self { hosts, weights: vec![0; hosts + routers], links: Vec::new(), joined: Vec::new() }
    }

    pub(super) fn add_link(&mut self, ends: [usize; 2], delay: u64) {
        self.links.push(Link { ends, delay });
    }

    /// Keeps two nodes together.
    pub(super) fn join(&mut self, ends: [usize; 2]) {
        self.joined.push(ends);
    }

    pub(super) fn add_flow(&mut self, hosts: [usize; 2]) {
        hosts.iter().for_each(|&host| self.weights[host] += FLOW_END);
    }

    /// Sets the work of routers: together half that of the hosts, by their number of links.
    pub(super) fn weigh_routers(&mut self) {
        let mut links = vec![0u64; self.weights.len()];
        self.links.iter().flat_map(|link| link.ends).for_each(|node| links[node] += 1);
        let of_hosts: u64 = self.weights[..self.hosts].iter().sum();
        let all_links: u64 = links[self.hosts..].iter().sum();
        for (weight, links) in self.weights.iter_mut().zip(links).skip(self.hosts) {
            *weight = of_hosts * links / (2 * all_links).max(1);
        }
    }
}

/// Sets of nodes that stay together.
#[derive(Clone, Debug)]
pub(super) struct Clusters {
    /// The cluster of each node.
    pub(super) of_node: Vec<usize>,
    pub(super) weights: Vec<u64>,
    /// The clusters at the other ends of the links of each cluster.
    pub(super) neighbours: Vec<Vec<usize>>,
}

impl Clusters {
    /// Joins what must be joined, and the ends of links with a delay shorter than `shortest`.
    pub(super) fn of(graph: &Graph, shortest: u64) -> Self {
        let mut parents: Vec<usize> = (0..graph.weights.len()).collect();
        let short = graph.links.iter().filter(|link| link.delay < shortest).map(|link| link.ends);
        for [a, b] in short.chain(graph.joined.iter().copied()) {
            let (a, b) = (root(&mut parents, a), root(&mut parents, b));
            parents[a.max(b)] = a.min(b);
        }
        let mut numbers = vec![usize::MAX; parents.len()];
        let (mut of_node, mut weights) = (Vec::new(), Vec::new());
        for node in 0..parents.len() {
            let first = root(&mut parents, node);
            if first == node {
                numbers[node] = weights.len();
                weights.push(0);
            }
            of_node.push(numbers[first]);
            weights[numbers[first]] += graph.weights[node];
        }
        let mut neighbours = vec![Vec::new(); weights.len()];
        for [a, b] in graph.links.iter().map(|link| link.ends.map(|node| of_node[node])) {
            if a != b {
                neighbours[a].push(b);
                neighbours[b].push(a);
            }
        }
        Self { of_node, weights, neighbours }
    }
}

/// The first node of the set of `node`.
fn root(parents: &mut [usize], mut node: usize) -> usize {
    while parents[node] != node {
        parents[node] = parents[parents[node]];
        node = parents[node];
    }
    node
}
