//! A host with a count of its memory: all calls of the host are made here.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;
use subflow_quantity::Instant;
use subflow_transport::tcp::State;
use subflow_transport::{Endpoint, EndpointId, Event, Host, Limits, Listener};
use subflow_wire::Packet;

use crate::limits;
use crate::stack::{self, connections};

/// The local and the remote end.
type Pair = (SocketAddr, SocketAddr);

/// A host, what it holds, and when its endpoints want to be called.
pub(crate) struct MeteredHost {
    host: Host,
    /// Bytes of heap memory that the host holds.
    held: i64,
    deadlines: BTreeMap<EndpointId, Instant>,
    queue: BTreeSet<(Instant, EndpointId)>,
    addresses: usize,
    /// The initial ends of each endpoint.
    initial_ends: BTreeMap<EndpointId, Pair>,
    /// The same by ends, which are looked for at every connection that is opened.
    by_initial_ends: BTreeSet<(Pair, EndpointId)>,
    /// Ends of each endpoint: an MPTCP connection has one for each subflow, an SCTP association one for each pair of
    /// addresses.
    ends: BTreeMap<EndpointId, usize>,
    all_ends: usize,
    most_ends: usize,
}

impl MeteredHost {
    pub(crate) fn new(addresses: Vec<IpAddr>, seed: u64) -> Self {
        let (mut host, mut held) = (None, 0);
        metered(&mut held, || host = Some(Host::new(addresses.clone(), Pcg64Mcg::seed_from_u64(seed))));
        let mut host = host.expect("made above");
        host.set_limits(Limits { backlog: limits::HALF_OPEN, ..Limits::default() });
        Self {
            host,
            held,
            deadlines: BTreeMap::new(),
            queue: BTreeSet::new(),
            addresses: addresses.len(),
            initial_ends: BTreeMap::new(),
            by_initial_ends: BTreeSet::new(),
            ends: BTreeMap::new(),
            all_ends: 0,
            most_ends: 0,
        }
    }

    /// Bytes of heap memory that the host holds.
    pub(crate) fn held(&self) -> i64 {
        self.held
    }

    pub(crate) fn listen(&mut self, port: u16, listener: Listener) {
        self.call(|host| host.listen(port, listener));
    }

    /// Opens a connection of the kind that `listener` would accept, from any port of `local`.
    /// `None` where it has no port left.
    pub(crate) fn connect(
        &mut self,
        kind: &Listener,
        local: IpAddr,
        remote: SocketAddr,
        now: Instant,
    ) -> Option<EndpointId> {
        let local = SocketAddr::new(local, 0);
        let id = self.call(|host| host.connect(kind, local, remote, now));
        id.ok()
    }

    pub(crate) fn handle_packet(&mut self, now: Instant, packet: &Packet) -> Option<EndpointId> {
        self.call(|host| host.handle_packet(now, packet))
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant, id: EndpointId) {
        self.call(|host| host.handle_timeout(now, id));
    }

    pub(crate) fn poll_transmit(&mut self, now: Instant, id: EndpointId) -> Option<Packet> {
        self.call(|host| host.poll_transmit(now, id))
    }

    pub(crate) fn poll_event(&mut self, id: EndpointId) -> Option<Event> {
        self.call(|host| host.poll_event(id))
    }

    pub(crate) fn poll_accept(&mut self) -> Option<EndpointId> {
        self.call(Host::poll_accept)
    }

    pub(crate) fn poll_reply(&mut self) -> Option<Packet> {
        self.call(Host::poll_reply)
    }

    /// Gives back a packet that the host made.
    pub(crate) fn release(&mut self, packet: Packet) {
        self.call(|_| drop(packet));
    }

    /// Lets the application do something with an endpoint.
    pub(crate) fn apply<T>(&mut self, id: EndpointId, act: impl FnOnce(&mut Endpoint) -> T) -> T {
        self.call(|host| act(host.endpoint_mut(id)))
    }

    /// An endpoint, for calls whose memory is the caller's.
    pub(crate) fn endpoint_mut(&mut self, id: EndpointId) -> &mut Endpoint {
        self.host.endpoint_mut(id)
    }

    pub(crate) fn endpoint(&self, id: EndpointId) -> &Endpoint {
        self.host.endpoint(id)
    }

    /// How many endpoints it has.
    pub(crate) fn endpoints(&self) -> usize {
        self.deadlines.len()
    }

