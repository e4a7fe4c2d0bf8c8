//! veth pairs with a packet socket at our end, as an alternative to TUN devices.
//!
//! A veth pair works like an Ethernet cable between two namespaces, but by default the kernel sends packets on it with
//! incomplete checksums and larger than the MTU, because it leaves checksums and segmentation to the device (offloads).
//! These offloads are disabled at both ends. ARP is disabled, too: an interface without ARP puts its own address on
//! every frame.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};

use crate::error::{Result, While};
use crate::namespace::{THREAD_NAMESPACE, in_thread};
use crate::netlink::RouteControl;
use crate::socket::{set_receive_buffer, set_send_buffer};
use crate::sys::{self, Offload};

/// The name of our ends; each is in its own namespace.
const OUR_END: &str = "subflow";
/// The largest MTU of a veth device: the kernel's end sets the limit, ours accepts every size.
const LARGEST_MTU: u32 = 65_535;
/// Receive buffer for packets that we have not read yet, in bytes as the kernel counts them (some 2300 for a packet of
/// 1500).
const RECEIVE_BUFFER: usize = 64 << 20;
const SEND_BUFFER: usize = 8 << 20;

/// The Ethernet address of all kernel ends: locally administered; two of them are never on one link.
const KERNEL_ADDRESS: [u8; 6] = [0x02, 0, 0, 0, 0, 1];
const OUR_ADDRESS: [u8; 6] = [0x02, 0, 0, 0, 0, 2];
const ETHERNET_HEADER: usize = 14;
const ETHERTYPE_IPV4: [u8; 2] = [0x08, 0x00];
const ETHERTYPE_IPV6: [u8; 2] = [0x86, 0xdd];

const SOL_PACKET: i32 = 263;
const PACKET_STATISTICS: i32 = 6;

/// Our end of a veth pair. Dropping it removes the pair.
#[derive(Debug)]
pub struct Veth {
    socket: OwnedFd,
    name: String,
}

impl Veth {
    /// Creates the interface `name`, of at most 15 bytes, in the calling thread's network namespace.
    pub fn create(name: &str) -> Result<Self> {
        let theirs = File::open(THREAD_NAMESPACE).during(|| format!("cannot open {THREAD_NAMESPACE}"))?;
        // Our end is in a namespace without a name, which only the socket keeps alive: it is removed with the process.
        let socket = in_thread(|| {
            sys::new_network_namespace().during(|| "cannot make a network namespace".into())?;
            let mut control = RouteControl::open()?;
            control.add_veth([OUR_END, name], [OUR_ADDRESS, KERNEL_ADDRESS], theirs.as_fd())?;
            let interface = control.interface(OUR_END)?;
            switch_offloads_off(OUR_END)?;
            // A packet socket needs its interface to be up.
            control.set_up(interface, Some(LARGEST_MTU), None)?;
            packet_socket(interface)
        })?;
        switch_offloads_off(name)?;
        Ok(Self { socket, name: name.to_owned() })
    }

    /// The name of the kernel's end.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads the next packet from the kernel, if there is one. Returns its length.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let mut header = [0; ETHERNET_HEADER];
        let mut parts = [IoSliceMut::new(&mut header), IoSliceMut::new(buffer)];
        match rustix::io::readv(&self.socket, &mut parts) {
            Ok(length) => Ok(Some(length.saturating_sub(ETHERNET_HEADER))),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes a packet to the kernel. Returns whether it was accepted; it is not if the kernel has no memory.
    pub fn write(&self, packet: &[u8]) -> io::Result<bool> {
        let header = ethernet_header(packet);
        loop {
            match rustix::io::writev(&self.socket, &[IoSlice::new(&header), IoSlice::new(packet)]) {
                Ok(_) => return Ok(true),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN | Errno::NOBUFS | Errno::NOMEM) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Packets dropped since the last call because the socket's buffer was full.
    pub fn missed(&self) -> u64 {
        // struct tpacket_stats: packets, drops. Reading resets the counters.
        let mut statistics = [0; 8];
        match sys::socket_option(self.socket.as_fd(), SOL_PACKET, PACKET_STATISTICS, &mut statistics) {
            Ok(8) => u32::from_ne_bytes([statistics[4], statistics[5], statistics[6], statistics[7]]).into(),
            _ => 0,
        }
    }
}

impl AsFd for Veth {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Opens a socket for all frames received by `interface`.
fn packet_socket(interface: u32) -> Result<OwnedFd> {
    let cannot = || "cannot open a packet socket".to_owned();
    // With protocol 0 it receives nothing until it is bound to its interface.
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::PACKET, SocketType::RAW, flags, None).during(cannot)?;
    set_receive_buffer(&socket, RECEIVE_BUFFER)?;
    set_send_buffer(&socket, SEND_BUFFER)?;
    sys::ignore_outgoing(socket.as_fd()).during(cannot)?;
    sys::bind_to_interface(socket.as_fd(), interface).during(cannot)?;
    Ok(socket)
}

/// Disables offloads of the device `name`, so that its packets have complete checksums and are not larger than the MTU.
fn switch_offloads_off(name: &str) -> Result<()> {
    for offload in Offload::ALL {
        sys::switch_off(name, offload).during(|| format!("cannot disable {} of {name}", offload.name()))?;
    }
    Ok(())
}

fn ethernet_header(packet: &[u8]) -> [u8; ETHERNET_HEADER] {
    let is_ipv6 = packet.first().is_some_and(|byte| byte >> 4 == 6);
    let mut header = [0; ETHERNET_HEADER];
    header[..6].copy_from_slice(&KERNEL_ADDRESS);
    header[6..12].copy_from_slice(&OUR_ADDRESS);
    header[12..].copy_from_slice(if is_ipv6 { &ETHERTYPE_IPV6 } else { &ETHERTYPE_IPV4 });
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ethertype_is_that_of_the_ip_version() {
        assert_eq!(ethernet_header(&[0x45])[12..], ETHERTYPE_IPV4);
        assert_eq!(ethernet_header(&[0x60])[12..], ETHERTYPE_IPV6);
        assert_eq!(ethernet_header(&[])[..6], KERNEL_ADDRESS);
    }
}
