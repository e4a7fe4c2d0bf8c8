//! Links.

use subflow_quantity::{Duration, Probability, Rate};

use super::{Options, ScenarioValue};

/// A link in the making. Each property is for both directions, unless [`each`](Self::each) sets it.
#[derive(Clone, Debug)]
pub struct LinkBuilder(pub(super) Options);

impl LinkBuilder {
    /// A link between two ends, each a router, a host or a host's interface.
    pub fn between(first: &str, second: &str) -> Self {
        Self(Options::new()).set("between", [first, second])
    }

    /// Sets any key of a link, such as `jitter` or `overhead`.
    #[must_use]
    pub fn set(self, key: &str, value: impl ScenarioValue) -> Self {
        Self(self.0.set(key, value))
    }

    /// Sets a key for each direction: up is from the first end to the second.
    #[must_use]
    pub fn each(self, key: &str, up: impl ScenarioValue, down: impl ScenarioValue) -> Self {
        self.set(key, Options::new().set("up", up).set("down", down))
    }

    /// The rate of both directions; `set("rate", "unlimited")` and traces are other kinds.
    #[must_use]
    pub fn rate(self, rate: Rate) -> Self {
        self.set("rate", rate)
    }

    /// The propagation delay.
    #[must_use]
    pub fn delay(self, delay: Duration) -> Self {
        self.set("delay", delay)
    }

    /// The queue: its limit as [`Packets`](subflow_quantity::Packets), a size, a time or a
    /// [`Bdp`](subflow_quantity::Bdp), or [`Options`] with a discipline.
    #[must_use]
    pub fn queue(self, queue: impl ScenarioValue) -> Self {
        self.set("queue", queue)
    }

    /// The probability that a packet is lost; `set("loss", …)` takes other models.
    #[must_use]
    pub fn loss(self, probability: Probability) -> Self {
        self.set("loss", probability)
    }
}
