//! The bounds that are checked in every case, with their derivation.

use subflow_transport::Endpoint;

use crate::setup::End;
use crate::stack;

/// Most packets that an endpoint sends in one go: a window of the largest send buffer in segments of the smallest MSS
/// that a peer can ask for.
pub(crate) const PACKETS_AT_ONCE: u32 = 20_000;

/// Most bytes that an application keeps for when there is room in the send buffer.
pub(crate) const MOST_UNWRITTEN: u64 = 3_000_000;

/// Packets and timers in one pause: what is left of it then is cut off.
pub(crate) const STEPS_PER_WAIT: u64 = 20_000;
/// Packets and timers before the end of a case: nothing more happens then until its end.
pub(crate) const STEPS_PER_CASE: u64 = 150_000;
/// Packets and timers until all connections have ended, in addition to two for every hundred bytes and
/// [`STEPS_PER_ENDPOINT`].
pub(crate) const STEPS_TO_CLOSE: u64 = 200_000;
/// Packets and timers in ten minutes in which no host has data to send, in addition to [`STEPS_PER_ENDPOINT`].
pub(crate) const STEPS_AT_REST: u64 = 20_000;
/// Packets and timers of one connection that is opened, or given up.
pub(crate) const STEPS_PER_ENDPOINT: u64 = 200;

/// Connections that are compared end by end after an action: the last ones.
pub(crate) const CONNECTIONS_CHECKED: usize = 16;
/// Connections that may be half open at a time: every host is told to let so many wait before it answers with cookies.
/// A quarter of the default, so that floods of a few thousand SYNs reach it.
pub(crate) const HALF_OPEN: usize = 1024;

/// CPU time that an action may take beside that of its packets and timers.
pub(crate) const CPU_PER_ACTION_US: u64 = 30_000;
/// CPU time of a packet or timer, on average over those of an action, the work of the model included. On a busy machine
/// they take 3 µs; what goes through something that grows takes more and more.
pub(crate) const CPU_PER_STEP_US: u64 = 100;
/// CPU time for each kilobyte in packets beside that: the model writes and compares every byte, and packets have up to
/// 9000 of them.
pub(crate) const CPU_PER_KILOBYTE_US: u64 = 20;

/// Bytes that a host may hold beside its endpoints: tables that have been larger keep their room. Every end (of a
/// subflow or a pair of addresses, where there are several) has an entry by addresses and ports, of 64 bytes with IPv6,
/// in a table that is less than half full when it has grown.
pub(crate) fn of_host(most_endpoints: usize, most_ends: usize) -> i64 {
    65_536 + 352 * most_endpoints as i64 + 160 * most_ends as i64
}

/// Bytes that an endpoint of such an end may hold.
///
/// What was written and not acknowledged costs a record for each segment, and the peer decides how small they are; what
/// has arrived ahead of a hole costs a record for each range, and their number is bounded.
pub(crate) fn of_endpoint(endpoint: &Endpoint, end: &End) -> i64 {
    let (fixed, smallest_segment) = stack::memory(endpoint, end);
    let records = (end.send_buffer / u64::from(smallest_segment)) as i64;
    fixed + 128 * records
}
