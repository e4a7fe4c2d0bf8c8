//! Single exchanges: when each was asked for, when its first byte came, and when it was complete.

use std::collections::VecDeque;

use subflow_quantity::{Duration, Instant};
use subflow_scenario::Exchange;

use crate::results::{ExchangeResult, Exchanges};
use crate::statistics::{DurationSummary, share};

/// All exchanges of a flow in one run. Responses come in the order of their requests, unless [`ExchangeLog::bring_forward`]
/// says otherwise, or each has a stream of its own.
#[derive(Debug, Default)]
pub(crate) struct ExchangeLog {
    /// Those that are complete.
    complete: Vec<Record>,
    /// Those whose responses are not complete.
    open: VecDeque<Record>,
    /// The times of those that are complete.
    durations: DurationSummary,
}

/// How long an exchange took, and when the one was asked for that is waited for next, if there is one.
pub(crate) type Completed = (Duration, Option<Instant>);

#[derive(Clone, Copy, Debug)]
struct Record {
    /// Its number in the results, counted from 1.
    number: u64,
    sizes: Exchange,
    asked_at: Instant,
    first_byte_at: Option<Instant>,
    complete_at: Option<Instant>,
}

impl ExchangeLog {
    /// A request was made.
    pub(crate) fn ask(&mut self, now: Instant, sizes: Exchange) {
        self.ask_numbered(now, sizes, self.asked() + 1);
    }

    /// A request was made which has this number.
    pub(crate) fn ask_numbered(&mut self, now: Instant, sizes: Exchange, number: u64) {
        self.open.push_back(Record { number, sizes, asked_at: now, first_byte_at: None, complete_at: None });
    }

    /// The response to the request that is `from` places behind the next one comes `to` places behind it.
    pub(crate) fn bring_forward(&mut self, from: usize, to: usize) {
        if let Some(record) = self.open.remove(from) {
            self.open.insert(to, record);
        }
    }

    /// The first byte of the next response has arrived.
    pub(crate) fn on_first_byte(&mut self, now: Instant) {
        if let Some(record) = self.open.front_mut() {
            record.first_byte_at.get_or_insert(now);
        }
    }

    /// The next response is complete. Returns how long it took, and when the request after it was made, if it was.
    pub(crate) fn complete(&mut self, now: Instant) -> Option<Completed> {
        let mut record = self.open.pop_front()?;
        record.complete_at = Some(now);
        let duration = now - record.asked_at;
        self.durations.add(duration);
        self.complete.push(record);
        Some((duration, self.open.front().map(|next| next.asked_at)))
    }

    /// The first byte of the response to request `number` has arrived, whatever came before.
    pub(crate) fn on_first_byte_of(&mut self, number: u64, now: Instant) {
        if let Some(record) = self.open.iter_mut().find(|record| record.number == number) {
            record.first_byte_at.get_or_insert(now);
        }
    }

    /// The response to request `number` is complete, whatever came before. Returns its sizes and what
    /// [`complete`](Self::complete) does.
    pub(crate) fn complete_number(&mut self, number: u64, now: Instant) -> Option<(Exchange, Completed)> {
        let place = self.open.iter().position(|record| record.number == number)?;
        self.bring_forward(place, 0);
        let sizes = self.open.front()?.sizes;
        Some((sizes, self.complete(now)?))
    }

    /// The sizes of the exchange whose response comes next, and whether its first byte has arrived.
    pub(crate) fn next(&self) -> Option<(Exchange, bool)> {
        self.open.front().map(|record| (record.sizes, record.first_byte_at.is_some()))
    }

    /// The number of complete exchanges.
    pub(crate) fn completed(&self) -> u64 {
        self.complete.len() as u64
    }

    /// The number of requests.
    pub(crate) fn asked(&self) -> u64 {
        (self.complete.len() + self.open.len()) as u64
    }

