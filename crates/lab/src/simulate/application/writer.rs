//! Bulk transfers: an application that writes all of it at once, or in bursts.

use rand_pcg::Pcg64Mcg;
use subflow_network::Network;
use subflow_quantity::Instant;
use subflow_scenario::{Traffic, Writing};
use subflow_transport::Endpoint;

use super::{Application, Stage};
use crate::simulate::nodes::Nodes;

/// Bytes written by a bulk transfer without an end.
const ENDLESS: u64 = u64::MAX / 8;

/// How much of a transfer its application has written so far, as far as there is room.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    writing: Writing,
    /// The bytes of all bursts so far.
    due: u64,
    /// When the next burst comes.
    next_at: Instant,
}

impl Writer {
    /// The first burst comes at `begin`.
    pub(crate) fn new(writing: Writing, begin: Instant) -> Self {
        Self { writing, due: 0, next_at: begin }
    }

    /// Takes the bursts up to `now`; `rng` draws the times between them.
    pub(crate) fn advance(&mut self, now: Instant, rng: &mut Pcg64Mcg) {
        while self.next_at <= now {
            self.due = self.due.saturating_add(self.writing.burst);
            self.next_at += self.writing.every.draw(rng);
        }
    }

    /// The bytes of all bursts so far.
    pub(crate) fn due(&self) -> u64 {
        self.due
    }

    /// When the next burst comes.
    pub(crate) fn next_at(&self) -> Instant {
        self.next_at
    }
}

impl Application {
    /// Writes the first data of a transfer, or its next burst.
    pub(super) fn begin_bulk(&mut self, nodes: &mut Nodes, network: &mut Network, bytes: Option<u64>) {
        let now = network.now();
        if let Some(writing) = &self.flow.write {
            self.writer.get_or_insert_with(|| Writer::new(writing.clone(), now)).advance(now, &mut self.rng);
        }
        if let Some(endpoint) = self.from {
            self.write_bulk(nodes.transport_mut(self.flow.from.host).endpoint_mut(endpoint), bytes);
        }
        let next_burst = self.writer.as_ref().filter(|writer| writer.due() < bytes.unwrap_or(ENDLESS));
        let next_burst = next_burst.map(Writer::next_at);
        self.sleep_until(network, next_burst);
    }

    pub(super) fn write_bulk(&self, socket: &mut Endpoint, bytes: Option<u64>) {
        let total = bytes.unwrap_or(ENDLESS);
        let due = self.writer.as_ref().map_or(total, |writer| writer.due().min(total));
        let written = socket.bytes_written();
        if written + socket.write(due - written) == total && bytes.is_some() {
            socket.finish();
        }
    }

    /// Completes a transfer whose last byte was abandoned: it is complete when the sender reports this.
    pub(super) fn complete_if_abandoned(&mut self, now: Instant) {
        let is_whole = matches!(self.flow.traffic, Traffic::Bulk { bytes: Some(_) }) && self.stage == Stage::Running;
        if is_whole && self.flow.may_give_up() {
            self.completed_at.get_or_insert(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use subflow_network::stream;
    use subflow_quantity::Duration;
    use subflow_scenario::Period;

    use super::*;

    #[test]
    fn a_burst_comes_at_the_beginning_and_after_each_period() {
        let every = Period::Constant(Duration::from_millis(100));
        let at = |millis| Instant::ZERO + Duration::from_millis(millis);
        let mut writer = Writer::new(Writing { burst: 1000, every }, at(50));
        let mut rng = stream(1, "bursts");
        for (millis, due, next) in [(49, 0, 50), (50, 1000, 150), (149, 1000, 150), (355, 4000, 450)] {
            writer.advance(at(millis), &mut rng);
            assert_eq!((writer.due(), writer.next_at()), (due, at(next)), "{millis} ms");
        }
    }
}
