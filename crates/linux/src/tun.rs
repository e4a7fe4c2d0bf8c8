//! TUN devices: interfaces whose packets we carry.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::error::{Error, Result, While};
use crate::sys;

const DEVICE: &str = "/dev/net/tun";

/// Our end of a TUN device. The device vanishes with it.
#[derive(Debug)]
pub struct Tun {
    fd: OwnedFd,
    name: String,
}

impl Tun {
    /// Makes the device `name`, of at most 15 bytes, in the calling thread's network namespace.
    pub fn create(name: &str) -> Result<Self> {
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags((OFlags::NONBLOCK | OFlags::CLOEXEC).bits() as i32)
            .open(DEVICE);
        let fd: OwnedFd = match opened {
            Ok(file) => file.into(),
            Err(error) if Errno::from_io_error(&error) == Some(Errno::MFILE) => {
                let missing = format!("the TUN device {name} is one open file too many ({error})");
                return Err(Error::missing(missing, "raise the limit of open files (`ulimit -n 65536`)"));
            }
            Err(error) => {
                let remedy = "load the module (`modprobe tun`), start the container with --device=/dev/net/tun, or take \
                              veth pairs instead (--device veth)";
                return Err(Error::missing(format!("{DEVICE} cannot be opened ({error})"), remedy));
            }
        };
        sys::make_tun(fd.as_fd(), name).during(|| format!("cannot make the TUN device {name}"))?;
        Ok(Self { fd, name: name.to_owned() })
    }

    /// The device's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Takes the next packet that the kernel sends, if there is one. Returns its length.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match rustix::io::read(&self.fd, buffer) {
            Ok(length) => Ok(Some(length)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives the kernel a packet. Returns whether it took it: where its memory is short, it does not.
    pub fn write(&self, packet: &[u8]) -> io::Result<bool> {
        loop {
            match rustix::io::write(&self.fd, packet) {
                Ok(_) => return Ok(true),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN | Errno::NOBUFS | Errno::NOMEM) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
