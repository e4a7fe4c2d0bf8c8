//! Timers whose deadlines can be moved at low cost.

use core::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use subflow_quantity::Instant;

use crate::TimerId;

/// All timers.
///
/// A retransmission timer moves with every acknowledgment and rarely expires. A timer whose deadline moves later, or
/// that is unset, therefore keeps its event; when that event is processed, a new one is inserted for the current
/// deadline.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    timers: Vec<Timer>,
    /// Contains also obsolete events of timers that moved earlier; these do not match `entered`.
    events: BinaryHeap<Reverse<(Instant, TimerId)>>,
}

#[derive(Debug)]
struct Timer {
    /// When it expires; [`Instant::MAX`] if it is not set.
    deadline: Instant,
    /// The time of its valid event; [`Instant::MAX`] if it has none.
    entered: Instant,
}

impl Timers {
    pub(crate) fn add(&mut self) -> TimerId {
        self.timers.push(Timer { deadline: Instant::MAX, entered: Instant::MAX });
        TimerId(self.timers.len() as u32 - 1)
    }

    /// Sets `id` to expire at `deadline`, or unsets it with [`Instant::MAX`].
    #[inline]
    pub(crate) fn set(&mut self, id: TimerId, deadline: Instant) {
        let timer = &mut self.timers[id.index()];
        timer.deadline = deadline;
        if deadline < timer.entered {
            timer.entered = deadline;
            self.events.push(Reverse((deadline, id)));
        }
    }

    /// When `id` expires; [`Instant::MAX`] if it is not set.
    pub(crate) fn deadline(&self, id: TimerId) -> Instant {
        self.timers[id.index()].deadline
    }

    /// The time of the next event, or [`Instant::MAX`]. The event may be obsolete.
    #[inline]
    pub(crate) fn first_at(&self) -> Instant {
        self.events.peek().map_or(Instant::MAX, |Reverse((at, _))| *at)
    }

    /// Processes the next event. Returns the timer that expired, if one did.
    pub(crate) fn expire_first(&mut self) -> Option<TimerId> {
        let mut first = self.events.peek_mut()?;
        let Reverse((at, id)) = *first;
        let timer = &mut self.timers[id.index()];
        if timer.entered != at {
            PeekMut::pop(first);
            return None;
        }
        if timer.deadline > at && timer.deadline != Instant::MAX {
            timer.entered = timer.deadline;
            *first = Reverse((timer.deadline, id));
            return None;
        }
        let expired = timer.deadline <= at;
        *timer = Timer { deadline: Instant::MAX, entered: Instant::MAX };
        PeekMut::pop(first);
        expired.then_some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    /// Processes all events until `end`. Returns when each timer expired.
    fn run(timers: &mut Timers, end: u64) -> Vec<(u64, TimerId)> {
        let mut expired = Vec::new();
        while timers.first_at() <= at(end) {
            let now = timers.first_at().as_nanos();
            expired.extend(timers.expire_first().map(|id| (now, id)));
        }
        expired
    }

    #[test]
    fn a_timer_expires_once_at_its_last_deadline() {
        let mut timers = Timers::default();
        let (a, b) = (timers.add(), timers.add());
        timers.set(a, at(10));
        timers.set(b, at(20));
        timers.set(a, at(30));
        assert_eq!(run(&mut timers, 100), [(20, b), (30, a)]);
        assert_eq!(run(&mut timers, 100), []);
    }

    #[test]
    fn moving_a_deadline_later_inserts_no_event() {
        let mut timers = Timers::default();
        let a = timers.add();
        for deadline in 10..1000 {
            timers.set(a, at(deadline));
        }
        assert_eq!(timers.events.len(), 1);
        assert_eq!(run(&mut timers, 998), []);
        assert_eq!(run(&mut timers, 999), [(999, a)]);
    }

    #[test]
    fn a_timer_moved_earlier_expires_earlier_and_only_then() {
        let mut timers = Timers::default();
        let a = timers.add();
        timers.set(a, at(50));
        timers.set(a, at(20));
        assert_eq!(run(&mut timers, 100), [(20, a)]);
    }

    #[test]
    fn an_unset_timer_does_not_expire_and_can_be_set_again() {
        let mut timers = Timers::default();
        let a = timers.add();
        timers.set(a, at(50));
        timers.set(a, Instant::MAX);
        timers.set(a, at(60));
        timers.set(a, Instant::MAX);
        assert_eq!(run(&mut timers, 55), []);
        timers.set(a, at(70));
        assert_eq!(run(&mut timers, 100), [(70, a)]);
    }

    #[test]
    fn a_timer_moved_later_and_earlier_expires_once_per_deadline() {
        let mut timers = Timers::default();
        let a = timers.add();
        timers.set(a, at(50));
        timers.set(a, at(20));
        timers.set(a, at(50));
        assert_eq!(run(&mut timers, 100), [(50, a)], "the obsolete event at 50 does not make it expire twice");
    }
}
