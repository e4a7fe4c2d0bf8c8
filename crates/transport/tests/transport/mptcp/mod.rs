//! Stories of one MPTCP connection (RFC 8684).

mod addresses;
mod blind_segments;
mod bottlenecks;
mod checksums;
mod ends;
mod fallback;
mod half_close;
mod handshake;
mod joins;
mod long_mappings;
mod notes;
mod path_managers;
mod places;
mod priorities;
mod properties;
mod reinjection;
mod schedulers;
mod send_buffer;
mod shared_window;
mod stop;

use subflow_wire::TcpSegment;
use subflow_wire::tcp::mptcp::{Capable, Join, MptcpOption};

use crate::harness::{CLIENT, Pair, SERVER};

fn capable(segment: &TcpSegment) -> Option<&Capable> {
    segment.options.mptcp.iter().find_map(|option| match option {
        MptcpOption::Capable(capable) => Some(capable),
        _ => None,
    })
}

fn join(segment: &TcpSegment) -> Option<&Join> {
    segment.options.mptcp.iter().find_map(|option| match option {
        MptcpOption::Join(join) => Some(join),
        _ => None,
    })
}

fn is_join(segment: &TcpSegment) -> bool {
    join(segment).is_some()
}

/// Whether the segment has an MPTCP option for which `which` holds.
fn has(segment: &TcpSegment, which: impl Fn(&MptcpOption) -> bool) -> bool {
    segment.options.mptcp.iter().any(which)
}

/// Sends some data both ways, closes, and checks that nothing of it was lost on the way.
fn exchange_and_close(pair: &mut Pair) {
    pair.transfer(CLIENT, 100_000);
    pair.write(SERVER, 100_000);
    pair.close_gracefully();
    for side in [CLIENT, SERVER] {
        assert_eq!(pair.received(side), pair.endpoint(1 - side).bytes_written(), "side {side}");
    }
}
