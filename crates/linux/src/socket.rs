//! Kernel sockets: TCP, MPTCP and UDP, and the sizes of their buffers.

use std::io::{self, Read};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, sockopt};
use subflow_wire::Dscp;

use crate::Interrupt;
use crate::error::{Error, Result, While};
use crate::socket_info::{ConnectionInfo, Transport};

/// The interval at which blocking calls check for an interrupt.
const INTERRUPT_CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// The maximum number of connections and MPTCP joins that wait for a listener.
const BACKLOG: i32 = 256;
/// Receive buffer for bursts of datagrams, in bytes.
const DATAGRAM_BUFFER: usize = 8 << 20;

/// Options of a socket, set before it connects or listens.
#[derive(Clone, Debug)]
pub struct StreamOptions {
    /// TCP or MPTCP.
    pub transport: Transport,
    /// Whether subflows of both families are possible: the socket is one of IPv6, which has IPv4 addresses as mapped ones.
    pub both_families: bool,
    /// Congestion control of all subflows; `None` means the namespace's default.
    pub congestion: Option<String>,
    /// Whether Nagle's algorithm delays packets that are not full; without it, TCP_NODELAY is set.
    pub nagle: bool,
    /// The differentiated services codepoint of its packets.
    pub dscp: Dscp,
    /// A fixed receive buffer in bytes; `None` means autotuning.
    pub receive_buffer: Option<usize>,
    /// A fixed send buffer in bytes; `None` means autotuning.
    pub send_buffer: Option<usize>,
}

impl StreamOptions {
    /// `address` as the socket has it.
    pub(crate) fn on_socket(&self, address: SocketAddr) -> SocketAddr {
        match address.ip() {
            IpAddr::V4(v4) if self.both_families => SocketAddr::new(v4.to_ipv6_mapped().into(), address.port()),
            _ => address,
        }
    }

    fn socket(&self, family: AddressFamily) -> Result<OwnedFd> {
        let protocol = self.transport.protocol();
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = match rustix::net::socket_with(family, SocketType::STREAM, flags, Some(protocol)) {
            Ok(socket) => socket,
            // A kernel without MPTCP, or a namespace in which it is disabled.
            Err(Errno::PROTONOSUPPORT | Errno::NOPROTOOPT) => {
                let remedy = "enable MPTCP with `sysctl net.mptcp.enabled=1`, or use a kernel that supports it";
                return Err(Error::missing("MPTCP sockets cannot be opened here", remedy));
            }
            Err(error) => return Err(error).during(|| format!("cannot open a socket of {}", self.transport.name())),
        };
        if self.both_families {
            sockopt::set_ipv6_v6only(&socket, false).during(|| "cannot use IPv4 on a socket of IPv6".to_owned())?;
        }
        if let Some(name) = &self.congestion {
            sockopt::set_tcp_congestion(&socket, name)
                .during(|| format!("cannot use the congestion control {name}"))?;
        }
        if !self.nagle {
            sockopt::set_tcp_nodelay(&socket, true).during(|| "cannot disable Nagle's algorithm".to_owned())?;
        }
        set_dscp(&socket, family == AddressFamily::INET, self.dscp)?;
        if let Some(bytes) = self.receive_buffer {
            set_receive_buffer(&socket, bytes)?;
        }
        if let Some(bytes) = self.send_buffer {
            set_send_buffer(&socket, bytes)?;
        }
        Ok(socket)
    }
}

/// Sets the codepoint of a socket's packets, of IPv4 (also where they leave a socket of IPv6) or of IPv6.
fn set_dscp(socket: &impl AsFd, is_ipv4: bool, dscp: Dscp) -> Result<()> {
    if dscp.is_default() {
        return Ok(());
    }
    let set = match is_ipv4 {
        true => sockopt::set_ip_tos(socket, dscp.traffic_class()),
        false => sockopt::set_ipv6_tclass(socket, dscp.traffic_class().into()),
    };
    set.during(|| format!("cannot set the codepoint {dscp} of a socket"))
}

fn family_of(address: SocketAddr) -> AddressFamily {
    if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 }
}

/// The same port on all addresses: MPTCP joins may go to other addresses than the first.
fn any_address(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, address.port()).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, address.port()).into(),
    }
}

fn port_in_use(error: &Error, address: SocketAddr) -> Option<Error> {
    match error {
        Error::System { source, .. } if source.kind() == io::ErrorKind::AddrInUse => {
            Some(Error::PortInUse(address.port(), address.ip().to_string()))
        }
        _ => None,
    }
}

/// Listens on the port of `address` on all addresses of the namespace.
pub fn listen(options: &StreamOptions, address: SocketAddr) -> Result<TcpListener> {
    let any = any_address(options.on_socket(address));
    let socket = options.socket(family_of(any))?;
    let listening = || -> Result<()> {
        rustix::net::bind(&socket, &any).during(|| format!("cannot listen on {address}"))?;
        rustix::net::listen(&socket, BACKLOG).during(|| format!("cannot listen on {address}"))
    };
    listening().map_err(|error| port_in_use(&error, address).unwrap_or(error))?;
    Ok(socket.into())
}

