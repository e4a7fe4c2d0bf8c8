//! What the kernel reports about MPTCP connections (generic netlink family `mptcp_pm`, group `mptcp_pm_events`; Linux
//! `include/uapi/linux/mptcp_pm.h`, `net/mptcp/pm_netlink.c`).

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::net::netlink::GENERIC;

use super::family::{Family, GENERIC_HEADER, passive_ports};
use super::listener::{Listener, Received};
use super::message::u32_at;
use super::route::ip_address;
use super::{Message, Netlink};
use crate::error::{Error, Result};
use crate::socket_info::unmapped;

const EVENT_CREATED: u8 = 1;
const EVENT_ESTABLISHED: u8 = 2;
const EVENT_CLOSED: u8 = 3;
const EVENT_ANNOUNCED: u8 = 6;
const EVENT_REMOVED: u8 = 7;
const EVENT_SUB_ESTABLISHED: u8 = 10;
const EVENT_SUB_CLOSED: u8 = 11;
const EVENT_SUB_PRIORITY: u8 = 13;

const ATTR_TOKEN: u16 = 1;
const ATTR_LOC_ID: u16 = 3;
const ATTR_REM_ID: u16 = 4;
const ATTR_SADDR4: u16 = 5;
const ATTR_SADDR6: u16 = 6;
const ATTR_DADDR4: u16 = 7;
const ATTR_DADDR6: u16 = 8;
const ATTR_SPORT: u16 = 9;
const ATTR_DPORT: u16 = 10;
const ATTR_BACKUP: u16 = 11;
const ATTR_ERROR: u16 = 12;
const ATTR_FLAGS: u16 = 13;
const ATTR_RESET_REASON: u16 = 16;
const ATTR_RESET_FLAGS: u16 = 17;
const ATTR_SERVER_SIDE: u16 = 18;

const FLAG_DENY_JOIN_ID0: u16 = 1;
const FLAG_SERVER_SIDE: u16 = 2;

/// The two ends of a subflow, with their address identifiers. IPv4 addresses of IPv6 sockets are IPv4 addresses here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubflowEnds {
    /// This host's end.
    pub local: SocketAddr,
    /// The peer's end.
    pub remote: SocketAddr,
    /// The identifier of the local address.
    pub local_id: u8,
    /// The identifier of the remote address.
    pub remote_id: u8,
    /// Whether it is a backup.
    pub backup: bool,
}

/// What the peer said when it reset a subflow (MP_TCPRST, RFC 8684, Section 3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerReset {
    /// Its reason code.
    pub reason: u32,
    /// Whether the reason may pass (flag T).
    pub transient: bool,
}

/// What happened to the connection with the local `token`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MptcpEvent {
    /// It began: its first subflow is established, but it may not have further ones yet.
    Created {
        /// Its token.
        token: u32,
        /// The initial subflow.
        initial: SubflowEnds,
        /// Whether the peer sent the first SYN.
        server: bool,
    },
    /// It may have further subflows from now on.
    Established {
        /// Its token.
        token: u32,
        /// The initial subflow.
        initial: SubflowEnds,
        /// Whether the peer sent the first SYN.
        server: bool,
        /// Whether the peer forbade joins to its initial address and port.
        initial_address_closed: bool,
    },
    /// It ended.
    Closed {
        /// Its token.
        token: u32,
    },
    /// The peer announced an address.
    Announced {
        /// Its token.
        token: u32,
        /// The identifier of the address.
        id: u8,
        /// The address.
        address: IpAddr,
        /// Its port; the kernel puts that of the connection where the peer named none.
        port: u16,
    },
    /// The peer withdrew an address.
    Withdrawn {
        /// Its token.
        token: u32,
        /// The identifier of the address.
        id: u8,
    },
    /// A subflow beyond the initial one is established.
    SubflowEstablished {
        /// Its token.
        token: u32,
        /// The subflow.
        subflow: SubflowEnds,
    },
    /// A subflow closed, or could not be opened.
    SubflowClosed {
        /// Its token.
        token: u32,
        /// The subflow.
        subflow: SubflowEnds,
        /// Why the peer reset it, if it said that.
        reset: Option<PeerReset>,
        /// The socket's error, an `errno`; `None` without one.
        error: Option<u8>,
    },
    /// A subflow became a backup, or ceased to be one.
    SubflowPriority {
        /// Its token.
        token: u32,
        /// The subflow.
        subflow: SubflowEnds,
    },
}

/// Receives the events of all MPTCP connections of a network namespace.
#[derive(Debug)]
pub struct MptcpEvents {
    listener: Listener,
    family: u16,
}

