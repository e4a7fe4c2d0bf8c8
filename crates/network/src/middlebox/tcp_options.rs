//! `strip-option` and `drop-option`: TCP options that do not arrive, and segments that do not because of one.

use subflow_policy::catalogue::{Attribute, Catalogued, Choice, Description};
use subflow_wire::tcp::TcpFlags;
use subflow_wire::tcp::mptcp::MptcpOption;
use subflow_wire::{Body, Packet, TcpSegment};

use super::{Fate, Interference, Passage};

/// A TCP option, or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TcpOption {
    AllOfMptcp,
    MpCapable,
    MpJoin,
    AddAddress,
    Dss,
    Sack,
    Timestamps,
    WindowScale,
}

const TCP_OPTIONS: [Choice<TcpOption>; 8] = [
    Choice::new("mptcp", TcpOption::AllOfMptcp, "every option of MPTCP").source("RFC 8684"),
    Choice::new("mp-capable", TcpOption::MpCapable, "MP_CAPABLE").source("RFC 8684, section 3.1"),
    Choice::new("mp-join", TcpOption::MpJoin, "MP_JOIN").source("RFC 8684, section 3.2"),
    Choice::new("add-addr", TcpOption::AddAddress, "ADD_ADDR and its echo").source("RFC 8684, section 3.4.1"),
    Choice::new("dss", TcpOption::Dss, "the Data Sequence Signal").source("RFC 8684, section 3.3"),
    Choice::new("sack", TcpOption::Sack, "SACK-permitted and SACK").source("RFC 2018"),
    Choice::new("timestamps", TcpOption::Timestamps, "Timestamps").source("RFC 7323, section 3"),
    Choice::new("window-scale", TcpOption::WindowScale, "Window Scale").source("RFC 7323, section 2"),
];

/// The segments on which an option is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Segments {
    All,
    Syn,
    SynAck,
    Data,
}

const SEGMENTS: [Choice<Segments>; 4] = [
    Choice::new("all", Segments::All, "all segments"),
    Choice::new("syn", Segments::Syn, "SYN and SYN/ACK"),
    Choice::new("syn-ack", Segments::SynAck, "SYN/ACK"),
    Choice::new("data", Segments::Data, "segments without SYN, with data or not"),
];

impl Segments {
    fn include(self, segment: &TcpSegment) -> bool {
        let is_syn = segment.flags.contains(TcpFlags::SYN);
        match self {
            Self::All => true,
            Self::Syn => is_syn,
            Self::SynAck => is_syn && segment.flags.contains(TcpFlags::ACK),
            Self::Data => !is_syn,
        }
    }
}

/// An option on some segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OptionFilter {
    option: TcpOption,
    on: Segments,
}

impl Default for OptionFilter {
    fn default() -> Self {
        Self { option: TcpOption::AllOfMptcp, on: Segments::All }
    }
}

impl OptionFilter {
    /// The segment, if it is one of those on which the option is looked for.
    fn segment<'a>(&self, packet: &'a mut Packet) -> Option<&'a mut TcpSegment> {
        match &mut packet.body {
            Body::Tcp(segment) => self.on.include(segment).then_some(segment),
            Body::Udp(_) | Body::Sctp(_) | Body::Quic(_) => None,
        }
    }

    /// Removes the option, and returns whether it was there.
    fn remove(&self, packet: &mut Packet) -> bool {
        let Some(TcpSegment { options, .. }) = self.segment(packet) else { return false };
        let mut retain = |keeps: fn(&MptcpOption) -> bool| {
            let before = options.mptcp.len();
            options.mptcp.retain(keeps);
            before != options.mptcp.len()
        };
        match self.option {
            TcpOption::AllOfMptcp => retain(|_| false) | options.dss.take().is_some(),
            TcpOption::MpCapable => retain(|option| !matches!(option, MptcpOption::Capable(_))),
            TcpOption::MpJoin => retain(|option| !matches!(option, MptcpOption::Join(_))),
            TcpOption::AddAddress => retain(|option| !matches!(option, MptcpOption::AddAddress(_))),
            TcpOption::Dss => options.dss.take().is_some(),
            TcpOption::Sack => {
                let had_blocks = !options.sack.is_empty();
                options.sack.clear();
                core::mem::take(&mut options.syn.sack_permitted) || had_blocks
            }
            TcpOption::Timestamps => options.timestamps.take().is_some(),
            TcpOption::WindowScale => options.syn.window_scale.take().is_some(),
        }
    }
}

/// A middlebox that looks for a TCP option.
trait Filtering: 'static {
    fn filter(&self) -> &OptionFilter;
    fn filter_mut(&mut self) -> &mut OptionFilter;
}

const fn filter_options<T: Filtering>() -> [Attribute<T>; 2] {
    [
        Attribute::name(
            "option",
            "the TCP option",
            || Choice::descriptions(&TCP_OPTIONS),
            |of: &T| Choice::name_of(&TCP_OPTIONS, of.filter().option),
            |of, name| of.filter_mut().option = Choice::find(&TCP_OPTIONS, name).unwrap_or(of.filter().option),
        )
        .required(),
        Attribute::name(
            "on",
            "the segments on which it looks for the option",
            || Choice::descriptions(&SEGMENTS),
            |of: &T| Choice::name_of(&SEGMENTS, of.filter().on),
            |of, name| of.filter_mut().on = Choice::find(&SEGMENTS, name).unwrap_or(of.filter().on),
        ),
    ]
}

