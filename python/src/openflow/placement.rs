//! The paths of flows in a network of switches.

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use subflow_policy::routing::{Graph, InitialSubflow, Metric, Multiflow, MultiflowOptions, Request, ReturnPath, Ties};

use super::{FirstPacket, Flow};

/// The routing of a controller: places the subflows of each MPTCP connection on disjoint paths.
///
/// Switches are numbered from 0. Link ``n`` between switches ``a`` and ``b`` has the edges ``2 n`` from a to b, and
/// ``2 n + 1`` from b to a. A path is a list of edges.
#[pyclass(module = "subflow")]
pub(crate) struct Placement {
    controller: Multiflow,
    links: Vec<(u32, u32, u32)>,
}

#[pymethods]
impl Placement {
    #[new]
    #[pyo3(signature = (*, initial="included", ties="least-loaded", disjoint_set=2, return_path="forward"))]
    fn new(initial: &str, ties: &str, disjoint_set: usize, return_path: &str) -> PyResult<Self> {
        let options = MultiflowOptions {
            initial: word("initial", initial, &INITIAL)?,
            ties: word("ties", ties, &TIES)?,
            set: disjoint_set.clamp(1, 64),
            return_path: word("return_path", return_path, &RETURN_PATHS)?,
        };
        Ok(Self { controller: Multiflow::new(Graph::new(0), options), links: Vec::new() })
    }

    /// Sets the numbers of switches and the links, ``(number, a, b)``. Links and switches that are known already must
    /// stay, with the same numbers.
    fn set_topology(&mut self, switches: u32, links: Vec<(u32, u32, u32)>) -> PyResult<()> {
        if (switches as usize) < self.controller.graph().switches() || !self.links.iter().all(|l| links.contains(l)) {
            return Err(PyValueError::new_err("a topology only grows: all known switches and links must stay"));
        }
        let mut graph = Graph::new(switches as usize);
        for &(number, a, b) in &links {
            if a.max(b) >= switches || number > MOST_LINKS {
                return Err(PyIndexError::new_err(format!("link {number}: found {a} to {b} of {switches} switches")));
            }
            graph.add_link(number, a, b, [0; 2]);
        }
        self.controller.extend(graph);
        self.links = links;
        Ok(())
    }

    /// The path of a flow with this first packet, from switch `start` to switch `end`; `None` means the default route.
    /// `random` decides between equal choices.
    fn route(&mut self, packet: &FirstPacket, start: u32, end: u32, random: u64) -> PyResult<Option<Vec<u32>>> {
        self.check_switches([start, end])?;
        let request = Request { flow: packet.flow, signal: packet.signal, from: start, to: end, random };
        Ok(self.controller.route(request))
    }

    /// The current path of a flow; `None` means the default route.
    fn path_of(&self, flow: Flow) -> Option<Vec<u32>> {
        self.controller.path_of(flow.0)
    }

    /// The token of the connection that a flow belongs to, if it is known.
    fn token_of(&self, flow: Flow) -> Option<u32> {
        self.controller.token_of_flow(flow.0)
    }

    /// Forgets a flow that has ended.
    fn forget(&mut self, flow: Flow) {
        self.controller.forget(flow.0);
    }

    /// Records the path that an earlier controller chose for a flow.
    #[pyo3(signature = (flow, start, end, path, token=None))]
    fn adopt(&mut self, flow: Flow, start: u32, end: u32, path: Vec<u32>, token: Option<u32>) -> PyResult<()> {
        self.check_switches([start, end])?;
        path.iter().try_for_each(|&edge| self.check_edge(edge))?;
        self.controller.adopt(flow.0, [start, end], path, token);
        Ok(())
    }

    /// Reports that a link failed or works again. Subflows keep their paths until `reroute`.
    fn set_down(&mut self, link: u32, down: bool) -> PyResult<()> {
        self.check_edge(2 * link)?;
        self.controller.set_down(2 * link, down);
        Ok(())
    }

    /// Sets the load of other traffic on an edge, in subflows.
    fn set_background(&mut self, edge: u32, subflows: u32) -> PyResult<()> {
        self.check_edge(edge)?;
        self.controller.set_background(edge, subflows);
        Ok(())
    }

    /// Moves the subflows on failed links to other paths, if there are any.
    fn reroute(&mut self, random: u64) {
        self.controller.reroute(random);
    }

    /// For each switch the edges on shortest paths to switch `end`, in order; links that are down are not used. With
    /// `root`, only links of the spanning tree with this root are used.
    #[pyo3(signature = (end, root=None))]
    fn next_hops(&self, end: u32, root: Option<u32>) -> PyResult<Vec<Vec<u32>>> {
        self.check_switches([end, root.unwrap_or(end)])?;
        let (graph, down) = (self.controller.graph(), self.controller.down());
        let outside = root.map(|root| graph.outside_of_tree(root, down));
        Ok(graph.next_hops(end, Metric::Hops, outside.as_ref().unwrap_or(down)).all)
    }

    /// The numbers of connections and of half-open connections in memory.
    fn connections(&self) -> (usize, usize) {
        let [known, opening] = self.controller.connections();
        (known, opening)
    }
}

/// No switch has so many ports that a network has more links.
const MOST_LINKS: u32 = 1 << 20;

impl Placement {
    fn check_switches(&self, switches: [u32; 2]) -> PyResult<()> {
        let count = self.controller.graph().switches();
        match switches.into_iter().find(|&switch| switch as usize >= count) {
            None => Ok(()),
            Some(unknown) => {
                Err(PyIndexError::new_err(format!("found switch {unknown}, expected a number below {count}")))
            }
        }
    }

    fn check_edge(&self, edge: u32) -> PyResult<()> {
        match self.links.iter().any(|&(number, ..)| number == edge / 2) {
            true => Ok(()),
            false => Err(PyIndexError::new_err(format!("there is no link {}", edge / 2))),
        }
    }
}

const INITIAL: [(&str, InitialSubflow); 3] = [
    ("included", InitialSubflow::Included),
    ("apart", InitialSubflow::Apart),
    ("default-route", InitialSubflow::DefaultRoute),
];
const TIES: [(&str, Ties); 3] = [("first", Ties::First), ("random", Ties::Random), ("least-loaded", Ties::LeastLoaded)];
const RETURN_PATHS: [(&str, ReturnPath); 2] = [("forward", ReturnPath::Forward), ("default", ReturnPath::Default)];

/// The value with the name `found`.
fn word<T: Copy>(key: &str, found: &str, known: &[(&str, T)]) -> PyResult<T> {
    known.iter().find(|(name, _)| *name == found).map(|&(_, value)| value).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        PyValueError::new_err(format!("{key}: found {found:?}, expected one of {}", names.join(", ")))
    })
}
