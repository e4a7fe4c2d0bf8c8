//! Opening a connection: SYN, SYN/ACK, third ACK (RFC 9293, section 3.5).

use std::sync::Arc;

use subflow_policy::congestion::{Controller, Pacer};
use subflow_quantity::{Duration, Instant};
use subflow_wire::tcp::{TcpFlags, TcpSegment};

use super::acknowledge::Acknowledge;
use super::config::Pacing;
use super::delivery_rate::DeliveryRate;
use super::ecn::Ecn;
use super::loss_detection::{Rack, Reordering};
use super::receive_side::ReceiveSide;
use super::recovery::Recovery;
use super::rto::RetransmissionTimeout;
use super::sack_input::ReportedSacks;
use super::segment_size::SegmentSize;
use super::send_side::SendSide;
use super::sent_queue::SentQueue;
use super::state::Lifecycle;
use super::timers::{Purpose, TransmissionTimer};
use super::undo::Undo;
use super::window_use::WindowUse;
use super::{Closed, Config, Connection, Counters, Ends, Negotiated};
use crate::Note;

/// The largest shift of a window field (RFC 7323, section 2.3).
const LARGEST_SCALE: u8 = 14;

impl Connection {
    /// A connection in SYN-SENT. `initial` is the initial sequence number.
    pub fn connect(config: Arc<Config>, ends: Ends, path: usize, initial: u32, now: Instant) -> Self {
        Self::new(config, ends, path, initial, Lifecycle::connecting(), now)
    }

    /// A connection in SYN-RECEIVED that answers `syn`. `initial` is this side's initial sequence number.
    pub fn accept(config: Arc<Config>, ends: Ends, path: usize, initial: u32, syn: &TcpSegment, now: Instant) -> Self {
        let mut connection = Self::new(config, ends, path, initial, Lifecycle::accepting(), now);
        connection.take_syn(syn, now);
        connection
    }

    fn new(config: Arc<Config>, ends: Ends, path: usize, initial: u32, lifecycle: Lifecycle, now: Instant) -> Self {
        let size = SegmentSize::new(&config, ends.local.is_ipv4());
        Self {
            ends,
            ip: ends.ip_header(),
            path,
            lifecycle,
            negotiated: Negotiated::default(),
            send: SendSide::new(initial, now),
            window_use: WindowUse::default(),
            sent: SentQueue::new(),
            reported_sacks: ReportedSacks::default(),
            rack: Rack::default(),
            reordering: Reordering::default(),
            recovery: Recovery::default(),
            undo: Undo::default(),
            rto: RetransmissionTimeout::new(&config),
            timer: TransmissionTimer::STOPPED,
            pacer: Pacer::OFF,
            delivery_rate: None,
            receive: ReceiveSide::new(&config, size.mss(), now),
            acknowledge: Acknowledge::new(&config, u64::from(size.mss())),
            ecn: Ecn::new(config.ecn),
            size,
            trial: None,
            mtu_search: None,
            small_queue: super::SmallQueue::new(&config),
            network_error: None,
            counters: Counters::default(),
            notes: None,
            config,
        }
    }

    /// Reserves option bytes for MPTCP: `in_data` in every data segment, whose largest payload decreases by as much,
    /// and `in_acks` in every pure acknowledgment.
    pub fn reserve_options(&mut self, in_data: u32, in_acks: u32) {
        self.size.reserve(in_data, in_acks);
    }

    /// Processes the options and the window of the peer's SYN or SYN/ACK.
    fn take_syn(&mut self, segment: &TcpSegment, now: Instant) {
        self.ecn.on_syn(segment.flags, self.send.has_sent_syn());
        let options = &segment.options;
        self.negotiated = Negotiated {
            timestamps: self.config.timestamps && options.timestamps.is_some(),
            sack: self.config.sack && options.syn.sack_permitted,
            scaling: options.syn.window_scale.is_some(),
        };
        self.receive.on_syn(segment.sequence, options.timestamps, self.negotiated.scaling, now);
        self.send.on_syn(segment.window, options.syn.window_scale.unwrap_or(0).min(LARGEST_SCALE), now);
        self.size.on_syn(options.syn.mss, self.negotiated.timestamps);
    }

    /// The SYN or SYN/ACK was sent: starts its timer.
    pub(super) fn on_syn_sent(&mut self, now: Instant) {
        self.send.on_syn_sent();
        let timeout = self.syn_timeout(self.lifecycle.syn_repeated());
        self.timer.arm(Purpose::Retransmission, now, timeout);
    }

    /// The time that the SYN or SYN/ACK waits after so many retransmissions.
    fn syn_timeout(&self, repeated: u32) -> Duration {
        self.rto.of_handshake(repeated.saturating_sub(self.linear_timeouts()))
    }

    /// The host sent the SYN/ACK before this connection existed (SYN cookies). The time of its transmission is unknown,
    /// so that the handshake gives no RTT sample.
    pub(crate) fn on_syn_ack_sent_before(&mut self) {
        self.lifecycle.on_syn_sent_before();
        self.send.on_syn_sent();
    }

