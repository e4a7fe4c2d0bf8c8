//! Exchanges that wait for exchanges of other flows, which is how the connections of a page depend on each other.

use std::collections::BTreeMap;

use subflow_scenario::Scenario;

/// Which exchanges wait for an exchange: flows and places in their lists, by flow and place.
#[derive(Debug, Default)]
pub(super) struct Waiting(BTreeMap<(usize, usize), Vec<(usize, usize)>>);

impl Waiting {
    /// Of all flows of a scenario, which has been checked: each exchange that another waits for exists.
    pub(super) fn of(scenario: &Scenario) -> Self {
        let planned =
            || scenario.flows.iter().enumerate().filter_map(|(at, flow)| Some((at, flow.planned_exchanges()?)));
        let places: BTreeMap<&str, usize> = planned().map(|(at, _)| (scenario.flows[at].name.as_str(), at)).collect();
        let mut waiting: BTreeMap<(usize, usize), Vec<(usize, usize)>> = BTreeMap::new();
        for (flow, exchanges) in planned() {
            for (exchange, planned) in exchanges.iter().enumerate() {
                for after in &planned.after {
                    if let Some(&other) = places.get(after.flow.as_str()) {
                        waiting.entry((other, after.exchange)).or_default().push((flow, exchange));
                    }
                }
            }
        }
        Self(waiting)
    }

    /// Whether no exchange waits for another.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those that wait for `exchange` of `flow`.
    pub(super) fn for_exchange(&self, flow: usize, exchange: usize) -> &[(usize, usize)] {
        self.0.get(&(flow, exchange)).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use subflow_scenario::file::Document;

    use super::*;
    use crate::simulate::{RunOptions, simulate};

    /// A page of two connections to servers 10 ms away, over links that need no time for data.
    const PAGE: &str = r#"
duration = "2 s"
hosts = { client = ["eth"], near = ["eth"], cdn = ["eth"] }
routers = { isp = {} }
[links.client]
between = ["client", "isp"]
rate = "10 Gbit/s"
delay = "0 ms"
[links.near]
between = ["near", "isp"]
rate = "10 Gbit/s"
delay = "10 ms"
[links.cdn]
between = ["cdn", "isp"]
rate = "10 Gbit/s"
delay = "10 ms"
[flows.page]
from = "client"
to = "near"
tcp = { nagle = false }
exchanges = [
    { response = "1 kB", wait = "30 ms" },
    { response = "2 kB", wait = "40 ms" },
    { response = "3 kB", after = "page.1", pause = "5 ms" },
]
[flows.assets]
from = "client"
to = "cdn"
tcp = { nagle = false }
exchanges = [{ response = "4 kB", after = "page.1", pause = "100 ms" }, { response = "5 kB", after = "page.3" }]
"#;

    fn scenario() -> Scenario {
        let document = Document::parse(Path::new("page.toml"), PAGE.to_owned()).expect("it is TOML");
        Scenario::read(&document).expect("a good page")
    }

    #[test]
    fn exchanges_are_found_by_what_they_wait_for() {
        let waiting = Waiting::of(&scenario());
        assert_eq!(waiting.for_exchange(0, 0), [(0, 1), (0, 2), (1, 0)]);
        assert_eq!(waiting.for_exchange(0, 2), [(1, 1)]);
        assert!(waiting.for_exchange(1, 0).is_empty() && !waiting.is_empty());
    }

    #[test]
    fn a_page_is_loaded_as_it_is_computed_by_hand() {
        let run = simulate(&scenario(), 1, &RunOptions::default()).expect("it runs");
        let times: Vec<(usize, u64, u64, u64)> = run
            .exchanges
            .iter()
            .map(|it| {
                let ms = |seconds: f64| (seconds * 1e3).round() as u64;
                (it.flow, it.number, ms(it.start_s), ms(it.end_s.expect("complete")))
            })
            .collect();
        // The handshake takes 20 ms, the first exchange a round trip and 30 ms. The second one waits for it, and 40 ms at
        // the server; the third one goes 5 ms later, and its response passes that of the second. The other server's
        // connection is opened when its first request is due: the third exchange is complete at 95 ms, so the fifth one
        // is the first there.
        let expected = [(0, 1, 20, 70), (0, 3, 75, 95), (0, 2, 70, 130), (1, 2, 115, 135), (1, 1, 170, 190)];
        assert_eq!(times, expected);
        let completed: Vec<_> =
            run.flows.iter().map(|flow| (flow.completion_s.expect("complete") * 1e3).round()).collect();
        assert_eq!(completed, [130.0, 190.0]);
    }
}
