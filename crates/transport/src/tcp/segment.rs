//! Construction of segments, and the sequence numbers in their headers.
//!
//! A connection represents every sequence number by its 64-bit offset from the initial sequence number: the SYN is
//! offset 0, the first byte of data offset 1. Only segment headers contain 32-bit numbers.

use core::ops::Range;

use subflow_quantity::Instant;
use subflow_wire::Payload;
use subflow_wire::tcp::{SackBlock, SynOptions, TcpFlags, TcpOptions, TcpSegment, Timestamps};

use super::state::Reset;
use super::timestamps::timestamp;
use super::{Connection, State};

impl Connection {
    /// Writes every field of `segment`. Packets are built in place, because moving them would cost more than writing
    /// them.
    #[inline(always)]
    fn header(&mut self, segment: &mut TcpSegment, flags: TcpFlags, sequence: u64, now: Instant) {
        self.counters.segments_sent += 1;
        self.ip.ecn = self.ecn.of_others();
        segment.source_port = self.ends.local.port();
        segment.destination_port = self.ends.remote.port();
        segment.sequence = self.send.number_of(sequence);
        segment.acknowledgment = if flags.contains(TcpFlags::ACK) { self.receive.acknowledgment_number() } else { 0 };
        segment.flags = flags | self.ecn.echo();
        segment.window = 0;
        let options = &mut segment.options;
        options.syn = SynOptions::default();
        options.timestamps = self
            .negotiated
            .timestamps
            .then(|| Timestamps { value: timestamp(now), echo: self.receive.timestamps().to_echo() });
        options.sack.clear();
        options.dss = None;
        options.mptcp.clear();
        segment.payload = Payload::default();
    }

    /// Sets the window field, and notes that an acknowledgment is being sent.
    #[inline(always)]
    fn acknowledge_with(&mut self, segment: &mut TcpSegment) {
        segment.window = self.window_field();
        self.acknowledge.on_sent(self.receive.acknowledge());
        self.ecn.on_ack_sent();
    }

    fn window_field(&mut self) -> u16 {
        let scale = if self.negotiated.scaling { self.receive.window_scale() } else { 0 };
        (self.receive.advertise() >> scale).min(65_535) as u16
    }

    /// Builds a SYN or SYN/ACK.
    pub(super) fn build_syn(&mut self, segment: &mut TcpSegment, now: Instant) -> u64 {
        let answer = self.state() == State::SynReceived;
        let flags = if answer { TcpFlags::SYN | TcpFlags::ACK } else { TcpFlags::SYN };
        let flags = flags | self.ecn.flags_of_syn(answer, self.lifecycle.syn_repeated());
        self.header(segment, flags, 0, now);
        segment.options.syn = SynOptions {
            mss: Some(self.size.mss_option()),
            window_scale: (!answer || self.negotiated.scaling).then(|| self.receive.window_scale()),
            sack_permitted: if answer { self.negotiated.sack } else { self.config.sack },
        };
        if !answer && self.config.timestamps {
            segment.options.timestamps = Some(Timestamps { value: timestamp(now), echo: 0 });
        }
        segment.window = self.receive.window_for_syn().min(65_535) as u16;
        0
    }

    /// Builds a pure acknowledgment.
    pub(super) fn build_ack(&mut self, segment: &mut TcpSegment, now: Instant) -> u64 {
        self.header(segment, TcpFlags::ACK, self.send.next(), now);
        if let Some(earlier) = self.ecn.take_earlier_ack() {
            // The acknowledgment of all that has arrived is still due.
            segment.acknowledgment = self.receive.number_of(earlier.next);
            segment.flags = TcpFlags::ACK | earlier.echo;
            segment.window = self.window_field();
            return self.send.next().max(1) - 1;
        }
        self.add_sack(&mut segment.options, self.size.space_in_ack());
        self.acknowledge_with(segment);
        self.send.next().max(1) - 1
    }

    /// Adds a D-SACK block (RFC 2883) and the most recent SACK blocks (RFC 2018), in at most `space` option bytes.
    fn add_sack(&mut self, options: &mut TcpOptions, space: u32) {
        let duplicate = self.receive.take_duplicate();
        if !self.negotiated.sack || (duplicate.is_none() && !self.receive.has_hole()) {
            return;
        }
        let room = (space.saturating_sub(4) / 8).min(4) as usize;
        let blocks = duplicate.iter().chain(self.receive.blocks()).take(room);
        options.sack.extend(blocks.map(|block| SackBlock {
            left: self.receive.number_of(block.start),
            right: self.receive.number_of(block.end),
        }));
    }

    /// Builds a segment with data, a FIN, or both.
    pub(super) fn build_data(
        &mut self,
        start: u64,
        data: Range<u64>,
        fin: bool,
        push: bool,
        segment: &mut TcpSegment,
        now: Instant,
    ) -> u64 {
        let mut flags = TcpFlags::ACK;
        if fin {
            flags |= TcpFlags::FIN;
        }
        if push {
            flags |= TcpFlags::PSH;
        }
        self.header(segment, flags, start, now);
        let length = (data.end - data.start) as u32;
        self.add_sack(&mut segment.options, self.size.space_beside(length));
        segment.payload = Payload { stream_offset: data.start, length, sum: 0 };
        self.acknowledge_with(segment);
        start.max(1) - 1
    }

    /// Builds a zero-window probe: a segment without data whose sequence number is old, so that the peer answers.
    pub(super) fn build_window_probe(&mut self, segment: &mut TcpSegment, now: Instant) -> u64 {
        self.header(segment, TcpFlags::ACK, self.send.una().max(1) - 1, now);
        self.acknowledge_with(segment);
        0
    }

    /// Builds a reset (RFC 9293, section 3.5.3).
    pub(super) fn build_reset(&mut self, reset: Reset, segment: &mut TcpSegment, now: Instant) -> u64 {
        match reset {
            Reset::Abort => self.header(segment, TcpFlags::RST | TcpFlags::ACK, self.send.next(), now),
            Reset::Refusal(number) => {
                self.header(segment, TcpFlags::RST, 0, now);
                segment.sequence = number;
            }
        }
        0
    }
}

/// The offset nearest to `near` that corresponds to sequence number `number` if `initial` is the initial one. `None`
/// if it lies before the SYN.
pub(crate) fn unwrap(number: u32, initial: u32, near: u64) -> Option<u64> {
    let relative = number.wrapping_sub(initial);
    let delta = relative.wrapping_sub(near as u32) as i32;
    near.checked_add_signed(i64::from(delta))
}

/// The sequence number of `offset`.
pub(crate) fn wrap(offset: u64, initial: u32) -> u32 {
    initial.wrapping_add(offset as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_survive_the_wrap() {
        let initial = 0xFFFF_FFF0;
        for offset in [0, 1, 0x10, 0x1_0000_0000, 0x2_8000_0005] {
            assert_eq!(unwrap(wrap(offset, initial), initial, offset + 1000), Some(offset));
            assert_eq!(unwrap(wrap(offset, initial), initial, offset.saturating_sub(1000)), Some(offset));
        }
    }

    #[test]
    fn numbers_before_the_syn_have_no_offset() {
        assert_eq!(unwrap(99, 100, 0), None);
    }
}
