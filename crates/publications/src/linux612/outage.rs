//! What the failure of a path costs, from the goodput of each second: the way in which the kernel's runs were recorded.

use super::measurements::PathSpec;

/// Seconds that a connection lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Outage {
    /// From the failure on, until a second brings nine tenths of what the other paths carry: how many seconds of that
    /// are missing.
    pub(super) stall_s: f64,
    /// From the repair on, until a second brings nine tenths of what all paths carry: how many seconds of the failed
    /// path's goodput are missing.
    pub(super) return_s: f64,
}

/// When a failing path fails, and when it works again, in seconds: as in `paper.toml`.
const FAILS_S: usize = 10;
const WORKS_S: usize = 20;
/// IP payload of a full packet of MPTCP, of 1500 bytes: 20 bytes of IP, 20 of TCP, 12 of timestamps and 24 of DSS less.
const PAYLOAD: f64 = 1424.0 / 1500.0;
/// What counts as recovered.
const RECOVERED: f64 = 0.9;

/// The outage in a run over `paths`, of which the one with the number `fails` fails, with this goodput in each second, in Mbit/s. Nothing where no path fails, or
/// the seconds end before the repair.
pub(super) fn outage(paths: &[PathSpec], fails: Option<usize>, per_second: &[f64]) -> Option<Outage> {
    let fails = fails?;
    let goodput = |is_wanted: fn(usize, usize) -> bool| {
        let paths = paths.iter().filter(|path| is_wanted(path.n, fails));
        paths.map(|path| path.rate_mbps * PAYLOAD).sum::<f64>()
    };
    let (failed, others) = (goodput(|path, fails| path == fails), goodput(|path, fails| path != fails));
    if per_second.len() <= WORKS_S || others <= 0.0 {
        return None;
    }
    Some(Outage {
        stall_s: missing(&per_second[FAILS_S..WORKS_S], 0.0, others),
        return_s: missing(&per_second[WORKS_S..], others, failed),
    })
}

/// How many seconds of `wanted` are missing above `base`, until there is nine tenths of both.
fn missing(per_second: &[f64], base: f64, wanted: f64) -> f64 {
    let recovered = |mbps: &f64| *mbps >= RECOVERED * (base + wanted);
    let lacks = per_second.iter().take_while(|mbps| !recovered(mbps));
    lacks.map(|mbps| (1.0 - (mbps - base) / wanted).clamp(0.0, 1.0)).fold(0.0, |sum, lack| sum + lack)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_counted_until_nine_tenths_are_there() {
        let path = |n, rate_mbps: f64| {
            let rate_bps = (rate_mbps * 1e6) as u64;
            PathSpec { n, rate_mbps, rate_bps, delay_ms: 10.0, queue: 50, loss_pct: 0.0 }
        };
        let paths = [path(1, 20.0), path(2, 10.0)];
        // 18.99 and 9.49 Mbit/s; a second and a half without anything, a second late by half on the return.
        let mut seconds = vec![28.48; 10];
        seconds.extend([0.0, 4.745, 9.49, 9.49, 8.6, 9.49, 9.49, 9.49, 9.49, 9.49]);
        seconds.extend([9.49, 18.985, 28.4, 20.0]);
        let found = outage(&paths, Some(1), &seconds).expect("a path fails");
        assert!((found.stall_s - 1.5).abs() < 0.01 && (found.return_s - 1.5).abs() < 0.01, "{found:?}");
        assert_eq!(outage(&paths, Some(1), &seconds[..20]), None);
    }
}
