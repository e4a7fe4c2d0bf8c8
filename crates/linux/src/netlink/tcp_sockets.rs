//! The TCP sockets of a network namespace: listed, and reported by the kernel when they end. The report has the last
//! counters of a connection, however short it was (Linux `net/core/sock_diag.c`, `SKNLGRP_INET_TCP_DESTROY`).

use rustix::net::netlink::SOCK_DIAG;
use subflow_quantity::Duration;

use super::listener::{Listener, Received};
use super::message::{DUMP, u32_at};
use super::socket_diag::{
    CLOSED, COUNTERS, DIAG_MESSAGE, INET_DIAG_INFO, LISTENING, OPENING, SOCKET_ID, Tokens, ends, tokens, u64_at,
};
use super::{Message, Request, SocketDiag};
use crate::SubflowInfo;
use crate::error::Result;
use crate::socket_info::TCP_INFO_SIZE;

const TCPDIAG_GETSOCK: u16 = 18;
const INET_DIAG_CONG: u16 = 4;
/// The extension that asks for the congestion control.
const CONGESTION: u8 = 1 << (INET_DIAG_CONG - 1);
const TIME_WAIT: u8 = 6;
/// All states except for those of sockets that are closed or have no counters any more.
const COUNTED: u32 = !(1 << CLOSED | 1 << TIME_WAIT);
/// The groups of ended TCP sockets of IPv4 and IPv6.
const GROUPS: [u32; 2] = [1, 3];

/// A TCP connection, a subflow of an MPTCP connection, or a socket that listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpSocket {
    /// The kernel's number for it, which no other socket gets.
    pub cookie: u64,
    /// Its state (Linux `include/net/tcp_states.h`).
    pub state: u8,
    /// The inode of the socket; 0 if no process has it.
    pub inode: u32,
    /// Its congestion control; empty when the socket has ended.
    pub congestion: String,
    /// Its ends and counters.
    pub info: SubflowInfo,
    /// Bytes of payload sent, without retransmissions.
    pub payload_sent: u64,
    /// How long ago data arrived; without meaning before any has.
    pub since_data: Duration,
    /// For how long data has waited to be sent or acknowledged, in sum.
    pub busy: Duration,
    /// The connection that it belongs to, if it is a subflow of MPTCP. An ended socket does not tell.
    pub tokens: Option<Tokens>,
}

impl TcpSocket {
    /// Whether it waits for connections.
    pub fn listens(&self) -> bool {
        self.state == LISTENING
    }

    /// Whether its handshake is not complete.
    pub fn is_opening(&self) -> bool {
        OPENING.contains(&self.state)
    }
}

impl SocketDiag {
    /// All TCP sockets, also those that listen and those that are subflows of MPTCP connections.
    pub fn tcp(&mut self) -> Result<Vec<TcpSocket>> {
        // The older form of the request (struct inet_diag_req) is for both families: the kernel goes through its table
        // once.
        let mut fixed = vec![libc::AF_INET as u8, 0, 0, COUNTERS | CONGESTION];
        fixed.extend_from_slice(&[0; SOCKET_ID]);
        fixed.extend_from_slice(&COUNTED.to_ne_bytes());
        fixed.extend_from_slice(&[0; 4]);
        let request = Request::new(TCPDIAG_GETSOCK, DUMP, &fixed);
        Ok(self.ask(request)?.iter().filter_map(tcp_socket).collect())
    }
}

/// The socket in a message; `None` for entries without counters, such as handshakes of a server.
fn tcp_socket(message: &Message) -> Option<TcpSocket> {
    let [local, remote] = ends(message)?;
    let mut info = message.attribute(DIAG_MESSAGE, INET_DIAG_INFO)?.to_vec();
    info.resize(info.len().max(TCP_INFO_SIZE), 0);
    let congestion = message.attribute(DIAG_MESSAGE, INET_DIAG_CONG).unwrap_or_default();
    // Bytes sent include the retransmitted ones.
    let payload_sent = u64_at(&info, 200).saturating_sub(u64_at(&info, 208));
    Some(TcpSocket {
        cookie: u64_at(message.bytes(), 44),
        state: *message.bytes().get(1)?,
        inode: u32_at(message.bytes(), 68)?,
        congestion: String::from_utf8_lossy(congestion).trim_end_matches('\0').to_owned(),
        info: SubflowInfo::parse(&info, local, remote),
        payload_sent,
        since_data: Duration::from_millis(u32_at(&info, 52)?.into()),
        busy: Duration::from_micros(u64_at(&info, 168)),
        tokens: tokens(message),
    })
}

/// Receives the TCP sockets of a network namespace that have ended, with their last counters.
#[derive(Debug)]
pub struct EndedSockets(Listener);

impl EndedSockets {
    /// From now on receives those of the calling thread's network namespace.
    pub fn open() -> Result<Self> {
        Listener::open(Some(SOCK_DIAG), &GROUPS).map(Self)
    }

    /// The next ones. Sockets that were not connected, such as those that listened, are left out.
    pub fn receive(&self) -> Result<Received<TcpSocket>> {
        Ok(match self.0.receive()? {
            Received::Events(messages) => {
                let sockets = messages.iter().filter_map(tcp_socket);
                Received::Events(sockets.filter(|socket| socket.info.remote.port() != 0).collect())
            }
            Received::Nothing => Received::Nothing,
            Received::Lost => Received::Lost,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    use super::*;
    use crate::Namespace;
    use crate::netlink::RouteControl;

    #[test]
    fn a_connection_is_listed_while_it_is_open_and_reported_with_its_bytes_when_it_has_ended() {
        if !subflow_prerequisite::network_namespaces() {
            return;
        }
        let namespace = Namespace::create("ended").expect("a namespace");
        let (open, ended) = namespace.run(|| Ok(transferred())).expect("it runs");
        let bytes: Vec<u64> = ended.iter().map(|socket| socket.payload_sent).collect();
        assert!(bytes.contains(&100_000) && bytes.contains(&0), "{ended:?}");
        let cookies =
            |sockets: &[TcpSocket]| sockets.iter().map(|s| s.cookie).collect::<std::collections::BTreeSet<_>>();
        assert!(cookies(&ended).is_subset(&cookies(&open)), "{open:?} {ended:?}");
        assert_eq!(open.iter().filter(|socket| socket.listens()).count(), 1);
        assert!(open.iter().all(|socket| socket.listens() || (socket.inode != 0 && !socket.congestion.is_empty())));
    }

    /// The sockets during a transfer of 100 000 bytes over the loopback interface, and those that were reported after it.
    fn transferred() -> (Vec<TcpSocket>, Vec<TcpSocket>) {
        RouteControl::open().and_then(|mut control| control.set_up(1, None, None)).expect("an interface");
        let reported = EndedSockets::open().expect("it listens");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let mut client = TcpStream::connect(listener.local_addr().expect("its address")).expect("it connects");
        let (mut server, _) = listener.accept().expect("a connection");
        client.write_all(&[7; 100_000]).expect("there is room");
        let open = SocketDiag::open().and_then(|mut diag| diag.tcp()).expect("a list");
        drop(client);
        server.read_to_end(&mut Vec::new()).expect("all of it");
        drop((server, listener));
        let mut ended = Vec::new();
        for _ in 0..200 {
            match reported.receive().expect("events") {
                Received::Events(sockets) => ended.extend(sockets),
                Received::Nothing | Received::Lost => std::thread::sleep(std::time::Duration::from_millis(10)),
            }
            if ended.len() == 2 {
                break;
            }
        }
        (open, ended)
    }
}