    /// The most ends that its endpoints have had at once.
    pub(crate) fn most_ends(&self) -> usize {
        self.most_ends
    }

    /// Whether an endpoint has these initial ends.
    pub(crate) fn has_ends(&self, local: SocketAddr, remote: SocketAddr) -> bool {
        let of = |id| ((local, remote), EndpointId(id));
        self.by_initial_ends.range(of(0)..=of(u32::MAX)).next().is_some()
    }

    /// Whether the connection or subflow that a packet is addressed to is in SYN-SENT.
    pub(crate) fn is_opening(&self, packet: &Packet) -> bool {
        let Some((id, subflow)) = self.host.fetch_endpoint(packet) else { return false };
        connections(self.host.endpoint(id)).get(subflow).is_some_and(|tcp| tcp.state() == State::SynSent)
    }

    pub(crate) fn endpoint_ids(&self) -> Vec<EndpointId> {
        self.deadlines.keys().copied().collect()
    }

    pub(crate) fn has_address(&self, address: IpAddr) -> bool {
        self.host.addresses().contains(&address)
    }

    pub(crate) fn set_address(&mut self, address: IpAddr, present: bool, now: Instant) {
        self.call(|host| match present {
            true => host.add_address(address, now),
            false => host.remove_address(address, now),
        });
    }

    pub(crate) fn remove(&mut self, id: EndpointId) {
        if let Some(at) = self.deadlines.remove(&id) {
            self.queue.remove(&(at, id));
        }
        self.all_ends -= self.ends.remove(&id).unwrap_or(0);
        self.set_initial_ends(id, None);
        self.call(|host| host.remove(id));
    }

    /// The earliest time that an endpoint wants to be called, and which.
    pub(crate) fn next_timeout(&self) -> Option<(Instant, EndpointId)> {
        self.queue.first().copied().filter(|&(at, _)| at != Instant::MAX)
    }

    /// Notes when a drained endpoint wants to be called.
    pub(crate) fn arm(&mut self, now: Instant, id: EndpointId) {
        let at = self.host.poll_timeout(id).unwrap_or(Instant::MAX);
        assert!(at >= now, "an endpoint that was drained at {now:?} wanted to be called at {at:?}");
        if let Some(before) = self.deadlines.insert(id, at) {
            self.queue.remove(&(before, id));
        }
        self.queue.insert((at, id));
        let initial = self.host.endpoint(id).ends();
        self.set_initial_ends(id, Some((initial.local, initial.remote)));
        let ends = stack::ends(self.host.endpoint(id), self.addresses);
        self.all_ends = self.all_ends + ends - self.ends.insert(id, ends).unwrap_or(0);
        self.most_ends = self.most_ends.max(self.all_ends);
    }

    /// An endpoint has these initial ends, or is gone.
    fn set_initial_ends(&mut self, id: EndpointId, ends: Option<Pair>) {
        let before = match ends {
            Some(ends) => self.initial_ends.insert(id, ends),
            None => self.initial_ends.remove(&id),
        };
        if before != ends {
            if let Some(before) = before {
                self.by_initial_ends.remove(&(before, id));
            }
            self.by_initial_ends.extend(ends.map(|ends| (ends, id)));
        }
    }

    /// Subflows, or pairs of addresses, of an endpoint.
    pub(crate) fn ends_of(&self, id: EndpointId) -> u64 {
        self.ends.get(&id).map_or(0, |&ends| ends as u64)
    }

    /// The endpoint that a packet is addressed to, if it is one of those that have been armed.
    pub(crate) fn owner_of(&self, packet: &Packet) -> Option<EndpointId> {
        self.host.fetch_endpoint(packet).map(|(id, _)| id).filter(|id| self.deadlines.contains_key(id))
    }

    fn call<T>(&mut self, act: impl FnOnce(&mut Host) -> T) -> T {
        let Self { host, held, .. } = self;
        let mut result = None;
        metered(held, || result = Some(act(host)));
        result.expect("it has returned")
    }
}

/// Lets `act` run, and adds what it allocates, less what it frees, to `held`.
fn metered(held: &mut i64, act: impl FnOnce()) {
    let mut panicked = None;
    // A panic must not pass through the measurement, which would never end.
    let change = allocation_counter::measure(|| panicked = catch_unwind(AssertUnwindSafe(act)).err());
    if let Some(panic) = panicked {
        resume_unwind(panic);
    }
    *held += change.bytes_current;
}
