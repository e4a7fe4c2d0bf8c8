//! The send buffer with the accounting of Linux: page fragments at the connection, packet buffers at its subflows. It
//! is used if the scheduler queues data ahead of the windows ([`Scheduler::queues_ahead`]), and then determines when
//! data is passed to a subflow.
//!
//! ```text
//! connection   write -> fragments of a 32 KiB page            full when their bytes reach 4 KiB + the subflows' buffers
//! subflow      fragment, always to its end -> packet buffers  full when their true size reaches its own buffer
//! ```
//!
//! A subflow's buffer has room for twice its window. It grows only while the writer waits and the window is not full,
//! which is checked after each new packet. In slow start two packets follow an acknowledgment, and after the first of
//! them the window is not full; so the buffer follows the window as long as the writer waits. The end of a fragment,
//! the peer's window or a full buffer may leave a short packet at the tail. Later data completes it unless it has been
//! sent before.
//!
//! Source: Linux 6.12, `net/mptcp/protocol.c` (`mptcp_sendmsg`, `__subflow_push_pending`, `mptcp_sendmsg_frag`,
//! `__mptcp_clean_una`), `net/mptcp/protocol.h` (`__mptcp_sync_sndbuf`), `net/ipv4/tcp_input.c` (`tcp_sndbuf_expand`,
//! `tcp_should_expand_sndbuf`), `net/ipv4/tcp_output.c` (`tcp_event_new_data_sent`), `net/core/sock.c`
//! (`skb_page_frag_refill`).

use std::collections::VecDeque;

use subflow_policy::scheduler::Scheduler;

use super::Connection;
use crate::tcp::config::{Autotuning, SendBuffer};
use crate::tcp::{self, PACKET_OVERHEAD};

/// Size in bytes of the pages from which fragments are allocated (`SKB_FRAG_PAGE_ORDER`).
const PAGE: u64 = 32_768;
/// Size of the descriptor of a fragment, which precedes it in the page (`struct mptcp_data_frag`).
const FRAGMENT_OVERHEAD: u64 = 40;
/// A page with less room for data than this is not used further (`mptcp_page_frag_refill`).
const SMALLEST_FRAGMENT: u64 = 32;
/// Size of the connection's buffer in excess of the subflows' buffers (`tcp_wmem[0]`).
const CONNECTION_EXTRA: u64 = 4096;
/// Bytes of buffer for each packet of the window: a factor of two for recovery, times the size of a 1460-byte packet
/// with headers and `skb_shared_info` (576 bytes), rounded up to a power of two, and its descriptor. A kernel that is
/// built for more link layers has a larger `MAX_TCP_HEADER` and then twice the power of two; the one measured has not.
const BUFFER_PER_WINDOW_PACKET: u64 = 2 * (2048 + 256);
/// Minimum window for which a buffer has room (`TCP_INIT_CWND`).
const SMALLEST_WINDOW: u32 = 10;

/// The data held by a connection and its subflows.
#[derive(Clone, Debug)]
pub(crate) struct SendMemory {
    setting: SendBuffer,
    /// Fragments not completely acknowledged, in the order of the stream.
    fragments: VecDeque<Fragment>,
    /// Room left in the page of the last fragment.
    page_room: u64,
    /// Memory taken by the fragments.
    held: u64,
    /// Size of each subflow's buffer; 0 before the subflow is synchronised.
    buffers: Vec<u64>,
    /// Number of subflows of this side that are not yet synchronised. Their buffers have the initial size.
    joining: u64,
}

#[derive(Clone, Copy, Debug)]
struct Fragment {
    /// Stream offset of the first byte that is not acknowledged.
    start: u64,
    /// Stream offset after the last byte.
    end: u64,
}

impl SendMemory {
    pub(super) fn new(setting: SendBuffer) -> Self {
        Self { setting, fragments: VecDeque::new(), page_room: 0, held: 0, buffers: Vec::new(), joining: 0 }
    }

    /// Whether the connection's own buffer limits what is written.
    fn limits_writes(&self) -> bool {
        matches!(self.setting, SendBuffer::Automatic(_))
    }

    /// Bounds of subflows' buffers that grow.
    fn bounds(&self) -> Autotuning {
        match self.setting {
            SendBuffer::Automatic(bounds) => bounds,
            SendBuffer::Unlimited | SendBuffer::Fixed(_) => Autotuning::LINUX_SEND,
        }
    }

