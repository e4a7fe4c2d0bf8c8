//! New paths for subflows when links fail or are repaired.

use std::collections::BTreeMap;

use super::{FlowKey, LinkSet, Multiflow, MultiflowOptions, Path, Placed};

impl Multiflow {
    /// Moves subflows on failed links to other paths, if there are any. Then moves subflows that share a link with
    /// another one of their connection to paths of their own, if repaired links allow it.
    pub fn reroute(&mut self, random: u64) {
        let mut connections: BTreeMap<u32, Vec<FlowKey>> = BTreeMap::new();
        for (&flow, placed) in &self.placed {
            if let Some(token) = placed.token {
                connections.entry(token).or_default().push(flow);
            }
        }
        let broken = self.placed.iter().filter(|(_, placed)| self.down.meets(&placed.path));
        let broken: Vec<FlowKey> = broken.map(|(&flow, _)| flow).collect();
        let siblings = connections.values().filter(|flows| flows.len() > 1).flatten().copied();
        let flows: Vec<FlowKey> = broken.into_iter().chain(siblings).collect();
        for (number, flow) in (0u64..).zip(flows) {
            // The same number for all would put them all on the same path.
            let random = random.wrapping_add(number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let token = self.placed[&flow].token;
            let used = self.links_of(token.map_or(&[][..], |token| &connections[&token]), flow);
            if let Some(path) = self.detour(flow, &used, random) {
                self.move_to(flow, path, used);
            }
        }
    }

    /// The links of all `flows` but one.
    fn links_of(&self, flows: &[FlowKey], but: FlowKey) -> LinkSet {
        let mut links = self.graph.no_links();
        flows.iter().filter(|&&flow| flow != but).for_each(|flow| links.add(&self.placed[flow].path));
        links
    }

    /// Another path for `flow` if its own has a failed link, or one of `used` by its siblings: one without these links
    /// if possible. If not, any path is better than a failed one.
    fn detour(&mut self, flow: FlowKey, used: &LinkSet, random: u64) -> Option<Path> {
        let Placed { path, from, to, .. } = self.placed[&flow].clone();
        let broken = self.down.meets(&path);
        if !broken && !used.meets(&path) {
            return None;
        }
        self.count(&path, false);
        let search = self.search(MultiflowOptions { set: 1, ..self.options }, random);
        let apart = search.paths(from, to, used).into_iter().next();
        let any = || search.paths(from, to, &self.graph.no_links()).into_iter().next();
        let detour = apart.or_else(|| broken.then(any).flatten());
        self.count(&path, true);
        detour
    }

    /// Puts `flow` on `path`, beside siblings with the links `used`.
    fn move_to(&mut self, flow: FlowKey, path: Path, mut used: LinkSet) {
        let Some(placed) = self.placed.remove(&flow) else { return };
        self.count(&placed.path, false);
        used.add(&path);
        let connection = match placed.token {
            Some(token) => self.by_token.get_mut(&token),
            None => self.opening.get_mut(&flow),
        };
        if let Some(connection) = connection {
            connection.use_only(used);
        }
        self.place(flow, Placed { path, ..placed });
    }
}
