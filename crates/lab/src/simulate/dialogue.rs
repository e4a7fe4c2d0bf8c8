//! What one end of a connection knows of requests and responses: which exchange is under way, and how much of both
//! streams the exchanges take until its end.

use subflow_scenario::{Exchange, ExchangeSizes};

/// The exchanges of a flow at one end. Both ends draw the same sizes.
#[derive(Clone, Debug)]
pub(super) struct Dialogue {
    sizes: ExchangeSizes,
    current: Exchange,
    /// Bytes of all requests, up to and with the current one.
    asked: u64,
    /// Bytes of all responses, likewise.
    answered: u64,
}

impl Dialogue {
    /// Before the first exchange.
    pub(super) fn new(mut sizes: ExchangeSizes) -> Self {
        let current = sizes.draw();
        Self { sizes, current, asked: current.request, answered: current.response }
    }

    /// The exchange under way, or the next one.
    pub(super) fn current(&self) -> Exchange {
        self.current
    }

    /// The end of its request in the stream of requests.
    pub(super) fn asked(&self) -> u64 {
        self.asked
    }

    /// The end of its response in the stream of responses.
    pub(super) fn answered(&self) -> u64 {
        self.answered
    }

    /// Goes on to the next exchange.
    pub(super) fn advance(&mut self) {
        self.current = self.sizes.draw();
        self.asked = self.asked.saturating_add(self.current.request);
        self.answered = self.answered.saturating_add(self.current.response);
    }
}
