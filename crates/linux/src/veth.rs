//! veth pairs with a packet socket at the far end: what TUN devices do, where there are none.
//!
//! A veth pair is an Ethernet cable between two namespaces, and the kernel takes liberties on it that no cable would
//! allow: it leaves checksums to hardware that is not there, and sends what is larger than any packet, to be cut up by
//! the same hardware. Both are switched off at both ends. Nor does anybody ask who has which address: an interface
//! without ARP puts its own address on every frame.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};

use crate::buffers::{set_receive_buffer, set_send_buffer};
use crate::error::{Result, While};
use crate::namespace::{THIS_THREAD, in_thread};
use crate::netlink::RouteControl;
use crate::sys::{self, Offload};

/// The name of our ends: each has a namespace to itself.
const OUR_END: &str = "subflow";
/// The largest MTU that a veth device has: the kernel's end sets the limit, ours takes everything.
const LARGEST_MTU: u32 = 65_535;
/// Room for packets that we have not come to yet, in bytes as the kernel counts them (some 2300 for a packet of 1500).
const RECEIVE_BUFFER: usize = 64 << 20;
const SEND_BUFFER: usize = 8 << 20;

/// The Ethernet address of every kernel's end: locally administered, and never on a wire with another.
const KERNEL_ADDRESS: [u8; 6] = [0x02, 0, 0, 0, 0, 1];
const OUR_ADDRESS: [u8; 6] = [0x02, 0, 0, 0, 0, 2];
const ETHERNET_HEADER: usize = 14;
const ETHERTYPE_IPV4: [u8; 2] = [0x08, 0x00];
const ETHERTYPE_IPV6: [u8; 2] = [0x86, 0xdd];

const SOL_PACKET: i32 = 263;
const PACKET_STATISTICS: i32 = 6;
const PACKET_IGNORE_OUTGOING: i32 = 23;

/// Our end of a veth pair. The pair vanishes with it.
#[derive(Debug)]
pub struct Veth {
    socket: OwnedFd,
    name: String,
}

impl Veth {
    /// Makes the interface `name`, of at most 15 bytes, in the calling thread's network namespace.
    pub fn create(name: &str) -> Result<Self> {
        let theirs = File::open(THIS_THREAD).during(|| format!("cannot open {THIS_THREAD}"))?;
        // Our end is in a namespace without a name, which only the socket keeps: nothing of it outlives the process.
        let socket = in_thread(|| {
            sys::new_network_namespace().during(|| "cannot make a network namespace".into())?;
            let mut control = RouteControl::open()?;
            control.add_veth([OUR_END, name], [OUR_ADDRESS, KERNEL_ADDRESS], theirs.as_fd())?;
            let interface = control.interface(OUR_END)?;
            switch_offloads_off(OUR_END)?;
            // A packet socket wants its interface to be up.
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

    /// Takes the next packet that the kernel sends, if there is one. Returns its length.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let mut header = [0; ETHERNET_HEADER];
        let mut parts = [IoSliceMut::new(&mut header), IoSliceMut::new(buffer)];
        match rustix::io::readv(&self.socket, &mut parts) {
            Ok(length) => Ok(Some(length.saturating_sub(ETHERNET_HEADER))),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives the kernel a packet. Returns whether it took it: where its memory is short, it does not.
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

    /// Packets that found the socket's buffer full, since the last call.
    pub fn missed(&self) -> u64 {
        // struct tpacket_stats: packets, drops. Reading it sets it to zero.
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

/// A socket for all frames that come to `interface`.
fn packet_socket(interface: u32) -> Result<OwnedFd> {
    let cannot = || "cannot open a packet socket".to_owned();
    // With protocol 0 it receives nothing until it is bound to its interface.
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::PACKET, SocketType::RAW, flags, None).during(cannot)?;
    set_receive_buffer(&socket, RECEIVE_BUFFER)?;
    set_send_buffer(&socket, SEND_BUFFER)?;
    sys::set_socket_option(socket.as_fd(), SOL_PACKET, PACKET_IGNORE_OUTGOING, &1i32.to_ne_bytes()).during(cannot)?;
    sys::bind_to_interface(socket.as_fd(), interface).during(cannot)?;
    Ok(socket)
}

/// Makes the kernel finish its packets before they enter the device `name`: checksums filled in, none above the MTU.
fn switch_offloads_off(name: &str) -> Result<()> {
    for offload in Offload::ALL {
        sys::switch_off(name, offload).during(|| format!("cannot switch {offload:?} of {name} off"))?;
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
    fn frames_say_which_ip_they_carry() {
        assert_eq!(ethernet_header(&[0x45])[12..], ETHERTYPE_IPV4);
        assert_eq!(ethernet_header(&[0x60])[12..], ETHERTYPE_IPV6);
        assert_eq!(ethernet_header(&[])[..6], KERNEL_ADDRESS);
    }
}
