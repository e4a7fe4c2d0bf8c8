//! The ports that flows go to: those that the file gives, and numbers for the rest.

use std::collections::BTreeMap;

use crate::file::{Field, Place, Problem};
use crate::read::topology::Topology;

/// The port of the first flow that gives none. The next one has the next, whatever host it goes to.
const FIRST: usize = 5001;

/// Which ports of hosts are taken, and where that is said.
#[derive(Default)]
pub(super) struct Ports {
    taken: BTreeMap<(usize, u16), Place>,
    /// By host, the port at which the search for a free one goes on.
    search: BTreeMap<usize, u16>,
}

impl Ports {
    /// The port for a flow to `host` that gives none, the `index`th of all. From the 60,536th on it is the lowest that
    /// is free there.
    pub(super) fn automatic(&mut self, index: usize, host: usize) -> Option<u16> {
        if let Ok(port) = u16::try_from(FIRST + index) {
            return Some(port);
        }
        let search = self.search.entry(host).or_insert(1);
        while self.taken.contains_key(&(host, *search)) {
            *search = search.checked_add(1)?;
        }
        Some(*search)
    }

    /// Takes `port` of `host` for `flow`, which says so at `place`, unless another flow has it.
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
