//! The counters of switches' ports.

/// The counters of a port, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortBytes {
    /// Received from its link.
    pub received: u64,
    /// Sent on its link.
    pub sent: u64,
}

/// The counters that `ovs-ofctl dump-ports` prints: `port 1: rx pkts=…, bytes=…`, and `tx …` on the next line.
pub(crate) fn parse_ports(text: &str) -> Vec<(u32, PortBytes)> {
    let bytes = |line: &str| -> u64 {
        line.split("bytes=").nth(1).and_then(|rest| rest.split(',').next()?.trim().parse().ok()).unwrap_or(0)
    };
    let mut found: Vec<(u32, PortBytes)> = Vec::new();
    let mut current = None;
    for line in text.lines().map(str::trim) {
        if let Some((number, rest)) = line.strip_prefix("port").and_then(|rest| rest.split_once(':')) {
            current = number.trim().parse().ok();
            if let Some(number) = current {
                found.push((number, PortBytes { received: bytes(rest), sent: 0 }));
            }
        } else if line.starts_with("tx ")
            && current.is_some()
            && let Some((_, last)) = found.last_mut()
        {
            last.sent = bytes(line);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counters_of_numbered_ports_are_found() {
        let text = "OFPST_PORT reply (OF1.3) (xid=0x2): 3 ports\n  port LOCAL: rx pkts=0, bytes=5, drop=0\n           \
                    tx pkts=0, bytes=6, drop=0\n           duration=3s\n  port  1: rx pkts=7, bytes=100, drop=0, errs=0\n\
                               tx pkts=8, bytes=200, drop=0\n           duration=3s\n  port 12: rx pkts=1, bytes=1, x\n\
                               tx pkts=1, bytes=2, y\n";
        let port = |received, sent| PortBytes { received, sent };
        assert_eq!(parse_ports(text), [(1, port(100, 200)), (12, port(1, 2))]);
    }
}
