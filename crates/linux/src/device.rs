//! The device between a kernel's interface and the emulator.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use crate::error::Result;
use crate::{Tap, Tun, Veth};

/// The kinds of devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceKind {
    /// A TUN device: the most efficient kind. It needs `/dev/net/tun`.
    #[default]
    Tun,
    /// A veth pair with a packet socket at our end, for machines without `/dev/net/tun`.
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

/// Our end of an interface of a kernel. Packets that the kernel sends are read from it, and packets written to it go to
/// the kernel, as IP packets.
#[derive(Debug)]
pub enum Device {
    /// A TUN device.
    Tun(Tun),
    /// A veth pair.
    Veth(Veth),
    /// The port of a switch.
    Tap(Tap),
}

impl Device {
    /// Creates the interface `name`, of at most 15 bytes, in the calling thread's network namespace. It is removed when
    /// the returned value is dropped.
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
            Self::Tap(tap) => tap.name(),
        }
    }

    /// Reads the next packet from the kernel, if there is one. Returns its length.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self {
            Self::Tun(tun) => tun.read(buffer),
            Self::Veth(veth) => veth.read(buffer),
            Self::Tap(tap) => tap.read(buffer),
        }
    }

    /// Writes a packet to the kernel. Returns whether it was accepted; it is not if the kernel has no memory.
    pub fn write(&self, packet: &[u8]) -> io::Result<bool> {
        match self {
            Self::Tun(tun) => tun.write(packet),
            Self::Veth(veth) => veth.write(packet),
            Self::Tap(tap) => tap.write(packet),
        }
    }

    /// Packets from the kernel, since the last call, that were dropped because a buffer was full and that the kernel's
    /// interface counters do not include.
    pub fn missed(&self) -> u64 {
        match self {
            // The device's queue is the only one, and the kernel counts its drops.
            Self::Tun(_) | Self::Tap(_) => 0,
            Self::Veth(veth) => veth.missed(),
        }
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tun(tun) => tun.as_fd(),
            Self::Veth(veth) => veth.as_fd(),
            Self::Tap(tap) => tap.as_fd(),
        }
    }
}
