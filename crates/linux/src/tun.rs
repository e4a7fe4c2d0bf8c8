//! TUN devices.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::error::{Error, Result, While};
use crate::sys;

const TUN_PATH: &str = "/dev/net/tun";

/// The length in bytes of the header before each packet of a device with offloads (`struct virtio_net_hdr`).
pub const OFFLOAD_HEADER: usize = 10;

/// Our end of a TUN device. Dropping it removes the device.
#[derive(Debug)]
pub struct Tun {
    fd: OwnedFd,
    name: String,
}

impl Tun {
    /// Creates the device `name`, of at most 15 bytes, in the calling thread's network namespace.
    pub fn create(name: &str) -> Result<Self> {
        Self::create_with(name, false)
    }

    /// Creates the device `name` as [`create`](Self::create), for packets that follow a `virtio_net_hdr` of
    /// [`OFFLOAD_HEADER`] bytes in both directions. The kernel joins segments of a TCP flow up to 64 kB, and leaves
    /// their segmentation and checksums to the reader: a fraction of the calls.
    pub fn create_with_offload(name: &str) -> Result<Self> {
        let tun = Self::create_with(name, true)?;
        sys::leave_segmentation(tun.as_fd()).during(|| format!("cannot set the offloads of the TUN device {name}"))?;
        Ok(tun)
    }

    fn create_with(name: &str, with_header: bool) -> Result<Self> {
        let fd = open(name)?;
        sys::make_tun(fd.as_fd(), name, with_header).during(|| format!("cannot create the TUN device {name}"))?;
        Ok(Self { fd, name: name.to_owned() })
    }

    /// The device's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads the next packet from the kernel, if there is one. Returns its length.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match rustix::io::read(&self.fd, buffer) {
            Ok(length) => Ok(Some(length)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes a packet to the kernel. Returns whether it was accepted; it is not if the kernel has no memory.
    pub fn write(&self, packet: &[u8]) -> io::Result<bool> {
        self.write_parts(&[io::IoSlice::new(packet)])
    }

    /// Writes a packet that consists of these parts, as [`write`](Self::write).
    pub fn write_parts(&self, parts: &[io::IoSlice<'_>]) -> io::Result<bool> {
        loop {
            match rustix::io::writev(&self.fd, parts) {
                Ok(_) => return Ok(true),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN | Errno::NOBUFS | Errno::NOMEM) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Opens `/dev/net/tun` for the device `name`.
pub(crate) fn open(name: &str) -> Result<OwnedFd> {
    let opened = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags((OFlags::NONBLOCK | OFlags::CLOEXEC).bits() as i32)
        .open(TUN_PATH);
    match opened {
        Ok(file) => Ok(file.into()),
        Err(error) if Errno::from_io_error(&error) == Some(Errno::MFILE) => {
            let missing = format!("there are too many open files for the TUN device {name} ({error})");
            Err(Error::missing(missing, "raise the limit of open files (`ulimit -n 65536`)"))
        }
        Err(error) => {
            let remedy = "load the module (`modprobe tun`), start the container with --device=/dev/net/tun, or \
                          use veth pairs (--device veth)";
            Err(Error::missing(format!("{TUN_PATH} cannot be opened ({error})"), remedy))
        }
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