    /// The SYN, which the peer has not answered, is sent again from the local end of `ends`: this host has lost the
    /// address from which it was sent before.
    pub(crate) fn move_opening(&mut self, ends: Ends) {
        debug_assert_eq!(self.state(), super::State::SynSent);
        (self.ends, self.ip) = (ends, ends.ip_header());
        self.lifecycle.request_syn();
        self.counters.retransmissions += 1;
    }

    /// The timeouts after which the timer of the handshake stays as it is.
    fn linear_timeouts(&self) -> u32 {
        if self.state() == super::State::SynSent { self.config.syn_linear_timeouts } else { 0 }
    }

    /// The timer of the SYN or SYN/ACK expired.
    pub(super) fn on_syn_timeout(&mut self) {
        // Linux `tcp_write_timeout` gives up after the time that the retransmissions take by doubling, also with linear
        // timeouts, which are shorter: not before as many of them.
        let (repeated, retries) = (self.lifecycle.syn_repeated(), self.config.syn_retries);
        let sum = |sum: Duration, timeout| sum.saturating_add(timeout);
        let waited = || (0..=repeated).map(|n| self.syn_timeout(n)).fold(Duration::ZERO, sum);
        let longest = || (0..=retries).map(|n| self.rto.of_handshake(n)).fold(Duration::ZERO, sum);
        if repeated >= retries && waited() >= longest() {
            return self.close(Closed::TimedOut);
        }
        self.lifecycle.on_syn_timeout();
        self.counters.retransmissions += 1;
        self.counters.timeouts += 1;
        if self.notes.is_some() {
            self.note(Note::Timeout { in_a_row: self.lifecycle.syn_repeated() });
        }
    }

    /// An acceptable SYN or SYN/ACK in SYN-SENT (RFC 9293, section 3.10.7.3).
    #[cold]
    pub(super) fn on_segment_in_syn_sent(&mut self, segment: &TcpSegment, now: Instant, cc: &mut Controller) {
        self.take_syn(segment, now);
        if segment.flags.contains(TcpFlags::ACK) {
            self.acknowledge.request_before_data();
            self.establish(u64::from(segment.window), now, cc);
        } else {
            self.lifecycle.on_simultaneous_open();
        }
    }

    /// An acceptable acknowledgment in SYN-RECEIVED; in a simultaneous open it comes with the peer's SYN/ACK, which is
    /// acknowledged in turn and whose window is not scaled.
    #[cold]
    pub(super) fn leave_syn_received(&mut self, segment: &TcpSegment, now: Instant, cc: &mut Controller) {
        if segment.flags.contains(TcpFlags::SYN) {
            self.acknowledge.request_before_data();
        }
        self.establish(self.peer_window(segment), now, cc);
    }

    /// The peer acknowledged this side's SYN, and offers `window` bytes.
    fn establish(&mut self, window: u64, now: Instant, cc: &mut Controller) {
        let syn_sent_at = self.lifecycle.establish();
        self.timer.stop();
        self.rto.on_established();
        self.send.on_syn_acknowledged(window);
        self.recovery.on_established(self.send.next());
        self.receive.on_established(now);
        if let Some(sent_at) = syn_sent_at {
            let rtt = now.since(sent_at);
            self.take_rtt(rtt, rtt, cc);
        }
        if self.lifecycle.syn_repeated() > 1 {
            cc.on_handshake_loss(self.path);
        }
        self.begin_pacing(now, cc);
    }

    /// Data may be sent: its departures and its delivery rate are of interest now.
    fn begin_pacing(&mut self, now: Instant, cc: &mut Controller) {
        if self.config.pacing == Pacing::Internal || cc.needs_pacing() {
            self.pacer = Pacer::ON;
        }
        if cc.takes_rate_samples() {
            // What waits was written before: Linux, where an application writes afterwards, regards its first write as
            // the end of an idle time.
            let is_limited = !self.send.queue().is_empty();
            self.delivery_rate = Some(Box::new(DeliveryRate::new(is_limited, now)));
        }
        cc.establish(self.path, self.pacer.is_on(), now);
    }

    /// Takes an RTT sample: `smoothed` for the retransmission timeout, `latest` for congestion control and RACK.
    pub(super) fn take_rtt(&mut self, smoothed: Duration, latest: Duration, cc: &mut Controller) {
        self.rto.sample(smoothed, latest, self.send.una(), self.send.next());
        self.note_rtt(latest);
        if let (Some(srtt), Some(min)) = (self.rto.rtt().srtt(), self.rto.rtt().min()) {
            cc.set_rtt(self.path, srtt, min);
        }
    }

    /// Sends the third ACK again: the peer retransmitted its SYN/ACK.
    pub(crate) fn repeat_third_ack(&mut self) {
        self.acknowledge.request_before_data();
    }

    /// Number of retransmissions of the SYN or SYN/ACK.
    pub fn syn_repeated(&self) -> u32 {
        self.lifecycle.syn_repeated()
    }
}