impl MptcpEvents {
    /// From now on receives the events in the calling thread's network namespace. As long as this exists, the kernel
    /// lets peers open subflows on connections of the userspace path manager.
    pub fn open() -> Result<Self> {
        Self::open_at(0)
    }

    /// The same for somebody who manages no paths: others see by the [port number](super::is_passive) that this
    /// listener does not count.
    pub fn open_passively() -> Result<Self> {
        let taken =
            |error: &Error| matches!(error, Error::System { source, .. } if source.kind() == ErrorKind::AddrInUse);
        // A process of another process namespace may have the same identifier.
        let mut ports = passive_ports(std::process::id());
        loop {
            match (Self::open_at(ports.next().unwrap_or(0)), ports.len()) {
                (Err(error), 1..) if taken(&error) => {}
                (outcome, _) => return outcome,
            }
        }
    }

    fn open_at(port: u32) -> Result<Self> {
        let family = Family::mptcp_path_manager(&mut Netlink::open(Some(GENERIC))?)?;
        let Some(group) = family.events else {
            return Err(Error::missing(
                "this kernel does not report what happens to MPTCP connections",
                "expected Linux 5.19 or newer",
            ));
        };
        Ok(Self { listener: Listener::open_at(Some(GENERIC), port, &[group])?, family: family.id })
    }

    /// The next events.
    pub fn receive(&self) -> Result<Received<MptcpEvent>> {
        Ok(match self.listener.receive()? {
            Received::Events(messages) => {
                let ours = messages.iter().filter(|message| message.kind == self.family);
                Received::Events(ours.filter_map(parse).collect())
            }
            Received::Nothing => Received::Nothing,
            Received::Lost => Received::Lost,
        })
    }
}

impl AsFd for MptcpEvents {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

/// The event in a message; `None` for those that nobody here uses.
fn parse(message: &Message) -> Option<MptcpEvent> {
    let attribute = |kind| message.attribute(GENERIC_HEADER, kind);
    let byte = |kind| attribute(kind).and_then(|value| value.first().copied());
    let token = attribute(ATTR_TOKEN).and_then(|value| u32_at(value, 0))?;
    let flags = attribute(ATTR_FLAGS).and_then(|value| value.try_into().ok()).map_or(0, u16::from_ne_bytes);
    // Up to Linux 6.17 an attribute, later also a flag; the attribute is absent on clients since then.
    let server = byte(ATTR_SERVER_SIDE).is_some_and(|server| server != 0) || flags & FLAG_SERVER_SIDE != 0;
    Some(match *message.bytes().first()? {
        EVENT_CREATED => MptcpEvent::Created { token, initial: ends(message)?, server },
        EVENT_ESTABLISHED => {
            let initial_address_closed = flags & FLAG_DENY_JOIN_ID0 != 0;
            MptcpEvent::Established { token, initial: ends(message)?, server, initial_address_closed }
        }
        EVENT_CLOSED => MptcpEvent::Closed { token },
        EVENT_ANNOUNCED => {
            let remote = end(message, [ATTR_DADDR4, ATTR_DADDR6, ATTR_DPORT])?;
            MptcpEvent::Announced { token, id: byte(ATTR_REM_ID)?, address: remote.ip(), port: remote.port() }
        }
        EVENT_REMOVED => MptcpEvent::Withdrawn { token, id: byte(ATTR_REM_ID)? },
        EVENT_SUB_ESTABLISHED => MptcpEvent::SubflowEstablished { token, subflow: ends(message)? },
        EVENT_SUB_CLOSED => {
            let transient = attribute(ATTR_RESET_FLAGS).and_then(|value| u32_at(value, 0)) != Some(0);
            let reason = attribute(ATTR_RESET_REASON).and_then(|value| u32_at(value, 0));
            let reset = reason.map(|reason| PeerReset { reason, transient });
            let error = byte(ATTR_ERROR).filter(|&error| error != 0);
            MptcpEvent::SubflowClosed { token, subflow: ends(message)?, reset, error }
        }
        EVENT_SUB_PRIORITY => MptcpEvent::SubflowPriority { token, subflow: ends(message)? },
        _ => return None,
    })
}

fn ends(message: &Message) -> Option<SubflowEnds> {
    let byte = |kind| message.attribute(GENERIC_HEADER, kind).and_then(|value| value.first().copied()).unwrap_or(0);
    Some(SubflowEnds {
        local: end(message, [ATTR_SADDR4, ATTR_SADDR6, ATTR_SPORT])?,
        remote: end(message, [ATTR_DADDR4, ATTR_DADDR6, ATTR_DPORT])?,
        local_id: byte(ATTR_LOC_ID),
        remote_id: byte(ATTR_REM_ID),
        backup: byte(ATTR_BACKUP) != 0,
    })
}

fn end(message: &Message, [v4, v6, port]: [u16; 3]) -> Option<SocketAddr> {
    let attribute = |kind| message.attribute(GENERIC_HEADER, kind);
    let address = ip_address(attribute(v4).or_else(|| attribute(v6))?)?;
    let port = attribute(port).and_then(|port| port.try_into().ok()).map_or(0, u16::from_be_bytes);
    Some(unmapped(SocketAddr::new(address, port)))
}

#[cfg(test)]
mod tests {
    use super::super::Request;
    use super::super::message::{Answer, answers};
    use super::*;