    /// Adds all exchanges of flow number `flow` to `all`, with whether each met its deadline by the `end` of the run.
    pub(crate) fn results(
        &self,
        flow: usize,
        deadline: Option<Duration>,
        end: Instant,
    ) -> impl Iterator<Item = ExchangeResult> {
        let seconds = |at: Instant| at.as_secs_f64();
        self.complete.iter().chain(&self.open).map(move |record| ExchangeResult {
            flow,
            number: record.number,
            start_s: seconds(record.asked_at),
            first_byte_s: record.first_byte_at.map(seconds),
            end_s: record.complete_at.map(seconds),
            request_bytes: record.sizes.request,
            bytes: record.sizes.response,
            in_time: deadline.and_then(|deadline| record.in_time(deadline, end)),
        })
    }

    /// The figures of all of them.
    pub(crate) fn figures(&self, deadline: Option<Duration>, end: Instant) -> Exchanges {
        let in_ms = |seconds: f64| seconds * 1e3;
        let quantile = |p| self.durations.quantile(p).map(in_ms);
        let judged = self.complete.iter().chain(&self.open);
        Exchanges {
            completed: self.durations.count(),
            mean_ms: self.durations.mean().map(in_ms),
            median_ms: quantile(0.5),
            p95_ms: quantile(0.95),
            p99_ms: quantile(0.99),
            in_time: deadline.and_then(|deadline| share(judged.filter_map(|record| record.in_time(deadline, end)))),
        }
    }
}

impl Record {
    /// Whether it met the deadline; `None` if it was under way at the `end` of the run and not late yet.
    fn in_time(&self, deadline: Duration, end: Instant) -> Option<bool> {
        match self.complete_at {
            Some(at) => Some(at - self.asked_at <= deadline),
            None => (end.since(self.asked_at) > deadline).then_some(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exchange_under_way_is_late_once_its_deadline_has_passed() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let mut log = ExchangeLog::default();
        for ms in [0, 100, 200, 290] {
            log.ask(at(ms), Exchange { request: 100, response: 1000 });
        }
        log.on_first_byte(at(20));
        assert_eq!(log.complete(at(50)), Some((Duration::from_millis(50), Some(at(100)))));
        log.on_first_byte(at(140));
        log.on_first_byte(at(150));
        assert_eq!(log.complete(at(170)), Some((Duration::from_millis(70), Some(at(200)))));
        let deadline = Some(Duration::from_millis(60));
        let judged: Vec<_> = log.results(3, deadline, at(300)).map(|exchange| exchange.in_time).collect();
        assert_eq!(judged, [Some(true), Some(false), Some(false), None], "the last one has 50 ms left");
        let figures = log.figures(deadline, at(300));
        assert_eq!((figures.completed, figures.mean_ms, figures.in_time), (2, Some(60.0), Some(1.0 / 3.0)));
        assert_eq!(log.figures(None, at(300)).in_time, None);
        let first_bytes: Vec<_> = log.results(3, None, at(300)).map(|exchange| exchange.first_byte_s).collect();
        assert_eq!(first_bytes, [Some(0.02), Some(0.14), None, None]);
        assert_eq!((log.completed(), log.asked()), (2, 4));
    }

    #[test]
    fn on_streams_of_their_own_responses_are_complete_in_any_order() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let mut log = ExchangeLog::default();
        (1..4).for_each(|number| log.ask(at(10 * number), Exchange { request: 100, response: 1000 * number }));
        log.on_first_byte_of(3, at(40));
        log.on_first_byte_of(1, at(45));
        let sizes = Exchange { request: 100, response: 3000 };
        assert_eq!(log.complete_number(3, at(50)), Some((sizes, (Duration::from_millis(20), Some(at(10))))));
        assert_eq!(log.complete_number(3, at(50)), None);
        assert!(log.complete_number(1, at(60)).is_some());
        let listed: Vec<_> = log.results(0, None, at(100)).map(|it| (it.number, it.first_byte_s, it.end_s)).collect();
        assert_eq!(listed, [(3, Some(0.04), Some(0.05)), (1, Some(0.045), Some(0.06)), (2, None, None)]);
    }
}
