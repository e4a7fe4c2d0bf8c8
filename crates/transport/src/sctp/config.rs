//! The configuration of an SCTP association: all constants of RFC 9260, section 16, and all switches of CMT.

use subflow_policy::congestion::{Algorithm, Sctp};
use subflow_policy::scheduler::Scheduling;
use subflow_quantity::Duration;
use subflow_wire::sctp::{UDP_ENCAPSULATION_PORT, UdpEncapsulation};

pub use super::switches::{BufferSplitting, Distribution, RecoveryScope, RetransmissionPolicy, WindowGrowth};

/// Bounds of the retransmission timeout (RFC 9260, section 6.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtoLimits {
    /// RTO.Initial.
    pub initial: Duration,
    /// RTO.Min.
    pub min: Duration,
    /// RTO.Max.
    pub max: Duration,
    /// The clock's granularity, below which RTTVAR does not fall (rule G1).
    pub granularity: Duration,
}

/// The slow-start threshold of a destination that has seen no loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialThreshold {
    /// The receive window that the peer offered in the handshake (RFC 9260, section 7.2.1; Linux, `sctp_process_init`).
    PeerWindow,
    /// So many bytes.
    Bytes(u32),
    /// None: slow start lasts until the first loss.
    Infinite,
}

/// For how long a message is transmitted and retransmitted (RFC 3758, RFC 7496).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reliability {
    /// Until it is acknowledged.
    #[default]
    Full,
    /// Until this time after it was written (RFC 3758, section 4).
    Lifetime(Duration),
    /// With at most this number of retransmissions of each of its chunks (RFC 7496, section 3.1).
    Retransmissions(u32),
}

/// How messages without parameters of their own are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageOptions {
    /// Stream number, below the negotiated number of streams.
    pub stream: u16,
    /// Whether it may be delivered before messages sent earlier (RFC 9260, section 6.6).
    pub unordered: bool,
    /// For how long it is transmitted.
    pub reliability: Reliability,
    /// Payload protocol identifier; not used by SCTP.
    pub payload_protocol: u32,
}

/// The upper bound of [`Config::most_tsns_ahead`]: half of the 16-bit stream sequence numbers, so that later messages
/// are not mistaken for earlier ones.
pub const MOST_TSNS_AHEAD: u16 = (1 << 15) - 1;

/// Encapsulation in UDP from and to the port that is assigned to it (RFC 6951, section 3.1).
pub const UDP_ENCAPSULATION: UdpEncapsulation =
    UdpEncapsulation { source_port: UDP_ENCAPSULATION_PORT, destination_port: UDP_ENCAPSULATION_PORT };