    fn event(command: u8, fill: impl FnOnce(Request) -> Request) -> Option<MptcpEvent> {
        let request = Request::new(40, 0, &[command, 1, 0, 0]).attribute(ATTR_TOKEN, &7u32.to_ne_bytes());
        match answers(&fill(request).finish(0)).into_iter().next() {
            Some(Answer::Message { message, .. }) => parse(&message),
            _ => panic!("one message"),
        }
    }

    fn with_ends(request: Request) -> Request {
        let mapped = std::net::Ipv4Addr::new(10, 0, 0, 1).to_ipv6_mapped();
        request
            .attribute(ATTR_SADDR6, &mapped.octets())
            .attribute(ATTR_DADDR4, &[10, 9, 0, 1])
            .attribute(ATTR_SPORT, &40_000u16.to_be_bytes())
            .attribute(ATTR_DPORT, &80u16.to_be_bytes())
            .attribute(ATTR_LOC_ID, &[3])
    }

    #[test]
    fn ends_are_read_with_mapped_addresses_as_ipv4() {
        let Some(MptcpEvent::SubflowEstablished { token: 7, subflow }) = event(EVENT_SUB_ESTABLISHED, with_ends) else {
            panic!("a subflow")
        };
        assert_eq!(subflow.local, "10.0.0.1:40000".parse().expect("an address"));
        assert_eq!(subflow.remote, "10.9.0.1:80".parse().expect("an address"));
        assert_eq!((subflow.local_id, subflow.remote_id, subflow.backup), (3, 0, false));
    }

    #[test]
    fn the_server_is_told_from_the_client_by_attribute_or_flag() {
        let is_server = |fill: fn(Request) -> Request| match event(EVENT_ESTABLISHED, |r| fill(with_ends(r))) {
            Some(MptcpEvent::Established { server, initial_address_closed, .. }) => (server, initial_address_closed),
            other => panic!("{other:?}"),
        };
        assert_eq!(is_server(|request| request), (false, false), "a client, since Linux 6.18");
        assert_eq!(is_server(|request| request.attribute(ATTR_SERVER_SIDE, &[1])), (true, false));
        assert_eq!(is_server(|request| request.attribute(ATTR_FLAGS, &3u16.to_ne_bytes())), (true, true));
    }

    #[test]
    fn the_reason_of_a_reset_and_the_error_of_a_closed_subflow_are_read() {
        let reset = |flags: Option<u32>| {
            let closed = event(EVENT_SUB_CLOSED, |request| match flags {
                Some(flags) => with_ends(request)
                    .attribute(ATTR_RESET_REASON, &3u32.to_ne_bytes())
                    .attribute(ATTR_RESET_FLAGS, &flags.to_ne_bytes()),
                None => with_ends(request).attribute(ATTR_ERROR, &[104]),
            });
            match closed {
                Some(MptcpEvent::SubflowClosed { reset, error, .. }) => (reset, error),
                other => panic!("{other:?}"),
            }
        };
        let said = |transient| (Some(PeerReset { reason: 3, transient }), None);
        assert_eq!([None, Some(0), Some(1)].map(reset), [(None, Some(104)), said(false), said(true)]);
    }

    #[test]
    fn a_connection_that_begins_and_a_changed_priority_are_events() {
        let created = event(EVENT_CREATED, |request| with_ends(request).attribute(ATTR_SERVER_SIDE, &[1]));
        assert!(matches!(created, Some(MptcpEvent::Created { token: 7, server: true, .. })), "{created:?}");
        let changed = event(EVENT_SUB_PRIORITY, |request| with_ends(request).attribute(ATTR_BACKUP, &[1]));
        assert!(matches!(changed, Some(MptcpEvent::SubflowPriority { subflow, .. }) if subflow.backup), "{changed:?}");
    }

    #[test]
    fn incomplete_events_are_ignored() {
        assert_eq!(event(EVENT_SUB_ESTABLISHED, |request| request), None);
        assert_eq!(event(EVENT_REMOVED, |request| request), None);
        assert_eq!(event(99, with_ends), None);
    }
}
