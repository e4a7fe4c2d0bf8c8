//! `drop-tail`: drops the packets that do not fit.

use rand_pcg::Pcg64Mcg;

use super::QueueDiscipline;
use crate::catalogue::{Catalogued, Description};

/// No packet is dropped before the limit, which the link checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DropTail;

impl Catalogued for DropTail {
    const DESCRIPTION: Description = Description {
        name: "drop-tail",
        aliases: &[],
        summary: "drops the packets that find it full; limited in packets or bytes",
        source: "tc netem, ns-3 DropTailQueue",
    };
}

impl QueueDiscipline for DropTail {
    fn begin_with(&mut self, _random: &mut Pcg64Mcg) {}
}
