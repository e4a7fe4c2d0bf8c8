//! TCP small queues: how much of a connection's data is in the queue of its own host, and whether more may follow
//! ([`SmallQueues`]).
//!
//! The driver tells what enters the queue and when it leaves it; a connection that is told nothing is not limited. A tail
//! loss probe does not send the last segment again while it is in the queue (Linux since 3.15, `skb_still_in_host_queue`).
//! Not modelled: the same for other retransmissions; and a drop in the own queue is found like any other loss (Linux
//! learns of it at once and reduces the window without a retransmission).

use subflow_policy::congestion::Controller;
use subflow_quantity::Instant;

use super::Connection;
use super::config::{Config, SmallQueues};
use super::recovery::Transmission;

/// What the kernel charges for a packet besides its payload, in bytes: a packet of 1448 bytes of payload has a `truesize`
/// of 2304 in Linux 3.18 and in Linux 6.12 without segmentation offload.
const PACKET_OVERHEAD: u64 = 856;
/// The bound is what the pacing rate sends in 1/2^this of a second (Linux `sk_pacing_shift`).
const PACING_SHIFT: u32 = 10;

/// The memory that the kernel charges for a packet, in bytes (Linux `skb->truesize`).
fn truesize(payload: u32) -> u64 {
    u64::from(payload) + PACKET_OVERHEAD
}

/// What is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Data {
    New,
    Lost,
}

/// The data of one connection in the queue of its host, in bytes of memory.
#[derive(Clone, Debug)]
pub(super) struct SmallQueue {
    waiting: u64,
    /// The packet whose transmission started last: when it ends, and its memory.
    in_transmission: (Instant, u64),
    throttled: bool,
}

impl SmallQueue {
    /// That of a connection with this configuration, if it is limited.
    pub(super) fn new(config: &Config) -> Option<Box<Self>> {
        let empty = Self { waiting: 0, in_transmission: (Instant::ZERO, 0), throttled: false };
        (config.small_queues != SmallQueues::Off).then(|| Box::new(empty))
    }

    fn on_queued(&mut self, payload: u32) {
        self.waiting += truesize(payload);
    }

    /// Data has left, or leaves at `at`. Returns whether data waited for that.
    fn on_left(&mut self, payload: u32, at: Instant) -> bool {
        self.waiting = self.waiting.saturating_sub(truesize(payload));
        // A packet that was dropped leaves before the one in transmission.
        if at >= self.in_transmission.0 {
            self.in_transmission = (at, truesize(payload));
        }
        core::mem::take(&mut self.throttled)
    }

    /// The memory of what is in the queue or in transmission at `now`.
    fn held(&self, now: Instant) -> u64 {
        let (until, bytes) = self.in_transmission;
        self.waiting + if until > now { bytes } else { 0 }
    }

    /// Whether more may be sent at `now`, with this bound.
    fn admits(&mut self, now: Instant, bound: u64) -> bool {
        self.throttled = self.held(now) > bound;
        !self.throttled
    }
}

/// The bound in bytes of memory for packets with `payload` bytes, at `pacing_rate` in bytes per second; `None` if that is
/// not known yet.
fn bound(config: &Config, payload: u32, pacing_rate: Option<u64>, is_paced: bool) -> u64 {
    let of_rate = pacing_rate.map_or(u64::MAX, |rate| rate >> PACING_SHIFT);
    match config.small_queues {
        SmallQueues::Off => u64::MAX,
        SmallQueues::Linux612 => {
            let bound = of_rate.max(2 * truesize(payload));
            if is_paced { bound } else { bound.min(config.output_limit) }
        }
        SmallQueues::Linux318 => pacing_rate.map_or(0, |_| of_rate).max(config.output_limit),
    }
}

impl Connection {
    /// Whether the bound on what is in the host's queue lets `data` be sent. If not, it waits until something leaves.
    #[inline]
    pub(super) fn host_queue_admits(&mut self, data: Data, now: Instant, cc: &Controller) -> bool {
        self.small_queue.is_none() || self.fits_small_queue(data, now, cc)
    }

    fn fits_small_queue(&mut self, data: Data, now: Instant, cc: &Controller) -> bool {
        let is_newest = self.config.small_queues == SmallQueues::Linux612;
        let (has_few, shift) = match data {
            Data::New => (is_newest && self.sent.packets_out() <= 1, 0),
            Data::Lost => (!is_newest, 1),
        };
        let rate = cc.pacing_rate(self.path, self.outstanding());
        let bound = bound(&self.config, self.size.mss(), rate, self.pacer.is_on());
        let Some(queue) = &mut self.small_queue else { return true };
        let admits = has_few || queue.admits(now, bound.saturating_mul(1 << shift));
        let (until, _) = queue.in_transmission;
        if !admits && until > now {
            self.pacer.wait_until(until);
        }
        admits
    }

