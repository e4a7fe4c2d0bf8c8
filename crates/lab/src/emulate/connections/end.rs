//! One end of a connection: the sockets that it consists of, and what they have counted.

use std::net::SocketAddr;

use subflow_linux::netlink::{MptcpSocket, TcpSocket};
use subflow_quantity::{Duration, Instant};

use super::super::bottlenecks::Detectors;
use super::host_sockets::SocketEnds;
use crate::results::Detection;

/// One end of a connection.
pub(super) struct End {
    /// The host, by its index in the scenario.
    pub(super) host: usize,
    /// Whether the peer opened the connection: the local port is one that listens.
    pub(super) listened: bool,
    /// The name of the program, or of the process, that has the socket.
    pub(super) owner: Option<String>,
    /// Whether the owner is a program of the scenario.
    pub(super) is_program: bool,
    pub(super) subflows: Vec<Subflow>,
    /// The whole MPTCP connection at the last look, if it is one.
    pub(super) mptcp: Option<MptcpSocket>,
    /// Bytes that MPTCP has sent again on another subflow.
    pub(super) reinjected_bytes: u64,
    /// By how much subflows had received more at that look than the connection.
    surplus: u64,
    /// With several subflows: which share a bottleneck. A path has the number of its subflow.
    detectors: Option<Detectors>,
}

/// A socket of an end.
pub(super) struct Subflow {
    pub(super) socket: TcpSocket,
    pub(super) is_open: bool,
    /// Whether it was in a list, and not only in a report of its end.
    pub(super) was_listed: bool,
    /// When data last arrived.
    pub(super) data_at: Option<Instant>,
    /// Bytes received before measuring began.
    pub(super) before: u64,
    /// Its congestion control: an ended socket does not tell.
    pub(super) congestion: String,
}

impl Subflow {
    fn new(socket: TcpSocket, now: Instant) -> Self {
        let mut new = Self {
            is_open: true,
            was_listed: false,
            data_at: None,
            before: 0,
            congestion: String::new(),
            socket: TcpSocket { info: socket.info.clone(), ..socket.clone() },
        };
        new.socket.info.bytes_received = 0;
        new.update(socket, now);
        new
    }

    fn update(&mut self, socket: TcpSocket, now: Instant) {
        if socket.info.bytes_received > self.socket.info.bytes_received {
            let ago = now.since(Instant::ZERO).min(socket.since_data);
            self.data_at = Some(Instant::ZERO + (now.since(Instant::ZERO) - ago));
        }
        if !socket.congestion.is_empty() {
            self.congestion.clone_from(&socket.congestion);
        }
        self.socket = socket;
    }

    pub(super) fn ends(&self) -> SocketEnds {
        [self.socket.info.local, self.socket.info.remote]
    }
}

impl End {
    pub(super) fn new(host: usize, listened: bool) -> Self {
        let (owner, is_program, subflows, mptcp, reinjected_bytes, surplus, detectors) = Default::default();
        Self { host, listened, owner, is_program, subflows, mptcp, reinjected_bytes, surplus, detectors }
    }

    /// Takes the counters of a socket that was listed, or has ended. `interval` is that of looks.
    pub(super) fn update(&mut self, socket: TcpSocket, has_ended: bool, now: Instant, interval: Duration) {
        let number = match self.subflows.iter().position(|known| known.socket.cookie == socket.cookie) {
            Some(number) => number,
            None => {
                self.subflows.push(Subflow::new(socket.clone(), now));
                self.subflows.len() - 1
            }
        };
        let subflow = &mut self.subflows[number];
        let acknowledges = socket.info.bytes_acknowledged > subflow.socket.info.bytes_acknowledged;
        subflow.was_listed |= !has_ended;
        subflow.is_open = !has_ended;
        subflow.update(socket, now);
        if self.subflows.len() > 1 && !has_ended && acknowledges {
            let detectors = self.detectors.get_or_insert_with(|| Detectors::new(interval, false));
            detectors.sample(number, now, &self.subflows[number].socket.info);
        }
    }

    /// Takes what the kernel says of the whole MPTCP connection, after its subflows.
    pub(super) fn update_whole(&mut self, whole: MptcpSocket) {
        let received: u64 = self.subflows.iter().map(|subflow| subflow.socket.info.bytes_received).sum();
        // A FIN counts as a byte of a subflow. Before Linux 6.5 the kernel does not tell.
        let surplus = received.saturating_sub(whole.bytes_received);
        if whole.bytes_received > 0 && surplus > self.subflows.len() as u64 {
            self.surplus = surplus;
        }
        let written = self.subflows.iter().map(|subflow| subflow.socket.info.bytes_written).sum();
        self.reinjected_bytes = self.reinjected_bytes.max(whole.data.reinjected_bytes(written));
        self.mptcp = Some(whole);
    }

    /// Bytes that arrived more than once, on several subflows, or beyond a missing piece.
    pub(super) fn surplus(&self) -> u64 {
        self.surplus
    }

    /// Sockets that the last list of their host lacks have ended.
    pub(super) fn close_missing(&mut self, is_listed: impl Fn(u64) -> bool) {
        self.subflows.iter_mut().for_each(|subflow| subflow.is_open &= is_listed(subflow.socket.cookie));
    }

    pub(super) fn is_open(&self) -> bool {
        self.subflows.iter().any(|subflow| subflow.is_open)
    }

    /// Whether a handshake was completed: the kernel counts the SYN that was acknowledged.
    pub(super) fn was_established(&self) -> bool {
        let established = |subflow: &Subflow| {
            let TcpSocket { info, .. } = &subflow.socket;
            info.bytes_acknowledged > 0 || info.bytes_received > 0 || (subflow.is_open && !subflow.socket.is_opening())
        };
        self.subflows.iter().any(established)
    }

    /// The subflow whose other end has these ends.
    pub(super) fn facing(&self, [local, remote]: SocketEnds) -> Option<&Subflow> {
        self.subflows.iter().find(|subflow| subflow.ends() == [remote, local])
    }

    /// The ends of the first subflow.
    pub(super) fn first_ends(&self) -> Option<SocketEnds> {
        let initial = self.mptcp.as_ref().map(|whole| [whole.local, whole.remote]);
        initial.or_else(|| self.subflows.first().map(Subflow::ends))
    }

    pub(super) fn begin_measuring(&mut self) {
        self.subflows.iter_mut().for_each(|subflow| subflow.before = subflow.socket.info.bytes_received);
    }

    /// What the detectors of shared bottlenecks say of its subflows.
    pub(super) fn shared_bottlenecks(&mut self) -> Vec<Detection> {
        let numbers: Vec<usize> = (0..self.subflows.len()).collect();
        self.detectors.as_mut().map(|detectors| detectors.report(&numbers)).unwrap_or_default()
    }
}

/// Whether packets between these ends stay in their host.
pub(super) fn is_local([local, remote]: [SocketAddr; 2]) -> bool {
    local.ip() == remote.ip() || local.ip().is_loopback()
}