    /// Size of the connection's buffer in bytes.
    fn limit(&self) -> u64 {
        match self.buffers.iter().sum() {
            // Without a subflow nothing can be written.
            0 => 0,
            buffers => CONNECTION_EXTRA + buffers + self.joining * self.bounds().initial,
        }
    }

    /// Allocates fragments for `bytes` written at stream offset `written` while the buffer is not full. `sent` is the
    /// offset up to which data has been passed to subflows. Returns the number of bytes accepted.
    fn admit(&mut self, bytes: u64, written: u64, sent: u64) -> u64 {
        if !self.limits_writes() {
            return bytes;
        }
        let mut admitted = 0;
        while admitted < bytes && self.held < self.limit() {
            let end = written + admitted;
            let pending = sent < end;
            if !(pending && self.page_room > 0) {
                if self.page_room < SMALLEST_FRAGMENT + FRAGMENT_OVERHEAD || self.fragments.is_empty() {
                    self.page_room = PAGE;
                }
                self.page_room -= FRAGMENT_OVERHEAD;
                self.held += FRAGMENT_OVERHEAD;
                self.fragments.push_back(Fragment { start: end, end });
            }
            let length = self.page_room.min(bytes - admitted);
            self.page_room -= length;
            self.held += length;
            admitted += length;
            self.fragments.back_mut().expect("there is one now").end += length;
        }
        admitted
    }

    /// Releases the fragments below `una`, which are acknowledged.
    fn acknowledge(&mut self, una: u64) {
        while let Some(front) = self.fragments.front_mut() {
            let end = una.min(front.end);
            self.held -= end.saturating_sub(front.start);
            front.start = front.start.max(end);
            if front.start < front.end {
                break;
            }
            self.held -= FRAGMENT_OVERHEAD;
            self.fragments.pop_front();
        }
    }

    /// The end of the fragment that contains stream offset `offset`.
    pub(super) fn fragment_end(&self, offset: u64) -> u64 {
        let at = self.fragments.partition_point(|fragment| fragment.end <= offset);
        // If writes are not limited, the whole stream is treated as written into full pages.
        let in_pages = || (offset / (PAGE - FRAGMENT_OVERHEAD) + 1) * (PAGE - FRAGMENT_OVERHEAD);
        self.fragments.get(at).map_or_else(in_pages, |fragment| fragment.end)
    }

    /// Whether a waiting writer may continue: a third of the buffer is free.
    fn is_writable(&self) -> bool {
        self.held < self.limit() && 3 * self.held <= 2 * self.limit()
    }

    /// Sets the buffer of subflow `index` to at least twice its window of `cwnd` packets.
    pub(super) fn expand(&mut self, index: usize, cwnd: u32) {
        if self.buffers.len() <= index {
            self.buffers.resize(index + 1, 0);
        }
        let Autotuning { initial, maximum } = self.bounds();
        let grown = u64::from(cwnd.max(SMALLEST_WINDOW)) * BUFFER_PER_WINDOW_PACKET;
        let buffer = &mut self.buffers[index];
        *buffer = self.setting.fixed().unwrap_or_else(|| grown.min(maximum).max(initial).max(*buffer));
    }

    /// Removes the buffer of subflow `index`.
    pub(super) fn remove(&mut self, index: usize) {
        if let Some(buffer) = self.buffers.get_mut(index) {
            *buffer = 0;
        }
    }

    /// Size of the buffer of subflow `index` in bytes; 0 before it is synchronised.
    pub(super) fn buffer(&self, index: usize) -> u64 {
        self.buffers.get(index).copied().unwrap_or(0)
    }
}

/// Memory taken by the packets in a subflow's buffer, in bytes of true size.
pub(super) fn held_by(tcp: &tcp::Connection) -> u64 {
    tcp.unacknowledged_bytes() + tcp.queued_bytes() + PACKET_OVERHEAD * tcp.buffered_packets()
}

impl Connection {
    /// The accounting, if the scheduler requires it.
    pub(super) fn send_memory(config: &super::Config) -> Option<SendMemory> {
        let needed = config.scheduler.queues_ahead();
        needed.then(|| SendMemory::new(config.tcp.send_buffer))
    }

    /// Accepts as many of `bytes` as the send buffer has room for.
    pub(super) fn admit(&mut self, bytes: u64) -> u64 {
        let acknowledged = self.bytes_acknowledged();
        let Some(memory) = &mut self.memory else { return self.stream.admit(bytes, acknowledged) };
        let wanted = self.stream.admit(bytes, acknowledged);
        let admitted = memory.admit(wanted, self.stream.written - wanted, self.send.next());
        if admitted < wanted {
            self.stream.take_back(wanted - admitted);
        }
        admitted
    }

