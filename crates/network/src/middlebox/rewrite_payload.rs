//! `rewrite-payload`: other data than the sender has sent.

use subflow_policy::catalogue::{Attribute, Catalogued, Choice, Description};
use subflow_policy::routing::FlowKey;
use subflow_wire::checksum::ones_complement_add;
use subflow_wire::tcp::TcpFlags;
use subflow_wire::{Body, Packet, TcpSegment};

use super::{Fate, Flows, Interference, MOST_DATA, Order, Passage};
use crate::routing::flow_key;

/// An application-level gateway, as for FTP: it replaces a text in one segment of a TCP connection, for example the
/// address of a client behind a translator. If the new text is longer or shorter, it changes all later sequence numbers
/// and the acknowledgments of the other direction.
///
/// MPTCP's mappings are about the data that was sent. With DSS checksums the receiver notices, and answers with MP_FAIL;
/// a connection with one subflow falls back to TCP (RFC 8684, section 3.7). Without checksums it delivers what it gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RewritePayload {
    /// The number of the segment with data that is rewritten, by direction of a connection.
    pub segment: u64,
    /// By how many bytes its data is longer or shorter, unless its length is kept.
    pub bytes: u32,
    length: Length,
    flows: Flows<Flow>,
}

/// The length of the new text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Length {
    #[default]
    Kept,
    Longer,
    Shorter,
}

const LENGTHS: [Choice<Length>; 3] = [
    Choice::new("kept", Length::Kept, "as before"),
    Choice::new("longer", Length::Longer, "some bytes more"),
    Choice::new("shorter", Length::Shorter, "some bytes less"),
];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Flow {
    /// The segments with data that have passed.
    seen: u64,
    /// The first sequence number that is rewritten, and the length before.
    rewritten: Option<(u32, u32)>,
}

impl Default for RewritePayload {
    fn default() -> Self {
        Self { segment: 3, bytes: 3, length: Length::Kept, flows: Flows::default() }
    }
}

impl Catalogued for RewritePayload {
    const DESCRIPTION: Description = Description {
        name: "rewrite-payload",
        aliases: &[],
        summary: "changes the data of one segment of each TCP connection",
        source: "RFC 8684, section 3.7; Hesmans et al., HotMiddlebox 2013; Detal et al., IMC 2013",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[
        Attribute::integer(
            "segment",
            "the number of the segment with data that is changed, in each direction of a connection",
            [1, 1_000_000_000],
            |rewrite| rewrite.segment,
            |rewrite, segment| rewrite.segment = segment,
        ),
        Attribute::name(
            "length",
            "the length of the changed data",
            || Choice::descriptions(&LENGTHS),
            |rewrite| Choice::name_of(&LENGTHS, rewrite.length),
            |rewrite, name| rewrite.length = Choice::find(&LENGTHS, name).unwrap_or_default(),
        ),
        Attribute::integer(
            "bytes",
            "by how many bytes it is longer or shorter",
            [1, 1000],
            |rewrite| rewrite.bytes.into(),
            |rewrite, bytes| rewrite.bytes = bytes as u32,
        ),
    ];
}

/// What the first byte's increase adds to the sum of the payload.
const ADDED: u16 = 0x0100;

impl RewritePayload {
    /// By how many bytes the data is longer.
    fn longer(&self) -> i32 {
        match self.length {
            Length::Kept => 0,
            Length::Longer => self.bytes as i32,
            Length::Shorter => -(self.bytes as i32),
        }
    }

    /// Rewrites the segment whose turn it is, whenever it passes, and moves those behind it. Returns whether its data is
    /// another now.
    fn rewrite(&mut self, flow: FlowKey, segment: &mut TcpSegment) -> bool {
        let (longer, turn, most_removed) = (self.longer(), self.segment, self.bytes);
        let known = self.flows.of(flow);
        if segment.flags.contains(TcpFlags::SYN) {
            // Another connection between the same ends.
            *known = Flow::default();
            return false;
        }
        let length = segment.payload.length;
        if known.rewritten.is_none() && length > 0 {
            known.seen += 1;
            let fits = i64::from(length) + i64::from(longer) <= i64::from(MOST_DATA);
            if known.seen >= turn && length > most_removed && fits {
                known.rewritten = Some((segment.sequence, length));
            }
        }
        match known.rewritten {
            Some(range) if range == (segment.sequence, length) => {
                segment.payload.length = length.wrapping_add_signed(longer);
                segment.payload.sum = ones_complement_add(segment.payload.sum, ADDED);
                true
            }
            Some((start, length)) => {
                segment.sequence = moved(segment.sequence, start.wrapping_add(length), longer);
                false
            }
            None => false,
        }
    }

