//! Whatever strangers and hostile peers send: what lies outside the window changes nothing, and memory is bounded.

use proptest::prelude::*;
use subflow_transport::Event;
use subflow_wire::Packet;
use subflow_wire::tcp::TcpSegment;
use subflow_wire::tcp::mptcp::{DataAck, Dss, Mapping};

use super::exchange_and_close;
use crate::harness::tamper::has_data;
use crate::harness::{CLIENT, Pair, SERVER, Setup, ms};
use crate::properties::thrown::thrown;

/// The server's receive buffer.
const BUFFER: u64 = 65_536;
/// Most characters of a connection written out. Mappings, their pieces, ranges of the subflow and ranges of the data
/// are bounded by 512, 512, 68 and 68, and each is about 300 characters.
const MOST_CHARACTERS: usize = 300 * (512 + 512 + 68 + 68) + 20_000;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200, max_shrink_iters: 400, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn segments_outside_the_window_change_nothing(
        throws in proptest::collection::vec((thrown(), any::<[bool; 2]>()), 1..20),
        paths in 1usize..3,
        checksum in any::<bool>(),
    ) {
        let mut pair = Setup::mptcp(paths, 1).both(|stack| stack.multipath().checksum = checksum).connected();
        for side in [CLIENT, SERVER] {
            pair.transfer(side, 5000);
        }
        pair.settle();
        for side in [CLIENT, SERVER] {
            pair.write(side, 200_000);
        }
        for (thrown, [by_sequence, above]) in &throws {
            let packet = thrown.outside_the_window(*by_sequence, *above).packet(&pair);
            pair.inject(thrown.to, &packet, ms(1));
            pair.run_for(ms(1 + thrown.wait_ms % 20));
            unchanged(&pair, paths);
        }
        pair.run_until("the data", |pair| [CLIENT, SERVER].iter().all(|&side| pair.received(side) == 205_000));
        unchanged(&pair, paths);
        exchange_and_close(&mut pair);
    }

    #[test]
    fn a_hostile_peer_fills_no_memory(
        segments in proptest::collection::vec(hostile(), 100..800),
        checksum in any::<bool>(),
    ) {
        let setup = Setup::mptcp(1, 1).both(|stack| stack.multipath().checksum = checksum);
        let mut pair = setup.both(|stack| stack.receive_buffer(BUFFER)).connected();
        pair.transfer(CLIENT, 3000);
        pair.trust_content = true;
        // The client proper hears nothing more.
        pair.paths[0].up = false;
        for hostile in &segments {
            let packet = hostile.packet(&pair, checksum);
            pair.inject(SERVER, &packet, ms(1));
            let before = pair.log.len();
            pair.run_for(ms(1));
            prop_assert!(pair.log.len() - before <= 4, "{} segments in answer to one", pair.log.len() - before);
            let characters = format!("{:?}", pair.mptcp(SERVER)).len();
            prop_assert!(characters <= MOST_CHARACTERS, "{} characters", characters);
        }
    }
}

/// Neither side has lost a subflow, fallen back or ended.
fn unchanged(pair: &Pair, paths: usize) {
    for side in [CLIENT, SERVER] {
        assert_eq!((pair.established_subflows(side), pair.count(side, Event::FellBack)), (paths, 0), "side {side}");
        assert_eq!(
            (pair.mptcp(side).counters().checksum_failures, pair.endpoint(side).ended()),
            (0, None),
            "side {side}"
        );
    }
}

/// A segment in the server's window with a mapping of bytes around its own.
#[derive(Clone, Debug)]
struct Hostile {
    ahead: u32,
    length: u32,
    /// Of the mapping: how far it begins before the segment, its length, and how far ahead its data is.
    before: u32,
    mapped: u16,
    data: u32,
    acknowledged: u32,
}

fn hostile() -> impl Strategy<Value = Hostile> {
    let length = prop_oneof![6 => Just(1u32), 1 => 1u32..4000];
    let mapped = prop_oneof![4 => 1u16..20, 1 => 1u16..=u16::MAX];
    (0..BUFFER as u32, length, 0u32..4, mapped, 0..BUFFER as u32, any::<u32>()).prop_map(
        |(ahead, length, before, mapped, data, acknowledged)| Hostile {
            ahead,
            length,
            before,
            mapped,
            data,
            acknowledged,
        },
    )
}

impl Hostile {
    fn packet(&self, pair: &Pair, checksum: bool) -> Packet {
        let last =
            pair.log.iter().rfind(|sent| sent.from == CLIENT && has_data(&sent.segment)).expect("the client has sent");
        let (dss, end) = (last.segment.options.dss, last.segment.payload.length);
        let known = dss.and_then(|dss| dss.mapping).expect("the last data has a mapping of its own");
        let mut segment =
            TcpSegment { sequence: last.segment.sequence.wrapping_add(end + self.ahead), ..last.segment.clone() };
        segment.payload.length = self.length;
        segment.options.sack.clear();
        let mapping = Mapping {
            data_sequence: known.data_sequence.wrapping_add(u64::from(end + self.data)),
            subflow_sequence: known.subflow_sequence.wrapping_add((end + self.ahead).saturating_sub(self.before)),
            length: self.mapped,
            checksum: checksum.then_some(0x1234),
            ..known
        };
        let data_ack = Some(DataAck { value: u64::from(self.acknowledged), wide: false });
        segment.options.dss = Some(Dss { data_ack, mapping: Some(mapping), data_fin: false });
        pair.first_path(SERVER, segment)
    }
}