/// The configuration of one end.
#[derive(Clone, Debug)]
pub struct Config {
    /// Congestion control; its windows count bytes.
    pub congestion: Algorithm,
    /// Largest IP packet that every path carries.
    pub mtu: u32,
    /// The slow-start threshold before the first loss.
    pub initial_ssthresh: InitialThreshold,
    /// Which acknowledgments grow windows.
    pub window_growth: WindowGrowth,
    /// The scope of fast recovery.
    pub fast_recovery: RecoveryScope,
    /// Whether congestion avoidance continues during fast recovery. RFC 9260 forbids growth in slow start (section
    /// 7.2.1) and does not specify congestion avoidance (section 7.2.2); in Linux the window grows. In leitner2019 it
    /// does not (section 2.2.1).
    pub avoidance_in_recovery: bool,
    /// The destination of new data.
    pub distribution: Distribution,
    /// The destination of retransmissions.
    pub retransmission: RetransmissionPolicy,
    /// Split fast retransmit: a miss counts only where a TSN sent later to the same destination was acknowledged
    /// (Iyengar et al. 2006).
    pub split_fast_retransmit: bool,
    /// Delayed acknowledgment for CMT: gaps do not cause an immediate SACK, and each SACK has the number of packets
    /// that it acknowledges (Iyengar et al. 2006). Both sides must have it switched on.
    pub delayed_ack_cmt: bool,
    /// Whether SACKs may say that gap-acknowledged data will not be dropped, where the peer offers it, too
    /// (draft-tuexen-tsvwg-sctp-multipath, section 3).
    pub nr_sack: bool,
    /// Whether explicit congestion notification is offered (appendix A). Default: no.
    pub ecn: bool,
    /// Whether gap-acknowledged data may be dropped when the buffer is full (RFC 9260, section 6.2). With NR-SACK it
    /// never is.
    pub reneging: bool,
    /// Whether destinations may take only their part of the buffers.
    pub buffer_splitting: BufferSplitting,
    /// Most packets of new data that leave at once (Max.Burst, RFC 9260, section 6.1, rule D); `None` for no bound.
    pub max_burst: Option<u32>,
    /// Whether every message that the application writes may be sent in a burst of its own. Linux applies Max.Burst
    /// whenever it processes its queue (`sctp_outq_flush`), and therefore for each `sendmsg`: a writer that waited for
    /// space in the send buffer fills the whole window at once.
    pub burst_per_message: bool,
    /// Whether a window shrinks while nothing is sent (RFC 9260, section 7.2.1).
    pub idle_decay: bool,
    /// Outbound streams asked for.
    pub streams: u16,
    /// Inbound streams allowed.
    pub inbound_streams: u16,
    /// Bytes of one message that [`Endpoint::write`](crate::Endpoint::write) cuts the application's bytes into.
    pub message_size: u32,
    /// How those messages are sent.
    pub message: MessageOptions,
    /// Whether partial reliability is offered (RFC 3758).
    pub partial_reliability: bool,
    /// Whether a packet that is not full waits while data is outstanding (Nagle's algorithm; RFC 9260, section 6.1,
    /// rule on bundling; off with `SCTP_NODELAY`).
    pub nagle: bool,
    /// Retransmission timeout.
    pub rto: RtoLimits,
    /// Whether a gap block that acknowledges the earliest outstanding TSN of a destination restarts its T3 (RFC 9260,
    /// section 6.3.2, rule R3). In Linux only the cumulative TSN does (`sctp_check_transmitted`).
    pub gap_acks_restart_timer: bool,
    /// Whether a fast retransmission of the earliest outstanding TSN restarts T3 (RFC 9260, section 7.2.4, rule 4). In
    /// Linux it does not (`sctp_transport_reset_t3_rtx`).
    pub fast_retransmission_restarts_timer: bool,
    /// Whether the timeout doubles only after the retransmission has started T3 anew, so that it counts from the next
    /// one on. RFC 9260 doubles first (section 6.3.3, rules E2 and E3), Linux sends first (`sctp_sf_do_6_3_3_rtx`).
    pub late_back_off: bool,
    /// Whether chunks that need fast retransmission ignore the window only in the one packet sent in response to the
    /// SACK that reported them missing. Later they wait for the window, in the order of their TSNs, and block those
    /// after them. RFC 9260 does not specify what happens to chunks that do not fit in the packet (section 7.2.4, rule
    /// 3); this is the behaviour of Linux (`__sctp_outq_flush_rtx`).
    pub single_fast_packet: bool,
    /// Whether segmentation offload may cut one packet of this side, of up to 64 KiB or half the window, into several,
    /// as Linux does for SCTP (`sctp_packet_will_fit`). This matters where one packet of retransmissions is allowed.
    pub segmentation_offload: bool,
    /// A SACK waits at most so long (RFC 9260, section 6.2: 200 ms).
    pub sack_delay: Duration,
    /// It leaves with every so many packets of data.
    pub sack_frequency: u32,
    /// The maximum number of gap blocks of a SACK, which are the lowest ones; `None` for as many as fit in a packet.
    /// Linux: 16 (`SCTP_MAX_GABS`), so a sender learns of further gaps only after earlier ones are filled.
    pub max_gap_blocks: Option<u16>,
    /// Data with a TSN further than this ahead of the cumulative one is dropped. Beyond 32767 a stream of one-chunk
    /// messages would wrap its sequence numbers; Linux keeps 4096 (`SCTP_TSN_MAP_SIZE`).
    pub most_tsns_ahead: u16,
    /// Bytes of data received and not delivered that find room.
    pub receive_buffer: u64,
    /// A message larger than this is delivered in parts (RFC 6458, section 8.1.21).
    pub partial_delivery_point: u64,
    /// Most bytes written and not acknowledged; `None` for no bound.
    pub send_buffer: Option<u64>,
    /// Association.Max.Retrans.
    pub association_max_retransmissions: u32,
    /// Path.Max.Retrans.
    pub path_max_retransmissions: u32,
    /// PotentiallyFailed.Max.Retrans (RFC 7829, section 3.2): with more timeouts in a row a destination is potentially
    /// failed, and data goes to others. `None`, or no less than Path.Max.Retrans: no destination ever is.
    pub potentially_failed_max_retransmissions: Option<u32>,
    /// Whether a destination is probed as soon as it is potentially failed (CMT-PF: Natarajan, Ekiz, Amer, Stewart
    /// 2009), not an RTO later (Linux, `sctp_do_8_2_transport_strike`).
    pub probe_at_once: bool,
    /// Whether the acknowledgment of data that went to a potentially failed destination, and nowhere else, makes it
    /// active (RFC 7829, section 3.2). In Linux a SACK does that only for an inactive or unconfirmed one
    /// (`sctp_check_transmitted`): a potentially failed one loses its error count, and stays so until a HEARTBEAT is
    /// answered.
    pub sack_ends_potentially_failed: bool,
    /// Whether packets to a destination leave from this host's next address that reaches it after one was not answered,
    /// if no other destination is active (RFC 9260, section 6.4.1: another pair of source and destination). usrsctp does
    /// so, too (`sctp_t3rxt_timer`, `sctp_heartbeat_timer`). In Linux routes alone decide the source
    /// (`sctp_v4_get_dst`).
    pub alternate_sources: bool,
    /// Max.Init.Retransmits.
    pub max_init_retransmits: u32,
    /// HB.interval; `None` disables HEARTBEATs, but for those that confirm an address (RFC 9260, section 5.4) or probe
    /// one that is potentially failed (RFC 7829, section 3.2). An inactive address is used again when all others fail,
    /// too.
    pub heartbeat_interval: Option<Duration>,
    /// Valid.Cookie.Life.
    pub cookie_life: Duration,
    /// Whether INIT and INIT ACK list all addresses of the host, so that there are several destinations.
    pub multihomed: bool,
    /// The peer's address that becomes the primary path, counted from 0 in the order of the handshake, once a HEARTBEAT
    /// has confirmed it. Until then, or if the peer has fewer addresses, the first active one is the primary path.
    pub primary: usize,
    /// UDP ports, if SCTP is encapsulated in UDP (RFC 6951). The peer's port is updated to the source port of its
    /// packets.
    pub encapsulation: Option<UdpEncapsulation>,
    /// The kernel's timer tick; zero makes timers exact.
    pub timer_tick: Duration,
    /// Whether long timers fire on multiples of more (see
    /// [`tcp::Config::timer_wheel`](crate::tcp::Config::timer_wheel)).
    pub timer_wheel: bool,
    /// Whether every delivery is recorded for [`Association::poll_delivery`](super::Association::poll_delivery). An
    /// edge that holds bytes needs it.
    pub record_deliveries: bool,
}