    /// The numbers that the sender knows, in an acknowledgment of what was rewritten.
    fn restore(&self, flow: FlowKey, segment: &mut TcpSegment) {
        let Some(Flow { rewritten: Some((start, length)), .. }) = self.flows.get(flow) else { return };
        let longer = self.longer();
        let end = start.wrapping_add(*length).wrapping_add_signed(longer);
        let restored = |number: &mut u32| *number = moved(*number, end, -longer);
        restored(&mut segment.acknowledgment);
        for block in &mut segment.options.sack {
            restored(&mut block.left);
            restored(&mut block.right);
        }
    }
}

/// `number`, moved by `by` if it is not before `from`.
fn moved(number: u32, from: u32, by: i32) -> u32 {
    let is_behind = number.wrapping_sub(from) < 1 << 31;
    if is_behind { number.wrapping_add_signed(by) } else { number }
}

impl Interference for RewritePayload {
    fn process(&mut self, packet: &mut Packet, passage: &mut Passage<'_>) -> Fate {
        let flow = flow_key(packet);
        let Body::Tcp(segment) = &mut packet.body else { return Fate::Pass };
        if passage.acts[passage.way.index()] && self.rewrite(flow, segment) {
            passage.orders.push(Order::Rewritten(self.longer()));
        }
        if passage.acts[passage.way.opposite().index()] && segment.flags.contains(TcpFlags::ACK) {
            self.restore(flow.reversed(), segment);
        }
        Fate::Pass
    }

    fn sees_both_directions(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use subflow_quantity::Duration;
    use subflow_wire::tcp::SackBlock;

    use super::super::PlacedMiddlebox;
    use super::super::test_packets::{Bench, data, reversed, segment};
    use super::*;

    fn bench(length: Length) -> Bench {
        let rewriting = RewritePayload { segment: 2, length, ..RewritePayload::default() };
        Bench::of([PlacedMiddlebox { directions: [true, false], ..PlacedMiddlebox::new(rewriting) }])
    }

    /// Sequence number, length and sum of a segment of 100 bytes behind the middlebox.
    fn passed(bench: &mut Bench, offset: u32) -> (u32, u32, u16) {
        let packet = bench.up(Duration::ZERO, data(offset, 100)).expect("it passes");
        let TcpSegment { sequence, payload, .. } = segment(&packet);
        (*sequence, payload.length, payload.sum)
    }

    #[test]
    fn one_segment_is_rewritten_whenever_it_passes_and_later_ones_move() {
        for (length, longer) in [(Length::Kept, 0), (Length::Longer, 3), (Length::Shorter, -3)] {
            let mut bench = bench(length);
            assert_eq!(passed(&mut bench, 0), (1001, 100, 0));
            for _ in 0..2 {
                assert_eq!(passed(&mut bench, 100), (1101, 100_u32.wrapping_add_signed(longer), ADDED));
                assert_eq!(bench.outcome.orders, [Order::Rewritten(longer)]);
            }
            assert_eq!(passed(&mut bench, 200), (1201_u32.wrapping_add_signed(longer), 100, 0));
            assert_eq!(passed(&mut bench, 0), (1001, 100, 0), "what was before is sent again");
        }
    }

    #[test]
    fn acknowledgments_have_the_numbers_of_the_sender() {
        for (length, longer) in [(Length::Kept, 0), (Length::Longer, 3), (Length::Shorter, -3)] {
            let mut bench = bench(length);
            assert_eq!([0, 100].map(|offset| passed(&mut bench, offset).0), [1001, 1101]);
            let mut answer = reversed(data(0, 0));
            if let Body::Tcp(answer) = &mut answer.body {
                answer.acknowledgment = 1101;
                let [left, right] = [1201, 1301].map(|number: u32| number.wrapping_add_signed(longer));
                answer.options.sack.push(SackBlock { left, right });
            }
            let answer = bench.down(Duration::ZERO, answer).expect("it passes");
            assert_eq!(segment(&answer).acknowledgment, 1101);
            assert_eq!(segment(&answer).options.sack[..], [SackBlock { left: 1201, right: 1301 }]);
        }
    }

    #[test]
    fn a_segment_that_would_not_fit_into_a_packet_any_more_is_not_the_one() {
        let mut bench = bench(Length::Longer);
        for offset in [0, MOST_DATA, 2 * MOST_DATA] {
            let packet = bench.up(Duration::ZERO, data(offset, MOST_DATA)).expect("it passes");
            assert_eq!(segment(&packet).payload.length, MOST_DATA);
        }
    }

    #[test]
    fn a_segment_that_would_lose_all_of_its_data_is_not_the_one() {
        let mut bench = bench(Length::Shorter);
        for offset in 0..4 {
            let packet = bench.up(Duration::ZERO, data(offset, 1)).expect("it passes");
            assert_eq!(segment(&packet).payload.length, 1);
        }
    }
}
