//! What random connections have to live with, whatever their protocol: paths, and what happens to them in mid-transfer.

use proptest::prelude::*;

use crate::harness::{CLIENT, Pair, Path, ms};

/// Something that happens after so many milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Turn {
    Down(usize),
    Up(usize),
    LoseAddress(usize),
    RegainAddress(usize),
    StopReading(usize),
    Read(usize),
}

/// Paths that lose up to this share of packets.
pub(crate) fn path(most_loss: f64) -> impl Strategy<Value = Path> {
    let rare = |most: f64| prop_oneof![2 => Just(0.0), 1 => 0.0..most];
    (1u64..80, proptest::option::of(1u64..50), 5usize..100, rare(most_loss), rare(0.1), rare(0.2)).prop_map(
        |(delay_ms, mbps, queue, loss, duplication, reordering)| {
            let path = Path::with_delay(ms(delay_ms)).loss(loss);
            let path = mbps.map_or(path.clone(), |mbps| path.rate(mbps, queue));
            Path { duplication, reordering: (reordering, ms(delay_ms)), ..path }
        },
    )
}

/// Lets it happen.
pub(crate) fn take(pair: &mut Pair, turn: Turn) {
    match turn {
        Turn::Down(path) => pair.paths[path].up = false,
        Turn::Up(path) => pair.paths[path].up = true,
        Turn::LoseAddress(index) => pair.lose_address(CLIENT, index),
        Turn::RegainAddress(index) => pair.regain_address(CLIENT, index),
        Turn::StopReading(side) | Turn::Read(side) => {
            let reading = matches!(turn, Turn::Read(_));
            if pair.has_connection(side) {
                pair.act(side, |endpoint, now| endpoint.set_reading(reading, now));
            }
        }
    }
}
