//! Flows.

use subflow_quantity::{Duration, Rate, Size};

use super::{Options, ScenarioValue};

/// A flow in the making.
#[derive(Clone, Debug)]
pub struct FlowBuilder(pub(super) Options);

impl FlowBuilder {
    /// A TCP connection from one host, or interface, to another.
    pub fn tcp(from: &str, to: &str) -> Self {
        Self::of("tcp", from, to)
    }

    /// An MPTCP connection.
    pub fn mptcp(from: &str, to: &str) -> Self {
        Self::of("mptcp", from, to)
    }

    /// An SCTP association.
    pub fn sctp(from: &str, to: &str) -> Self {
        Self::of("sctp", from, to)
    }

    /// A QUIC connection over several paths.
    pub fn mpquic(from: &str, to: &str) -> Self {
        Self::of("mpquic", from, to)
    }

    /// A QUIC connection.
    pub fn quic(from: &str, to: &str) -> Self {
        Self::of("quic", from, to)
    }

    /// UDP packets at a constant rate; `set("on_off", …)` adds pauses.
    pub fn udp(from: &str, to: &str, rate: Rate) -> Self {
        Self::of("udp", from, to).set("on_off", Options::new().set("rate", rate))
    }

    fn of(protocol: &str, from: &str, to: &str) -> Self {
        Self(Options::new()).set("from", from).set("to", to).set("protocol", protocol)
    }

    /// Sets any key of a flow, such as `subflows` or `tcp`.
    #[must_use]
    pub fn set(self, key: &str, value: impl ScenarioValue) -> Self {
        Self(self.0.set(key, value))
    }

    /// The congestion control: a name, or [`Options::of`] one.
    #[must_use]
    pub fn congestion(self, congestion: impl ScenarioValue) -> Self {
        self.set("congestion", congestion)
    }

    /// The packet scheduler.
    #[must_use]
    pub fn scheduler(self, scheduler: impl ScenarioValue) -> Self {
        self.set("scheduler", scheduler)
    }

    /// The path manager.
    #[must_use]
    pub fn path_manager(self, path_manager: impl ScenarioValue) -> Self {
        self.set("path_manager", path_manager)
    }

    /// The amount to send. Without it, and without requests, a flow sends without end.
    #[must_use]
    pub fn send(self, size: Size) -> Self {
        self.set("send", size)
    }

    /// Requests, responses of a size, and pauses between them.
    #[must_use]
    pub fn requests(self, response: Size, think: Duration) -> Self {
        self.set("requests", Options::new().set("response", response).set("think", think))
    }

    /// When the connection is opened.
    #[must_use]
    pub fn start(self, start: Duration) -> Self {
        self.set("start", start)
    }

    /// When sending ends.
    #[must_use]
    pub fn stop(self, stop: Duration) -> Self {
        self.set("stop", stop)
    }

    /// So many flows of this kind.
    #[must_use]
    pub fn count(self, count: u32) -> Self {
        self.set("count", count)
    }

    /// The flows of a group arrive as a Poisson process, with this mean time between them; without a count until the end
    /// of the run.
    #[must_use]
    pub fn poisson_arrivals(self, mean: Duration) -> Self {
        self.set("arrivals", Options::new().set("exponential", mean))
    }
}
