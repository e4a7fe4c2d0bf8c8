//! Netlink: configures addresses, routes and MPTCP endpoints, lists sockets, and reports changes. This is our own code
//! because the two dozen requests that we need take less code than a general library.

mod family;
mod interfaces;
mod listener;
mod message;
mod mptcp;
mod mptcp_events;
mod route;
mod socket_diag;
mod tcp_sockets;

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType};

use crate::error::{Error, Result, While};
use crate::sys;
use message::{Answer, Message, answers};

pub use family::{event_listeners, is_passive};
pub use interfaces::{Interface, InterfaceChanges};
pub use listener::Received;
pub use message::Request;
pub use mptcp::{Endpoint, EndpointFlags, MptcpPathManager, NewSubflow};
pub use mptcp_events::{MptcpEvent, MptcpEvents, PeerReset, SubflowEnds};
pub use route::{Route, RouteControl};
pub use socket_diag::{MptcpSocket, SocketDiag, SubflowSocket, Tokens};
pub use tcp_sockets::{EndedSockets, TcpSocket};

const SOL_NETLINK: i32 = 270;
const NETLINK_CAP_ACK: i32 = 10;
const NETLINK_EXT_ACK: i32 = 11;

/// How often a list is asked for that changes meanwhile; the pauses between double, from 1 ms to 64 ms.
const ATTEMPTS: u32 = 8;

/// A netlink socket in the network namespace of the thread that opened it.
#[derive(Debug)]
pub(crate) struct Netlink {
    socket: OwnedFd,
    sequence: u32,
}

impl Netlink {
    /// Opens a socket for `protocol`; `None` means NETLINK_ROUTE, whose number is zero.
    fn open(protocol: Option<Protocol>) -> Result<Self> {
        let cannot = || "cannot open a netlink socket".to_owned();
        let socket = rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, protocol)
            .during(cannot)?;
        rustix::net::bind(&socket, &SocketAddrNetlink::new(0, 0)).during(cannot)?;
        // The kernel then explains errors as text.
        for option in [NETLINK_EXT_ACK, NETLINK_CAP_ACK] {
            let one = 1i32.to_ne_bytes();
            sys::set_socket_option(std::os::fd::AsFd::as_fd(&socket), SOL_NETLINK, option, &one).during(cannot)?;
        }
        Ok(Self { socket, sequence: 0 })
    }

    /// Sends `request` and waits for the kernel's messages and acknowledgment. `action` describes the request for
    /// errors, as "cannot …". Asks again for a list that changed while the kernel gave it; where it goes on changing, the
    /// error [says so](Error::is_torn_list).
    fn ask(&mut self, request: Request, action: impl Fn() -> String) -> Result<Vec<Message>> {
        for attempt in 0..ATTEMPTS {
            let (messages, torn) = self.ask_once(&request, &action)?;
            if !torn {
                return Ok(messages);
            }
            std::thread::sleep(Duration::from_millis(1 << attempt));
        }
        let source = io::Error::new(io::ErrorKind::Interrupted, "it changed each time while the kernel gave the list");
        Err(Error::System { action: action(), source })
    }

    /// The messages, and whether something may be missing.
    fn ask_once(&mut self, request: &Request, action: impl Fn() -> String) -> Result<(Vec<Message>, bool)> {
        self.sequence += 1;
        let bytes = request.finish(self.sequence);
        rustix::net::send(&self.socket, &bytes, SendFlags::empty()).during(&action)?;
        let (mut messages, mut is_torn) = (Vec::new(), false);
        let mut buffer = vec![0; 1 << 16];
        loop {
            let (length, _) = rustix::net::recv(&self.socket, &mut buffer[..], RecvFlags::empty()).during(&action)?;
            for answer in answers(&buffer[..length]) {
                match answer {
                    Answer::Message { sequence, message, torn } if sequence == self.sequence => {
                        is_torn |= torn;
                        messages.push(message);
                    }
                    Answer::Done { sequence, torn } if sequence == self.sequence => {
                        return Ok((messages, is_torn || torn));
                    }
                    Answer::Refused { sequence, errno, explanation } if sequence == self.sequence => {
                        let source = io::Error::from_raw_os_error(errno);
                        let action =
                            if explanation.is_empty() { action() } else { format!("{} ({explanation})", action()) };
                        return Err(Error::System { action, source });
                    }
                    // An answer to an earlier request.
                    _ => {}
                }
            }
        }
    }
}
