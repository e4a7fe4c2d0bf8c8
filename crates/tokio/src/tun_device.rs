//! TUN devices.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::task::{Context, Poll, ready};

use subflow_linux::{OFFLOAD_HEADER, Tun};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::{Device, Received};

/// A TUN device whose kernel joins TCP segments and leaves checksums out (`virtio_net_hdr`). Dropping it removes the
/// device.
#[derive(Debug)]
pub struct TunDevice(AsyncFd<Descriptor>);

#[derive(Debug)]
struct Descriptor(Tun);

impl AsRawFd for Descriptor {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_fd().as_raw_fd()
    }
}

/// `VIRTIO_NET_HDR_F_NEEDS_CSUM` and `VIRTIO_NET_HDR_F_DATA_VALID` (Linux `include/uapi/linux/virtio_net.h`).
const CHECKSUM_LEFT_OUT: u8 = 1;
const CHECKSUM_VERIFIED: u8 = 2;
/// `VIRTIO_NET_HDR_GSO_NONE`.
const NOT_JOINED: u8 = 0;

impl TunDevice {
    /// Creates the device `name` of at most 15 bytes, in the network namespace of the calling thread. It has no
    /// address, and is down. Call it within a tokio runtime.
    ///
    /// # Errors
    ///
    /// Without the right to do so (CAP_NET_ADMIN), without `/dev/net/tun`, or if there is a device of the name.
    pub fn create(name: &str) -> subflow_linux::Result<Self> {
        let tun = Tun::create_with_offload(name)?;
        // Deprecated for descriptors that may be closed or replaced meanwhile: this one is closed with the device.
        #[allow(deprecated)]
        let registered = AsyncFd::with_interest(Descriptor(tun), Interest::READABLE);
        let failed = |source| subflow_linux::Error::System { action: format!("cannot wait for {name}"), source };
        registered.map(Self).map_err(failed)
    }
}

impl Device for TunDevice {
    fn poll_receive(&self, context: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<Received>> {
        loop {
            let mut ready = ready!(self.0.poll_read_ready(context))?;
            match self.0.get_ref().0.read(buffer)? {
                Some(length) if length > OFFLOAD_HEADER => return Poll::Ready(Ok(received(&buffer[..length]))),
                Some(_) => {}
                None => ready.clear_ready(),
            }
        }
    }

    fn send(&self, packet: &[u8]) -> io::Result<bool> {
        self.0.get_ref().0.write_parts(&[IoSlice::new(&[0; OFFLOAD_HEADER]), IoSlice::new(packet)])
    }
}

/// What the header (`struct virtio_net_hdr`) says of the packet that follows it.
fn received(bytes: &[u8]) -> Received {
    let (flags, joined) = (bytes[0], bytes[1] != NOT_JOINED);
    let segment = u16::from_ne_bytes([bytes[4], bytes[5]]);
    Received {
        bytes: OFFLOAD_HEADER..bytes.len(),
        segment: joined.then_some(segment),
        verified: joined || flags & (CHECKSUM_LEFT_OUT | CHECKSUM_VERIFIED) != 0,
    }
}
