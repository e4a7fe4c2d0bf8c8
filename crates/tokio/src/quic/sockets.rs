//! The UDP sockets of an endpoint: one for each local address.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::net::UdpSocket;

/// Datagrams that wait for a socket before connections write no more.
const MOST_WAITING: usize = 64;

/// A socket, with the datagrams that wait until it takes them.
#[derive(Debug)]
struct Socket {
    local: SocketAddr,
    socket: Arc<UdpSocket>,
    waiting: VecDeque<(SocketAddr, Vec<u8>)>,
}

/// All sockets of an endpoint.
#[derive(Debug, Default)]
pub(super) struct Sockets {
    all: Vec<Socket>,
}

/// A socket that is bound to `local`, an address of this machine.
pub(super) fn bind(local: SocketAddr) -> io::Result<UdpSocket> {
    check(local)?;
    let bound = std::net::UdpSocket::bind(local).and_then(|socket| {
        socket.set_nonblocking(true)?;
        UdpSocket::from_std(socket)
    });
    bound.map_err(|error| io::Error::new(error.kind(), format!("cannot bind to {local}: {error}")))
}

/// Whether a path can have this address.
pub(super) fn check(local: SocketAddr) -> io::Result<()> {
    if local.ip().is_unspecified() {
        let message = format!(
            "{local}: a path is between two addresses, so that a socket needs one of this machine; name each of them"
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    Ok(())
}

impl Sockets {
    /// Adds a socket, in place of another one with the same address. Its datagrams that wait are lost.
    pub(super) fn add(&mut self, local: SocketAddr, socket: Arc<UdpSocket>) {
        self.remove(local.ip());
        self.all.push(Socket { local, socket, waiting: VecDeque::new() });
    }

    /// Closes the socket of an address. Returns whether there was one.
    pub(super) fn remove(&mut self, address: IpAddr) -> bool {
        let before = self.all.len();
        self.all.retain(|socket| socket.local.ip() != address);
        self.all.len() < before
    }

    /// The addresses and ports, in the order in which they were added.
    pub(super) fn addresses(&self) -> Vec<SocketAddr> {
        self.all.iter().map(|socket| socket.local).collect()
    }

    /// The sockets with their addresses, to receive from them.
    pub(super) fn to_receive(&self) -> Vec<(SocketAddr, Arc<UdpSocket>)> {
        self.all.iter().map(|socket| (socket.local, Arc::clone(&socket.socket))).collect()
    }

    /// Whether so many datagrams wait that no more are to be written.
    pub(super) fn are_full(&self) -> bool {
        self.all.iter().any(|socket| socket.waiting.len() >= MOST_WAITING)
    }

    /// Sends a datagram, now or as soon as the socket takes it. One from an address without a socket is lost, as on a network,
    /// and so is one that the operating system refuses.
    ///
    /// # Errors
    ///
    /// The operating system does not have the address any more.
    pub(super) fn send(&mut self, from: IpAddr, to: SocketAddr, bytes: &[u8]) -> Result<(), AddressGone> {
        let Some(socket) = self.all.iter_mut().find(|socket| socket.local.ip() == from) else { return Ok(()) };
        if !socket.waiting.is_empty() {
            socket.waiting.push_back((to, bytes.to_vec()));
            return Ok(());
        }
        match socket.socket.try_send_to(bytes, to) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => socket.waiting.push_back((to, bytes.to_vec())),
            Err(error) if error.kind() == io::ErrorKind::AddrNotAvailable => return Err(AddressGone(from)),
            Ok(_) | Err(_) => {}
        }
        Ok(())
    }

    /// Sends what waits, as far as the sockets take it. Returns whether any of it was sent.
    pub(super) fn poll_flush(&mut self, context: &mut Context<'_>) -> bool {
        let mut has_sent = false;
        for Socket { socket, waiting, .. } in &mut self.all {
            while let Some((to, bytes)) = waiting.front()
                && let Poll::Ready(_) = socket.poll_send_to(context, bytes, *to)
            {
                waiting.pop_front();
                has_sent = true;
            }
        }
        has_sent
    }
}

/// The operating system does not have this address any more.
pub(super) struct AddressGone(pub(super) IpAddr);
