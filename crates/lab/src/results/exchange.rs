//! Single exchanges of a run: requests with their responses.

use serde::{Deserialize, Serialize};

use crate::statistics::{mean, quantile, share};

/// Figures of the requests and responses of a flow, or of all flows of a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Exchanges {
    /// Number of completed exchanges.
    pub completed: u64,
    /// Mean time from the request to the last byte of its response.
    #[serde(serialize_with = "crate::number::optional")]
    pub mean_ms: Option<f64>,
    /// Median of it.
    #[serde(serialize_with = "crate::number::optional")]
    pub median_ms: Option<f64>,
    /// 95th percentile of it.
    #[serde(serialize_with = "crate::number::optional")]
    pub p95_ms: Option<f64>,
    /// 99th percentile of it.
    #[serde(default, serialize_with = "crate::number::optional")]
    pub p99_ms: Option<f64>,
    /// The share of the exchanges that met their deadline, if there is one. Those that were under way at the end of the
    /// run count if they were late already.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "crate::number::optional")]
    pub in_time: Option<f64>,
}

/// One exchange of one flow in one run. Times are those at which the application asked and had read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExchangeResult {
    /// The flow, as an index into [`RunResult::flows`](super::RunResult::flows).
    pub flow: usize,
    /// The number of the exchange in its flow, from 1.
    pub number: u64,
    /// Seconds from the start of the run to the request.
    pub start_s: f64,
    /// The same to the first byte of the response; `None` if it had not arrived when the run ended.
    pub first_byte_s: Option<f64>,
    /// The same to its last byte; `None` likewise.
    pub end_s: Option<f64>,
    /// Bytes of the request.
    pub request_bytes: u64,
    /// Bytes of the response.
    pub bytes: u64,
    /// Whether it met its deadline, if it has one; `None` also if it was under way when the run ended, and not late yet.
    pub in_time: Option<bool>,
}

impl ExchangeResult {
    /// From the request to the last byte of the response, in milliseconds.
    pub fn duration_ms(&self) -> Option<f64> {
        Some((self.end_s? - self.start_s) * 1e3)
    }
}

/// The figures of those of `exchanges` that the flows with these indices have; `None` without any.
pub(super) fn figures_of(exchanges: &[ExchangeResult], flows: core::ops::Range<usize>) -> Option<Exchanges> {
    let all: Vec<&ExchangeResult> = exchanges.iter().filter(|exchange| flows.contains(&exchange.flow)).collect();
    let durations: Vec<f64> = all.iter().filter_map(|exchange| exchange.duration_ms()).collect();
    (!all.is_empty()).then(|| Exchanges {
        completed: durations.len() as u64,
        mean_ms: mean(&durations),
        median_ms: quantile(&durations, 0.5),
        p95_ms: quantile(&durations, 0.95),
        p99_ms: quantile(&durations, 0.99),
        in_time: share(all.iter().filter_map(|exchange| exchange.in_time)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_several_flows_are_those_of_all_their_exchanges() {
        let exchange = |flow, end_s, in_time| ExchangeResult { flow, end_s, in_time, ..ExchangeResult::default() };
        let exchanges = [
            exchange(0, Some(9.0), Some(false)),
            exchange(1, Some(0.1), Some(true)),
            exchange(1, None, None),
            exchange(2, Some(0.2), Some(true)),
            exchange(2, Some(0.6), Some(false)),
        ];
        let of = figures_of(&exchanges, 1..3).expect("they have exchanges");
        // Three durations, of 100, 200 and 600 ms: the median is one of them, the mean is 300 ms.
        assert_eq!((of.completed, of.median_ms), (3, Some(200.0)));
        assert!(of.mean_ms.is_some_and(|mean| (mean - 300.0).abs() < 1e-9));
        assert_eq!(of.in_time, Some(2.0 / 3.0));
        assert_eq!(figures_of(&exchanges, 3..9), None);
    }
}
