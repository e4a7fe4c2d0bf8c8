//! The destination ports of flows: those that the file specifies, and generated ones for the other flows.

use std::collections::{BTreeMap, BTreeSet};

use crate::file::{Field, Place, Problem};
use crate::read::topology::Topology;

/// The port of the first flow without a specified one. Each following flow has the next port, whatever its destination.
const FIRST: usize = 5001;

/// The ports in use by host, and the places that specify them.
#[derive(Default)]
pub(super) struct Ports {
    taken: BTreeMap<(usize, u16), Place>,
    /// Those that were generated, before their flows take them.
    generated: BTreeSet<(usize, u16)>,
    /// By host, the port at which the search for a free port continues. Those before it are taken or given.
    search: BTreeMap<usize, u32>,
}

impl Ports {
    /// The port for a flow to `host` without a specified one, which is the `index`th of all flows. From the 60,536th
    /// flow on, it is the lowest free port of that host.
    pub(super) fn automatic(&mut self, index: usize, host: usize) -> Option<u16> {
        let port = u16::try_from(FIRST + index).ok().or_else(|| self.lowest_free(host))?;
        self.generated.insert((host, port));
        Some(port)
    }

    fn lowest_free(&mut self, host: usize) -> Option<u16> {
        let search = self.search.entry(host).or_insert(1);
        loop {
            let port = u16::try_from(*search).ok()?;
            *search += 1;
            if !self.taken.contains_key(&(host, port)) && !self.generated.contains(&(host, port)) {
                return Some(port);
            }
        }
    }

    /// Assigns `port` of `host` to `flow`, as specified at `place`, unless another flow has it.
    pub(super) fn take(
        &mut self,
        topology: &Topology,
        flow: &Field<'_>,
        (host, port): (usize, u16),
        place: &Place,
    ) -> Result<(), Problem> {
        let Some(other) = self.taken.insert((host, port), place.clone()) else { return Ok(()) };
        let what = format!("{}: port {port} of {} is taken", flow.name(), topology.hosts[host].name);
        Err(Problem::at(place, what).also(&other, "by this flow").help("give one of them another port"))
    }
}