    /// Whether data waits until other data has left the host's queue.
    pub(crate) fn is_throttled(&self) -> bool {
        self.small_queue.as_ref().is_some_and(|queue| queue.throttled)
    }

    /// Whether the segment that was sent last is in the host's queue or in transmission at `now`, as far as the driver tells
    /// that: a queue keeps the order of a connection's packets.
    pub(super) fn is_last_in_host_queue(&self, now: Instant) -> bool {
        self.small_queue.as_ref().is_some_and(|queue| queue.held(now) > 0)
    }

    /// A packet with `payload` bytes has entered the host's queue.
    pub(crate) fn on_queued(&mut self, payload: u32) {
        if let Some(queue) = &mut self.small_queue {
            queue.on_queued(payload);
        }
    }

    /// A packet with `payload` bytes has left the host's queue, or leaves it at `at`. Returns whether data waited for
    /// that, which may be sent then.
    pub(crate) fn on_left_queue(&mut self, payload: u32, at: Instant) -> bool {
        let waited = self.small_queue.as_mut().is_some_and(|queue| queue.on_left(payload, at));
        if waited {
            self.resume();
        }
        waited
    }

    /// What has waited may be sent: new data, or a segment that is lost (Linux `tcp_tsq_write`).
    pub(super) fn resume(&mut self) {
        if let Some(queue) = &mut self.small_queue {
            queue.throttled = false;
        }
        if self.sent.lost_out() > self.sent.retrans_out() {
            self.recovery.request(Transmission::LostSegments);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Instant {
        Instant::from_nanos(1000 * micros)
    }

    fn config(small_queues: SmallQueues, output_limit: u64) -> Config {
        Config { small_queues, output_limit, ..Config::default() }
    }

    /// How many full-sized packets are sent at once into a queue from which nothing leaves.
    fn packets(config: &Config, pacing_rate: Option<u64>, is_paced: bool) -> usize {
        let mut queue = SmallQueue::new(config).expect("limited");
        let bound = bound(config, 1448, pacing_rate, is_paced);
        let mut sends = || {
            let admits = queue.admits(at(0), bound);
            queue.on_queued(1448);
            admits
        };
        (0..1000).take_while(|_| sends()).count()
    }

    #[test]
    fn the_bound_follows_the_pacing_rate_as_measured_on_linux_6_12() {
        let newest = config(SmallQueues::Linux612, 1 << 20);
        // CUBIC at 10.12 MB/s and Reno at 24.66 MB/s, both without pacing.
        assert_eq!(packets(&newest, Some(10_123_264), false), 5);
        assert_eq!(packets(&newest, Some(24_657_920), false), 11);
        assert_eq!(packets(&newest, Some(1000), false), 3, "two packets at least, and one that exceeds them");
        assert_eq!(packets(&newest, None, false), 456, "1 MiB without a sample");
        assert_eq!(packets(&config(SmallQueues::Linux612, 4608), Some(24_657_920), false), 3);
        assert_eq!(packets(&config(SmallQueues::Linux612, 4608), Some(24_657_920), true), 11, "not if it is paced");
    }

    #[test]
    fn linux_3_18_lets_128_kib_wait_or_more_at_high_rates() {
        let old = config(SmallQueues::Linux318, 128 << 10);
        assert_eq!(packets(&old, Some(10_123_264), false), 57);
        assert_eq!(packets(&old, None, false), 57);
        assert_eq!(packets(&old, Some(1 << 28), false), 114, "256 KiB in 1/1024 s");
    }

    #[test]
    fn a_packet_counts_until_its_transmission_ends() {
        let mut queue = SmallQueue::new(&config(SmallQueues::Linux612, 1 << 20)).expect("limited");
        (0..3).for_each(|_| queue.on_queued(1448));
        assert!(!queue.admits(at(0), 4608));
        assert!(queue.on_left(1448, at(240)), "data waited");
        assert_eq!((queue.held(at(239)), queue.held(at(240))), (6912, 4608));
        assert!(queue.admits(at(240), 4608));
        assert!(!queue.on_left(1448, at(480)), "nothing waited");
        queue.on_left(1448, at(300));
        assert_eq!((queue.held(at(300)), queue.held(at(480))), (2304, 0), "one was dropped, the other is transmitted");
    }
}