impl Config {
    /// RFC 9260 with the constants of its section 16.
    pub fn rfc9260() -> Self {
        let second = Duration::from_secs(1);
        Self {
            congestion: Sctp.into(),
            mtu: 1500,
            initial_ssthresh: InitialThreshold::PeerWindow,
            window_growth: WindowGrowth::Rfc9260,
            fast_recovery: RecoveryScope::Association,
            avoidance_in_recovery: false,
            distribution: Distribution::Primary,
            retransmission: RetransmissionPolicy::Alternate,
            split_fast_retransmit: false,
            delayed_ack_cmt: false,
            nr_sack: false,
            ecn: false,
            reneging: true,
            buffer_splitting: BufferSplitting::None,
            max_burst: Some(4),
            burst_per_message: false,
            idle_decay: true,
            streams: 10,
            inbound_streams: 65_535,
            message_size: 1452,
            message: MessageOptions::default(),
            partial_reliability: true,
            nagle: true,
            rto: RtoLimits { initial: second, min: second, max: second * 60, granularity: Duration::from_millis(1) },
            gap_acks_restart_timer: true,
            fast_retransmission_restarts_timer: true,
            late_back_off: false,
            single_fast_packet: false,
            segmentation_offload: false,
            sack_delay: Duration::from_millis(200),
            sack_frequency: 2,
            max_gap_blocks: None,
            most_tsns_ahead: MOST_TSNS_AHEAD,
            receive_buffer: 8 << 20,
            partial_delivery_point: 4 << 20,
            send_buffer: None,
            association_max_retransmissions: 10,
            path_max_retransmissions: 5,
            potentially_failed_max_retransmissions: None,
            probe_at_once: true,
            sack_ends_potentially_failed: true,
            alternate_sources: true,
            max_init_retransmits: 8,
            heartbeat_interval: Some(second * 30),
            cookie_life: second * 60,
            multihomed: true,
            primary: 0,
            encapsulation: None,
            timer_tick: Duration::ZERO,
            timer_wheel: false,
            record_deliveries: false,
        }
    }