/// A middlebox that removes a TCP option, and forwards the segment without it.
///
/// Honda et al. saw options that they had put on SYNs and on data segments removed, on some paths from both and on some
/// from SYNs only: a device that normalises traffic, or a proxy that does not know the option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StripOption(OptionFilter);

impl Catalogued for StripOption {
    const DESCRIPTION: Description = Description {
        name: "strip-option",
        aliases: &[],
        summary: "removes a TCP option from segments",
        source: "Honda et al., Is it still possible to extend TCP?, IMC 2011",
    };

    const OPTIONS: &'static [Attribute<Self>] = &filter_options();
}

impl Filtering for StripOption {
    fn filter(&self) -> &OptionFilter {
        &self.0
    }

    fn filter_mut(&mut self) -> &mut OptionFilter {
        &mut self.0
    }
}

impl Interference for StripOption {
    fn process(&mut self, packet: &mut Packet, _: &mut Passage<'_>) -> Fate {
        self.0.remove(packet);
        Fate::Pass
    }
}

/// A middlebox that drops segments with a TCP option: a firewall that lets nothing pass that it does not know.
///
/// A client that repeats such a SYN without the option after some time-outs is served all the same, later: Linux sends
/// MP_CAPABLE on the first SYNs only (`net.mptcp.syn_retrans_before_tcp_fallback`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DropOption(OptionFilter);

impl Catalogued for DropOption {
    const DESCRIPTION: Description = Description {
        name: "drop-option",
        aliases: &[],
        summary: "drops segments with a TCP option",
        source: "Honda et al., Is it still possible to extend TCP?, IMC 2011",
    };

    const OPTIONS: &'static [Attribute<Self>] = &filter_options();
}

impl Filtering for DropOption {
    fn filter(&self) -> &OptionFilter {
        &self.0
    }

    fn filter_mut(&mut self) -> &mut OptionFilter {
        &mut self.0
    }
}

impl Interference for DropOption {
    fn process(&mut self, packet: &mut Packet, _: &mut Passage<'_>) -> Fate {
        if self.0.remove(packet) { Fate::Drop } else { Fate::Pass }
    }
}

#[cfg(test)]
mod tests {
    use subflow_policy::catalogue::{Catalogue, Value};
    use subflow_quantity::Duration;

    use super::super::test_packets::{Bench, data, segment, syn};
    use super::super::{Middlebox, PlacedMiddlebox};
    use super::*;

    #[test]
    fn an_option_is_removed_once_and_no_other_with_it() {
        let lengths = TCP_OPTIONS.map(|choice| {
            let filter = OptionFilter { option: choice.value, on: Segments::All };
            let mut packet = syn();
            let removed = filter.remove(&mut packet);
            assert!(!filter.remove(&mut packet), "{}", choice.description.name);
            (removed, segment(&packet).options.wire_length())
        });
        // MSS 4, SACK-permitted with Timestamps 12, Window Scale 4, MP_CAPABLE 4.
        let expected =
            [(true, 20), (true, 20), (false, 24), (false, 24), (false, 24), (true, 24), (true, 16), (true, 20)];
        assert_eq!(lengths, expected);
    }

    #[test]
    fn the_kind_of_segment_decides() {
        let timestamps = |on| OptionFilter { option: TcpOption::Timestamps, on };
        let mut answer = syn();
        if let Body::Tcp(segment) = &mut answer.body {
            segment.flags |= TcpFlags::ACK;
        }
        let mut with_data = data(0, 10);
        if let Body::Tcp(with_data) = &mut with_data.body {
            with_data.options.timestamps = segment(&answer).options.timestamps;
        }
        let removed = |packet: &Packet| SEGMENTS.map(|on| timestamps(on.value).remove(&mut packet.clone()));
        assert_eq!(removed(&syn()), [true, true, false, false]);
        assert_eq!(removed(&answer), [true, true, true, false]);
        assert_eq!(removed(&with_data), [true, false, false, true]);
    }

    #[test]
    fn the_segment_goes_on_without_the_option() {
        let strip = Middlebox::from(StripOption::default()).with("option", Value::Name("timestamps"));
        let mut bench = Bench::of([PlacedMiddlebox::new(strip.expect("it takes it"))]);
        let passed = bench.up(Duration::ZERO, syn()).expect("it passes");
        assert_eq!(segment(&passed).options.timestamps, None);
        assert_eq!(segment(&passed).options.mptcp, segment(&syn()).options.mptcp);
    }

    #[test]
    fn a_segment_without_the_option_passes_unchanged() {
        let drops = Middlebox::from(DropOption::default()).with("option", Value::Name("mp-capable"));
        let mut bench = Bench::of([PlacedMiddlebox::new(drops.expect("it takes it"))]);
        assert_eq!(bench.up(Duration::ZERO, syn()), None);
        assert_eq!(bench.up(Duration::ZERO, data(0, 10)), Some(data(0, 10)));
    }
}
