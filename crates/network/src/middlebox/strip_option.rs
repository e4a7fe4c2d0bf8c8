//! `strip-option`: a TCP option that does not arrive.

use subflow_policy::catalogue::{Attribute, Catalogued, Choice, Description};
use subflow_wire::Packet;

use super::tcp_options::{OptionFilter, SEGMENTS, TCP_OPTIONS};
use super::{Fate, Interference, Passage};

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

    const OPTIONS: &'static [Attribute<Self>] = &[
        Attribute::name(
            "option",
            "the TCP option",
            || Choice::descriptions(&TCP_OPTIONS),
            |strip: &Self| Choice::name_of(&TCP_OPTIONS, strip.0.option),
            |strip, name| strip.0.option = Choice::find(&TCP_OPTIONS, name).unwrap_or(strip.0.option),
        )
        .required(),
        Attribute::name(
            "on",
            "the segments on which it looks for the option",
            || Choice::descriptions(&SEGMENTS),
            |strip: &Self| Choice::name_of(&SEGMENTS, strip.0.on),
            |strip, name| strip.0.on = Choice::find(&SEGMENTS, name).unwrap_or(strip.0.on),
        ),
    ];
}

impl Interference for StripOption {
    fn process(&mut self, packet: &mut Packet, _: &mut Passage<'_>) -> Fate {
        self.0.remove(packet);
        Fate::Pass
    }
}

#[cfg(test)]
mod tests {
    use subflow_policy::catalogue::{Catalogue, Value};
    use subflow_quantity::Duration;

    use super::super::test_packets::{Bench, segment, syn};
    use super::super::{Middlebox, PlacedMiddlebox};
    use super::*;

    #[test]
    fn the_segment_goes_on_without_the_option() {
        let strip = Middlebox::from(StripOption::default()).with("option", Value::Name("timestamps"));
        let mut bench = Bench::of([PlacedMiddlebox::new(strip.expect("it takes it"))]);
        let passed = bench.up(Duration::ZERO, syn()).expect("it passes");
        assert_eq!(segment(&passed).options.timestamps, None);
        assert_eq!(segment(&passed).options.mptcp, segment(&syn()).options.mptcp);
    }
}
