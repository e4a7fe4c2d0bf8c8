//! TAP devices as ports of switches: Ethernet frames at the switch, IP packets in the network.
//!
//! The Ethernet addresses of hosts are made of their IP addresses, so that a frame can be made of a packet. What is not
//! IPv4, which is LLDP, crosses a link between two switches in UDP datagrams between reserved addresses. At the port of
//! a host, ARP is answered in place of the host.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use subflow_wire::checksum::ones_complement_sum;

use crate::error::{Result, While};
use crate::{sys, tun};

const ETHERNET_HEADER: usize = 14;
const IPV4: [u8; 2] = [0x08, 0x00];
const ARP: [u8; 2] = [0x08, 0x06];
const LLDP: [u8; 2] = [0x88, 0xcc];
const BROADCAST: [u8; 6] = [0xff; 6];
const IP_HEADER: usize = 20;
const UDP_HEADER: usize = 8;
const UDP: u8 = 17;
/// Hardware type Ethernet, protocol type IPv4, and the lengths of their addresses (RFC 826).
const ARP_TYPES: [u8; 6] = [0, 1, 8, 0, 6, 4];
const ARP_LENGTH: usize = 28;

/// What is at the other end of a port's link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Neighbour {
    /// A host with these addresses.
    Host(Vec<Ipv4Addr>),
    /// Another port; the reserved addresses are this port's and that one's.
    Port([Ipv4Addr; 2]),
}

/// Our end of a port of a switch. Dropping it removes the device.
#[derive(Debug)]
pub struct Tap {
    fd: OwnedFd,
    name: String,
    neighbour: Neighbour,
}

/// The cable in a port.
#[derive(Debug)]
pub struct Cable(OwnedFd);

impl Cable {
    /// Plugs it in, or pulls it. The switch notices.
    pub fn plug(&self, plugged: bool) -> Result<()> {
        sys::set_carrier(self.0.as_fd(), plugged).during(|| "cannot change the state of a port".into())
    }
}

impl Tap {
    /// Creates the device `name`, of at most 15 bytes, in the calling thread's network namespace.
    pub fn create(name: &str, neighbour: Neighbour) -> Result<Self> {
        let fd = tun::open(name)?;
        sys::make_tap(fd.as_fd(), name).during(|| format!("cannot create the TAP device {name}"))?;
        Ok(Self { fd, name: name.to_owned(), neighbour })
    }

    /// The device's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its cable.
    pub fn cable(&self) -> Result<Cable> {
        self.fd.try_clone().map(Cable).during(|| format!("cannot copy the descriptor of {}", self.name))
    }