    /// Linux 6.12 (`net/sctp`): RTO.Initial 3 s, timers in ticks of 4 ms (HZ = 250) on the kernel's wheel, windows that
    /// grow in congestion avoidance during fast recovery, T3 restarted by the cumulative TSN alone, SACKs of 16 gap
    /// blocks, a burst for every message, one source for each destination. Linux has RFC 7829 with PotentiallyFailed.Max.Retrans 0, where only a
    /// HEARTBEAT ACK ends the state, and neither CMT nor NR-SACK; all other values are those of
    /// [`rfc9260`](Self::rfc9260).
    pub fn linux() -> Self {
        let tick = Duration::from_millis(4);
        let base = Self::rfc9260();
        Self {
            rto: RtoLimits { initial: Duration::from_secs(3), granularity: tick, ..base.rto },
            avoidance_in_recovery: true,
            burst_per_message: true,
            gap_acks_restart_timer: false,
            fast_retransmission_restarts_timer: false,
            late_back_off: true,
            single_fast_packet: true,
            segmentation_offload: true,
            potentially_failed_max_retransmissions: Some(0),
            probe_at_once: false,
            sack_ends_potentially_failed: false,
            alternate_sources: false,
            max_gap_blocks: Some(16),
            most_tsns_ahead: 4096,
            timer_tick: tick,
            timer_wheel: true,
            ..base
        }
    }

    /// This configuration with concurrent multipath transfer: all destinations carry data. It has split fast
    /// retransmit, delayed acknowledgment for CMT, window growth by `growth` with the corresponding recovery, and
    /// `rtx-same`. SACKs have as many gap blocks as fit and restart the timers of all destinations that make progress;
    /// otherwise gaps of one path hide the progress of another. Destinations become potentially failed after one
    /// timeout (CMT-PF), since data missing on a failed path would block all others.
    pub fn with_cmt(self, growth: WindowGrowth) -> Self {
        Self {
            distribution: Distribution::LargestFreeWindow,
            retransmission: RetransmissionPolicy::Same,
            split_fast_retransmit: true,
            delayed_ack_cmt: true,
            window_growth: growth,
            fast_recovery: growth.usual_scope(),
            potentially_failed_max_retransmissions: Some(0),
            probe_at_once: true,
            sack_ends_potentially_failed: true,
            gap_acks_restart_timer: true,
            max_gap_blocks: None,
            most_tsns_ahead: MOST_TSNS_AHEAD,
            ..self
        }
    }

    /// The scheduler that distributes new data, if one does.
    pub fn scheduler(&self) -> Option<&Scheduling> {
        match &self.distribution {
            Distribution::Scheduler(scheduler) => Some(scheduler),
            _ => None,
        }
    }

    /// The initial window of a destination: `min(4·MTU, max(2·MTU, 4380))` (RFC 9260, section 7.2.1).
    pub fn initial_window(&self) -> u32 {
        (4 * self.mtu).min((2 * self.mtu).max(4380))
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::rfc9260()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_initial_window_is_4380_bytes_on_ethernet() {
        let window = |mtu| Config { mtu, ..Config::rfc9260() }.initial_window();
        assert_eq!([576, 1000, 1500, 9000].map(window), [2304, 4000, 4380, 18_000]);
    }
}