/// Opens a UDP socket at `local`, whose packets have the codepoint `dscp`.
pub fn udp(local: SocketAddr, dscp: Dscp) -> Result<UdpSocket> {
    let socket = UdpSocket::bind(local).during(|| format!("cannot open a UDP socket at {local}"));
    let socket = socket.map_err(|error| port_in_use(&error, local).unwrap_or(error))?;
    socket.set_read_timeout(Some(INTERRUPT_CHECK_INTERVAL)).during(|| "cannot set a timeout".into())?;
    set_dscp(&socket, local.is_ipv4(), dscp)?;
    set_receive_buffer(&socket, DATAGRAM_BUFFER)?;
    set_send_buffer(&socket, DATAGRAM_BUFFER)?;
    Ok(socket)
}

/// A socket for a connection from `local` (port 0: any) to `remote`.
pub(crate) fn bound(options: &StreamOptions, local: SocketAddr, remote: SocketAddr) -> Result<OwnedFd> {
    let bound = options.on_socket(local);
    let socket = options.socket(family_of(bound))?;
    match rustix::net::bind(&socket, &bound).during(|| format!("cannot connect {local} to {remote}")) {
        Ok(()) => Ok(socket),
        Err(error) => Err(port_in_use(&error, local).unwrap_or(error)),
    }
}

/// A connection of the kernel. Its blocking calls return when the run is interrupted.
#[derive(Debug)]
pub struct Stream {
    socket: TcpStream,
    transport: Transport,
    interrupt: Interrupt,
}

