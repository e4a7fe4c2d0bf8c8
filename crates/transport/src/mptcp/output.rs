//! Transmission of segments with their MPTCP options.

use subflow_policy::scheduler::Scheduler;
use subflow_quantity::Instant;
use subflow_wire::TcpSegment;
use subflow_wire::tcp::TcpFlags;
use subflow_wire::tcp::mptcp::{DataAck, Dss, Mapping, MptcpOption};

use super::Connection;
use super::config::DataAcks;
use super::phase::Mode;
use super::subflow::Stage;

/// Bytes available for options in a TCP header.
const OPTION_SPACE: u32 = 40;

impl Connection {
    /// Writes the next segment to send to `segment` and returns its subflow, or `None`. Call it again until it returns
    /// `None`.
    pub(crate) fn poll_transmit(&mut self, now: Instant, segment: &mut TcpSegment) -> Option<usize> {
        if self.memory.is_some() {
            self.push_ahead(now);
        }
        loop {
            while let Some(index) = self.subflows.first_changed() {
                if !self.phase.is_plain() {
                    let window = self.advertised_window(index);
                    self.subflows[index].tcp.share_window(window, self.config.subflows_open_window);
                }
                let queued = self.subflows[index].tcp.queued_bytes();
                let next = self.subflows[index].tcp.poll_transmit(now, segment, &mut self.congestion);
                if let Some(offset) = next {
                    if self.subflows[index].tcp.queued_bytes() < queued {
                        self.expand_send_buffer(index);
                    }
                    self.add_options(index, offset, segment);
                    // After most acknowledgments nothing would be returned. With memory, data is assigned before that
                    // is noted.
                    if self.memory.is_none() && !self.subflows[index].tcp.may_transmit() {
                        self.note_drained(index);
                        if !self.may_transmit() {
                            self.end_draining(now);
                        }
                    }
                    return Some(index);
                }
                self.note_drained(index);
            }
            if !self.assign(now) {
                self.end_draining(now);
                return None;
            }
        }
    }

    /// Whether [`poll_transmit`](Self::poll_transmit) may return a segment or change anything. An end that only
    /// receives has nothing to assign after its acknowledgment.
    pub(crate) fn may_transmit(&self) -> bool {
        let may_assign = || {
            !self.phase.is_multipath()
                || self.send.has_work(self.stream.written)
                || self.fin.is_finishing()
                || self.scheduler.repeats()
        };
        !self.subflows.changed().is_empty() || self.memory.is_some() || may_assign()
    }

    /// Nothing is left to send now.
    fn end_draining(&mut self, now: Instant) {
        self.watch_deliveries(now);
        self.subflows.summarise_drained();
    }

    /// Subflow `index` has no more to send.
    fn note_drained(&mut self, index: usize) {
        self.subflows.set_drained(index);
        self.expand_send_buffer(index);
        self.outdate_view(index);
    }

    /// Adds the MPTCP options to a segment.
    fn add_options(&mut self, index: usize, offset: u64, segment: &mut TcpSegment) {
        if segment.flags.contains(TcpFlags::SYN) {
            let option = self.option_for_syn(index);
            segment.options.mptcp.extend(option);
            return;
        }
        if segment.flags.contains(TcpFlags::RST) {
            segment.options.mptcp.append(&mut self.subflows[index].take_reset_options());
            return;
        }
        match self.phase.mode() {
            Mode::Opening | Mode::Plain => {}
            Mode::Infinite(_) => self.add_infinite_options(index, offset, segment),
            Mode::Multipath(_) => self.add_multipath_options(index, offset, segment),
        }
    }

    fn option_for_syn(&self, index: usize) -> Option<MptcpOption> {
        let subflow = &self.subflows[index];
        if self.phase.is_plain() {
            return None;
        }
        match (subflow.stage(), subflow.is_initiator()) {
            (Stage::Capable, true) => Some(MptcpOption::Capable(self.capable(false, false))),
            (Stage::Capable, false) => Some(MptcpOption::Capable(self.capable(true, false))),
            (Stage::Joining, _) => Some(self.join_for_syn(subflow)),
            _ => None,
        }
    }

    fn add_multipath_options(&mut self, index: usize, offset: u64, segment: &mut TcpSegment) {
        let length = segment.payload.length;
        if self.subflows[index].is_pre_established() {
            segment.options.sack.clear();
            segment.options.mptcp.push(self.join_for_ack(&self.subflows[index]));
            return;
        }
        if self.must_send_keys(index) && (if length == 0 { !self.may_omit_keys() } else { offset == 0 }) {
            self.phase.set_keys_sent(true);
            let mut capable = self.capable(true, true);
            if length > 0 {
                capable.data_length = Some(length as u16);
                let mapping = self.mapping(offset, segment);
                capable.checksum = mapping.checksum;
            }
            segment.options.sack.clear();
            segment.options.mptcp.push(MptcpOption::Capable(capable));
            return;
        }
        // Two branches, so that each field is stored where it stays. Built field by field elsewhere, the option would be
        // copied with wide loads, which wait for the narrow stores before them.
        let data_ack = Some(self.data_ack());
        if length > 0 {
            let mapping = Some(self.mapping(offset, segment));
            segment.options.dss = Some(Dss { data_ack, mapping, data_fin: false });
        } else {
            segment.options.dss = Some(Dss { data_ack, mapping: None, data_fin: false });
        }
        if let Some(fin) = self.fin.offset() {
            self.add_data_fin(fin, segment);
        }
        self.add_signals(index, segment);
    }

