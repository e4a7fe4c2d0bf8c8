//! The kernel's information about a connection: TCP_INFO, and for MPTCP also MPTCP_INFO, MPTCP_TCPINFO and
//! MPTCP_SUBFLOW_ADDRS (Linux `include/uapi/linux/tcp.h`, `include/uapi/linux/mptcp.h`).

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::BorrowedFd;

use rustix::io::Errno;
use rustix::net::ipproto;
use subflow_quantity::Duration;

use crate::error::{Result, While};
use crate::sys;

const SOL_TCP: i32 = 6;
const TCP_INFO: i32 = 11;
const SOL_MPTCP: i32 = 284;
const MPTCP_INFO: i32 = 1;
const MPTCP_TCPINFO: i32 = 2;
const MPTCP_SUBFLOW_ADDRS: i32 = 3;

const INFO_FLAG_FALLBACK: u32 = 1;
/// struct mptcp_subflow_data.
const SUBFLOW_HEADER: usize = 16;
/// Larger than struct tcp_info in all kernels so far.
pub(crate) const TCP_INFO_SIZE: usize = 320;
/// struct sockaddr_storage.
const ADDRESS_SIZE: usize = 128;
const MAX_SUBFLOWS: usize = 64;

/// The protocol of a byte stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP.
    Tcp,
    /// Multipath TCP.
    Mptcp,
}

impl Transport {
    /// What it is called.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tcp => "TCP",
            Self::Mptcp => "MPTCP",
        }
    }

    /// Its protocol number in a call of `socket`.
    pub(crate) fn protocol(self) -> rustix::net::Protocol {
        match self {
            Self::Tcp => ipproto::TCP,
            Self::Mptcp => ipproto::MPTCP,
        }
    }
}

/// State and counters of a subflow or a TCP connection. Counters that this kernel does not have are zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubflowInfo {
    /// Its local end.
    pub local: SocketAddr,
    /// Its remote end.
    pub remote: SocketAddr,
    /// Segments sent with data, including retransmissions.
    pub data_segments_sent: u64,
    /// Segments sent, including those without data.
    pub segments_sent: u64,
    /// Retransmitted segments.
    pub retransmissions: u64,
    /// Retransmission timeouts (since Linux 6.7).
    pub timeouts: u64,
    /// Bytes received in order; on an MPTCP subflow, including copies.
    pub bytes_received: u64,
    /// Bytes sent and acknowledged.
    pub bytes_acknowledged: u64,
    /// Payload bytes written to it, each once: sent, or waiting to be (since Linux 4.19).
    pub bytes_written: u64,
    /// Smoothed round-trip time.
    pub srtt: Duration,
    /// Congestion window in packets.
    pub cwnd: u32,
    /// Slow-start threshold in packets; `None` before the first loss.
    pub ssthresh: Option<u32>,
    /// Packets in flight.
    pub in_flight: u32,
    /// Bytes sent and not acknowledged (since Linux 4.19).
    pub flight_size: u64,
}

/// What MPTCP has written to the subflows of a connection. Zero before Linux 6.5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataCounters {
    /// Bytes of data, each once (`mptcpi_bytes_sent`).
    pub bytes_sent: u64,
    /// Bytes written again by the timer of the data level (`mptcpi_bytes_retrans`). Those written again because a
    /// subflow has become stale or has ended are in neither counter.
    pub bytes_retransmitted: u64,
}

impl DataCounters {
    /// Bytes that were written again, most of them to another subflow; `written` is the sum of
    /// [`bytes_written`](SubflowInfo::bytes_written) over all subflows that the connection has or had, read before these
    /// counters. The result is too small where figures of a subflow that has ended are missing or old.
    pub fn reinjected_bytes(self, written: u64) -> u64 {
        let again = if self.bytes_sent > 0 { written.saturating_sub(self.bytes_sent) } else { 0 };
        again.max(self.bytes_retransmitted)
    }

    /// From struct mptcp_info, of at least 64 bytes.
    pub(crate) fn parse(info: &[u8]) -> Self {
        Self { bytes_sent: u64_at(info, 56), bytes_retransmitted: u64_at(info, 48) }
    }
}

/// State and counters of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectionInfo {
    /// Its open subflows, in order of opening; plain TCP has one.
    pub subflows: Vec<SubflowInfo>,
    /// The local token of an MPTCP connection.
    pub token: Option<u32>,
    /// Whether the connection of an MPTCP socket has fallen back to TCP.
    pub fallback: bool,
    /// What MPTCP has written to the subflows.
    pub data: DataCounters,
    /// Whether DSS checksums are used.
    pub checksum: bool,
}

impl ConnectionInfo {
    /// Reads the information about a socket.
    pub(crate) fn read(fd: BorrowedFd<'_>, transport: Transport) -> Result<Self> {
        match transport {
            Transport::Tcp => Self::of_tcp(fd),
            Transport::Mptcp => Self::of_mptcp(fd),
        }
        .during(|| "cannot read the kernel's information about a connection".into())
    }

    fn of_tcp(fd: BorrowedFd<'_>) -> io::Result<Self> {
        let mut bytes = [0; TCP_INFO_SIZE];
        sys::socket_option(fd, SOL_TCP, TCP_INFO, &mut bytes)?;
        let end = |address: rustix::net::SocketAddrAny| SocketAddr::try_from(address).map_err(io::Error::from);
        let local = end(rustix::net::getsockname(fd)?)?;
        // A closed connection has no remote address.
        let remote = match rustix::net::getpeername(fd) {
            Ok(Some(remote)) => end(remote)?,
            Ok(None) | Err(Errno::NOTCONN) => return Ok(Self::default()),
            Err(error) => return Err(error.into()),
        };
        let subflows = vec![SubflowInfo::parse(&bytes, unmapped(local), unmapped(remote))];
        Ok(Self { subflows, ..Self::default() })
    }

