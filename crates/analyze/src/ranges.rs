//! Sets of sequence numbers, as disjoint ranges: which bytes were sent, or have arrived.

/// Ranges in rising order that neither overlap nor touch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    ranges: Vec<(u64, u64)>,
    total: u64,
}

/// More ranges than this forget the oldest hole: a peer, or a damaged file, must not choose how much memory there is.
const MOST: usize = 4096;

impl Ranges {
    /// Adds `start..end` and returns how many of its numbers are new.
    pub(crate) fn insert(&mut self, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        // Nearly always the next bytes in order, or bytes at the end.
        let first = match self.ranges.last() {
            None => 0,
            Some(&(_, last)) if start > last => self.ranges.len(),
            Some(_) => self.ranges.partition_point(|&(_, range_end)| range_end < start),
        };
        let behind = first + self.ranges[first..].partition_point(|&(range_start, _)| range_start <= end);
        let overlapping = &self.ranges[first..behind];
        let known: u64 = overlapping.iter().map(|&(s, e)| e.min(end).saturating_sub(s.max(start))).sum();
        let merged = (
            overlapping.first().map_or(start, |&(s, _)| s.min(start)),
            overlapping.last().map_or(end, |&(_, e)| e.max(end)),
        );
        match behind - first {
            1 => self.ranges[first] = merged,
            _ => drop(self.ranges.splice(first..behind, [merged])),
        }
        if self.ranges.len() > MOST {
            self.ranges[1].0 = self.ranges[0].0;
            self.ranges.remove(0);
        }
        let new = end - start - known;
        self.total += new;
        new
    }

    /// How many numbers of `start..end` are in the set.
    pub(crate) fn known(&self, start: u64, end: u64) -> u64 {
        let first = self.ranges.partition_point(|&(_, range_end)| range_end <= start);
        let overlapping = self.ranges[first..].iter().take_while(|&&(range_start, _)| range_start < end);
        overlapping.map(|&(s, e)| e.min(end).saturating_sub(s.max(start))).sum()
    }

    /// Takes out all numbers below `start`.
    pub(crate) fn remove_below(&mut self, start: u64) {
        let gone = self.ranges.partition_point(|&(_, range_end)| range_end <= start);
        let mut removed: u64 = self.ranges.drain(..gone).map(|(s, e)| e - s).sum();
        if let Some((first, _)) = self.ranges.first_mut().filter(|(first, _)| *first < start) {
            removed += start - *first;
            *first = start;
        }
        // Holes that were forgotten were not counted.
        self.total = self.total.saturating_sub(removed);
    }

    /// How many numbers are in the set.
    pub(crate) const fn total(&self) -> u64 {
        self.total
    }

    /// Where the first range ends, if it begins at 0.
    pub(crate) fn end_of_first(&self) -> Option<u64> {
        self.ranges.first().filter(|(start, _)| *start == 0).map(|&(_, end)| end)
    }

    /// Whether numbers between the first and the last are missing.
    pub(crate) fn has_holes(&self) -> bool {
        self.ranges.len() > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inserting_returns_what_is_new() {
        let mut ranges = Ranges::default();
        assert_eq!(ranges.insert(10, 20), 10);
        assert_eq!(ranges.insert(30, 40), 10);
        assert!(ranges.has_holes());
        assert_eq!((ranges.known(15, 35), ranges.known(20, 30), ranges.known(0, 100)), (10, 0, 20));
        assert_eq!(ranges.insert(15, 35), 10);
        assert!(!ranges.has_holes());
        assert_eq!((ranges.insert(10, 40), ranges.insert(5, 5), ranges.total()), (0, 0, 30));
        assert_eq!((ranges.insert(0, 50), ranges.total()), (20, 50));
    }

    #[test]
    fn what_is_below_a_number_can_be_taken_out() {
        let mut ranges = Ranges::default();
        for (start, end) in [(10, 20), (30, 40), (50, 60)] {
            ranges.insert(start, end);
        }
        ranges.remove_below(35);
        assert_eq!((ranges.total(), ranges.known(0, 100)), (15, 15));
        ranges.remove_below(35);
        ranges.remove_below(100);
        assert_eq!((ranges.total(), ranges.has_holes()), (0, false));
    }

    #[test]
    fn holes_take_bounded_memory() {
        let mut ranges = Ranges::default();
        for number in 0..10_000 {
            assert_eq!(ranges.insert(number * 2, number * 2 + 1), 1);
        }
        assert!(ranges.ranges.len() <= MOST);
        assert_eq!(ranges.insert(20_001, 20_002), 1);
    }
}
