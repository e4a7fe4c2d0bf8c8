//! The sockets by which our SCTP uses a kernel's IP: raw sockets of protocol 132, or UDP sockets (RFC 6951).

use core::ops::Range;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::net::{AddressFamily, SocketFlags, SocketType, ipproto};
use subflow_wire::sctp::{UDP_ENCAPSULATION_PORT, UdpEncapsulation};
use subflow_wire::{Body, Dscp, Ecn, IpHeader, Packet, SctpPacket};

use crate::error::{Error, Result, While};
use crate::socket::{set_receive_buffer, set_send_buffer};
use crate::{PacketWriter, sys};

/// Buffers for bursts of packets, in bytes.
const BUFFER: usize = 8 << 20;
/// The hop limit in descriptions of received packets; the sockets do not tell it.
const HOP_LIMIT: u8 = 64;
const IPV4_HEADER: usize = 20;
const IPV6_HEADER: usize = 40;
const UDP_HEADER: usize = 8;

/// How SCTP packets are carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SctpCarrier {
    /// Directly in IP, as protocol 132. It takes CAP_NET_RAW.
    Ip,
    /// In UDP, from and to port 9899 (RFC 6951).
    Udp,
}

impl SctpCarrier {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Ip, Self::Udp];

    /// That of packets in UDP, or in IP.
    pub const fn of(encapsulation: Option<UdpEncapsulation>) -> Self {
        if encapsulation.is_some() { Self::Udp } else { Self::Ip }
    }
}

/// One socket for each local address. The kernel routes what is sent, as it routes the packets of any program.
///
/// A kernel with its own SCTP in this namespace would answer the same packets, with ABORT: [`Self::open`] refuses.
#[derive(Debug)]
pub struct SctpSockets {
    carrier: SctpCarrier,
    sockets: Vec<(IpAddr, UdpSocket)>,
}

impl SctpSockets {
    /// Opens the sockets for `addresses`, in the namespace of the calling thread.
    ///
    /// # Errors
    ///
    /// Without the right to raw sockets, if the port or an address is not available, and where the kernel has SCTP.
    pub fn open(carrier: SctpCarrier, addresses: &[IpAddr]) -> Result<Self> {
        if carrier == SctpCarrier::Ip && std::path::Path::new("/proc/sys/net/sctp").exists() {
            let missing = "this kernel answers SCTP packets itself (its module sctp is loaded)";
            return Err(Error::missing(missing, "unload it (`modprobe -r sctp`), or use `udp_encapsulation = true`"));
        }
        let open = |&address: &IpAddr| Ok((address, socket(carrier, address)?));
        Ok(Self { carrier, sockets: addresses.iter().map(open).collect::<Result<_>>()? })
    }

    /// How they carry packets.
    pub fn carrier(&self) -> SctpCarrier {
        self.carrier
    }

    /// The sockets, to wait for packets.
    pub fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.sockets.iter().map(|(_, socket)| socket.as_fd())
    }

    /// Sends `packet`, whose data is [`Pattern`](crate::Pattern), from the socket of its source address. Returns
    /// whether the kernel has taken it.
    pub fn send(&self, packet: &mut Packet, writer: &mut PacketWriter) -> bool {
        let IpHeader { source, destination, .. } = packet.ip;
        let Body::Sctp(body) = &packet.body else { return false };
        let (port, udp_header) = match body.encapsulation {
            Some(ports) => (ports.destination_port, UDP_HEADER),
            None => (0, 0),
        };
        let Some((_, socket)) = self.sockets.iter().find(|(local, _)| *local == source) else { return false };
        let ip_header = if source.is_ipv4() { IPV4_HEADER } else { IPV6_HEADER };
        let bytes = writer.write(packet);
        socket.send_to(&bytes[ip_header + udp_header..], SocketAddr::new(destination, port)).is_ok()
    }

    /// The next received packet, and where in `buffer` its bytes are, from the common header on. Packets that are not
    /// valid SCTP are discarded.
    ///
    /// # Errors
    ///
    /// If a socket cannot be read.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<(Packet, Range<usize>)>> {
        for (local, socket) in &self.sockets {
            loop {
                let (length, from) = match socket.recv_from(buffer) {
                    Ok(received) => received,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) => return Err(error),
                };
                let start = self.start_of_body(*local, &buffer[..length]);
                let Some(Ok(mut body)) = buffer.get(start..length).map(SctpPacket::parse) else { continue };
                body.encapsulation = (self.carrier == SctpCarrier::Udp)
                    .then_some(UdpEncapsulation { source_port: from.port(), destination_port: UDP_ENCAPSULATION_PORT });
                let ip = IpHeader {
                    source: from.ip(),
                    destination: *local,
                    hop_limit: HOP_LIMIT,
                    dscp: Dscp::DEFAULT,
                    ecn: Ecn::NotEct,
                };
                return Ok(Some((Packet { ip, body: Body::Sctp(body) }, start..length)));
            }
        }
        Ok(None)
    }

    /// Where the common header begins: raw sockets of IPv4 also give the IP header.
    fn start_of_body(&self, local: IpAddr, bytes: &[u8]) -> usize {
        match (self.carrier, local, bytes.first()) {
            (SctpCarrier::Ip, IpAddr::V4(_), Some(first)) => usize::from(first & 0xf) * 4,
            _ => 0,
        }
    }

    /// The packets that the sockets have dropped because we did not read them in time.
    ///
    /// # Errors
    ///
    /// If the kernel does not tell it.
    pub fn dropped(&self) -> Result<u64> {
        /// The place of the number of dropped packets in SO_MEMINFO (Linux `include/uapi/linux/sock_diag.h`).
        const SK_MEMINFO_DROPS: usize = 8;
        let mut all = 0;
        for (_, socket) in &self.sockets {
            let mut values = [0; 4 * (SK_MEMINFO_DROPS + 1)];
            sys::socket_option(socket.as_fd(), libc::SOL_SOCKET, libc::SO_MEMINFO, &mut values)
                .during(|| "cannot read the drops of a socket".into())?;
            let [.., a, b, c, d] = values;
            all += u64::from(u32::from_ne_bytes([a, b, c, d]));
        }
        Ok(all)
    }
}

fn socket(carrier: SctpCarrier, address: IpAddr) -> Result<UdpSocket> {
    let action = || match carrier {
        SctpCarrier::Ip => format!("cannot open a raw socket for SCTP at {address}"),
        SctpCarrier::Udp => format!("cannot open UDP port {UDP_ENCAPSULATION_PORT} for SCTP at {address}"),
    };
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let (kind, protocol, port) = match carrier {
        SctpCarrier::Ip => (SocketType::RAW, Some(ipproto::SCTP), 0),
        SctpCarrier::Udp => (SocketType::DGRAM, None, UDP_ENCAPSULATION_PORT),
    };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(family, kind, flags, protocol).during(action)?;
    rustix::net::bind(&socket, &SocketAddr::new(address, port)).during(action)?;
    set_receive_buffer(&socket, BUFFER)?;
    set_send_buffer(&socket, BUFFER)?;
    Ok(socket.into())
}
