//! What the failure of a path costs, from the goodput of each second: the way in which the kernel's runs were recorded.

use super::configuration::Configuration;
use super::topology::FAILURE_S;

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

/// IP payload of a full packet of MPTCP, of 1500 bytes: 20 bytes of IP, 20 of TCP, 12 of timestamps and 24 of DSS less.
const PAYLOAD: f64 = 1424.0 / 1500.0;
/// What counts as recovered.
const RECOVERED: f64 = 0.9;

/// The outage in a run of `configuration` with this goodput in each second, in Mbit/s. Nothing where no path fails, or
/// the seconds end before the repair.
pub(super) fn outage(configuration: &Configuration, per_second: &[f64]) -> Option<Outage> {
    let failed = configuration.failure?.path;
    let goodput = |path: usize| configuration.paths[path].rate_mbps * PAYLOAD;
    let others: f64 = (0..configuration.paths.len()).filter(|&path| path != failed).map(goodput).sum();
    let (fails, works) = (FAILURE_S.0 as usize, FAILURE_S.1 as usize);
    if per_second.len() <= works || others <= 0.0 {
        return None;
    }
    Some(Outage {
        stall_s: missing(&per_second[fails..works], 0.0, others),
        return_s: missing(&per_second[works..], others, goodput(failed)),
    })
}

/// How many seconds of `wanted` are missing above `base`, until there is nine tenths of both.
fn missing(per_second: &[f64], base: f64, wanted: f64) -> f64 {
    let recovered = |mbps: &f64| *mbps >= RECOVERED * (base + wanted);
    let lacks = per_second.iter().take_while(|mbps| !recovered(mbps));
    lacks.map(|mbps| (1.0 - (mbps - base) / wanted).clamp(0.0, 1.0)).fold(0.0, |sum, lack| sum + lack)
}

/// The kernel's seconds for this case and congestion control from `text`, in the columns of `timeseries_1s.csv`; empty
/// where there are none.
pub(super) fn recorded(text: &str, configuration: &Configuration) -> Vec<f64> {
    let Some(flow) = configuration.flows.first() else { return Vec::new() };
    let wanted = [&configuration.case, &flow.protocol, &flow.cc, &configuration.paths_text, &configuration.loss_text];
    let of_case = |line: &&str| line.split(',').zip(wanted).all(|(cell, wanted)| cell == wanted);
    let mbps = |line: &str| line.rsplit(',').next().and_then(|cell| cell.parse().ok());
    text.lines().filter(of_case).filter_map(mbps).collect()
}

#[cfg(test)]
mod tests {
    use super::super::cases::parse;
    use super::super::configuration::group;
    use super::*;

    fn failing() -> Configuration {
        let text = "case,protocol,cc,paths,loss_pct,duration_s,rep,flow,goodput_mbps\n\
                    G-fail-path1-data,mptcp,cubic,20/10/50;10/10/50,0;0,40,1,1,20\n";
        group("x.csv", &parse("x.csv", text).expect("good rows")).expect("good").remove(0)
    }

    #[test]
    fn what_is_missing_is_counted_until_nine_tenths_are_there() {
        // 18.99 and 9.49 Mbit/s; a second and a half without anything, a second late by half on the return.
        let mut seconds = vec![28.48; 10];
        seconds.extend([0.0, 4.745, 9.49, 9.49, 8.6, 9.49, 9.49, 9.49, 9.49, 9.49]);
        seconds.extend([9.49, 18.985, 28.4, 20.0]);
        let found = outage(&failing(), &seconds).expect("a path fails");
        assert!((found.stall_s - 1.5).abs() < 0.01 && (found.return_s - 1.5).abs() < 0.01, "{found:?}");
        assert_eq!(outage(&failing(), &seconds[..20]), None);
    }

    #[test]
    fn the_kernel_s_seconds_are_those_of_the_case() {
        let text = "case,protocol,cc,paths,loss_pct,rep,flow,second,mbps\n\
                    G-fail-path1-data,mptcp,reno,20/10/50;10/10/50,0;0,1,1,0,9.0\n\
                    G-fail-path1-data,mptcp,cubic,20/10/50;10/10/50,0;0,1,1,0,1.5\n\
                    G-fail-path1-data,mptcp,cubic,20/10/50;10/10/50,0;0,1,1,1,2.5\n";
        assert_eq!(recorded(text, &failing()), [1.5, 2.5]);
    }
}
