//! `drop-option`: segments that do not arrive because of a TCP option.

use subflow_policy::catalogue::{Attribute, Catalogued, Choice, Description};
use subflow_wire::Packet;

use super::tcp_options::{OptionFilter, SEGMENTS, TCP_OPTIONS};
use super::{Fate, Interference, Passage};

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

    const OPTIONS: &'static [Attribute<Self>] = &[
        Attribute::name(
            "option",
            "the TCP option",
            || Choice::descriptions(&TCP_OPTIONS),
            |filter: &Self| Choice::name_of(&TCP_OPTIONS, filter.0.option),
            |filter, name| filter.0.option = Choice::find(&TCP_OPTIONS, name).unwrap_or(filter.0.option),
        )
        .required(),
        Attribute::name(
            "on",
            "the segments on which it looks for the option",
            || Choice::descriptions(&SEGMENTS),
            |filter: &Self| Choice::name_of(&SEGMENTS, filter.0.on),
            |filter, name| filter.0.on = Choice::find(&SEGMENTS, name).unwrap_or(filter.0.on),
        ),
    ];
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

    use super::super::test_packets::{Bench, data, syn};
    use super::super::{Middlebox, PlacedMiddlebox};
    use super::*;

    #[test]
    fn a_segment_without_the_option_passes_unchanged() {
        let drops = Middlebox::from(DropOption::default()).with("option", Value::Name("mp-capable"));
        let mut bench = Bench::of([PlacedMiddlebox::new(drops.expect("it takes it"))]);
        assert_eq!(bench.up(Duration::ZERO, syn()), None);
        assert_eq!(bench.up(Duration::ZERO, data(0, 10)), Some(data(0, 10)));
    }
}
