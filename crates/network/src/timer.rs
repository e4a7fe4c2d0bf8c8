//! Timers that are cheap to move.

use core::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use subflow_quantity::Instant;

use crate::TimerId;

/// All timers.
///
/// A retransmission timer moves with every acknowledgment and hardly ever expires. So a timer whose deadline moves
/// later, or that is unset, keeps the event it has; when that event comes, it is entered again for the deadline of
/// then.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    timers: Vec<Timer>,
    /// Also holds events of timers that have moved earlier since; those are recognised by not being `entered`.
    events: BinaryHeap<Reverse<(Instant, TimerId)>>,
}

#[derive(Debug)]
struct Timer {
    /// When it expires; [`Instant::MAX`] when it is not set.
    deadline: Instant,
    /// The time of its valid event; [`Instant::MAX`] when it has none.
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

    /// When `id` expires; [`Instant::MAX`] when it is not set.
    pub(crate) fn deadline(&self, id: TimerId) -> Instant {
        self.timers[id.index()].deadline
    }

    /// When the next event is, or [`Instant::MAX`]. It need not be the expiry of a timer.
    #[inline]
    pub(crate) fn first_at(&self) -> Instant {
        self.events.peek().map_or(Instant::MAX, |Reverse((at, _))| *at)
    }

    /// Processes the next event, and tells which timer has expired, if one has.
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

    /// Processes all events until `end`; when which timer expired.
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
    fn moving_later_enters_no_event() {
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
    fn back_and_forth() {
        let mut timers = Timers::default();
        let a = timers.add();
        timers.set(a, at(50));
        timers.set(a, at(20));
        timers.set(a, at(50));
        assert_eq!(run(&mut timers, 100), [(50, a)], "the event left over from 50 does not make it expire twice");
    }
}
