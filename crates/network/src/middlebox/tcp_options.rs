//! The TCP options that middleboxes look for, and the segments on which they do.

use subflow_policy::catalogue::Choice;
use subflow_wire::tcp::TcpFlags;
use subflow_wire::tcp::mptcp::MptcpOption;
use subflow_wire::{Body, Packet, TcpSegment};

/// A TCP option, or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TcpOption {
    Mptcp,
    MpCapable,
    MpJoin,
    AddAddress,
    Dss,
    Sack,
    Timestamps,
    WindowScale,
}

pub(super) const TCP_OPTIONS: [Choice<TcpOption>; 8] = [
    Choice::new("mptcp", TcpOption::Mptcp, "every option of MPTCP").source("RFC 8684"),
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
pub(super) enum Segments {
    All,
    Syn,
    SynAck,
    Data,
}

pub(super) const SEGMENTS: [Choice<Segments>; 4] = [
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
pub(super) struct OptionFilter {
    pub(super) option: TcpOption,
    pub(super) on: Segments,
}

impl Default for OptionFilter {
    fn default() -> Self {
        Self { option: TcpOption::Mptcp, on: Segments::All }
    }
}

impl OptionFilter {
    /// The segment, if it is one of those on which the option is looked for.
    fn segment<'a>(&self, packet: &'a mut Packet) -> Option<&'a mut TcpSegment> {
        match &mut packet.body {
            Body::Tcp(segment) => self.on.include(segment).then_some(segment),
            Body::Udp(_) | Body::Sctp(_) => None,
        }
    }

    /// Removes the option, and returns whether it was there.
    pub(super) fn remove(&self, packet: &mut Packet) -> bool {
        let Some(TcpSegment { options, .. }) = self.segment(packet) else { return false };
        let mut retain = |keeps: fn(&MptcpOption) -> bool| {
            let before = options.mptcp.len();
            options.mptcp.retain(keeps);
            before != options.mptcp.len()
        };
        match self.option {
            TcpOption::Mptcp => retain(|_| false) | options.dss.take().is_some(),
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

#[cfg(test)]
mod tests {
    use super::super::test_packets::{data, segment, syn};
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
}
