//! Requests with their responses, and pauses of the application, as `exchanges` of a flow.

use subflow_quantity::{Duration, Size};
use subflow_scenario::builder::{FlowBuilder, Options};

use super::milliseconds;
use crate::exchanges::{ConnectionExchanges, SeenExchange};

/// Times that are none: delayed acknowledgments, and what queues took.
const SHORTEST_MS: f64 = 5.0;

impl ConnectionExchanges {
    /// The flow with the exchanges, if there were several.
    pub(super) fn of_flow(&self, flow: FlowBuilder, notes: &mut Vec<String>) -> Option<FlowBuilder> {
        if self.all.len() < 2 {
            return None;
        }
        let paused: f64 = self.all.iter().map(|it| it.pause as f64 / 1e9).sum();
        let [unasked, unanswered] = [0, 1].map(|end| self.all.iter().filter(|it| it.bytes[end] == 0).count());
        notes.push(format!(
            "{} requests and responses in turn, with pauses of {paused:.1} s in all; whether a request waited for the \
             response before is not told: here it does",
            self.all.len()
        ));
        if unasked > 0 {
            notes.push("the server sent without a request; here it is asked with a byte".to_owned());
        }
        if unanswered > 0 {
            notes.push(format!("{unanswered} times the client paused without a response; here that is a byte"));
        }
        let exchanges: Vec<Options> = self.all.iter().map(|exchange| self.options(exchange)).collect();
        Some(flow.set("exchanges", exchanges))
    }

    fn options(&self, exchange: &SeenExchange) -> Options {
        let [request, response] = exchange.bytes.map(|bytes| Size::from_bytes(bytes.max(1)));
        let options = Options::new().set("request", request).set("response", response);
        let wait = exchange.wait.and_then(|wait| told(wait.saturating_sub(self.round_trip)));
        let options = wait.map_or(options.clone(), |wait| options.set("wait", wait));
        told(exchange.pause).map_or(options.clone(), |pause| options.set("pause", pause))
    }
}

/// A time in nanoseconds, if it is long enough to be one of the application.
fn told(nanos: u64) -> Option<Duration> {
    let ms = nanos as f64 / 1e6;
    (ms >= SHORTEST_MS).then(|| milliseconds(ms / 1e3))
}
