//! `split`: one segment becomes several.

use subflow_policy::catalogue::{Attribute, Catalogued, Choice, Description};
use subflow_wire::tcp::{TcpFlags, TcpOptions};
use subflow_wire::{Body, Packet, Payload, TcpSegment};

use super::{Fate, Interference, Passage};

/// A device that cuts TCP segments into smaller ones: segmentation offload in a router, or a proxy that sends what it
/// has received in segments of its own.
///
/// Offload copies all options to each piece, with the mapping of the whole segment: MPTCP allows that (RFC 8684, section
/// 3.3.1). A proxy writes options on the first piece only; the mapping is on that one, and covers the others, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// The most data that a segment has behind it, in bytes.
    pub size: u32,
    options: Options,
}

/// The pieces that have the options of the segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Options {
    #[default]
    Copied,
    First,
}

const OPTIONS: [Choice<Options>; 2] = [
    Choice::new("copied", Options::Copied, "each piece has them"),
    Choice::new("first", Options::First, "the first piece has them, the others have Timestamps only"),
];

impl Default for Split {
    fn default() -> Self {
        Self { size: 536, options: Options::Copied }
    }
}

impl Catalogued for Split {
    const DESCRIPTION: Description = Description {
        name: "split",
        aliases: &[],
        summary: "cuts TCP segments into smaller ones",
        source: "Honda et al., IMC 2011; Hesmans et al., HotMiddlebox 2013",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[
        Attribute::integer(
            "size",
            "the most data that a segment has afterwards, in bytes",
            [1, 65_535],
            |split| split.size.into(),
            |split, size| split.size = size as u32,
        ),
        Attribute::name(
            "options",
            "the pieces with the TCP options of the segment",
            || Choice::descriptions(&OPTIONS),
            |split| Choice::name_of(&OPTIONS, split.options),
            |split, name| split.options = Choice::find(&OPTIONS, name).unwrap_or_default(),
        ),
    ];
}

impl Split {
    /// The piece of `segment` with `length` bytes from `offset` on.
    fn piece(&self, segment: &TcpSegment, offset: u32, length: u32) -> TcpSegment {
        let whole = segment.payload;
        let is_last = offset + length == whole.length;
        let mut flags = segment.flags;
        if !is_last {
            flags = TcpFlags(flags.0 & !(TcpFlags::FIN | TcpFlags::PSH).0);
        }
        if offset > 0 {
            flags = TcpFlags(flags.0 & !TcpFlags::CWR.0);
        }
        let options = match self.options {
            Options::First if offset > 0 => {
                TcpOptions { timestamps: segment.options.timestamps, ..TcpOptions::default() }
            }
            _ => segment.options.clone(),
        };
        // Real bytes are summed up where they are delivered; the sum of simulated ones is 0.
        let payload = Payload { stream_offset: whole.stream_offset + u64::from(offset), length, sum: 0 };
        TcpSegment { sequence: segment.sequence.wrapping_add(offset), flags, options, payload, ..segment.clone() }
    }
}

impl Interference for Split {
    fn process(&mut self, packet: &mut Packet, passage: &mut Passage<'_>) -> Fate {
        let Body::Tcp(segment) = &packet.body else { return Fate::Pass };
        let length = segment.payload.length;
        if length <= self.size || segment.flags.contains(TcpFlags::SYN) {
            return Fate::Pass;
        }
        let mut offset = 0;
        while offset < length {
            let part = self.size.min(length - offset);
            let body = Body::Tcp(self.piece(segment, offset, part));
            passage.send_onward(Packet { ip: packet.ip, body });
            offset += part;
        }
        Fate::Replace
    }
}

#[cfg(test)]
mod tests {
    use subflow_quantity::Duration;
    use subflow_wire::tcp::Timestamps;
    use subflow_wire::tcp::mptcp::{DataAck, Dss};

    use super::super::PlacedMiddlebox;
    use super::super::test_packets::{Bench, data, datagram, segment, syn};
    use super::*;

    /// A segment of 1000 bytes with PSH, Timestamps and a DSS.
    fn whole() -> Packet {
        let mut packet = data(0, 1000);
        if let Body::Tcp(segment) = &mut packet.body {
            segment.flags |= TcpFlags::PSH;
            segment.options.timestamps = Some(Timestamps { value: 1, echo: 2 });
            let data_ack = Some(DataAck { value: 7, wide: false });
            segment.options.dss = Some(Dss { data_ack, ..Dss::default() });
        }
        packet
    }

    fn pieces(options: Options) -> Vec<Packet> {
        let mut bench = Bench::of([PlacedMiddlebox::new(Split { size: 400, options })]);
        assert_eq!(bench.up(Duration::ZERO, whole()), None);
        bench.outcome.onward
    }

    #[test]
    fn the_pieces_are_the_segment_one_after_the_other() {
        let pieces = pieces(Options::Copied);
        let of = |packet: &Packet| {
            let TcpSegment { sequence, payload, flags, .. } = segment(packet);
            (*sequence, payload.stream_offset, payload.length, flags.contains(TcpFlags::PSH))
        };
        let expected = [(1001, 0, 400, false), (1401, 400, 400, false), (1801, 800, 200, true)];
        assert_eq!(pieces.iter().map(of).collect::<Vec<_>>(), expected);
        assert!(pieces.iter().all(|piece| segment(piece).options == segment(&whole()).options));
    }

    #[test]
    fn a_proxy_keeps_the_options_on_the_first_piece_only() {
        let has_dss: Vec<bool> =
            pieces(Options::First).iter().map(|piece| segment(piece).options.dss.is_some()).collect();
        assert_eq!(has_dss, [true, false, false]);
        assert!(pieces(Options::First).iter().all(|piece| segment(piece).options.timestamps.is_some()));
    }

    #[test]
    fn what_is_small_or_no_data_of_tcp_passes_whole() {
        let mut bench = Bench::of([PlacedMiddlebox::new(Split { size: 90, ..Split::default() })]);
        for packet in [syn(), datagram(), data(0, 90)] {
            assert_eq!(bench.up(Duration::ZERO, packet.clone()), Some(packet));
        }
    }
}
