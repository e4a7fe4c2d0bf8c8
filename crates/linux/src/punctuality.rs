//! How punctual a run was, and whether it may be believed.

use subflow_quantity::Duration;

use crate::InterfaceDrops;

/// Sub-divisions of each power of two, so that a percentile is within 1/16.
const STEPS: u64 = 16;
const BUCKETS: usize = 64 * STEPS as usize;

/// How late packets were when the kernel got them, against the time that the links had settled.
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
    /// Notes a packet.
    #[inline]
    pub(crate) fn record(&mut self, late: Duration) {
        let nanos = late.as_nanos();
        self.buckets[bucket(nanos)] += 1;
        self.count += 1;
        self.latest = self.latest.max(nanos);
    }

    /// How many packets were noted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How late the latest was.
    pub fn maximum(&self) -> Duration {
        Duration::from_nanos(self.latest)
    }

    /// How late all but the latest `1 - share` were at most.
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
    if nanos < STEPS {
        return nanos as usize;
    }
    let shift = nanos.ilog2() - STEPS.ilog2();
    (u64::from(shift + 1) * STEPS + (nanos >> shift) - STEPS) as usize
}

fn upper_end(bucket: usize) -> u64 {
    let (power, step) = (bucket as u64 / STEPS, bucket as u64 % STEPS);
    if power == 0 { step } else { ((STEPS + step) << (power - 1)) + ((1 << (power - 1)) - 1) }
}

/// Whether a run may be believed, and if not, why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// What speaks against it; empty for a good run.
    pub objections: Vec<String>,
}

/// Packets later than this at the 99th percentile change round-trip times.
const LATE_P99: Duration = Duration::from_millis(1);
/// The same at the 99.9th percentile: a few pauses in a long run are to be expected.
const LATE_P999: Duration = Duration::from_millis(5);
/// A pause that loses a round trip.
const LATEST: Duration = Duration::from_millis(50);
/// CPU that has to be left: without it, senders wait for the machine and not for their windows.
const HEADROOM: f64 = 0.05;

impl Verdict {
    /// Judges a run. `headroom` is the share of the machine's CPU time that the run left to others, or that was idle
    /// where it had to share; `lost` is how many packets the emulator could not carry.
    pub fn of(punctuality: &Punctuality, drops: InterfaceDrops, headroom: f64) -> Self {
        let mut objections = Vec::new();
        let millis = |span: Duration| span.as_secs_f64() * 1e3;
        for (share, name, bound) in [
            (0.99, "1 % of the packets", LATE_P99),
            (0.999, "0.1 % of the packets", LATE_P999),
            (1.0, "one packet", LATEST),
        ] {
            let late = punctuality.quantile(share);
            if late > bound {
                objections.push(format!(
                    "{name} came {:.1} ms late or more (bound {} ms)",
                    millis(late),
                    millis(bound)
                ));
            }
        }
        if drops != InterfaceDrops::default() {
            let InterfaceDrops { outgoing, incoming } = drops;
            objections.push(format!("the devices dropped {outgoing} packets going out and {incoming} coming in"));
        }
        if headroom < HEADROOM {
            objections.push(format!(
                "only {:.0} % of the CPU time was left (bound {:.0} %)",
                headroom * 100.0,
                HEADROOM * 100.0
            ));
        }
        Self { objections }
    }

    /// Whether nothing speaks against the run.
    pub fn is_valid(&self) -> bool {
        self.objections.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_each_other() {
        let mut before = 0;
        for nanos in (0..100_000).chain([u64::MAX / 2, u64::MAX]) {
            let bucket = bucket(nanos);
            assert!(bucket >= before && bucket < BUCKETS);
            assert!(upper_end(bucket) >= nanos && upper_end(bucket) - nanos <= nanos / STEPS);
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
            assert!((micros..=micros * (1.0 + 1.0 / STEPS as f64)).contains(&found), "{share}: {found}");
        };
        near(0.5, 50.0);
        near(0.99, 99.0);
        assert_eq!(punctuality.quantile(1.0), Duration::from_micros(100));
        assert!(Verdict::of(&punctuality, InterfaceDrops::default(), 0.5).is_valid());
    }

    #[test]
    fn what_speaks_against_a_run_is_said() {
        let mut punctuality = Punctuality::default();
        punctuality.record(Duration::from_millis(60));
        let verdict = Verdict::of(&punctuality, InterfaceDrops { outgoing: 3, incoming: 0 }, 0.01);
        assert_eq!(verdict.objections.len(), 5, "{verdict:?}");
        assert!(verdict.objections[3].contains("dropped 3 packets"));
    }

    #[test]
    fn a_run_without_packets_is_punctual() {
        assert!(Verdict::of(&Punctuality::default(), InterfaceDrops::default(), 1.0).is_valid());
    }
}
