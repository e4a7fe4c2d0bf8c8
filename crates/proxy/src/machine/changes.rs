//! Changes of interfaces, addresses and routes, as the kernel reports them.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixDatagram as StdDatagram;

use subflow_linux::netlink::InterfaceChanges;
use tokio::io::Interest;
use tokio::net::UnixDatagram;

/// Reports that something has changed, whatever it is.
#[derive(Debug)]
pub(crate) struct Changes {
    changes: InterfaceChanges,
    /// The same socket. Only its readiness is used, which is the same for every kind of socket.
    socket: UnixDatagram,
}

impl Changes {
    pub(crate) fn open() -> io::Result<Self> {
        let changes = InterfaceChanges::open_with_routes().map_err(io::Error::other)?;
        let socket = StdDatagram::from(changes.as_fd().try_clone_to_owned()?);
        Ok(Self { changes, socket: UnixDatagram::from_std(socket)? })
    }

    /// Waits for the next change, and takes all that have come.
    pub(crate) async fn next(&self) -> io::Result<()> {
        loop {
            self.socket.readable().await?;
            let mut any = Ok(false);
            // All is taken, so that the socket is not ready until the kernel reports more.
            let _ = self.socket.try_io(Interest::READABLE, || -> io::Result<()> {
                any = self.changes.any();
                Err(io::ErrorKind::WouldBlock.into())
            });
            if any.map_err(io::Error::other)? {
                return Ok(());
            }
        }
    }
}
