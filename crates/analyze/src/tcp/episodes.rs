//! Loss episodes: whether the queue on the way was long when losses were noticed. A full queue drops packets while
//! round trips are long; losses while they are short have another cause.

/// Episodes that are kept, at most: the first ones.
const MOST: usize = 1024;

/// The episodes of one end: losses that are noticed while those before are repaired belong to the same one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Episodes {
    all: Vec<Episode>,
    /// What was sent when the last one began ends here.
    until: u64,
}

#[derive(Clone, Copy, Debug)]
struct Episode {
    /// By how much the last round trip was longer than the shortest one when it began, in nanoseconds.
    wait: u64,
    segments: u64,
}

/// What the losses of one end tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueAtLosses {
    /// The wait of half of the segments, in nanoseconds: the time that a full queue takes, if that dropped most of them.
    pub(crate) wait: u64,
    /// Episodes with less than half of it.
    pub(crate) at_short_queue: u64,
}

impl Episodes {
    /// A segment from `start` on is sent again for other reasons than a timeout, when the last of all ends at `next`.
    pub(super) fn again(&mut self, start: u64, next: u64, wait: u64) {
        if start < self.until {
            if let Some(last) = self.all.last_mut() {
                last.segments += 1;
            }
            return;
        }
        self.until = next;
        if self.all.len() < MOST {
            self.all.push(Episode { wait, segments: 1 });
        }
    }

    /// `None` without episodes.
    pub(crate) fn told(&self) -> Option<QueueAtLosses> {
        let mut by_wait = self.all.clone();
        by_wait.sort_unstable_by_key(|episode| episode.wait);
        let half = by_wait.iter().map(|episode| episode.segments).sum::<u64>() / 2;
        let mut passed = 0;
        let median = by_wait.iter().find(|episode| {
            passed += episode.segments;
            passed > half
        });
        let wait = median?.wait;
        let at_short_queue = by_wait.partition_point(|episode| episode.wait * 2 < wait) as u64;
        Some(QueueAtLosses { wait, at_short_queue })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_at_a_short_queue_are_told_from_those_of_a_full_one() {
        let mut episodes = Episodes::default();
        assert_eq!(episodes.told(), None);
        // Three losses of a full queue, noticed while 100 to 900 were in flight; then one while there was no queue.
        for (start, next, wait) in [(100, 900, 40), (300, 950, 35), (500, 1000, 20), (1000, 1100, 2), (2000, 2500, 38)]
        {
            episodes.again(start, next, wait);
        }
        assert_eq!(episodes.told(), Some(QueueAtLosses { wait: 40, at_short_queue: 1 }));
    }

    #[test]
    fn memory_is_bounded() {
        let mut episodes = Episodes::default();
        (0..10_000).for_each(|at| episodes.again(at * 10, at * 10 + 5, 7));
        assert_eq!((episodes.all.len(), episodes.told().map(|it| it.wait)), (MOST, Some(7)));
    }
}
