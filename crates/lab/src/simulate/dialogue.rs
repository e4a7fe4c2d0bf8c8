//! What the end that answers knows of requests and responses: which exchange is under way, and how much of the stream of
//! requests the exchanges take until its end; and how long requests have waited for their responses, for what acts on
//! the flow during the run.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use subflow_quantity::{Duration, Instant};
use subflow_scenario::{Exchange, ExchangeSizes};

/// The exchanges of a flow at the end that answers. Both ends draw the same sizes.
#[derive(Clone, Debug)]
pub(super) struct Dialogue {
    sizes: ExchangeSizes,
    current: Exchange,
    /// The number of the current one, from 1, and those before it that were passed over, by number.
    number: u64,
    passed: BTreeMap<u64, Exchange>,
    /// Bytes of all requests, up to and with the current one.
    asked: u64,
}

impl Dialogue {
    /// Before the first exchange.
    pub(super) fn new(mut sizes: ExchangeSizes) -> Self {
        let current = sizes.draw();
        Self { sizes, current, number: 1, passed: BTreeMap::new(), asked: current.request }
    }

    /// The exchange under way, or the next one.
    pub(super) fn current(&self) -> Exchange {
        self.current
    }

    /// The end of its request in the stream of requests.
    pub(super) fn asked(&self) -> u64 {
        self.asked
    }

    /// Goes on to the next exchange.
    pub(super) fn advance(&mut self) {
        self.current = self.sizes.draw();
        self.number += 1;
        self.asked = self.asked.saturating_add(self.current.request);
    }

    /// The sizes of exchange `number`, counted from 1. Each may be asked for once, in any order.
    pub(super) fn of_number(&mut self, number: u64) -> Exchange {
        if let Some(passed) = self.passed.remove(&number) {
            return passed;
        }
        while self.number < number {
            self.passed.insert(self.number, self.current);
            self.advance();
        }
        let exchange = self.current;
        self.advance();
        exchange
    }
}

/// The waiting time of the exchanges of one flow: that of the finished ones, and that of the one under way. It can be
/// read during the run by another thread, which the run waits for at that moment.
#[derive(Debug)]
pub struct ExchangeClock {
    finished_ns: AtomicU64,
    /// [`NONE`] if no request waits for its response.
    asked_at_ns: AtomicU64,
}

const NONE: u64 = u64::MAX;

impl Default for ExchangeClock {
    fn default() -> Self {
        Self { finished_ns: AtomicU64::new(0), asked_at_ns: AtomicU64::new(NONE) }
    }
}

impl ExchangeClock {
    /// The waiting time until `now`, of all exchanges since the flow began. Over a run it grows to the sum of their
    /// durations, with that of an exchange that the end of the run cuts off.
    pub fn waited(&self, now: Instant) -> Duration {
        let asked_at = self.asked_at_ns.load(Ordering::Acquire);
        let under_way = if asked_at == NONE { 0 } else { now.as_nanos().saturating_sub(asked_at) };
        Duration::from_nanos(self.finished_ns.load(Ordering::Acquire) + under_way)
    }

    pub(super) fn ask(&self, now: Instant) {
        self.asked_at_ns.store(now.as_nanos(), Ordering::Release);
    }

    pub(super) fn answer(&self, duration: Duration) {
        self.finished_ns.fetch_add(duration.as_nanos(), Ordering::AcqRel);
        self.asked_at_ns.store(NONE, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use subflow_scenario::Scenario;
    use subflow_scenario::file::Document;

    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn sizes_are_those_of_the_number_whatever_the_order() {
        let text = "[hosts]\na = ['x']\nb = ['x']\n[links.l]\nbetween = ['a', 'b']\nrate = '1 Gbit/s'\n\
                    [flows.f]\nfrom = 'a'\nto = 'b'\nrequests = { response = { uniform = ['1 B', '1 MB'] } }\n";
        let document = Document::parse(Path::new("sizes.toml"), text.to_owned()).expect("TOML");
        let scenario = Scenario::read(&document).expect("a valid scenario");
        let mut sizes = scenario.flows[0].exchange_sizes(1).expect("it has requests");
        let mut dialogue = Dialogue::new(sizes.clone());
        let drawn: Vec<Exchange> = (0..6).map(|_| sizes.draw()).collect();
        let asked: Vec<Exchange> = [3, 1, 2, 6, 4, 5].map(|number| dialogue.of_number(number)).into();
        assert_eq!(asked, [2, 0, 1, 5, 3, 4].map(|place: usize| drawn[place]));
        assert!(dialogue.passed.is_empty());
    }

    #[test]
    fn pauses_between_exchanges_do_not_count() {
        let clock = ExchangeClock::default();
        assert_eq!(clock.waited(at(5)), Duration::ZERO, "nothing was asked");
        clock.ask(at(10));
        assert_eq!(clock.waited(at(30)), Duration::from_millis(20));
        clock.answer(Duration::from_millis(25));
        assert_eq!(clock.waited(at(100)), Duration::from_millis(25), "the reader thinks");
        clock.ask(at(100));
        assert_eq!(clock.waited(at(107)), Duration::from_millis(32));
    }
}
