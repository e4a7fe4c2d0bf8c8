//! Changes of interfaces, addresses and routes, as the kernel reports them.

use std::io;
use std::os::fd::OwnedFd;

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType};
use tokio::net::UnixDatagram;

/// Groups of NETLINK_ROUTE (Linux `include/uapi/linux/rtnetlink.h`): links, and addresses and routes of both families.
const GROUPS: u32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400;

/// Reports that something has changed, whatever it is.
#[derive(Debug)]
pub(crate) struct Changes(UnixDatagram);

impl Changes {
    pub(crate) fn open() -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket: OwnedFd = rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None)?;
        rustix::net::bind(&socket, &SocketAddrNetlink::new(0, GROUPS))?;
        // Only its readiness is used, which is the same for every kind of socket.
        let socket = std::os::unix::net::UnixDatagram::from(socket);
        UnixDatagram::from_std(socket).map(Self)
    }

    /// Waits for the next change, and takes all that have come.
    pub(crate) async fn next(&self) -> io::Result<()> {
        self.0.readable().await?;
        let mut buffer = [0; 8192];
        // A full buffer (ENOBUFS) is a change, too.
        let take = || match rustix::net::recv(&self.0, &mut buffer[..], RecvFlags::empty()) {
            Ok(_) | Err(rustix::io::Errno::NOBUFS) => Ok(()),
            Err(error) => Err(io::Error::from(error)),
        };
        let mut take = take;
        while self.0.try_io(tokio::io::Interest::READABLE, &mut take).is_ok() {}
        Ok(())
    }
}
