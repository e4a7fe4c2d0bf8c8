//! A network, whatever file it comes from.

use subflow_quantity::{Duration, Packets, Probability, Rate};

use crate::ImportError;

/// Nodes and links, with what the file says of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Network {
    /// What the file is, and the network's own name: `GraphML: Abilene`.
    pub title: String,
    /// The nodes, in the order of the file.
    pub nodes: Vec<Node>,
    /// The links, in the order of the file.
    pub links: Vec<Link>,
    /// The demands between nodes; most files have none.
    pub demands: Vec<Demand>,
    /// Whether several shortest paths are used at once, as in a data centre.
    pub has_equal_paths: bool,
    /// What was not carried over.
    pub notes: Vec<String>,
}

/// A node of a network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// What the file's links call it.
    pub id: String,
    /// What people call it; any text.
    pub label: String,
    /// Whether it is a host and not a router or switch.
    pub is_host: bool,
    /// Where it is, if the file says so.
    pub position: Option<Position>,
}

/// A place on the earth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position {
    /// In degrees, north is positive.
    pub latitude: f64,
    /// In degrees, east is positive.
    pub longitude: f64,
}

/// A link of a network; without a value where the file says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Link {
    /// Its ends, places in [`Network::nodes`].
    pub ends: [usize; 2],
    /// The rate of each direction.
    pub rate: Option<Rate>,
    /// The propagation delay of one direction.
    pub delay: Option<Duration>,
    /// The probability that a packet is lost.
    pub loss: Option<Probability>,
    /// The limit of each queue.
    pub queue: Option<Packets>,
    /// Whether MPTCP should use it only if nothing else works.
    pub backup: bool,
}

/// Traffic from one node to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// Its source and its destination, places in [`Network::nodes`].
    pub ends: [usize; 2],
    /// Its mean rate.
    pub rate: Rate,
}

impl Network {
    /// The place of the node that the file calls `id`.
    pub(crate) fn place(&self, id: &str) -> Result<usize, ImportError> {
        let place = self.nodes.iter().position(|node| node.id == id);
        place.ok_or_else(|| ImportError::damaged(format!("a link or demand names node {id:?}, which the file lacks")))
    }

    /// Leaves out links from a node to itself, and nodes without a link; says so in the notes. Fails if nothing is left.
    pub(crate) fn tidied(mut self) -> Result<Self, ImportError> {
        let before = self.links.len();
        self.links.retain(|link| link.ends[0] != link.ends[1]);
        if self.links.len() < before {
            let count = before - self.links.len();
            self.notes.push(format!("{} from a node to itself: left out", counted(count, "link")));
        }
        if self.links.is_empty() {
            return Err(ImportError::new("this network has no link", "there is nothing to send over"));
        }
        let mut is_linked = vec![false; self.nodes.len()];
        self.links.iter().flat_map(|link| link.ends).for_each(|end| is_linked[end] = true);
        let lonely: Vec<&str> =
            self.nodes.iter().zip(&is_linked).filter(|(_, linked)| !**linked).map(|(node, _)| &*node.label).collect();
        if !lonely.is_empty() {
            let names = some_of(&lonely);
            self.notes.push(format!("{} without a link: left out ({names})", counted(lonely.len(), "node")));
        }
        let renumbered: Vec<usize> = is_linked
            .iter()
            .scan(0, |next, linked| {
                let place = *next;
                *next += usize::from(*linked);
                Some(place)
            })
            .collect();
        let demands = self.demands.len();
        self.demands.retain(|demand| demand.ends.iter().all(|end| is_linked[*end]) && demand.ends[0] != demand.ends[1]);
        if self.demands.len() < demands {
            let count = demands - self.demands.len();
            self.notes
                .push(format!("{} of nodes without a link, or to themselves: left out", counted(count, "demand")));
        }
        let ends = self.links.iter_mut().map(|link| &mut link.ends);
        for end in ends.chain(self.demands.iter_mut().map(|demand| &mut demand.ends)).flatten() {
            *end = renumbered[*end];
        }
        let mut linked = is_linked.into_iter();
        self.nodes.retain(|_| linked.next().unwrap_or(false));
        Ok(self)
    }
}

/// `1 link`, `2 links`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// The first names of a list.
fn some_of(names: &[&str]) -> String {
    const SHOWN: usize = 5;
    let shown = names.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN { format!("{shown}, …") } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_without_links_and_loops_are_left_out_with_a_note() {
        let node = |id: &str| Node { id: id.to_owned(), label: id.to_owned(), ..Node::default() };
        let link = |ends| Link { ends, ..Link::default() };
        let demand = |ends| Demand { ends, rate: Rate::from_mbit(1) };
        let network = Network {
            nodes: ["lonely", "a", "b"].map(node).into(),
            links: vec![link([1, 1]), link([1, 2])],
            demands: vec![demand([0, 2]), demand([2, 1])],
            ..Network::default()
        };
        let tidied = network.tidied().expect("a link is left");
        assert_eq!(tidied.nodes.iter().map(|node| &*node.id).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(tidied.links, [link([0, 1])]);
        assert_eq!(tidied.demands, [demand([1, 0])]);
        assert_eq!(tidied.notes.len(), 3, "{:?}", tidied.notes);
        assert!(Network { nodes: vec![node("a")], ..Network::default() }.tidied().is_err());
    }
}
