//! Whatever a hostile peer sends, an endpoint keeps no more than a stated amount.

use proptest::prelude::*;
use subflow_wire::Packet;
use subflow_wire::tcp::{SackBlock, TcpSegment};

use crate::harness::{CLIENT, Pair, SERVER, Setup, ms};

/// The server's receive buffer, and what it has to send.
const BUFFER: u64 = 65_536;
const OUTSTANDING: u64 = 20_000;
/// Pieces of data that wait behind a hole: one for every 896 bytes of the buffer.
const MOST_PIECES: usize = BUFFER as usize / 896;
/// Most characters of a connection written out: each piece, each segment outstanding and each block is about 100.
const MOST_CHARACTERS: usize = 200 * (2 * MOST_PIECES + OUTSTANDING as usize / 64) + 10_000;

/// A segment of the client with some bytes anywhere in the server's window, and an acknowledgment that creeps forward
/// and reports anything.
#[derive(Clone, Debug)]
struct Hostile {
    ahead: u32,
    length: u32,
    acknowledged: u32,
    blocks: Vec<(u32, u32)>,
}

fn hostile() -> impl Strategy<Value = Hostile> {
    let length = prop_oneof![6 => Just(1u32), 1 => 0u32..4000];
    let blocks = proptest::collection::vec((0..OUTSTANDING as u32, 1u32..3000), 0..3);
    (0..BUFFER as u32, length, 0u32..40, blocks).prop_map(|(ahead, length, acknowledged, blocks)| Hostile {
        ahead,
        length,
        acknowledged,
        blocks,
    })
}

impl Hostile {
    fn packet(&self, pair: &Pair, acknowledged: u32) -> Packet {
        let last = pair.log.iter().rfind(|sent| sent.from == CLIENT).expect("the client has spoken");
        let mut segment = TcpSegment {
            sequence: last.segment.sequence.wrapping_add(last.segment.payload.length + self.ahead),
            acknowledgment: last.segment.acknowledgment.wrapping_add(acknowledged),
            ..last.segment.clone()
        };
        segment.payload.length = self.length;
        segment.options.sack.clear();
        segment.options.sack.extend(self.blocks.iter().map(|&(ahead, length)| {
            let left = segment.acknowledgment.wrapping_add(ahead);
            SackBlock { left, right: left.wrapping_add(length) }
        }));
        pair.first_path(SERVER, segment)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_hostile_peer_fills_no_memory(segments in proptest::collection::vec(hostile(), 100..600)) {
        let mut pair = Setup::tcp().both(|stack| stack.receive_buffer(BUFFER)).connected();
        pair.transfer(CLIENT, 3000);
        pair.trust_content = true;
        // The client proper hears nothing more: what the server sends is answered by hostile segments alone.
        pair.paths[0].up = false;
        pair.write(SERVER, OUTSTANDING);
        let mut acknowledged = 0;
        for hostile in segments {
            acknowledged = (acknowledged + hostile.acknowledged).min(OUTSTANDING as u32);
            let packet = hostile.packet(&pair, acknowledged);
            pair.inject(SERVER, &packet, ms(1));
            pair.run_for(ms(1));
            let connection = pair.tcp(SERVER);
            prop_assert!(connection.out_of_order_pieces() <= MOST_PIECES);
            let characters = format!("{connection:?}").len();
            prop_assert!(characters <= MOST_CHARACTERS, "{} characters", characters);
        }
    }
}
