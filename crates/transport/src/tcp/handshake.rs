//! Opening a connection: SYN, SYN/ACK, third ACK (RFC 9293, section 3.5).

use std::sync::Arc;

use subflow_policy::congestion::Controller;
use subflow_quantity::Instant;
use subflow_wire::tcp::{TcpFlags, TcpSegment};

use super::acknowledge::Acknowledge;
use super::receive_side::ReceiveSide;
use super::recovery::Recovery;
use super::send_queue::SendQueue;
use super::sent_queue::SentQueue;
use super::timers::Purpose;
use super::window_use::WindowUse;
use super::{Closed, Config, Connection, Counters, Ends, Negotiated, RttEstimator, SendSide, State};
use crate::Note;

/// State of the handshake.
#[derive(Clone, Debug, Default)]
pub(crate) struct Handshake {
    /// A SYN or SYN/ACK is to be sent.
    pub(crate) due: bool,
    sent_at: Instant,
    /// Number of retransmissions of the SYN or SYN/ACK.
    repeated: u32,
    /// The third ACK, or in SYN-RECEIVED a challenge ACK, is to be sent before any data.
    pub(crate) acknowledge: bool,
    /// The handshake has given an RTT sample, or cannot give one.
    measured: bool,
}

/// MSS of a peer that sends no MSS option over IPv4 (RFC 9293, section 3.7.1).
const DEFAULT_MSS: u32 = 536;

impl Connection {
    /// A connection in SYN-SENT. `initial` is the initial sequence number.
    pub fn connect(config: Arc<Config>, ends: Ends, path: usize, initial: u32, now: Instant) -> Self {
        let mut connection = Self::new(config, ends, path, initial, State::SynSent, now);
        connection.handshake.due = true;
        connection
    }

    /// A connection in SYN-RECEIVED that answers `syn`. `initial` is this side's initial sequence number.
    pub fn accept(config: Arc<Config>, ends: Ends, path: usize, initial: u32, syn: &TcpSegment, now: Instant) -> Self {
        let mut connection = Self::new(config, ends, path, initial, State::SynReceived, now);
        connection.take_syn(syn, now);
        connection.handshake.due = true;
        connection
    }

    fn new(config: Arc<Config>, ends: Ends, path: usize, initial: u32, state: State, now: Instant) -> Self {
        let header = if ends.local.is_ipv4() { 40 } else { 60 };
        let mss = u32::from(config.mtu) - header;
        let timestamps = if config.timestamps { 12 } else { 0 };
        let segment = mss - timestamps;
        Self {
            ends,
            ip: ends.ip_header(),
            path,
            state,
            negotiated: Negotiated::default(),
            send: SendSide {
                initial,
                una: 0,
                nxt: 0,
                window_end: 0,
                max_window: 0,
                window_from: 0,
                scale: 0,
                mss: segment,
                last_sent_at: now,
                small_until: 0,
                peer_mss: DEFAULT_MSS,
            },
            queue: SendQueue::default(),
            window_use: WindowUse::default(),
            sent: SentQueue::new(),
            recovery: Recovery::default(),
            rtt: RttEstimator::new(config.min_rto),
            receive: ReceiveSide::new(&config, segment, now),
            acknowledge: Acknowledge::new(&config, u64::from(segment)),
            handshake: Handshake::default(),
            timer: None,
            backoff: 0,
            retries: 0,
            close_timer: None,
            challenged_at: None,
            extra_options: 0,
            extra_ack_options: 0,
            path_mtu: config.mtu,
            trial: None,
            mtu_search: None,
            network_error: None,
            counters: Counters::default(),
            notes: None,
            config,
        }
    }

    /// Reserves option bytes for MPTCP: `in_data` in every data segment, whose largest payload decreases by as much,
    /// and `in_acks` in every pure acknowledgment.
    pub fn reserve_options(&mut self, in_data: u32, in_acks: u32) {
        (self.extra_options, self.extra_ack_options) = (in_data, in_acks);
        self.fit_mss();
    }

    pub(super) fn fit_mss(&mut self) {
        self.send.mss = self.mss_within(self.path_mtu.into());
    }

    /// The largest payload of a segment whose packet fits into `mtu` bytes.
    pub(super) fn mss_within(&self, mtu: u32) -> u32 {
        let header = if self.ends.local.is_ipv4() { 40 } else { 60 };
        let timestamps = if self.negotiated.timestamps { 12 } else { 0 };
        let base = self.send.peer_mss.min(mtu - header);
        base.saturating_sub(timestamps + self.extra_options).max(64)
    }

