//! When the subflows of a pair of addresses that failed are opened again.
//!
//! A pair is tried again after a second, and then after twice the time each time that it fails, up to a minute. A pair
//! that worked for longer than the delay before it begins with a second again. A pair that never had a subflow, to an
//! address that the peer announced, is not tried again in time: RFC 8684, section 3.4.1, leaves it to the peer to announce
//! the address again. Such an announcement, and a change of this host's routes, let a pair be tried at once. A pair that
//! had one, and whose addresses were lost and have returned, is tried like any other: the failure was not the address's.
//!
//! Linux 6.12 does not do this: its in-kernel path manager opens a failed subflow again only when its endpoint is removed
//! and added. Linux MPTCP 0.9x tries a subflow that it could not open again after a second
//! (`MPTCP_SUBFLOW_RETRY_DELAY`), and one that was reset or timed out where `create_on_err` is set.

use subflow_quantity::{Duration, Instant};

use super::subflows::Pair;

/// The delay after the first failure.
const FIRST: Duration = Duration::from_secs(1);
/// The longest delay.
const LONGEST: Duration = Duration::from_secs(60);

/// How many pairs of lost addresses are remembered.
const MAX_SUSPENDED: usize = 256;

/// What the option `retry` of path managers does.
pub(super) const RETRY: &str = "whether a subflow that failed is opened again, after 1 s and then after twice the time up \
                                to a minute; Linux 6.12 does not do it";

/// The pairs of addresses on which subflows were open or failed.
#[derive(Clone, Debug, Default)]
pub(super) struct Retries(Vec<History>);

/// The past of a pair, and its next attempt.
#[derive(Clone, Copy, Debug)]
struct History {
    pair: Pair,
    /// In a row.
    failures: u32,
    /// Whether it ever had a subflow.
    worked: bool,
    /// When the latest subflow was established, unless one has failed since.
    up_since: Option<Instant>,
    next: Next,
}

/// When a pair is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// It has not failed, or is being tried.
    Nothing,
    At(Instant),
    /// When the peer announces its address again, or routes change.
    OnOccasion,
}

impl Retries {
    /// A subflow of this pair is established.
    pub(super) fn on_established(&mut self, pair: Pair, now: Instant) {
        let history = self.history(pair);
        (history.worked, history.up_since) = (true, Some(now));
    }

    /// A subflow of this pair has failed, or could not be opened; `announced` is whether the peer announced its address.
    pub(super) fn on_failed(&mut self, pair: Pair, announced: bool, now: Instant) {
        let history = self.history(pair);
        if matches!(history.next, Next::At(_)) {
            return;
        }
        if history.up_since.take().is_some_and(|since| now.since(since) > delay(history.failures)) {
            history.failures = 0;
        }
        history.next = match announced && !history.worked {
            true => Next::OnOccasion,
            false => Next::At(now + delay(history.failures)),
        };
        history.failures = history.failures.saturating_add(1);
    }

    /// The pairs that failed and for which `may_work` holds are tried at once.
    pub(super) fn expedite(&mut self, may_work: impl Fn(Pair) -> bool, now: Instant) {
        for history in &mut self.0 {
            if history.next != Next::Nothing && may_work(history.pair) {
                history.next = Next::At(now);
            }
        }
    }

    /// Takes the pairs that are to be tried now.
    pub(super) fn take_due(&mut self, now: Instant) -> Vec<Pair> {
        let is_due = |history: &&mut History| matches!(history.next, Next::At(at) if at <= now);
        let due = self.0.iter_mut().filter(is_due).map(|history| {
            history.next = Next::Nothing;
            history.pair
        });
        due.collect()
    }

    /// An address of the pairs for which `gone` holds was lost. They are not tried before it returns, and then begin
    /// anew. Those that worked are known to have worked: what fails then is no address that is unreachable.
    pub(super) fn suspend(&mut self, gone: impl Fn(Pair) -> bool) {
        self.0.retain_mut(|history| {
            if gone(history.pair) {
                (history.failures, history.up_since, history.next) = (0, None, Next::Nothing);
                return history.worked;
            }
            true
        });
        // Those of addresses that never return are forgotten after as many others.
        let at_rest = |history: &History| history.next == Next::Nothing && history.up_since.is_none();
        let mut surplus = self.0.iter().filter(|history| at_rest(history)).count().saturating_sub(MAX_SUSPENDED);
        self.0.retain(|history| {
            let is_surplus = surplus > 0 && at_rest(history);
            surplus -= usize::from(is_surplus);
            !is_surplus
        });
    }

