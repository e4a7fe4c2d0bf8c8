//! What a [`Host`](crate::Host) does with its endpoints.

use std::net::{IpAddr, SocketAddr};

use subflow_quantity::Instant;
use subflow_wire::icmp::IcmpError;
use subflow_wire::quic::ConnectionId;
use subflow_wire::{Packet, TcpSegment};

use super::{Endpoint, ask};
use crate::mptcp::{OpenRequest, Refused};
use crate::socket::Socket;
use crate::tcp::Ends;

impl Endpoint {
    /// The number in the IP header (IANA), under which packets find the endpoint.
    pub(crate) fn protocol(&self) -> u8 {
        ask!(self.protocol())
    }

    /// Processes an ICMP error about a packet of subflow `subflow` (0 except for MPTCP).
    pub(crate) fn handle_icmp(&mut self, subflow: usize, error: &IcmpError, now: Instant) {
        ask!(mut self.handle_icmp(subflow, error, now))
    }

    /// The SYN/ACK of a connection that has just been accepted was sent before.
    pub(crate) fn on_syn_ack_sent_before(&mut self) {
        ask!(mut self.on_syn_ack_sent_before())
    }

    pub(crate) fn add_local_address(&mut self, address: IpAddr, now: Instant) {
        ask!(mut self.add_local_address(address, now))
    }

    /// The SYN, which is not answered yet, is sent again from the local end of `ends`. The host has the addresses `local`.
    pub(crate) fn move_opening(&mut self, ends: Ends, local: &[IpAddr]) {
        ask!(mut self.move_opening(ends, local))
    }

    pub(crate) fn remove_local_address(&mut self, address: IpAddr, now: Instant) {
        ask!(mut self.remove_local_address(address, now))
    }

    /// Requests a further subflow.
    pub(crate) fn request_subflow(&mut self, local: IpAddr, port: Option<u16>, remote: SocketAddr, backup: bool) {
        ask!(mut self.request_subflow(local, port, remote, backup))
    }

    /// Whether [`take_open_requests`](Self::take_open_requests) would return any.
    #[inline]
    pub(crate) fn has_open_requests(&self) -> bool {
        ask!(self.has_open_requests())
    }

    /// The subflows that were requested since the last call.
    pub(crate) fn take_open_requests(&mut self) -> Vec<OpenRequest> {
        ask!(mut self.take_open_requests())
    }

    /// Opens a requested subflow between `ends` and returns its index, unless that is not possible any more.
    pub(crate) fn open_subflow(&mut self, request: &OpenRequest, ends: Ends, now: Instant) -> Option<usize> {
        ask!(mut self.open_subflow(request, ends, now))
    }

    pub(crate) fn on_open_failed(&mut self, request: &OpenRequest, now: Instant) {
        ask!(mut self.on_open_failed(request, now))
    }

    /// The token that joins to the connection contain.
    pub(crate) fn token(&self) -> Option<u32> {
        ask!(self.token())
    }

    /// Accepts a join and returns the index of its subflow.
    pub(crate) fn accept_join(&mut self, ends: Ends, syn: &TcpSegment, now: Instant) -> Result<usize, Refused> {
        ask!(mut self.accept_join(ends, syn, now))
    }

    pub(crate) fn half_open_joins(&self) -> usize {
        ask!(self.half_open_joins())
    }

    /// Whether the peer has proved that it receives at its address.
    pub(crate) fn has_proven_peer(&self) -> bool {
        ask!(self.has_proven_peer())
    }

    /// Processes an arriving packet for subflow `subflow`, unless that [is over](Self::is_over): then `None`. Returns
    /// whether it has subflows to open, new ends or a successor. It asks which protocol it is only once.
    #[inline]
    pub(crate) fn handle_unless_over(&mut self, now: Instant, subflow: usize, packet: &Packet) -> Option<bool> {
        ask!(self, socket => {
            if Socket::is_over(&**socket, subflow) {
                return None;
            }
            Socket::handle_packet(&mut **socket, now, subflow, packet);
            Some(Socket::needs_host(&**socket))
        })
    }

    /// Whether it has new ends or a successor.
    #[inline]
    pub(crate) fn has_moved(&self) -> bool {
        ask!(self.has_moved())
    }

    /// The pairs of ends that were added since the last call.
    pub(crate) fn take_new_ends(&mut self) -> Vec<Ends> {
        ask!(mut self.take_new_ends())
    }

    /// The connection identifiers that it has issued (`true`) or does not take any more, since the last call.
    pub(crate) fn take_id_changes(&mut self) -> Vec<(ConnectionId, bool)> {
        ask!(mut self.take_id_changes())
    }

    /// All connection identifiers under which its host finds it.
    pub(crate) fn own_ids(&self) -> Vec<ConnectionId> {
        ask!(self.own_ids())
    }

    /// What takes the endpoint's place because the peer has restarted.
    pub(crate) fn take_successor(&mut self) -> Option<Self> {
        ask!(self, socket => socket.take_successor().map(|successor| (*successor).into()))
    }

    /// Fetches the endpoint from memory: a packet will come soon.
    #[inline]
    pub(crate) fn fetch(&self) {
        ask!(self.fetch())
    }

    /// Fetches subflow `subflow`.
    #[inline]
    pub(crate) fn fetch_subflow(&self, subflow: usize) {
        ask!(self.fetch_subflow(subflow))
    }

    /// Fetches the ends of the queues of subflow `subflow`.
    #[inline]
    pub(crate) fn fetch_queues(&self, subflow: usize) {
        ask!(self.fetch_queues(subflow))
    }
}
