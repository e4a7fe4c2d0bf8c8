//! `full-mesh`: every local address × every remote address.

use std::num::NonZeroU8;

use subflow_quantity::Instant;

use crate::catalogue::{Attribute, Catalogued, Description};

use super::mesh::{Mesh, Shape};
use super::retries::RETRY;
use super::{Command, Event, MAX_SUBFLOWS, PathManager};

#[cfg(test)]
mod tests;

/// The client opens `subflows_per_pair` subflows from each of its n_s addresses to each of the server's n_d addresses,
/// n_s · n_d pairs in all; the server announces its addresses beyond the initial one and opens nothing, since a client
/// behind a NAT could not be reached. A failed subflow is opened again after a second, and then after twice the time each
/// time that it fails, up to a minute; with `retry = false` only when one of its addresses is lost and returns.
///
/// Source: lima2017, section 3.3.4; Linux MPTCP 0.9x, `fullmesh`. It opens failed subflows again where `create_on_err` is
/// set; Linux 6.12 never does.
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

impl Catalogued for FullMesh {
    const DESCRIPTION: Description = Description {
        name: "full-mesh",
        aliases: &["fullmesh"],
        summary: "one subflow, or more, from every local address to every remote address",
        source: "lima2017, section 3.3.4; Linux MPTCP 0.9x, fullmesh",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[
        Attribute::integer(
            "subflows_per_pair",
            "the number of subflows of each pair of addresses",
            [1, MAX_SUBFLOWS as u64],
            |own| own.0.shape().subflows_per_pair().into(),
            |own, count| own.0.set_shape(Shape::Full(NonZeroU8::new(count as u8).unwrap_or(NonZeroU8::MIN))),
        ),
        Attribute::flag("retry", RETRY, |own| own.0.retries_failed(), |own, retry| own.0.set_retries_failed(retry)),
    ];
}

impl PathManager for FullMesh {
    fn on_event(&mut self, event: &Event, now: Instant, commands: &mut Vec<Command>) {
        self.0.on_event(event, now, commands);
    }

    fn wake_at(&self) -> Instant {
        self.0.wake_at()
    }
}
