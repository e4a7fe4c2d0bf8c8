//! Path MTU discovery: what a report of a router changes (RFC 1191, RFC 8201), and what to try without one.

/// No report lowers the path MTU of IPv4 further: smaller links hardly exist, and forged reports do (RFC 5927, section
/// 7; Linux `ip_min_pmtu`).
const LEAST_OF_VERSION_4: u32 = 552;
/// Every link carries packets of this size with IPv6 (RFC 8201, section 4).
const LEAST_OF_VERSION_6: u32 = 1280;
/// What most tunnels carry, because IPv6 needs it: the first size to try where routers tell nothing.
const USUAL_LEAST: u32 = LEAST_OF_VERSION_6;
/// Where a router does not tell its MTU, the largest of these below the length of the packet (RFC 1191, section 7.1).
const PLATEAUS: [u32; 7] = [32_000, 17_914, 8166, 4352, 2002, 1492, 1006];

/// The path MTU after the report that a packet of `length` bytes exceeds an MTU of `reported` bytes, 0 if the router
/// does not tell it. `None` if that is not below the `current` one: a report never raises it.
pub(crate) fn lowered(current: u32, reported: u32, length: u32, version_6: bool) -> Option<u32> {
    let least = if version_6 { LEAST_OF_VERSION_6 } else { LEAST_OF_VERSION_4 };
    let told = match reported {
        0 => PLATEAUS.into_iter().find(|&plateau| plateau < length).unwrap_or(least),
        told => told,
    };
    Some(told.max(least)).filter(|&mtu| mtu < current)
}

/// The path MTU to try where packets of the `current` one are lost and no router says why, or the next smaller one after
/// so many attempts. `None` if there is nothing below the current one to try.
pub(crate) fn without_report(current: u16, version_6: bool, attempts: usize) -> Option<u16> {
    let least = if version_6 { LEAST_OF_VERSION_6 } else { LEAST_OF_VERSION_4 };
    let smaller = [USUAL_LEAST, least].map(|mtu| mtu as u16).into_iter().filter(|&mtu| mtu < current);
    smaller.take(attempts.saturating_add(1)).last()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_report_there_are_few_sizes_to_try() {
        let tried = |version_6, attempts| [9000, 1281, 1280, 552].map(|mtu| without_report(mtu, version_6, attempts));
        assert_eq!(tried(false, 0), [Some(1280), Some(1280), Some(552), None]);
        assert_eq!([1, 9].map(|attempts| tried(false, attempts)), [[Some(552), Some(552), Some(552), None]; 2]);
        assert_eq!([0, 9].map(|attempts| tried(true, attempts)), [[Some(1280), Some(1280), None, None]; 2]);
    }

    #[test]
    fn a_report_lowers_the_path_mtu_within_bounds_and_never_raises_it() {
        let after = |reported, version_6| lowered(1500, reported, 1500, version_6);
        assert_eq!([1200, 1499, 1500, 9000].map(|mtu| after(mtu, false)), [Some(1200), Some(1499), None, None]);
        assert_eq!([68, 551, 552].map(|mtu| after(mtu, false)), [Some(552); 3]);
        assert_eq!([68, 1279, 1400].map(|mtu| after(mtu, true)), [Some(1280), Some(1280), Some(1400)]);
        assert_eq!(lowered(1280, 68, 1280, true), None);
    }

    #[test]
    fn a_router_that_does_not_tell_its_mtu_has_the_next_usual_one() {
        let after = |length| lowered(65_535, 0, length, false);
        assert_eq!([9000, 1500, 1492, 1006].map(after), [Some(8166), Some(1492), Some(1006), Some(552)]);
    }
}
