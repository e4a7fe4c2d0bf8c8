//! What a script runs against.

use subflow_quantity::{Duration, Instant};
use subflow_scenario::file::Problem;
use subflow_transport::Change;
use subflow_wire::Packet;

use crate::application::Act;
use crate::script::Path;

/// Something that arrives, as bytes.
#[derive(Clone, Debug)]
pub(crate) struct Arriving {
    pub(crate) bytes: Vec<u8>,
    /// Whether its checksum is wrong on purpose.
    pub(crate) corrupt: bool,
}

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