    /// Reads the next packet from the switch, if there is one. Returns its length.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        loop {
            let mut header = [0; ETHERNET_HEADER];
            let mut parts = [IoSliceMut::new(&mut header), IoSliceMut::new(buffer)];
            let length = match rustix::io::readv(&self.fd, &mut parts) {
                Ok(length) => length.saturating_sub(ETHERNET_HEADER),
                Err(Errno::AGAIN | Errno::INTR) => return Ok(None),
                Err(error) => return Err(error.into()),
            };
            if header[12..] == IPV4 {
                return Ok(Some(length));
            }
            match &self.neighbour {
                Neighbour::Port(ends) => return Ok(wrap(&header, buffer, length, *ends)),
                Neighbour::Host(addresses) => self.answer(&header, &buffer[..length.min(buffer.len())], addresses)?,
            }
        }
    }

    /// Writes a packet to the switch. Returns whether it was accepted; it is not if the kernel has no memory.
    pub fn write(&self, packet: &[u8]) -> io::Result<bool> {
        let (Some(source), Some(destination)) = (address(packet, 12), address(packet, 16)) else { return Ok(false) };
        match self.neighbour {
            Neighbour::Port([own, _]) if destination == own => {
                self.send(&[IoSlice::new(&packet[(IP_HEADER + UDP_HEADER).min(packet.len())..])])
            }
            _ => {
                let header = header(ethernet(destination), ethernet(source), IPV4);
                self.send(&[IoSlice::new(&header), IoSlice::new(packet)])
            }
        }
    }

    /// Does what the host at this port would do with a frame that is not IPv4. With each LLDP frame it shows itself.
    fn answer(&self, header: &[u8; ETHERNET_HEADER], body: &[u8], addresses: &[Ipv4Addr]) -> io::Result<()> {
        if header[12..] == LLDP {
            for &own in addresses {
                self.send(&[IoSlice::new(&arp(1, own, BROADCAST, own))])?;
            }
        } else if header[12..] == ARP
            && body.len() >= ARP_LENGTH
            && body[..8] == [ARP_TYPES.as_slice(), &[0, 1]].concat()
        {
            let mut asker = [0; 6];
            asker.copy_from_slice(&body[8..14]);
            let (Some(sender), Some(target)) = (address(body, 14), address(body, 24)) else { return Ok(()) };
            if addresses.contains(&target) {
                self.send(&[IoSlice::new(&arp(2, target, asker, sender))])?;
            }
        }
        Ok(())
    }

    fn send(&self, parts: &[IoSlice<'_>]) -> io::Result<bool> {
        loop {
            match rustix::io::writev(&self.fd, parts) {
                Ok(_) => return Ok(true),
                Err(Errno::INTR) => {}
                // The cable is pulled: the packet is lost with the link.
                Err(Errno::IO) => return Ok(true),
                Err(Errno::AGAIN | Errno::NOBUFS | Errno::NOMEM) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl AsFd for Tap {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Makes a datagram of the frame with this header whose body is at the start of `buffer`. Returns its length; `None` if
/// there is no room.
fn wrap(header: &[u8; ETHERNET_HEADER], buffer: &mut [u8], body: usize, [from, to]: [Ipv4Addr; 2]) -> Option<usize> {
    const FRONT: usize = IP_HEADER + UDP_HEADER + ETHERNET_HEADER;
    let length = body + FRONT;
    if length > buffer.len() || length > usize::from(u16::MAX) {
        return None;
    }
    buffer.copy_within(..body, FRONT);
    buffer[..FRONT].fill(0);
    buffer[0] = 0x45;
    buffer[2..4].copy_from_slice(&(length as u16).to_be_bytes());
    buffer[8] = 64;
    buffer[9] = UDP;
    buffer[12..16].copy_from_slice(&from.octets());
    buffer[16..20].copy_from_slice(&to.octets());
    let checksum = !ones_complement_sum(&buffer[..IP_HEADER]);
    buffer[10..12].copy_from_slice(&checksum.to_be_bytes());
    // Ports 0, and no checksum, which UDP does not need over IPv4.
    buffer[24..26].copy_from_slice(&((length - IP_HEADER) as u16).to_be_bytes());
    buffer[IP_HEADER + UDP_HEADER..FRONT].copy_from_slice(header);
    Some(length)
}

fn address(bytes: &[u8], at: usize) -> Option<Ipv4Addr> {
    let octets: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
    Some(octets.into())
}

/// The Ethernet address of the host with this address: locally administered.
fn ethernet(address: Ipv4Addr) -> [u8; 6] {
    let [a, b, c, d] = address.octets();
    [0x02, 0x5f, a, b, c, d]
}

fn header(destination: [u8; 6], source: [u8; 6], kind: [u8; 2]) -> [u8; ETHERNET_HEADER] {
    let mut header = [0; ETHERNET_HEADER];
    header[..6].copy_from_slice(&destination);
    header[6..12].copy_from_slice(&source);
    header[12..].copy_from_slice(&kind);
    header
}

/// An ARP packet of `sender`: a request (1) to all or an answer (2).
fn arp(operation: u8, sender: Ipv4Addr, receiver: [u8; 6], target: Ipv4Addr) -> Vec<u8> {
    let mut frame = header(receiver, ethernet(sender), ARP).to_vec();
    frame.extend(ARP_TYPES);
    frame.extend([0, operation]);
    frame.extend(ethernet(sender));
    frame.extend(sender.octets());
    frame.extend(if operation == 1 { [0; 6] } else { receiver });
    frame.extend(target.octets());
    frame
}

#[cfg(test)]
mod tests {
    use subflow_wire::{Body, Packet};

    use super::*;

    #[test]
    fn a_frame_in_a_datagram_is_a_valid_packet_that_contains_it() {
        let ends = [Ipv4Addr::new(240, 0, 0, 1), Ipv4Addr::new(240, 0, 0, 2)];
        let header = header([1; 6], [2; 6], LLDP);
        let mut buffer = vec![7; 200];
        let length = wrap(&header, &mut buffer, 60, ends).expect("room");
        let (packet, payload) = Packet::parse(&buffer[..length]).expect("a valid packet");
        assert!(matches!(packet.body, Body::Udp(_)));
        assert_eq!((packet.ip.source, packet.ip.destination), (ends[0].into(), ends[1].into()));
        assert_eq!(buffer[payload], [header.as_slice(), &[7; 60]].concat());
        assert_eq!(wrap(&header, &mut [0; 60], 60, ends), None);
    }

    #[test]
    fn arp_names_the_ethernet_address_that_is_made_of_the_address() {
        let [host, peer] = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)];
        let answer = arp(2, host, [9; 6], peer);
        assert_eq!(answer.len(), ETHERNET_HEADER + ARP_LENGTH);
        assert_eq!(answer[..6], [9; 6]);
        assert_eq!(answer[22..28], [0x02, 0x5f, 10, 0, 0, 1]);
        assert_eq!((address(&answer, 28), address(&answer, 38)), (Some(host), Some(peer)));
    }
}
