//! The path manager: what it is told, one event after another, and the subflows that it has requested.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

use subflow_policy::path_manager::{Address, Command, Event, NamedSubflows, PathManagement, PathManager as _};
use subflow_quantity::Instant;

/// A subflow requested by the path manager. The host chooses its local port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenRequest {
    /// Local address.
    pub local: IpAddr,
    /// Local port; `None` for any free port.
    pub local_port: Option<u16>,
    /// Identifier of the local address.
    pub local_id: u8,
    /// Remote address and port.
    pub remote: SocketAddr,
    /// Identifier of the remote address.
    pub remote_id: u8,
    /// Whether the subflow is requested as a backup.
    pub backup: bool,
}

/// The path manager, and the events that it has not yet processed. A command may cause further events. They are processed
/// afterwards: the number of addresses that the peer announces determines how many attempts follow each other, so
/// recursion would have no bound.
#[derive(Clone, Debug)]
pub(crate) struct PathManager {
    algorithm: PathManagement,
    /// Subflows that were requested beside it.
    named: NamedSubflows,
    waiting: VecDeque<Event>,
    is_processing: bool,
    /// When the path manager is to be woken; [`Instant::MAX`] for never.
    wake_at: Instant,
    /// Subflows that wait until the host assigns them a port.
    requests: Vec<OpenRequest>,
}

impl PathManager {
    pub(crate) fn new(algorithm: PathManagement) -> Self {
        let wake_at = Instant::MAX;
        let (named, requests) = (NamedSubflows::default(), Vec::new());
        Self { algorithm, named, waiting: VecDeque::new(), is_processing: false, wake_at, requests }
    }

    /// Adds an event. Returns whether the caller has to process what waits, with [`next`](Self::next) until there is no
    /// more; otherwise a caller further up does.
    pub(crate) fn add(&mut self, event: Event) -> bool {
        self.waiting.push_back(event);
        !core::mem::replace(&mut self.is_processing, true)
    }

    /// Passes the next event to the path manager, which appends its commands. Returns whether there was one.
    pub(crate) fn next(&mut self, now: Instant, commands: &mut Vec<Command>) -> bool {
        match self.waiting.pop_front() {
            Some(event) => {
                self.algorithm.on_event(&event, now, commands);
                self.named.on_event(&event, now, commands);
                self.wake_at = self.algorithm.wake_at().min(self.named.wake_at());
            }
            None => self.is_processing = false,
        }
        self.is_processing
    }

    /// When it is to be woken; [`Instant::MAX`] for never.
    #[inline]
    pub(crate) fn wake_at(&self) -> Instant {
        self.wake_at
    }

    /// The connection can have no further subflows: it is not woken any more.
    pub(crate) fn rest(&mut self) {
        self.wake_at = Instant::MAX;
    }

    /// A subflow is to be opened as soon as the host has assigned it a port.
    pub(crate) fn request(&mut self, request: OpenRequest) {
        self.requests.push(request);
    }

    /// The subflow of `request` is to be opened now if its address `is_here`, or else when it is, and again if it fails.
    pub(crate) fn keep_open(&mut self, request: OpenRequest, is_here: bool) {
        let OpenRequest { local, local_port, local_id, remote, backup, .. } = request;
        self.named.add(Address { id: local_id, address: local, port: local_port }, remote, backup, is_here);
        if is_here {
            self.request(request);
        }
    }

    /// An address is lost before the connection is established: no subflow is opened from it before it returns.
    pub(crate) fn drop_early_requests(&mut self, lost: Address, now: Instant) {
        self.requests.retain(|request| request.local != lost.address);
        self.named.on_event(&Event::LocalAddressRemoved(lost), now, &mut Vec::new());
    }

    /// The identifiers of this host's addresses have changed. Subflows from an address that has none are not opened.
    pub(crate) fn renumber(&mut self, mut id_of: impl FnMut(IpAddr) -> Option<u8>) {
        self.named.renumber(&mut id_of);
        self.requests.retain_mut(|request| match id_of(request.local) {
            Some(id) => {
                request.local_id = id;
                true
            }
            None => false,
        });
    }

    /// Number of subflows that wait for a port.
    #[inline]
    pub(crate) fn requests(&self) -> usize {
        self.requests.len()
    }

    /// Takes at most `most` of these, the oldest first.
    pub(crate) fn take_requests(&mut self, most: usize) -> Vec<OpenRequest> {
        self.requests.drain(..most.min(self.requests.len())).collect()
    }
}