impl Stream {
    /// Connects from `local` (port 0: any) to `remote`; `None` if the run was interrupted.
    pub fn connect(
        options: &StreamOptions,
        local: SocketAddr,
        remote: SocketAddr,
        interrupt: &Interrupt,
    ) -> Result<Option<Self>> {
        let action = || format!("cannot connect {local} to {remote}");
        let socket = bound(options, local, remote)?;
        match rustix::net::connect(&socket, &options.on_socket(remote)) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(error) => return Err(error).during(action),
        }
        while !interrupt.is_raised() {
            if ready(socket.as_fd(), PollFlags::OUT).during(action)? {
                sockopt::socket_error(&socket).during(action)?.during(action)?;
                return Self::new(socket.into(), options.transport, interrupt).map(Some);
            }
        }
        Ok(None)
    }

    /// Accepts the next connection of a listener of `transport`; `None` if the run was interrupted.
    pub fn accept(listener: &TcpListener, transport: Transport, interrupt: &Interrupt) -> Result<Option<Self>> {
        let action = || "cannot accept a connection".to_owned();
        while !interrupt.is_raised() {
            if !ready(listener.as_fd(), PollFlags::IN).during(action)? {
                continue;
            }
            match listener.accept() {
                Ok((socket, _)) => return Self::new(socket, transport, interrupt).map(Some),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error).during(action),
            }
        }
        Ok(None)
    }

    fn new(socket: TcpStream, transport: Transport, interrupt: &Interrupt) -> Result<Self> {
        let set = || -> io::Result<()> {
            socket.set_nonblocking(false)?;
            socket.set_read_timeout(Some(INTERRUPT_CHECK_INTERVAL))
        };
        set().during(|| "cannot set a timeout".into())?;
        Ok(Self { socket, transport, interrupt: interrupt.clone() })
    }

    /// Another handle of the same connection, to read its state.
    pub fn watch(&self) -> Result<Self> {
        let socket = self.socket.try_clone().during(|| "cannot duplicate a socket".into())?;
        Ok(Self { socket, transport: self.transport, interrupt: self.interrupt.clone() })
    }

    /// Reads at least one byte; 0 at the end of the stream; `None` if the run was interrupted.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        self.until_interrupted(|mut socket| socket.read(buffer))
    }

    /// Writes some of `bytes`; `None` if the run was interrupted.
    ///
    /// It waits as a blocking call without a timeout does: until a third of the send buffer is free
    /// (`sk_stream_write_space`), which is what `poll` reports. A call that times out and is repeated would write as soon
    /// as any of the buffer is free.
    pub fn write(&self, bytes: &[u8]) -> io::Result<Option<usize>> {
        while !self.interrupt.is_raised() {
            match rustix::net::send(&self.socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(bytes) => return Ok(Some(bytes)),
                Err(Errno::AGAIN) => {
                    while !self.interrupt.is_raised() && !ready(self.socket.as_fd(), PollFlags::OUT)? {}
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    fn until_interrupted(&self, mut call: impl FnMut(&TcpStream) -> io::Result<usize>) -> io::Result<Option<usize>> {
        loop {
            if self.interrupt.is_raised() {
                return Ok(None);
            }
            match call(&self.socket) {
                Ok(bytes) => return Ok(Some(bytes)),
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Written bytes that the peer has not acknowledged.
    pub fn unacknowledged(&self) -> io::Result<u64> {
        crate::sys::unacknowledged(self.socket.as_fd())
    }

    /// Ends the stream in this direction.
    pub fn finish(&self) -> io::Result<()> {
        self.socket.shutdown(Shutdown::Write)
    }

    /// Makes closing the socket send a reset; with MPTCP, a fast close (RFC 8684, section 3.5).
    pub fn reset_on_close(&self) -> Result<()> {
        sockopt::set_socket_linger(&self.socket, Some(Duration::ZERO)).during(|| "cannot set SO_LINGER".into())
    }

    /// The kernel's information about the connection.
    pub fn info(&self) -> Result<ConnectionInfo> {
        ConnectionInfo::read(self.socket.as_fd(), self.transport)
    }
}

/// Waits until `fd` is ready for `what`, or for the check interval.
fn ready(fd: BorrowedFd<'_>, what: PollFlags) -> rustix::io::Result<bool> {
    let timeout = Timespec { tv_sec: 0, tv_nsec: INTERRUPT_CHECK_INTERVAL.subsec_nanos().into() };
    match poll(&mut [PollFd::from_borrowed_fd(fd, what)], Some(&timeout)) {
        Ok(count) => Ok(count > 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Sets the receive buffer of a socket to `bytes`. Without root rights on the machine (in a user namespace) the limit
/// is `net.core.rmem_max`.
pub(crate) fn set_receive_buffer(socket: impl AsFd, bytes: usize) -> Result<()> {
    sockopt::set_socket_recv_buffer_size_force(&socket, bytes)
        .or_else(|_| sockopt::set_socket_recv_buffer_size(&socket, bytes))
        .during(|| format!("cannot set a receive buffer of {bytes} bytes"))
}

/// Sets the send buffer in the same way; the limit is `net.core.wmem_max`.
pub(crate) fn set_send_buffer(socket: impl AsFd, bytes: usize) -> Result<()> {
    sockopt::set_socket_send_buffer_size_force(&socket, bytes)
        .or_else(|_| sockopt::set_socket_send_buffer_size(&socket, bytes))
        .during(|| format!("cannot set a send buffer of {bytes} bytes"))
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const FULL: StreamOptions = StreamOptions {
        both_families: false,
        transport: Transport::Tcp,
        congestion: None,
        nagle: true,
        dscp: Dscp::DEFAULT,
        receive_buffer: Some(1 << 16),
        send_buffer: Some(1 << 20),
    };

    /// A connection over the loopback device whose send buffer is full, and the end that does not read.
    fn full_connection(interrupt: &Interrupt) -> (Stream, TcpStream) {
        let listener = listen(&FULL, (Ipv4Addr::LOCALHOST, 0).into()).expect("listens");
        let remote = (Ipv4Addr::LOCALHOST, listener.local_addr().expect("bound").port()).into();
        let here = (Ipv4Addr::LOCALHOST, 0).into();
        let stream = Stream::connect(&FULL, here, remote, interrupt).expect("connects").expect("in time");
        let peer = Stream::accept(&listener, Transport::Tcp, interrupt).expect("accepts").expect("in time").socket;
        // What the peer's buffer takes makes room until its window is closed.
        for _ in 0..20 {
            while rustix::net::send(&stream.socket, &[0; 1 << 14], SendFlags::DONTWAIT).is_ok() {}
            thread::sleep(Duration::from_millis(5));
        }
        (stream, peer)
    }

    /// Reads what is there. The sender may be late.
    fn read_some(peer: &mut TcpStream) -> usize {
        peer.read(&mut [0; 1 << 12]).unwrap_or(0)
    }

    #[test]
    fn a_writer_that_waits_goes_on_when_a_third_of_the_send_buffer_is_free() {
        let interrupt = Interrupt::default();
        let (stream, mut peer) = full_connection(&interrupt);
        let full = stream.unacknowledged().expect("known");
        thread::scope(|scope| {
            let writer = scope.spawn(|| stream.write(&[0; 1000]).expect("connected"));
            while stream.unacknowledged().expect("known") > full * 92 / 100 {
                read_some(&mut peer);
                thread::sleep(Duration::from_millis(1));
            }
            thread::sleep(4 * INTERRUPT_CHECK_INTERVAL);
            let left = stream.unacknowledged().expect("known");
            assert!(!writer.is_finished(), "{left} of {full} bytes are left in the buffer");
            while !writer.is_finished() {
                read_some(&mut peer);
            }
            assert_eq!(writer.join().expect("no panic"), Some(1000));
        });
    }

    #[test]
    fn a_writer_that_waits_can_be_interrupted() {
        let interrupt = Interrupt::default();
        let (stream, _peer) = full_connection(&interrupt);
        thread::scope(|scope| {
            let writer = scope.spawn(|| stream.write(&[0; 1000]).expect("connected"));
            thread::sleep(Duration::from_millis(20));
            interrupt.raise();
            assert_eq!(writer.join().expect("no panic"), None);
        });
    }
}
