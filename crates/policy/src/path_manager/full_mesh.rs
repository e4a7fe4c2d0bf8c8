//! `full-mesh`: every local address × every remote address.

use std::num::NonZeroU8;

use super::mesh::{Mesh, Shape};
use super::{Command, Event, PathManager};

#[cfg(test)]
mod tests;

/// The client opens `subflows_per_pair` subflows from each of its n_s addresses to each of the server's n_d addresses,
/// n_s · n_d pairs in all; the server announces its addresses beyond the initial one and opens nothing, since a client
/// behind a NAT could not be reached. A failed subflow is not opened again until one of its addresses is lost and
/// returns.
///
/// Source: lima2017, section 3.3.4; Linux MPTCP 0.9x, `fullmesh`.
#[derive(Clone, Debug)]
pub struct FullMesh(Mesh);

impl FullMesh {
    /// Creates a full mesh with this number of subflows per pair of addresses (Linux MPTCP 0.9x: `num_subflows`).
    pub fn new(subflows_per_pair: NonZeroU8) -> Self {
        Self(Mesh::new(Shape::Full(subflows_per_pair)))
    }
}

impl Default for FullMesh {
    fn default() -> Self {
        Self::new(NonZeroU8::MIN)
    }
}

impl PathManager for FullMesh {
    fn on_event(&mut self, event: &Event, commands: &mut Vec<Command>) {
        self.0.on_event(event, commands);
    }
}
