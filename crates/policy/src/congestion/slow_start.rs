//! Slow start (RFC 5681, section 3.1), apart from the growth that follows it. [`hystart`](super::hystart) ends it early.

use super::Path;

/// Increases the window by the acknowledged amount, up to the threshold (byte-counting limit L = infinity, as in Linux).
/// Returns the rest for congestion avoidance (0 if that counts acknowledgments: such kernels did either slow start or
/// congestion avoidance per acknowledgment).
pub fn slow_start(path: &mut Path, acked: u32) -> u32 {
    let growth = path.growth();
    let past = if growth.slow_start_at_threshold { path.quantum } else { 0 };
    let grown = path.cwnd.saturating_add(acked).min(path.ssthresh.saturating_add(past)).max(path.cwnd);
    let left = acked - (grown - path.cwnd);
    path.cwnd = grown;
    if growth.count_acks { 0 } else { left }
}

#[cfg(test)]
mod tests {
    use super::super::{Growth, Rules, WindowReduction};
    use super::*;

    #[test]
    fn slow_start_at_the_threshold_ends_one_packet_above_it() {
        let growth = Growth { slow_start_at_threshold: true, ..Growth::default() };
        let rules = Rules::Linux { growth, reduction: WindowReduction::Proportional };
        let path = Path { ssthresh: 10, ..Path::new(1, 10) };
        assert!(!path.in_slow_start());
        let mut old = Path { rules, ..path };
        assert!(old.in_slow_start());
        assert_eq!((slow_start(&mut old, 3), old.cwnd), (2, 11));
        assert!(!old.in_slow_start());
    }
}
