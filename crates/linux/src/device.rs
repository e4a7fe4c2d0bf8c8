//! What joins a kernel's interface to the emulator.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use crate::error::Result;
use crate::{Tun, Veth};

/// The kinds of devices that there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceKind {
    /// A TUN device: the cheapest way. It takes `/dev/net/tun`.
    #[default]
    Tun,
    /// A veth pair whose far end a packet socket reads and writes, for machines without `/dev/net/tun`.
    Veth,
}

impl DeviceKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tun => "tun",
            Self::Veth => "veth",
        }
    }
}

/// Our end of an interface of a kernel's: what that kernel sends is read here as IP packets, and what is written it
/// gets.
#[derive(Debug)]
pub enum Device {
    /// Of a TUN device.
    Tun(Tun),
    /// Of a veth pair.
    Veth(Veth),
}

impl Device {
    /// Makes the interface `name`, of at most 15 bytes, in the calling thread's network namespace. It vanishes with
    /// what is returned.
    pub fn create(kind: DeviceKind, name: &str) -> Result<Self> {
        match kind {
            DeviceKind::Tun => Tun::create(name).map(Self::Tun),
            DeviceKind::Veth => Veth::create(name).map(Self::Veth),
        }
    }

    /// The interface's name.
    pub fn name(&self) -> &str {
        match self {
            Self::Tun(tun) => tun.name(),
            Self::Veth(veth) => veth.name(),
        }
    }

    /// Takes the next packet that the kernel sends, if there is one. Returns its length.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self {
            Self::Tun(tun) => tun.read(buffer),
            Self::Veth(veth) => veth.read(buffer),
        }
    }

    /// Gives the kernel a packet. Returns whether it took it: where its memory is short, it does not.
    pub fn write(&self, packet: &[u8]) -> io::Result<bool> {
        match self {
            Self::Tun(tun) => tun.write(packet),
            Self::Veth(veth) => veth.write(packet),
        }
    }

    /// Packets that the kernel sent and that found no room on their way to us, and that its own counters of the
    /// interface do not tell, since the last call.
    pub fn missed(&self) -> u64 {
        match self {
            // The device's queue is the only one, and the kernel counts what it drops.
            Self::Tun(_) => 0,
            Self::Veth(veth) => veth.missed(),
        }
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tun(tun) => tun.as_fd(),
            Self::Veth(veth) => veth.as_fd(),
        }
    }
}
