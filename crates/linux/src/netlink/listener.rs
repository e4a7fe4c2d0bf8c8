//! A netlink socket that receives what the kernel reports to a group.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, Protocol, RecvFlags, SocketFlags, SocketType, sockopt};

use super::SOL_NETLINK;
use super::message::{Answer, Message, answers};
use crate::error::{Result, While};
use crate::sys;

const NETLINK_ADD_MEMBERSHIP: i32 = 1;

/// Room for some ten thousand events. The kernel drops events that find no room, and says so.
const RECEIVE_BUFFER: usize = 8 << 20;

/// What a listener received.
#[derive(Clone, Debug)]
pub enum Received<T> {
    /// Nothing now.
    Nothing,
    /// These events.
    Events(Vec<T>),
    /// The kernel lost events because the socket's buffer was full: the state that they told of has to be asked for.
    Lost,
}

/// Such a socket. Reading it does not block.
#[derive(Debug)]
pub(super) struct Listener(OwnedFd);

impl Listener {
    /// Opens a socket for `protocol` (`None`: NETLINK_ROUTE) that receives the events of these groups.
    pub(super) fn open(protocol: Option<Protocol>, groups: &[u32]) -> Result<Self> {
        Self::open_at(protocol, 0, groups)
    }

    /// The same, with this netlink port number; 0 leaves it to the kernel, which prefers the process identifier.
    pub(super) fn open_at(protocol: Option<Protocol>, port: u32, groups: &[u32]) -> Result<Self> {
        let cannot = || "cannot listen to the kernel's events".to_owned();
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket =
            rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, protocol).during(cannot)?;
        rustix::net::bind(&socket, &SocketAddrNetlink::new(port, 0)).during(cannot)?;
        // Beyond the limit of other sockets if that is permitted; a small buffer serves, too.
        if sockopt::set_socket_recv_buffer_size_force(&socket, RECEIVE_BUFFER).is_err() {
            sockopt::set_socket_recv_buffer_size(&socket, RECEIVE_BUFFER).during(cannot)?;
        }
        for group in groups {
            let number = group.to_ne_bytes();
            sys::set_socket_option(socket.as_fd(), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &number).during(cannot)?;
        }
        Ok(Self(socket))
    }

    /// The messages of the next datagram.
    pub(super) fn receive(&self) -> Result<Received<Message>> {
        let mut buffer = vec![0; 1 << 16];
        match rustix::net::recv(&self.0, &mut buffer[..], RecvFlags::empty()) {
            Ok((length, _)) => {
                let messages = answers(&buffer[..length]).into_iter().filter_map(|answer| match answer {
                    Answer::Message { message, .. } => Some(message),
                    Answer::Done { .. } | Answer::Refused { .. } => None,
                });
                Ok(Received::Events(messages.collect()))
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(Received::Nothing),
            Err(Errno::NOBUFS) => Ok(Received::Lost),
            Err(error) => Err(error).during(|| "cannot receive the kernel's events".into()),
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
