//! `default`: the initial subflow and those that the peer opens.

use subflow_quantity::Instant;

use crate::catalogue::{Catalogued, Description};

use super::{Command, Event, PathManager};

/// Opens nothing, announces nothing and closes nothing; joins of the peer are accepted, as the transport always does.
///
/// Source: lima2017, section 3.3.1; the `default` path manager of Linux MPTCP 0.9x.
#[derive(Clone, Debug, Default)]
pub struct Passive;

impl Catalogued for Passive {
    const DESCRIPTION: Description = Description {
        name: "default",
        aliases: &["passive"],
        summary: "no subflow beyond the initial one and those that the peer opens",
        source: "lima2017, section 3.3.1; Linux MPTCP 0.9x, default",
    };
}

impl PathManager for Passive {
    fn on_event(&mut self, _event: &Event, _now: Instant, _commands: &mut Vec<Command>) {}
}

#[cfg(test)]
mod tests {
    use super::super::test_events::{address, established_as_client};
    use super::*;

    #[test]
    fn it_never_returns_a_command() {
        let mut commands = Vec::new();
        for event in [
            Event::LocalAddressAdded(address(1, "10.0.1.1")),
            established_as_client(),
            Event::RemoteAddressAdded(address(1, "10.9.1.1")),
            Event::LocalAddressRemoved(address(1, "10.0.1.1")),
        ] {
            Passive.on_event(&event, Instant::ZERO, &mut commands);
        }
        assert_eq!(commands, []);
    }
}
