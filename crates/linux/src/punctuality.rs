//! How punctual a run was, and whether its results are valid.

use subflow_quantity::Duration;

use crate::InterfaceDrops;

/// Buckets per power of two, so that a percentile is exact to 1/16.
const BUCKETS_PER_POWER: u64 = 16;
const BUCKETS: usize = 64 * BUCKETS_PER_POWER as usize;

/// The lateness of packets: the time at which the kernel got them minus the arrival time computed by the links.
#[derive(Clone, Debug)]
pub struct Punctuality {
    buckets: Box<[u64]>,
    count: u64,
    latest: u64,
}

impl Default for Punctuality {
    fn default() -> Self {
        Self { buckets: vec![0; BUCKETS].into_boxed_slice(), count: 0, latest: 0 }
    }
}

impl Punctuality {
    /// Records a packet.
    #[inline]
    pub(crate) fn record(&mut self, late: Duration) {
        let nanos = late.as_nanos();
        self.buckets[bucket(nanos)] += 1;
        self.count += 1;
        self.latest = self.latest.max(nanos);
    }

    /// The number of recorded packets.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The largest lateness.
    pub fn maximum(&self) -> Duration {
        Duration::from_nanos(self.latest)
    }

    /// The quantile `share` of the lateness.
    pub fn quantile(&self, share: f64) -> Duration {
        let rank = (share * self.count as f64).ceil() as u64;
        let mut below = 0;
        for (index, count) in self.buckets.iter().enumerate() {
            below += count;
            if below >= rank.max(1) {
                return Duration::from_nanos(upper_end(index).min(self.latest));
            }
        }
        self.maximum()
    }
}

/// Buckets of equal width within each power of two.
fn bucket(nanos: u64) -> usize {
    if nanos < BUCKETS_PER_POWER {
        return nanos as usize;
    }
    let shift = nanos.ilog2() - BUCKETS_PER_POWER.ilog2();
    (u64::from(shift + 1) * BUCKETS_PER_POWER + (nanos >> shift) - BUCKETS_PER_POWER) as usize
}

fn upper_end(bucket: usize) -> u64 {
    let (power, step) = (bucket as u64 / BUCKETS_PER_POWER, bucket as u64 % BUCKETS_PER_POWER);
    if power == 0 { step } else { ((BUCKETS_PER_POWER + step) << (power - 1)) + ((1 << (power - 1)) - 1) }
}

/// Whether the results of a run are valid, and if not, why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The reasons against it; empty if the run is valid.
    pub objections: Vec<String>,
}

/// Bound of the 99th percentile of the lateness: later packets change round-trip times.
const LATE_P99: Duration = Duration::from_millis(1);
/// Bound of the 99.9th percentile: a few pauses in a long run are expected.
const LATE_P999: Duration = Duration::from_millis(5);
/// Bound of the maximum: a longer pause costs a round trip.
const MAX_LATENESS: Duration = Duration::from_millis(50);
/// The least fraction of CPU time that must be free. With less, senders wait for the CPU instead of their windows.
const MIN_HEADROOM: f64 = 0.05;

impl Verdict {
    /// Evaluates a run. `headroom` is the fraction of the machine's CPU time that the run did not use, or that was idle
    /// if other processes used the CPU.
    pub fn of(punctuality: &Punctuality, drops: InterfaceDrops, headroom: f64) -> Self {
        let mut objections = Vec::new();
        let millis = |span: Duration| span.as_secs_f64() * 1e3;
        for (share, name, bound) in [
            (0.99, "1 % of the packets", LATE_P99),
            (0.999, "0.1 % of the packets", LATE_P999),
            (1.0, "one packet", MAX_LATENESS),
        ] {
            let late = punctuality.quantile(share);
            if late > bound {
                objections.push(format!(
                    "{name} arrived at least {:.1} ms late (bound {} ms)",
                    millis(late),
                    millis(bound)
                ));
            }
        }
        if drops != InterfaceDrops::default() {
            let InterfaceDrops { outgoing, incoming } = drops;
            objections.push(format!("the devices dropped {outgoing} outgoing and {incoming} incoming packets"));
        }
        if headroom < MIN_HEADROOM {
            objections.push(format!(
                "only {:.0} % of the CPU time was free (bound {:.0} %)",
                headroom * 100.0,
                MIN_HEADROOM * 100.0
            ));
        }
        Self { objections }
    }

    /// Whether there are no reasons against the run.
    pub fn is_valid(&self) -> bool {
        self.objections.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_contiguous() {
        let mut before = 0;
        for nanos in (0..100_000).chain([u64::MAX / 2, u64::MAX]) {
            let bucket = bucket(nanos);
            assert!(bucket >= before && bucket < BUCKETS);
            assert!(upper_end(bucket) >= nanos && upper_end(bucket) - nanos <= nanos / BUCKETS_PER_POWER);
            before = bucket;
        }
    }

    #[test]
    fn quantiles_of_a_hundred() {
        let mut punctuality = Punctuality::default();
        for micros in 1..=100 {
            punctuality.record(Duration::from_micros(micros));
        }
        let near = |share: f64, micros: f64| {
            let found = punctuality.quantile(share).as_secs_f64() * 1e6;
            assert!((micros..=micros * (1.0 + 1.0 / BUCKETS_PER_POWER as f64)).contains(&found), "{share}: {found}");
        };
        near(0.5, 50.0);
        near(0.99, 99.0);
        assert_eq!(punctuality.quantile(1.0), Duration::from_micros(100));
        assert!(Verdict::of(&punctuality, InterfaceDrops::default(), 0.5).is_valid());
    }

    #[test]
    fn each_exceeded_bound_is_reported() {
        let mut punctuality = Punctuality::default();
        punctuality.record(Duration::from_millis(60));
        let verdict = Verdict::of(&punctuality, InterfaceDrops { outgoing: 3, incoming: 0 }, 0.01);
        assert_eq!(verdict.objections.len(), 5, "{verdict:?}");
        assert!(verdict.objections[3].contains("dropped 3 outgoing"));
    }

    #[test]
    fn a_run_without_packets_is_punctual() {
        assert!(Verdict::of(&Punctuality::default(), InterfaceDrops::default(), 1.0).is_valid());
    }
}
