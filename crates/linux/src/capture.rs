//! TCP acknowledgments as they arrive at a network namespace. The kernel's lists of sockets contain smoothed round-trip
//! times; a capture adds the timestamps of single packets (RFC 7323), and with them one-way delays.
//!
//! A packet socket gets a copy of every TCP packet that arrives on any interface; a filter in the kernel passes no other
//! packets. The copies change nothing for the receivers.

use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType};
use subflow_quantity::Instant;
use subflow_transport::mptcp::one_way_delay;
use subflow_wire::tcp::TcpFlags;
use subflow_wire::{Body, Packet};

use crate::WallClock;
use crate::error::{Result, While};
use crate::socket::set_receive_buffer;
use crate::sys::{self, FilterStep};

/// Receive buffer for packets that the thread has not read yet, in bytes as the kernel counts them.
const RECEIVE_BUFFER: usize = 8 << 20;
/// The most acknowledgments that are kept until they are taken; further ones are dropped.
const MOST_KEPT: usize = 100_000;
/// The largest packet: received segments may have been merged (GRO).
const LARGEST_PACKET: usize = 1 << 16;
/// How often the thread looks whether it has to end.
const PIECE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Passes packets of TCP over IPv4 and IPv6, which begin with the network header, and no others.
const ONLY_TCP: [FilterStep; 10] = {
    // Linux include/uapi/linux/bpf_common.h.
    const LOAD_BYTE: u16 = 0x30;
    const AND: u16 = 0x54;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    const TCP: u32 = 6;
    const fn step(code: u16, if_true: u8, if_false: u8, value: u32) -> FilterStep {
        FilterStep { code, if_true, if_false, value }
    }
    [
        step(LOAD_BYTE, 0, 0, 0),
        step(AND, 0, 0, 0xf0),
        step(JUMP_IF_EQUAL, 0, 2, 0x40),
        step(LOAD_BYTE, 0, 0, 9),
        step(JUMP_IF_EQUAL, 3, 4, TCP),
        step(JUMP_IF_EQUAL, 0, 3, 0x60),
        step(LOAD_BYTE, 0, 0, 6),
        step(JUMP_IF_EQUAL, 0, 1, TCP),
        step(RETURN, 0, 0, u32::MAX),
        step(RETURN, 0, 0, 0),
    ]
};

/// An acknowledgment that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Captured {
    /// When it was read.
    pub at: Instant,
    /// Its receiver.
    pub local: SocketAddr,
    /// Its sender.
    pub remote: SocketAddr,
    /// Its acknowledgment number.
    pub acknowledged: u32,
    /// The time from the transmission of the acknowledged segment to that of this acknowledgment in nanoseconds, by the
    /// clocks of both ends; see [`one_way_delay`].
    pub one_way_delay: i64,
}

/// A capture of the acknowledgments with timestamps that arrive at a network namespace. It ends when it is dropped.
#[derive(Debug)]
pub struct Capture {
    kept: Arc<Mutex<Vec<Captured>>>,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Capture {
    /// Begins to capture in the calling thread's network namespace.
    ///
    /// # Errors
    ///
    /// If packet sockets are not permitted (CAP_NET_RAW) or the kernel has none.
    pub fn start(clock: WallClock) -> Result<Self> {
        let socket = packet_socket()?;
        let (kept, ends) = (Arc::default(), Arc::new(AtomicBool::new(false)));
        let reader = Reader { socket, clock, kept: Arc::clone(&kept), ends: Arc::clone(&ends) };
        let thread = std::thread::Builder::new().name("capture".into()).spawn(move || reader.run());
        Ok(Self { kept, ends, thread: Some(thread.during(|| "cannot start a thread".into())?) })
    }

    /// Takes the acknowledgments that arrived since the last time, the oldest first.
    pub fn take(&self) -> Vec<Captured> {
        core::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // It ends without a panic, or has told of it.
            let _ = thread.join();
        }
    }
}

