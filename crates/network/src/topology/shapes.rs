//! Named topologies: their hosts, switches and links, with names.

use std::fmt;

/// Hosts, switches, and the links between them, by name. Every host has one link. A link is named after its ends,
/// `A-B`, and leads upwards: from hosts to switches, from the edge to the core.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// `h0`, `h1`, …
    pub hosts: Vec<String>,
    /// Their names depend on their position.
    pub switches: Vec<String>,
    /// In order of preference between equally short paths.
    pub links: Vec<ShapeLink>,
}

/// A link of a [`Shape`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShapeLink {
    /// Its first end.
    pub from: ShapeEnd,
    /// Its second end, a switch.
    pub to: usize,
}

/// An end of a link, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeEnd {
    /// A host.
    Host(usize),
    /// A switch.
    Switch(usize),
}

impl Shape {
    /// A fat tree of switches with `k` ports (Al-Fares, Loukissas, Vahdat 2008): `k` pods, each with k/2 edge switches
    /// (`edgeP_E`) and k/2 aggregation switches (`aggP_A`), below (k/2)² core switches (`coreC`). There are k³/4 hosts;
    /// those of a pod and of an edge switch have consecutive numbers. Aggregation switch A of each pod is connected to
    /// cores A·k/2 to A·k/2 + k/2 − 1. `k` must be even.
    pub fn fat_tree(k: usize) -> Self {
        assert!(k >= 2 && k.is_multiple_of(2), "a fat tree has an even number of pods");
        let half = k / 2;
        let mut shape = Self::default();
        let cores: Vec<usize> = (0..half * half).map(|core| shape.switch(format_args!("core{core}"))).collect();
        for pod in 0..k {
            let aggregations: Vec<usize> =
                (0..half).map(|number| shape.switch(format_args!("agg{pod}_{number}"))).collect();
            for number in 0..half {
                let edge = shape.switch(format_args!("edge{pod}_{number}"));
                (0..half).for_each(|_| shape.host_at(edge));
                aggregations.iter().for_each(|&up| shape.connect(edge, up));
            }
            for (number, &aggregation) in aggregations.iter().enumerate() {
                let above = &cores[number * half..(number + 1) * half];
                above.iter().for_each(|&core| shape.connect(aggregation, core));
            }
        }
        shape
    }

    /// `leaves` switches (`leafL`) with `hosts` hosts each, each connected to all of `spines` switches (`spineS`).
    pub fn leaf_spine(leaves: usize, spines: usize, hosts: usize) -> Self {
        let mut shape = Self::default();
        let above: Vec<usize> = (0..spines).map(|number| shape.switch(format_args!("spine{number}"))).collect();
        for number in 0..leaves {
            let leaf = shape.switch(format_args!("leaf{number}"));
            (0..hosts).for_each(|_| shape.host_at(leaf));
            above.iter().for_each(|&spine| shape.connect(leaf, spine));
        }
        shape
    }

    /// `switches` switches (`sN`) in a ring, with `hosts` hosts each.
    pub fn ring(switches: usize, hosts: usize) -> Self {
        let mut shape = Self::default();
        for number in 0..switches {
            let switch = shape.switch(format_args!("s{number}"));
            (0..hosts).for_each(|_| shape.host_at(switch));
        }
        (0..switches).for_each(|number| shape.connect(number, (number + 1) % switches));
        shape
    }

    /// `hosts` hosts at switch `left` and as many at `right`, with `width` parallel switches (`midM`) between them.
    pub fn diamond(width: usize, hosts: usize) -> Self {
        let mut shape = Self::two_sides(hosts);
        for number in 0..width {
            let middle = shape.switch(format_args!("mid{number}"));
            shape.connect(0, middle);
            shape.connect(middle, 1);
        }
        shape
    }

    /// `hosts` hosts at switch `left` and as many at `right`, with one link between the switches.
    pub fn dumbbell(hosts: usize) -> Self {
        let mut shape = Self::two_sides(hosts);
        shape.connect(0, 1);
        shape
    }

    /// `hosts` hosts at switch `left` and as many at `right`. There are two disjoint paths between them, `left` – `a` –
    /// `u1` – `u2` – `right` and `left` – `d1` – `d2` – `b` – `right`. But the shortest path uses a link from `a` to
    /// `b` and blocks both.
    pub fn trap(hosts: usize) -> Self {
        let mut shape = Self::two_sides(hosts);
        let [a, b, u1, u2, d1, d2] =
            ["a", "b", "u1", "u2", "d1", "d2"].map(|name| shape.switch(format_args!("{name}")));
        for (from, to) in [(0, a), (a, b), (b, 1), (a, u1), (u1, u2), (u2, 1), (0, d1), (d1, d2), (d2, b)] {
            shape.connect(from, to);
        }
        shape
    }

    /// The name of link `number`.
    pub fn link_name(&self, number: usize) -> String {
        let ShapeLink { from, to } = self.links[number];
        let from = match from {
            ShapeEnd::Host(host) => &self.hosts[host],
            ShapeEnd::Switch(switch) => &self.switches[switch],
        };
        format!("{from}-{}", self.switches[to])
    }

    /// Switches `left`, number 0, and `right`, number 1, with their hosts.
    fn two_sides(hosts: usize) -> Self {
        let mut shape = Self::default();
        for side in ["left", "right"] {
            let switch = shape.switch(format_args!("{side}"));
            (0..hosts).for_each(|_| shape.host_at(switch));
        }
        shape
    }

    fn switch(&mut self, name: fmt::Arguments<'_>) -> usize {
        self.switches.push(name.to_string());
        self.switches.len() - 1
    }

    fn host_at(&mut self, switch: usize) {
        self.links.push(ShapeLink { from: ShapeEnd::Host(self.hosts.len()), to: switch });
        self.hosts.push(format!("h{}", self.hosts.len()));
    }

    fn connect(&mut self, from: usize, to: usize) {
        self.links.push(ShapeLink { from: ShapeEnd::Switch(from), to });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fat_tree_has_the_sizes_of_its_paper() {
        for k in [2, 4, 8] {
            let shape = Shape::fat_tree(k);
            assert_eq!(shape.hosts.len(), k * k * k / 4);
            assert_eq!(shape.switches.len(), 5 * k * k / 4);
            assert_eq!(shape.links.len(), 3 * k * k * k / 4);
            for switch in 0..shape.switches.len() {
                let ports = shape
                    .links
                    .iter()
                    .map(|link| usize::from(link.to == switch) + usize::from(link.from == ShapeEnd::Switch(switch)));
                assert_eq!(ports.sum::<usize>(), k, "{}", shape.switches[switch]);
            }
        }
    }

    #[test]
    fn links_are_named_after_their_ends() {
        let shape = Shape::fat_tree(4);
        let names: Vec<String> = (0..shape.links.len()).map(|number| shape.link_name(number)).collect();
        for expected in ["h0-edge0_0", "edge0_0-agg0_1", "agg3_1-core3"] {
            assert!(names.iter().any(|name| name == expected), "{expected} in {names:?}");
        }
        assert_eq!(Shape::ring(3, 1).link_name(5), "s2-s0");
    }
}