    fn of_mptcp(fd: BorrowedFd<'_>) -> io::Result<Self> {
        // Before the counters of the whole, so that these have all that the subflows were given.
        let subflows = subflows(fd);
        let mut bytes = [0; 128];
        match sys::socket_option(fd, SOL_MPTCP, MPTCP_INFO, &mut bytes) {
            Ok(_) => {}
            // If the peer uses plain TCP, the accepted socket is a TCP socket.
            Err(error) if matches!(Errno::from_io_error(&error), Some(Errno::OPNOTSUPP | Errno::NOPROTOOPT)) => {
                return Ok(Self { fallback: true, ..Self::of_tcp(fd)? });
            }
            Err(error) => return Err(error),
        }
        Ok(Self {
            subflows: subflows?,
            token: Some(u32_at(&bytes, 12)),
            fallback: u32_at(&bytes, 8) & INFO_FLAG_FALLBACK != 0,
            data: DataCounters::parse(&bytes),
            checksum: bytes[42] != 0,
        })
    }
}

/// The subflows of an MPTCP socket.
fn subflows(fd: BorrowedFd<'_>) -> io::Result<Vec<SubflowInfo>> {
    // A subflow may be opened or closed between the two calls.
    for _ in 0..8 {
        let addresses = per_subflow(fd, MPTCP_SUBFLOW_ADDRS, 2 * ADDRESS_SIZE)?;
        let infos = per_subflow(fd, MPTCP_TCPINFO, TCP_INFO_SIZE)?;
        if addresses.len() == infos.len() {
            let both = addresses.iter().zip(&infos);
            let subflows = both.filter_map(|(ends, info)| {
                let local = socket_address(&ends[..ADDRESS_SIZE])?;
                // A closed initial subflow stays in the list, without ports and counters.
                let remote = socket_address(&ends[ADDRESS_SIZE..]).filter(|remote| remote.port() != 0)?;
                Some(SubflowInfo::parse(info, unmapped(local), unmapped(remote)))
            });
            return Ok(subflows.collect());
        }
    }
    Ok(Vec::new())
}

/// Reads a socket option with `size` bytes per subflow.
fn per_subflow(fd: BorrowedFd<'_>, option: i32, size: usize) -> io::Result<Vec<Vec<u8>>> {
    let mut bytes = vec![0; SUBFLOW_HEADER + MAX_SUBFLOWS * size];
    bytes[..4].copy_from_slice(&(SUBFLOW_HEADER as u32).to_ne_bytes());
    bytes[12..16].copy_from_slice(&(size as u32).to_ne_bytes());
    sys::socket_option(fd, SOL_MPTCP, option, &mut bytes)?;
    let count = (u32_at(&bytes, 4) as usize).min(MAX_SUBFLOWS);
    // The kernel's entries have the size of its own structure.
    let stride = (u32_at(&bytes, 8) as usize).min(size);
    let entry = |index: usize| {
        let mut entry = bytes[SUBFLOW_HEADER + index * stride..][..stride].to_vec();
        entry.resize(size, 0);
        entry
    };
    Ok((0..count).map(entry).collect())
}

impl SubflowInfo {
    /// From struct tcp_info, of at least [`TCP_INFO_SIZE`] bytes.
    pub(crate) fn parse(info: &[u8], local: SocketAddr, remote: SocketAddr) -> Self {
        const NO_THRESHOLD: u32 = 0x7fff_ffff;
        let u32_of = |at| u64::from(u32_at(info, at));
        Self {
            local,
            remote,
            data_segments_sent: u32_of(156),
            segments_sent: u32_of(136),
            retransmissions: u32_of(100),
            timeouts: u64::from(u16::from_ne_bytes([info[240], info[241]])),
            bytes_received: u64_at(info, 128),
            bytes_acknowledged: u64_at(info, 120),
            bytes_written: u64_at(info, 200).saturating_sub(u64_at(info, 208)) + u32_of(144),
            srtt: Duration::from_micros(u32_of(68)),
            cwnd: u32_at(info, 80),
            ssthresh: Some(u32_at(info, 76)).filter(|&threshold| threshold < NO_THRESHOLD),
            flight_size: u64_at(info, 200).saturating_sub(u64_at(info, 208) + u64_at(info, 120)),
            in_flight: u32_at(info, 24).saturating_sub(u32_at(info, 28) + u32_at(info, 32)) + u32_at(info, 36),
        }
    }
}

/// struct sockaddr_in or sockaddr_in6.
fn socket_address(bytes: &[u8]) -> Option<SocketAddr> {
    let port = u16::from_be_bytes([bytes[2], bytes[3]]);
    let address: IpAddr = match i32::from(u16::from_ne_bytes([bytes[0], bytes[1]])) {
        libc::AF_INET => Ipv4Addr::from(<[u8; 4]>::try_from(&bytes[4..8]).ok()?).into(),
        libc::AF_INET6 => Ipv6Addr::from(<[u8; 16]>::try_from(&bytes[8..24]).ok()?).into(),
        _ => return None,
    };
    Some(SocketAddr::new(address, port))
}

/// Converts an IPv4-mapped IPv6 address to IPv4.
pub(crate) fn unmapped(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + 8].try_into().map_or(0, u64::from_ne_bytes)
}