/// Opens a socket for all TCP packets that arrive, from their network headers on.
fn packet_socket() -> Result<OwnedFd> {
    let cannot = || "cannot open a packet socket, which takes CAP_NET_RAW and CONFIG_PACKET".to_owned();
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    // With protocol 0 it receives nothing until it is bound: nothing arrives before there is a filter.
    let socket = rustix::net::socket_with(AddressFamily::PACKET, SocketType::DGRAM, flags, None).during(cannot)?;
    set_receive_buffer(&socket, RECEIVE_BUFFER)?;
    sys::attach_filter(socket.as_fd(), &ONLY_TCP).during(cannot)?;
    sys::ignore_outgoing(socket.as_fd()).during(cannot)?;
    sys::bind_to_interface(socket.as_fd(), sys::ALL_INTERFACES).during(cannot)?;
    Ok(socket)
}

/// What the thread has.
struct Reader {
    socket: OwnedFd,
    clock: WallClock,
    kept: Arc<Mutex<Vec<Captured>>>,
    ends: Arc<AtomicBool>,
}

impl Reader {
    fn run(self) {
        let mut packet = vec![0; LARGEST_PACKET];
        while !self.ends.load(Ordering::Relaxed) {
            let mut waits = [PollFd::new(&self.socket, PollFlags::IN)];
            // An interrupted wait is a short one.
            let _ = poll(&mut waits, Some(&PIECE));
            while !self.ends.load(Ordering::Relaxed)
                && let Ok((length, _)) = rustix::net::recv(&self.socket, packet.as_mut_slice(), RecvFlags::empty())
            {
                if let Some(captured) = captured(&packet[..length], self.clock.now()) {
                    self.keep(captured);
                }
            }
        }
    }

    fn keep(&self, captured: Captured) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < MOST_KEPT {
            kept.push(captured);
        }
    }
}

/// What a packet acknowledges, if it is one of TCP with timestamps. Its checksum is not looked at: the kernel leaves it
/// to devices.
fn captured(packet: &[u8], at: Instant) -> Option<Captured> {
    let (Packet { ip, body: Body::Tcp(segment) }, _) = Packet::parse_without_checksum(packet).ok()? else {
        return None;
    };
    if segment.flags.contains(TcpFlags::SYN) {
        return None;
    }
    Some(Captured {
        at,
        local: SocketAddr::new(ip.destination, segment.destination_port),
        remote: SocketAddr::new(ip.source, segment.source_port),
        acknowledged: segment.acknowledgment,
        one_way_delay: one_way_delay(&segment)?,
    })
}

#[cfg(test)]
mod tests {
    use subflow_wire::tcp::Timestamps;
    use subflow_wire::{Dscp, Ecn, IpHeader, PayloadBytes, TcpSegment};

    use super::*;

    fn packet(flags: TcpFlags, timestamps: Option<Timestamps>) -> Vec<u8> {
        let mut segment =
            TcpSegment { source_port: 80, destination_port: 4000, acknowledgment: 7, flags, ..TcpSegment::default() };
        segment.options.timestamps = timestamps;
        let [source, destination] = ["10.0.0.2", "10.0.0.1"].map(|address| address.parse().expect("an address"));
        let ip = IpHeader { source, destination, hop_limit: 64, dscp: Dscp::DEFAULT, ecn: Ecn::NotEct };
        let mut bytes = Vec::new();
        Packet { ip, body: Body::Tcp(segment) }.emit(PayloadBytes::Zero, 0, &mut bytes).expect("it fits");
        bytes
    }

    #[test]
    fn an_acknowledgment_has_the_ends_and_the_delay_of_what_it_acknowledges() {
        let timestamps = Some(Timestamps { value: 1040, echo: 1000 });
        let expected = Captured {
            at: Instant::ZERO,
            local: "10.0.0.1:4000".parse().expect("an end"),
            remote: "10.0.0.2:80".parse().expect("an end"),
            acknowledged: 7,
            one_way_delay: 40_000_000,
        };
        assert_eq!(captured(&packet(TcpFlags::ACK, timestamps), Instant::ZERO), Some(expected));
        assert_eq!(captured(&packet(TcpFlags::ACK, None), Instant::ZERO), None);
        assert_eq!(captured(&packet(TcpFlags::SYN | TcpFlags::ACK, timestamps), Instant::ZERO), None);
    }

    #[test]
    fn what_is_cut_off_or_no_packet_at_all_is_ignored() {
        let whole = packet(TcpFlags::ACK, Some(Timestamps { value: 2, echo: 1 }));
        for length in 0..whole.len() {
            assert_eq!(captured(&whole[..length], Instant::ZERO), None, "{length}");
        }
        assert_eq!(captured(&[0xff; 60], Instant::ZERO), None);
    }
}
