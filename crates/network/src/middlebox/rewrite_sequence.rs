//! `rewrite-sequence`: other sequence numbers than the ends have chosen.

use subflow_policy::catalogue::{Attribute, Catalogued, Choice, Description};
use subflow_policy::routing::FlowKey;
use subflow_wire::tcp::TcpFlags;
use subflow_wire::{Body, Packet};

use super::{Fate, Interference, Passage};
use crate::routing::flow_key;

/// A firewall that adds a number of its own to the sequence numbers of a connection, for hosts whose initial numbers can
/// be guessed, and subtracts it from acknowledgments in the other direction.
///
/// The measurements of Honda et al. (IMC 2011) found such paths, and devices among them that leave the blocks of SACK
/// as they are: these then tell of data that was never sent, and the sender has to ignore them (RFC 2018, section 5).
/// MPTCP is prepared: its mappings count from the initial sequence number (RFC 8684, section 3.3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RewriteSequence {
    sack: Sack,
}

/// The blocks of SACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Sack {
    #[default]
    Restored,
    Unchanged,
}

const SACKS: [Choice<Sack>; 2] = [
    Choice::new("restored", Sack::Restored, "its blocks are changed as acknowledgments are"),
    Choice::new("unchanged", Sack::Unchanged, "its blocks have the changed numbers: the sender does not know them"),
];

impl Catalogued for RewriteSequence {
    const DESCRIPTION: Description = Description {
        name: "rewrite-sequence",
        aliases: &[],
        summary: "changes the sequence numbers of TCP, and acknowledgments with them",
        source: "Honda et al., IMC 2011; Hesmans et al., Are TCP extensions middlebox-proof?, HotMiddlebox 2013",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[Attribute::name(
        "sack",
        "what becomes of the blocks of SACK",
        || Choice::descriptions(&SACKS),
        |rewrite| Choice::name_of(&SACKS, rewrite.sack),
        |rewrite, name| rewrite.sack = Choice::find(&SACKS, name).unwrap_or_default(),
    )];
}

/// What is added to the sequence numbers of a flow: the same for each of its packets, without a table.
fn offset(flow: FlowKey, salt: u64) -> u32 {
    u32::from(flow.hash(salt)) << 16 | u32::from(flow.hash(!salt))
}

impl Interference for RewriteSequence {
    fn process(&mut self, packet: &mut Packet, passage: &mut Passage<'_>) -> Fate {
        let flow = flow_key(packet);
        let Body::Tcp(segment) = &mut packet.body else { return Fate::Pass };
        if passage.acts[passage.way.index()] {
            segment.sequence = segment.sequence.wrapping_add(offset(flow, passage.salt));
        }
        if passage.acts[passage.way.opposite().index()] && segment.flags.contains(TcpFlags::ACK) {
            let added = offset(flow.reversed(), passage.salt);
            segment.acknowledgment = segment.acknowledgment.wrapping_sub(added);
            if self.sack == Sack::Restored {
                for block in &mut segment.options.sack {
                    block.left = block.left.wrapping_sub(added);
                    block.right = block.right.wrapping_sub(added);
                }
            }
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

    /// An acknowledgment of the server, with a block, of what it has received in `packet`.
    fn acknowledgment(packet: &Packet) -> Packet {
        let received = segment(packet).sequence.wrapping_add(segment(packet).payload.length);
        let mut answer = reversed(data(0, 0));
        if let Body::Tcp(answer) = &mut answer.body {
            answer.acknowledgment = received;
            answer.options.sack.push(SackBlock { left: received.wrapping_add(10), right: received.wrapping_add(20) });
        }
        answer
    }

    fn after_both_ways(sack: Sack) -> (u32, Packet) {
        let rewrite = PlacedMiddlebox { directions: [true, false], ..PlacedMiddlebox::new(RewriteSequence { sack }) };
        let mut bench = Bench::of([rewrite]);
        let passed = bench.up(Duration::ZERO, data(0, 100)).expect("it passes");
        let added = segment(&passed).sequence.wrapping_sub(segment(&data(0, 100)).sequence);
        assert!(added != 0 && segment(&passed).acknowledgment == segment(&data(0, 0)).acknowledgment);
        let answer = bench.down(Duration::ZERO, acknowledgment(&passed)).expect("it passes");
        assert_eq!(segment(&answer).sequence, segment(&data(0, 0)).sequence, "only one direction is changed");
        (added, answer)
    }

    #[test]
    fn the_sender_gets_acknowledgments_of_what_it_sent() {
        let (_, answer) = after_both_ways(Sack::Restored);
        assert_eq!(segment(&answer).acknowledgment, 1101);
        assert_eq!(segment(&answer).options.sack[0], SackBlock { left: 1111, right: 1121 });
    }

    #[test]
    fn blocks_of_sack_may_stay_as_the_receiver_wrote_them() {
        let (added, answer) = after_both_ways(Sack::Unchanged);
        assert_eq!(segment(&answer).acknowledgment, 1101);
        assert_eq!(segment(&answer).options.sack[0].left, added.wrapping_add(1111));
    }
}
