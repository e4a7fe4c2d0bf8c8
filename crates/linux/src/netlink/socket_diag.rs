//! Lists the TCP and MPTCP connections of a network namespace, with subflows (Linux `include/uapi/linux/inet_diag.h`,
//! `include/uapi/linux/mptcp.h`; `net/mptcp/diag.c`).

use std::net::{IpAddr, SocketAddr};

use rustix::net::netlink::SOCK_DIAG;

use super::message::{DUMP, attribute, u32_at};
use super::{Message, Netlink, Request};
use crate::SubflowInfo;
use crate::error::Result;
use crate::socket_info::{DataCounters, TCP_INFO_SIZE, unmapped};

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const INET_DIAG_REQ_PROTOCOL: u16 = 3;
pub(super) const INET_DIAG_INFO: u16 = 2;
const INET_DIAG_ULP_INFO: u16 = 19;
const INET_ULP_INFO_MPTCP: u16 = 3;
const IPPROTO_TCP: u8 = 6;
const IPPROTO_MPTCP: u32 = 262;
/// struct inet_diag_sockid.
pub(super) const SOCKET_ID: usize = 48;
/// struct inet_diag_msg.
pub(super) const DIAG_MESSAGE: usize = 72;

const SUBFLOW_TOKEN_REM: u16 = 1;
const SUBFLOW_TOKEN_LOC: u16 = 2;
const SUBFLOW_FLAGS: u16 = 8;
const SUBFLOW_ID_REM: u16 = 9;
const SUBFLOW_ID_LOC: u16 = 10;
const FLAG_MP_CAPABLE_SENT: u32 = 1 << 1;
const FLAG_BACKUP: u32 = 1 << 4 | 1 << 5;
const FLAG_FULLY_ESTABLISHED: u32 = 1 << 6;

const INFO_FLAG_FALLBACK: u32 = 1;
const ESTABLISHED: u8 = 1;
/// The states before a connection is established (Linux `include/net/tcp_states.h`).
pub(super) const OPENING: [u8; 2] = [2, 3];
pub(super) const CLOSED: u8 = 7;
pub(super) const LISTENING: u8 = 10;
/// All states except for those of sockets that are closed or listen.
const CONNECTED: u32 = !(1 << CLOSED | 1 << LISTENING);
/// The extension that asks for counters.
pub(super) const COUNTERS: u8 = 1 << (INET_DIAG_INFO - 1);

/// An MPTCP connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MptcpSocket {
    /// Its state, as in TCP_INFO (Linux `include/net/tcp_states.h`); 1 is established.
    pub state: u8,
    /// Its local token.
    pub token: u32,
    /// Its ends, which are those of its initial subflow.
    pub local: SocketAddr,
    /// The peer's end.
    pub remote: SocketAddr,
    /// Whether it is a single TCP connection by now.
    pub fallback: bool,
    /// Subflows in addition to the initial one.
    pub extra_subflows: u8,
    /// What MPTCP has written to the subflows.
    pub data: DataCounters,
    /// Bytes received, without copies (since Linux 6.5).
    pub bytes_received: u64,
    /// The inode of the socket, 0 if no process has it any more.
    pub inode: u32,
}

impl MptcpSocket {
    /// Whether neither end has begun to close it.
    pub fn is_established(&self) -> bool {
        self.state == ESTABLISHED
    }
}

/// The tokens of the connection that a subflow belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// The local one; 0 on subflows that this host opened after the initial one.
    pub local: u32,
    /// The remote one; 0 on subflows that the peer opened after the initial one.
    pub remote: u32,
}

/// A subflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubflowSocket {
    /// Its state, as in TCP_INFO (Linux `include/net/tcp_states.h`); 1 is established.
    pub state: u8,
    /// Those of its connection.
    pub tokens: Tokens,
    /// The identifier of its local address.
    pub local_id: u8,
    /// The identifier of its remote address.
    pub remote_id: u8,
    /// Whether it is the initial subflow and this host sent its SYN.
    pub connected_here: bool,
    /// Whether either host made it a backup.
    pub backup: bool,
    /// Whether the peer has shown that it has both keys.
    pub fully_established: bool,
    /// Its ends and counters.
    pub info: SubflowInfo,
    /// Bytes per second at which data was last delivered, by the kernel's estimate.
    pub delivery_rate: u64,
    /// The smallest RTT in µs that the kernel has seen lately.
    pub minimum_rtt_us: u32,
    /// Packets that the kernel thinks lost and has not sent again.
    pub lost: u32,
}

impl SubflowSocket {
    /// Whether data can be sent on it.
    pub fn is_established(&self) -> bool {
        self.state == ESTABLISHED
    }

    /// Whether its handshake is not complete.
    pub fn is_opening(&self) -> bool {
        OPENING.contains(&self.state)
    }
}

/// Lists the sockets of the network namespace in which it was opened.
#[derive(Debug)]
pub struct SocketDiag(Netlink);

impl SocketDiag {
    /// Opens it for the calling thread's network namespace.
    pub fn open() -> Result<Self> {
        Netlink::open(Some(SOCK_DIAG)).map(Self)
    }

