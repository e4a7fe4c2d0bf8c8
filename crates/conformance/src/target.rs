//! What a script runs against.

use subflow_quantity::{Duration, Instant};
use subflow_scenario::file::Problem;
use subflow_transport::Change;
use subflow_wire::Packet;
use subflow_wire::icmp::IcmpError;

use crate::act::Act;
use crate::application;
use crate::packet::{self, Arriving};
use crate::script::Path;
use crate::world::World;

/// A host under test: our stack in virtual time, or a kernel.
pub(crate) trait Target {
    /// The time since the start.
    fn now(&self) -> Instant;

    /// By how much a packet that is waited for so long may be early or late, in addition to what the script says.
    fn slack(&self, wait: Duration) -> Duration;

    /// Lets time pass until `until`, or until a packet leaves.
    fn advance(&mut self, until: Instant);

    /// The next packet that left, with its time.
    fn next_left(&mut self) -> Option<(Instant, Packet)>;

    /// Why the run cannot go on, if it cannot.
    fn defect(&self) -> Option<Problem>;

    /// A packet of the peer on `path`, or an ICMP error, arrives.
    fn arrive(&mut self, path: &Path, arriving: &Arriving) -> Result<(), String>;

    /// The application or the host does what `verb` says.
    fn act(&mut self, act: &Act<'_>, verb: &str) -> Result<(), Problem>;

    /// An option of the latest connection changes. Returns whether there is one.
    fn change(&mut self, change: Change) -> bool;
}

/// Our stack, in virtual time.
impl Target for World {
    fn now(&self) -> Instant {
        self.now
    }

    fn slack(&self, _wait: Duration) -> Duration {
        Duration::ZERO
    }

    fn advance(&mut self, until: Instant) {
        self.let_time_pass(until);
    }

    fn next_left(&mut self) -> Option<(Instant, Packet)> {
        self.left.pop_front()
    }

    fn defect(&self) -> Option<Problem> {
        let defect = self.defect.as_ref()?;
        Some(Problem::nowhere(defect.clone()).help("this is a defect of the stack"))
    }

    fn arrive(&mut self, _path: &Path, arriving: &Arriving) -> Result<(), String> {
        match Packet::parse(&arriving.bytes) {
            Ok((packet, payload)) => {
                let packet = packet::parse_arriving(packet, &arriving.bytes[payload])?;
                self.host.handle_packet(self.now, &packet);
            }
            Err(_) if arriving.corrupt => {}
            Err(error) => match IcmpError::parse(&arriving.bytes) {
                Ok(Some(reported)) => {
                    self.host.handle_icmp(self.now, &reported);
                }
                _ => return Err(error.to_string()),
            },
        }
        self.drain();
        Ok(())
    }

    fn act(&mut self, act: &Act<'_>, verb: &str) -> Result<(), Problem> {
        application::perform(act, verb, self)
    }

    fn change(&mut self, change: Change) -> bool {
        let now = self.now;
        let known = self.endpoint_mut().is_some_and(|endpoint| endpoint.change(change, now));
        self.drain();
        known
    }
}