    /// Releases acknowledged data. If the connection's own buffer does not limit what is written, a waiting writer may
    /// then continue.
    pub(super) fn release_send_memory(&mut self) {
        let una = self.send.una().min(self.stream.written);
        if let Some(memory) = &mut self.memory {
            memory.acknowledge(una);
            let joins = self.subflows.iter().skip(1).filter(|subflow| subflow.is_initiator() && !subflow.is_closed());
            memory.joining = joins.filter(|subflow| !subflow.tcp.state().is_synchronised()).count() as u64;
            if memory.limits_writes() {
                return;
            }
        }
        self.stream.on_acknowledged(una);
    }

    /// Expands the subflow's buffer when it is established, and while the writer waits and the window is not full; then
    /// emits [`Event::Writable`](crate::Event::Writable) if there is enough room: a writer that may continue has the
    /// expanded buffer (Linux `tcp_init_buffer_space`, `tcp_check_space`, `tcp_new_space`).
    pub(super) fn expand_send_buffer(&mut self, index: usize) {
        let Some(memory) = &mut self.memory else { return };
        let subflow = &self.subflows[index];
        let path = self.congestion.path(subflow.tcp.path());
        let waiting = self.stream.is_blocked() || !memory.limits_writes();
        let grows = memory.buffer(index) == 0 || waiting && subflow.tcp.in_flight() < path.cwnd();
        if grows && subflow.tcp.state().is_synchronised() {
            memory.expand(index, path.cwnd());
        }
        if memory.limits_writes() && memory.is_writable() {
            self.stream.unblock();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> SendMemory {
        let mut memory = SendMemory::new(SendBuffer::Automatic(Autotuning::LINUX_SEND));
        memory.expand(0, 10);
        memory
    }

    #[test]
    fn a_new_subflow_has_room_for_twice_a_window_of_ten_and_the_connection_for_4_kib_more() {
        assert_eq!(memory().buffer(0), 46_080);
        assert_eq!(memory().limit(), 50_176);
    }

    #[test]
    fn a_subflow_that_is_joining_adds_its_initial_buffer() {
        let mut memory = memory();
        memory.joining = 1;
        assert_eq!(memory.limit(), 50_176 + 16_384);
    }

    #[test]
    fn a_write_fills_pages_until_the_buffer_is_full() {
        let mut memory = memory();
        memory.expand(0, 20);
        assert_eq!(memory.admit(65_536, 0, 0), 65_536);
        assert_eq!(memory.held, 65_536 + 3 * 40);
        assert_eq!(memory.admit(34_464, 65_536, 0), 32_648, "what the third page has room for");
        assert_eq!(memory.admit(1_816, 98_184, 0), 0);
        let ends: Vec<_> = memory.fragments.iter().map(|fragment| fragment.end).collect();
        assert_eq!(ends, [32_728, 65_456, 98_184]);
        assert_eq!(
            [memory.fragment_end(0), memory.fragment_end(32_728), memory.fragment_end(98_183)],
            [32_728, 65_456, 98_184]
        );
    }

    #[test]
    fn a_fragment_that_was_handed_down_is_not_continued() {
        let mut memory = memory();
        memory.admit(1000, 0, 0);
        memory.admit(1000, 1000, 500);
        assert_eq!(memory.fragments.len(), 1);
        memory.admit(1000, 2000, 2000);
        assert_eq!(memory.fragments.len(), 2);
        assert_eq!(memory.page_room, PAGE - 3000 - 80, "but its page is");
    }

    #[test]
    fn acknowledged_bytes_make_room_and_a_third_of_it_lets_the_writer_go_on() {
        let mut memory = memory();
        memory.admit(65_456, 0, 0);
        memory.acknowledge(32_000);
        assert!(!memory.is_writable());
        memory.acknowledge(32_128);
        assert!(memory.is_writable(), "{} of {}", memory.held, memory.limit());
        memory.acknowledge(65_456);
        assert_eq!((memory.held, memory.fragments.len()), (0, 0));
    }

    #[test]
    fn buffers_grow_with_the_window_and_never_shrink() {
        let mut memory = memory();
        memory.expand(0, 20);
        memory.expand(0, 15);
        assert_eq!(memory.buffer(0), 92_160);
        memory.expand(0, 100_000);
        assert_eq!(memory.buffer(0), 16_777_216);
        memory.remove(0);
        assert_eq!(memory.limit(), 0);
    }
}
