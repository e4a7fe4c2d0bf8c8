//! What stories say: run, receive, fill the window, lose a segment.

use subflow_quantity::{Duration, Instant};
use subflow_transport::sctp::Association;
use subflow_transport::tcp::{Connection, State};
use subflow_transport::{Endpoint, Event, mptcp};

use super::{CLIENT, Pair, SERVER, Sent, secs, tamper};

/// More packets and timers than any story has: one that gets there goes in circles.
const MOST_STEPS: u64 = 3_000_000;

impl Pair {
    /// Runs until `time`.
    pub(crate) fn run_to(&mut self, time: Instant) {
        while self.next().is_some_and(|next| next <= time) {
            self.step();
            assert!(self.steps < MOST_STEPS, "too many packets and timers");
        }
        self.now = self.now.max(time);
    }

    pub(crate) fn run_for(&mut self, time: Duration) {
        self.run_to(self.now + time);
    }

    /// Runs until nothing is left to happen.
    pub(crate) fn drive(&mut self) {
        while self.step() {
            assert!(self.steps < MOST_STEPS, "too many packets and timers");
        }
    }

    /// Runs until `condition` holds; panics where it does not within an hour.
    pub(crate) fn run_until(&mut self, what: &str, condition: impl Fn(&Self) -> bool) {
        let limit = self.now + secs(3600);
        while !condition(self) {
            assert!(self.next().is_some_and(|next| next <= limit) && self.step(), "{what}: never, at {:?}", self.now);
            assert!(self.steps < MOST_STEPS, "{what}: too many packets and timers");
        }
    }

    /// Runs a second: handshakes and joins are over, delayed acknowledgments have left.
    pub(crate) fn settle(&mut self) {
        self.run_for(secs(1));
    }

    /// Sends `bytes` from `side` and runs until the peer has them.
    pub(crate) fn transfer(&mut self, side: usize, bytes: u64) -> Duration {
        let (start, total) = (self.now, self.received(1 - side) + bytes);
        self.write(side, bytes);
        self.run_until("the transfer", |pair| pair.has_connection(1 - side) && pair.received(1 - side) >= total);
        self.now - start
    }

    /// Bytes received in order by `side`.
    pub(crate) fn received(&self, side: usize) -> u64 {
        if self.has_connection(side) { self.endpoint(side).bytes_received() } else { 0 }
    }

    /// The connection of `side`, or its initial subflow.
    pub(crate) fn tcp(&self, side: usize) -> &Connection {
        match self.endpoint(side) {
            Endpoint::Tcp(tcp) => tcp.connection(),
            Endpoint::Mptcp(mptcp) => mptcp.subflows()[0].connection(),
            Endpoint::Sctp(_) | Endpoint::Quic(_) | Endpoint::Udp(_) => panic!("no TCP connection"),
        }
    }

    pub(crate) fn mptcp(&self, side: usize) -> &mptcp::Connection {
        match self.endpoint(side) {
            Endpoint::Mptcp(mptcp) => mptcp,
            _ => panic!("not MPTCP"),
        }
    }

    pub(crate) fn sctp(&self, side: usize) -> &Association {
        match self.endpoint(side) {
            Endpoint::Sctp(association) => association,
            _ => panic!("not SCTP"),
        }
    }

    pub(crate) fn state(&self, side: usize) -> State {
        self.tcp(side).state()
    }

    /// Congestion window of path `path`.
    pub(crate) fn cwnd(&self, side: usize, path: usize) -> u32 {
        match self.endpoint(side) {
            Endpoint::Tcp(tcp) => tcp.congestion().path(path).cwnd(),
            Endpoint::Mptcp(mptcp) => mptcp.congestion().path(path).cwnd(),
            Endpoint::Sctp(sctp) => sctp.congestion().path(path).cwnd(),
            Endpoint::Quic(_) | Endpoint::Udp(_) => panic!("neither TCP nor SCTP"),
        }
    }

    /// Subflows of `side` that may carry data.
    pub(crate) fn established_subflows(&self, side: usize) -> usize {
        self.mptcp(side).subflows().iter().filter(|subflow| subflow.is_established()).count()
    }

    /// When `event` first happened on `side`.
    pub(crate) fn when(&self, side: usize, event: Event) -> Option<Instant> {
        self.events(side).iter().find(|&&(_, happened)| happened == event).map(|&(at, _)| at)
    }

    /// How often `event` happened on `side`.
    pub(crate) fn count(&self, side: usize, event: Event) -> usize {
        self.events(side).iter().filter(|&&(_, happened)| happened == event).count()
    }

    /// Sends until the congestion window of the client is full, and stops short of any answer.
    pub(crate) fn fill_cwnd(&mut self) {
        self.write(CLIENT, 10_000_000);
        assert_eq!(self.tcp(CLIENT).in_flight(), self.cwnd(CLIENT, 0), "the window is full");
    }

    /// The next `n` data segments of the client that leave are lost.
    pub(crate) fn induce_loss(&mut self, n: usize) {
        self.tamper(tamper::drop_first(n, |leaving| leaving.from == CLIENT && tamper::has_data(leaving.segment)));
    }

    /// What `from` has sent since `since`.
    pub(crate) fn sent(&self, from: usize, since: Instant) -> impl Iterator<Item = &Sent> {
        self.log.iter().filter(move |sent| sent.from == from && sent.at >= since)
    }

    /// Both sides finish; runs until both are closed, and checks that they closed in order.
    pub(crate) fn close_gracefully(&mut self) {
        self.finish(CLIENT);
        self.finish(SERVER);
        self.drive();
        for side in [CLIENT, SERVER] {
            let closed = Event::Closed(subflow_transport::tcp::Closed::Gracefully);
            assert_eq!(self.count(side, closed), 1, "side {side}: {:?}", self.events(side));
        }
    }
}