    /// Processes the options and the window of the peer's SYN or SYN/ACK.
    fn take_syn(&mut self, segment: &TcpSegment, now: Instant) {
        let options = &segment.options;
        self.negotiated.timestamps = self.config.timestamps && options.timestamps.is_some();
        self.negotiated.sack = self.config.sack && options.syn.sack_permitted;
        self.negotiated.scaling = options.syn.window_scale.is_some();
        self.send.scale = options.syn.window_scale.unwrap_or(0).min(14);
        self.receive.on_syn(segment.sequence, options.timestamps, self.negotiated.scaling, now);
        self.send.peer_mss = options.syn.mss.map_or(DEFAULT_MSS, u32::from);
        self.send.window_end = self.send.una + u64::from(segment.window);
        self.send.max_window = u64::from(segment.window);
        self.fit_mss();
        self.send.last_sent_at = now;
    }

    /// The SYN or SYN/ACK was sent: starts its timer.
    pub(crate) fn on_syn_sent(&mut self, now: Instant) {
        self.handshake.due = false;
        self.handshake.sent_at = now;
        self.send.nxt = 1;
        let delay = self.config.initial_rto.saturating_mul(1 << self.handshake.repeated.min(16));
        self.arm(Purpose::Retransmission, now, delay.min(self.config.max_rto));
    }

    /// The host sent the SYN/ACK before this connection existed (SYN cookies). The time of its transmission is unknown,
    /// so that the handshake gives no RTT sample.
    pub(crate) fn on_syn_ack_sent_before(&mut self) {
        self.handshake.due = false;
        self.handshake.measured = true;
        self.send.nxt = 1;
    }

    /// The timer of the SYN or SYN/ACK expired.
    pub(crate) fn on_syn_timeout(&mut self) {
        if self.handshake.repeated >= self.config.syn_retries {
            return self.close(Closed::TimedOut);
        }
        self.handshake.repeated += 1;
        self.handshake.due = true;
        self.counters.retransmissions += 1;
        self.counters.timeouts += 1;
        if self.notes.is_some() {
            self.note(Note::Timeout { in_a_row: self.handshake.repeated });
        }
    }

    /// An acceptable SYN or SYN/ACK in SYN-SENT (RFC 9293, section 3.10.7.3).
    #[cold]
    pub(crate) fn on_segment_in_syn_sent(&mut self, segment: &TcpSegment, now: Instant, cc: &mut Controller) {
        self.take_syn(segment, now);
        if segment.flags.contains(TcpFlags::ACK) {
            self.send.una = 1;
            self.send.window_end = 1 + u64::from(segment.window);
            self.handshake.acknowledge = true;
            self.establish(now, cc);
        } else {
            // Simultaneous open.
            self.state = State::SynReceived;
            self.handshake.due = true;
        }
    }

    /// An acceptable acknowledgment in SYN-RECEIVED; in a simultaneous open it comes with the peer's SYN/ACK, which is
    /// acknowledged in turn and whose window is not scaled.
    #[cold]
    pub(crate) fn leave_syn_received(&mut self, segment: &TcpSegment, now: Instant, cc: &mut Controller) {
        let simultaneous = segment.flags.contains(TcpFlags::SYN);
        self.send.una = 1;
        self.send.window_end = 1 + self.peer_window(segment);
        self.handshake.acknowledge = simultaneous;
        self.establish(now, cc);
    }

    /// The peer acknowledged this side's SYN.
    pub(crate) fn establish(&mut self, now: Instant, cc: &mut Controller) {
        self.state = State::Established;
        self.timer = None;
        self.retries = 0;
        self.send.una = self.send.una.max(1);
        self.recovery.on_established(self.send.nxt);
        self.receive.on_established(now);
        if self.handshake.repeated == 0 && !self.handshake.measured {
            self.handshake.measured = true;
            let rtt = now.since(self.handshake.sent_at);
            self.rtt.sample(rtt, self.send.una, self.send.nxt);
            self.rtt.note_latest(rtt);
            self.note_rtt(rtt);
            self.publish_rtt(cc);
        }
        if self.handshake.repeated > 1 {
            cc.on_handshake_loss(self.path);
        }
        cc.set_established(self.path, true);
    }

    pub(crate) fn publish_rtt(&self, cc: &mut Controller) {
        if let (Some(srtt), Some(min)) = (self.rtt.srtt(), self.rtt.min()) {
            cc.set_rtt(self.path, srtt, min);
        }
    }

    /// Sends the third ACK again: the peer retransmitted its SYN/ACK.
    pub(crate) fn repeat_third_ack(&mut self) {
        self.handshake.acknowledge = true;
    }

    /// Number of retransmissions of the SYN or SYN/ACK.
    pub fn syn_repeated(&self) -> u32 {
        self.handshake.repeated
    }
}