    /// Whether the server may not have received the keys yet.
    fn must_send_keys(&self, index: usize) -> bool {
        self.subflows[index].is_capable() && self.client && !self.phase.is_confirmed()
    }

    /// A DATA_FIN does not fit beside the keys. The keys were sent before, and a server that has not received them
    /// repeats its SYN/ACK.
    fn may_omit_keys(&self) -> bool {
        self.phase.has_sent_keys() && self.fin.offset().is_some()
    }

    /// The mapping of a data segment at subflow offset `offset`.
    pub(super) fn mapping(&self, offset: u64, segment: &TcpSegment) -> Mapping {
        let mapping = Mapping {
            data_sequence: self.local_key.data_sequence(segment.payload.stream_offset),
            wide: true,
            subflow_sequence: (offset + 1) as u32,
            length: segment.payload.length as u16,
            checksum: None,
        };
        if self.negotiated.has_checksum() { with_checksum(mapping, segment.payload.sum) } else { mapping }
    }

    fn data_ack(&self) -> DataAck {
        let value = self.phase.remote_key().map_or(0, |key| key.data_sequence(self.receive.next()));
        match self.config.data_acks {
            DataAcks::AsPeer if self.peer_is_wide => DataAck { value, wide: true },
            _ => DataAck { value: value & 0xFFFF_FFFF, wide: false },
        }
    }

    /// Adds the DATA_FIN at `fin` to the last data, or to an acknowledgment without data until the DATA_FIN is
    /// acknowledged.
    #[cold]
    fn add_data_fin(&self, fin: u64, segment: &mut TcpSegment) {
        let Some(dss) = &mut segment.options.dss else { return };
        let (mut mapping, sum) = match dss.mapping {
            Some(mapping) if segment.payload.stream_offset + u64::from(segment.payload.length) == fin => {
                (Mapping { length: mapping.length + 1, ..mapping }, segment.payload.sum)
            }
            Some(_) => return,
            None => {
                let data_sequence = self.local_key.data_sequence(fin);
                (Mapping { data_sequence, wide: true, subflow_sequence: 0, length: 1, checksum: None }, 0)
            }
        };
        if self.negotiated.has_checksum() {
            mapping = with_checksum(mapping, sum);
        }
        *dss = Dss { mapping: Some(mapping), data_fin: true, ..*dss };
        make_room(segment);
    }

    /// Adds as many signals to a pure acknowledgment as fit. They take precedence over SACK blocks.
    fn add_signals(&mut self, index: usize, segment: &mut TcpSegment) {
        if self.subflows[index].first_signal().is_none() {
            return;
        }
        if segment.payload.length > 0 {
            // Signals require a segment without data, so a further acknowledgment is sent after this segment.
            return self.subflows[index].tcp.request_ack();
        }
        let mut carries_one = false;
        while let Some(signal) = self.subflows[index].first_signal() {
            let length = signal.wire_length().next_multiple_of(4);
            if length > 20 && segment.options.mptcp.is_empty() {
                // An ADD_ADDR with its HMAC leaves no room for a DSS (Linux sends it alone as well).
                segment.options.sack.clear();
                if segment.options.wire_length() + length > OPTION_SPACE {
                    segment.options.dss = None;
                }
            }
            if segment.options.wire_length() + length > OPTION_SPACE {
                segment.options.sack.clear();
            }
            if segment.options.wire_length() + length <= OPTION_SPACE {
                segment.options.mptcp.extend(self.subflows[index].take_signal());
                carries_one = true;
            } else if carries_one {
                // It is sent with the next acknowledgment.
                return self.subflows[index].tcp.request_ack();
            } else {
                // It fits into no segment: an IPv6 address with a port beside timestamps, or beside an MP_FAIL that is
                // sent with every segment.
                self.subflows[index].take_signal();
            }
        }
    }

    fn add_infinite_options(&mut self, index: usize, offset: u64, segment: &mut TcpSegment) {
        if segment.payload.length > 0
            && let Some(mapping) = self.infinite_mapping(offset, segment)
        {
            segment.options.dss =
                Some(Dss { data_ack: Some(self.data_ack()), mapping: Some(mapping), data_fin: false });
            return self.add_signals(index, segment);
        }
        segment.options.mptcp.extend(self.fail_signal());
        self.add_signals(index, segment);
        make_room(segment);
    }
}

/// `mapping` of a payload whose sum is `sum`, with its checksum. Few connections use checksums.
#[cold]
fn with_checksum(mapping: Mapping, sum: u16) -> Mapping {
    Mapping { checksum: Some(mapping.checksum_for(sum)), ..mapping }
}

/// Removes SACK blocks to make room for MPTCP options.
fn make_room(segment: &mut TcpSegment) {
    while segment.options.wire_length() > OPTION_SPACE && segment.options.sack.pop().is_some() {}
}
