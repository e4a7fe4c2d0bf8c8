//! Rounds without a network: a window of packets is sent and acknowledged one round trip later.

use subflow_policy::congestion::{Ack, Algorithm, Controller, DeliverySample, Loss, Path, RecoveryState, Rules};
use subflow_quantity::{Duration, Instant};

/// The link of a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    /// Round-trip time without queue.
    pub(crate) delay: Duration,
    /// Packets per second; infinite for a link without a queue.
    pub(crate) rate: f64,
    /// Packets that fit into the queue: a larger window loses a packet.
    pub(crate) buffer: f64,
    /// Probability that a packet is lost.
    pub(crate) loss: f64,
}

impl Link {
    /// A link with random loss and without a queue.
    pub(crate) fn lossy(delay_ms: u64, loss: f64) -> Self {
        let delay = Duration::from_millis(delay_ms);
        Self { delay, rate: f64::INFINITY, buffer: f64::INFINITY, loss }
    }

    /// A link with a queue that loses packets only when the queue is full.
    pub(crate) fn queueing(delay_ms: u64, rate: f64, buffer: f64) -> Self {
        Self { delay: Duration::from_millis(delay_ms), rate, buffer, loss: 0.0 }
    }

    /// The number of packets in the queue with a window of `cwnd`.
    pub(crate) fn queue(&self, cwnd: u32) -> f64 {
        if self.rate.is_infinite() {
            return 0.0;
        }
        (f64::from(cwnd) - self.rate * self.delay.as_secs_f64()).max(0.0)
    }

    fn rtt(&self, cwnd: u32) -> Duration {
        self.delay + Duration::from_secs_f64(self.queue(cwnd) / self.rate)
    }
}

/// The progress of one path.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress {
    /// The start of its current round.
    pub(crate) now: Instant,
    /// Packets delivered.
    pub(crate) delivered: u64,
    /// The window at the end of each round.
    pub(crate) windows: Vec<u32>,
}

/// A connection with one path per link.
pub(crate) struct Rounds {
    pub(crate) controller: Controller,
    pub(crate) links: Vec<Link>,
    pub(crate) progress: Vec<Progress>,
    random: u64,
}

impl Rounds {
    /// Creates a connection with `algorithm`, initial windows of 10 packets and slow-start threshold `ssthresh`.
    pub(crate) fn new(algorithm: &str, links: &[Link], ssthresh: u32) -> Self {
        Self::with_window(algorithm, links, 10, ssthresh)
    }

    /// The same with initial windows of `window` packets.
    pub(crate) fn with_window(algorithm: &str, links: &[Link], window: u32, ssthresh: u32) -> Self {
        let algorithm = Algorithm::from_name(algorithm).expect("a name of the catalogue");
        Self::with_algorithm(algorithm, links, window, ssthresh)
    }

    /// The same with an algorithm whose options were chosen.
    pub(crate) fn with_algorithm(algorithm: Algorithm, links: &[Link], window: u32, ssthresh: u32) -> Self {
        let mut controller = Controller::new(algorithm, Rules::default());
        for link in links {
            let path = controller.add_path(1, window);
            controller.set_established(path, true);
            controller.set_rtt(path, link.delay, link.delay);
            controller.set_initial_ssthresh(path, ssthresh);
        }
        Self { controller, links: links.to_vec(), progress: vec![Progress::default(); links.len()], random: 1 }
    }

    /// Runs rounds until every path has reached `end`. Returns the packets delivered per second, by path.
    pub(crate) fn run(&mut self, end: Duration) -> Vec<f64> {
        let end = Instant::ZERO + end;
        let next = |progress: &[Progress]| (0..progress.len()).min_by_key(|&p| progress[p].now);
        while let Some(path) = next(&self.progress).filter(|&p| self.progress[p].now < end) {
            self.round(path);
        }
        self.progress.iter().map(|p| p.delivered as f64 / p.now.as_secs_f64()).collect()
    }

    /// The path's current window.
    pub(crate) fn window(&self, path: usize) -> u32 {
        self.controller.path(path).cwnd()
    }

    /// Simulates one round trip of one path.
    pub(crate) fn round(&mut self, path: usize) {
        let (link, window) = (self.links[path], self.window(path));
        let rtt = link.rtt(window);
        self.controller.set_rtt(path, rtt, link.delay);
        let begin = self.progress[path].now;
        let mut lost = link.queue(window) > link.buffer;
        for packet in 1..=u64::from(window) {
            if self.random() < link.loss {
                lost = true;
                continue;
            }
            self.progress[path].delivered += 1;
            let una = self.progress[path].delivered;
            let now = begin + rtt * packet / u64::from(window);
            let nxt = una + u64::from(self.window(path));
            let ack = Ack { now, acked: 1, rtt: Some(rtt), una, nxt, in_flight: window };
            self.controller.on_sample(path, &ack);
            self.controller.on_delivered(path, &delivery(ack, !lost));
        }
        if lost {
            self.lose(path, begin + rtt);
        }
        self.progress[path].now = begin + rtt;
        let window = self.window(path);
        self.progress[path].windows.push(window);
    }

    /// A fast retransmit that completes at once.
    pub(crate) fn lose(&mut self, path: usize, now: Instant) {
        self.controller.enter_recovery(path, &Loss { now, in_flight: self.window(path), by_timer: false });
        self.controller.leave_recovery(path);
        self.controller.on_state(path, RecoveryState::Open);
    }

    /// A random number between 0 and 1 (xorshift64*).
    fn random(&mut self) -> f64 {
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        (self.random.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// What `ack` delivered; the window may grow if it is `progress`.
pub(crate) fn delivery(ack: Ack, progress: bool) -> DeliverySample {
    DeliverySample {
        ack,
        delivered: ack.una,
        lost: 0,
        in_flight: ack.in_flight,
        ce: 0,
        advanced: true,
        progress,
        window_limited: true,
        rate: None,
    }
}

/// Packets per second of `algorithm` over `links`, by path, in a long run after slow start.
pub(crate) fn throughput(algorithm: &str, links: &[Link]) -> Vec<f64> {
    Rounds::new(algorithm, links, 2).run(Duration::from_secs(4000))
}

/// The threshold before the first loss.
pub(crate) const INFINITE: u32 = Path::INFINITE;
