//! The host under test, in virtual time.

use std::collections::VecDeque;
use std::net::IpAddr;

use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;
use subflow_quantity::Instant;
use subflow_transport::{Endpoint, EndpointId, Event, Host, Limits};
use subflow_wire::Packet;

use crate::packet;

/// The seed of the host's numbers. Scripts bind them to variables, and none may depend on their values.
const SEED: u64 = 9293;
/// Timers that may expire while a script waits for one packet.
const MOST_TIMERS: u32 = 1_000_000;

pub(crate) struct World {
    pub(crate) now: Instant,
    pub(crate) host: Host,
    /// The connection that verbs act on: the latest one opened or accepted.
    endpoint: Option<EndpointId>,
    /// What left and was not compared yet, as a peer gets it.
    pub(crate) left: VecDeque<(Instant, Packet)>,
    /// Events of the connection that were not asked for yet.
    pub(crate) events: Vec<Event>,
    /// Packets of the stack that cannot be written as bytes.
    pub(crate) defect: Option<String>,
}

impl World {
    pub(crate) fn new(addresses: Vec<IpAddr>, limits: Limits) -> Self {
        let mut host = Host::new(addresses, Pcg64Mcg::seed_from_u64(SEED));
        host.set_limits(limits);
        let (left, events) = (VecDeque::new(), Vec::new());
        Self { now: Instant::ZERO, host, endpoint: None, left, events, defect: None }
    }

    /// Verbs act on `id` from now on.
    pub(crate) fn follow(&mut self, id: EndpointId) {
        self.endpoint = Some(id);
    }

    pub(crate) fn endpoint_id(&self) -> Option<EndpointId> {
        self.endpoint
    }

    pub(crate) fn endpoint(&self) -> Option<&Endpoint> {
        self.endpoint.map(|id| self.host.endpoint(id))
    }

    pub(crate) fn endpoint_mut(&mut self) -> Option<&mut Endpoint> {
        self.endpoint.map(|id| self.host.endpoint_mut(id))
    }

    /// Lets timers expire until `until`, or until a packet leaves.
    pub(crate) fn let_time_pass(&mut self, until: Instant) {
        for _ in 0..MOST_TIMERS {
            if !self.left.is_empty() || self.defect.is_some() {
                return;
            }
            let timers = self.host.endpoint_ids().into_iter().filter_map(|id| Some((self.host.poll_timeout(id)?, id)));
            match timers.min() {
                Some((at, id)) if at <= until => {
                    self.now = self.now.max(at);
                    self.host.handle_timeout(self.now, id);
                    self.drain();
                }
                _ => {
                    self.now = self.now.max(until);
                    return;
                }
            }
        }
        self.defect = Some(format!("{MOST_TIMERS} timers expired and no packet left"));
    }

    /// Takes everything that endpoints have to send and to report.
    pub(crate) fn drain(&mut self) {
        while let Some(id) = self.host.poll_accept() {
            self.endpoint = Some(id);
        }
        for id in self.host.endpoint_ids() {
            while let Some(packet) = self.host.poll_transmit(self.now, id) {
                self.leave(&packet);
            }
            while let Some(event) = self.host.poll_event(id) {
                self.events.push(event);
            }
        }
        while let Some(packet) = self.host.poll_reply() {
            self.leave(&packet);
        }
    }

    fn leave(&mut self, sent: &Packet) {
        match packet::parse(sent) {
            Ok(parsed) => self.left.push_back((self.now, parsed)),
            Err(error) => self.defect = Some(format!("the stack made a packet that cannot be sent: {error}")),
        }
    }
}