    /// The MPTCP connections. Sockets that have not reached the kernel's MPTCP have no token and are left out.
    pub fn connections(&mut self) -> Result<Vec<MptcpSocket>> {
        // The protocol's number does not fit into the request's byte.
        let number = IPPROTO_MPTCP.to_ne_bytes();
        let complete = |request: Request| request.attribute(INET_DIAG_REQ_PROTOCOL, &number);
        let messages = self.list(complete, IPPROTO_MPTCP as u8)?;
        Ok(messages.iter().filter_map(connection).collect())
    }

    /// All TCP sockets that are subflows of MPTCP connections.
    pub fn subflows(&mut self) -> Result<Vec<SubflowSocket>> {
        let messages = self.list(|request| request, IPPROTO_TCP)?;
        Ok(messages.iter().filter_map(subflow).collect())
    }

    fn list(&mut self, complete: impl Fn(Request) -> Request, protocol: u8) -> Result<Vec<Message>> {
        let mut all = Vec::new();
        for family in [libc::AF_INET, libc::AF_INET6] {
            let mut fixed = vec![family as u8, protocol, COUNTERS, 0];
            fixed.extend_from_slice(&CONNECTED.to_ne_bytes());
            fixed.extend_from_slice(&[0; SOCKET_ID]);
            let request = complete(Request::new(SOCK_DIAG_BY_FAMILY, DUMP, &fixed));
            all.extend(self.ask(request)?);
        }
        Ok(all)
    }

    pub(super) fn ask(&mut self, request: Request) -> Result<Vec<Message>> {
        self.0.ask(request, || "cannot list the sockets of a network namespace".into())
    }
}

fn connection(message: &Message) -> Option<MptcpSocket> {
    let [local, remote] = ends(message)?;
    // struct mptcp_info, which is shorter in older kernels.
    let mut info = message.attribute(DIAG_MESSAGE, INET_DIAG_INFO)?.to_vec();
    info.resize(info.len().max(128), 0);
    let token = u32_at(&info, 12).filter(|&token| token != 0)?;
    Some(MptcpSocket {
        state: *message.bytes().get(1)?,
        token,
        local,
        remote,
        fallback: u32_at(&info, 8)? & INFO_FLAG_FALLBACK != 0,
        extra_subflows: info[0],
        data: DataCounters::parse(&info),
        bytes_received: u64_at(&info, 64),
        inode: u32_at(message.bytes(), 68)?,
    })
}

/// What a message says of a socket as a subflow of MPTCP, if it is one.
fn of_mptcp(message: &Message) -> Option<&[u8]> {
    attribute(message.attribute(DIAG_MESSAGE, INET_DIAG_ULP_INFO)?, INET_ULP_INFO_MPTCP)
}

/// The tokens of the connection that a socket belongs to, if it is a subflow.
pub(super) fn tokens(message: &Message) -> Option<Tokens> {
    let mptcp = of_mptcp(message)?;
    let number = |kind| attribute(mptcp, kind).and_then(|value| u32_at(value, 0)).unwrap_or(0);
    Some(Tokens { local: number(SUBFLOW_TOKEN_LOC), remote: number(SUBFLOW_TOKEN_REM) })
}

fn subflow(message: &Message) -> Option<SubflowSocket> {
    let [local, remote] = ends(message)?;
    let mptcp = of_mptcp(message)?;
    let mut info = message.attribute(DIAG_MESSAGE, INET_DIAG_INFO)?.to_vec();
    info.resize(info.len().max(TCP_INFO_SIZE), 0);
    let byte = |kind| attribute(mptcp, kind).and_then(|value| value.first().copied()).unwrap_or(0);
    let flags = attribute(mptcp, SUBFLOW_FLAGS).and_then(|value| u32_at(value, 0)).unwrap_or(0);
    Some(SubflowSocket {
        state: *message.bytes().get(1)?,
        tokens: tokens(message)?,
        local_id: byte(SUBFLOW_ID_LOC),
        remote_id: byte(SUBFLOW_ID_REM),
        connected_here: flags & FLAG_MP_CAPABLE_SENT != 0,
        backup: flags & FLAG_BACKUP != 0,
        fully_established: flags & FLAG_FULLY_ESTABLISHED != 0,
        info: SubflowInfo::parse(&info, local, remote),
        delivery_rate: u64_at(&info, 160),
        minimum_rtt_us: u32_at(&info, 148)?,
        lost: u32_at(&info, 32)?,
    })
}

/// The local and the remote end (struct inet_diag_sockid).
pub(super) fn ends(message: &Message) -> Option<[SocketAddr; 2]> {
    let bytes = message.bytes().get(..DIAG_MESSAGE)?;
    let port = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
    let address = |at: usize| -> Option<IpAddr> {
        Some(match i32::from(bytes[0]) {
            libc::AF_INET => <[u8; 4]>::try_from(&bytes[at..at + 4]).ok()?.into(),
            libc::AF_INET6 => <[u8; 16]>::try_from(&bytes[at..at + 16]).ok()?.into(),
            _ => return None,
        })
    };
    let end = |at, port_at| Some(unmapped(SocketAddr::new(address(at)?, port(port_at))));
    Some([end(8, 4)?, end(24, 6)?])
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_ne_bytes)
}