    /// Forgets the pairs for which `gone` holds: the peer wants no subflow there.
    pub(super) fn forget(&mut self, gone: impl Fn(Pair) -> bool) {
        self.0.retain(|history| !gone(history.pair));
    }

    /// When the next pair is to be tried; [`Instant::MAX`] if none is.
    pub(super) fn wake_at(&self) -> Instant {
        let times = self.0.iter().filter_map(|history| if let Next::At(at) = history.next { Some(at) } else { None });
        times.min().unwrap_or(Instant::MAX)
    }

    fn history(&mut self, pair: Pair) -> &mut History {
        let place = self.0.iter().position(|history| history.pair == pair).unwrap_or_else(|| {
            self.0.push(History { pair, failures: 0, worked: false, up_since: None, next: Next::Nothing });
            self.0.len() - 1
        });
        &mut self.0[place]
    }
}

/// The delay after `failures` earlier ones in a row.
fn delay(failures: u32) -> Duration {
    FIRST.saturating_mul(1 << failures.min(6)).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::super::test_events::tuple;
    use super::*;

    fn second(n: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(n)
    }

    fn pair(local: u8) -> Pair {
        tuple(&format!("10.0.{local}.1:1"), "10.9.0.1:80").into()
    }

    #[test]
    fn the_delay_doubles_up_to_a_minute_while_nothing_works() {
        let mut retries = Retries::default();
        let mut now = second(0);
        let mut delays = Vec::new();
        for _ in 0..8 {
            retries.on_failed(pair(0), false, now);
            delays.push(retries.wake_at().since(now).as_nanos() / 1_000_000_000);
            now = retries.wake_at();
            assert_eq!(retries.take_due(now), [pair(0)]);
            assert_eq!(retries.wake_at(), Instant::MAX);
        }
        assert_eq!(delays, [1, 2, 4, 8, 16, 32, 60, 60]);
    }

    #[test]
    fn a_pair_that_worked_for_longer_than_the_delay_begins_anew_and_another_does_not() {
        let mut retries = Retries::default();
        retries.on_established(pair(0), second(0));
        retries.on_failed(pair(0), true, second(0));
        retries.on_failed(pair(0), true, second(0));
        assert_eq!(retries.wake_at(), second(1), "several subflows that fail together are one failure");
        retries.take_due(second(1));
        retries.on_established(pair(0), second(1));
        retries.on_failed(pair(0), true, second(2));
        assert_eq!(retries.wake_at(), second(4), "it was reset at once");
        retries.take_due(second(4));
        retries.on_established(pair(0), second(4));
        retries.on_failed(pair(0), true, second(60));
        assert_eq!(retries.wake_at(), second(61));
    }

    #[test]
    fn an_announced_address_that_never_worked_waits_for_an_occasion() {
        let mut retries = Retries::default();
        retries.on_failed(pair(0), true, second(5));
        retries.on_failed(pair(1), false, second(5));
        assert_eq!(retries.wake_at(), second(6));
        retries.expedite(|failed| failed == pair(0), second(5));
        assert_eq!(retries.take_due(second(5)), [pair(0)]);
        retries.expedite(|_| true, second(5));
        assert_eq!(retries.take_due(second(5)), [pair(1)], "the other is being tried");
        retries.on_failed(pair(1), false, second(6));
        retries.forget(|gone| gone == pair(1));
        assert_eq!(retries.wake_at(), Instant::MAX);
    }

    #[test]
    fn a_pair_that_worked_is_tried_in_time_after_its_address_was_lost() {
        let mut retries = Retries::default();
        retries.on_established(pair(0), second(0));
        retries.on_failed(pair(0), true, second(5));
        retries.suspend(|gone| gone == pair(0));
        assert_eq!(retries.wake_at(), Instant::MAX, "the address is not there");
        retries.on_failed(pair(0), true, second(7));
        assert_eq!(retries.wake_at(), second(8), "the delay begins anew");
        retries.suspend(|_| true);
        for n in 1..=255 {
            retries.on_established(pair(n), second(9));
            retries.suspend(|gone| gone == pair(n));
        }
        assert_eq!(retries.0.len(), MAX_SUSPENDED);
    }
}
