//! Distributions of a flow's delays: of its data, and of the RTT samples of its sender.

use subflow_quantity::Duration;
use subflow_transport::tcp::Ends;

use crate::results::Latency;
use crate::statistics::DurationSummary;

/// The durations that a distribution keeps exactly. There may be thousands of subflows.
const KEPT: usize = 1 << 12;

/// The delays of one flow.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FlowDelays {
    /// From the first transmission of data until it could be read, where that is not in
    /// [`at_once`](SubflowDelays::at_once).
    to_reader: DurationSummary,
    /// The part of it after the arrival, where that is not zero: the data waited for earlier data.
    reassembly: DurationSummary,
    /// How often it was zero.
    without_waiting: u64,
    /// The subflows that have carried data, in the order of their first data; ends as seen by the sender.
    subflows: Vec<(Ends, SubflowDelays)>,
}

/// The delays of one subflow.
#[derive(Clone, Debug, PartialEq)]
struct SubflowDelays {
    /// From the transmission of data until it arrived and could be read; of data that was sent once. Most data is such:
    /// its one-way delay is also its delay to the reader, and is kept once.
    at_once: DurationSummary,
    /// From the transmission of data until it arrived; of other data that was sent once.
    one_way: DurationSummary,
    /// The RTT samples of the sender.
    rtt: DurationSummary,
}

impl Default for FlowDelays {
    fn default() -> Self {
        let [to_reader, reassembly] = core::array::from_fn(|_| DurationSummary::keeping(KEPT));
        Self { to_reader, reassembly, without_waiting: 0, subflows: Vec::new() }
    }
}

impl FlowDelays {
    /// Adds a subflow; its number is the next one.
    pub(super) fn add_subflow(&mut self, ends: Ends) {
        let [at_once, one_way, rtt] = core::array::from_fn(|_| DurationSummary::keeping(KEPT));
        self.subflows.push((ends, SubflowDelays { at_once, one_way, rtt }));
    }

    /// Data that was sent once has arrived on a subflow, `delay` after that, and could be read.
    #[inline]
    pub(super) fn on_read_at_once(&mut self, subflow: usize, delay: Duration) {
        self.without_waiting += 1;
        self.subflows[subflow].1.at_once.add(delay);
    }

    /// Other data could be read `delay` after its first transmission, and `waited` after its arrival.
    pub(super) fn on_readable(&mut self, delay: Duration, waited: Duration) {
        self.to_reader.add(delay);
        match waited.is_zero() {
            true => self.without_waiting += 1,
            false => self.reassembly.add(waited),
        }
    }

    /// Data that was sent once has arrived on a subflow, and cannot be read yet.
    #[inline]
    pub(super) fn on_arrived(&mut self, subflow: usize, delay: Duration) {
        self.subflows[subflow].1.one_way.add(delay);
    }

    /// The sender has measured RTTs on a subflow.
    pub(super) fn on_rtts(&mut self, subflow: usize, samples: &[Duration]) {
        self.subflows[subflow].1.rtt.add_many(samples);
    }

    /// The delay from the first transmission to the reader, and the part of it after the arrival.
    pub(crate) fn of_flow(&self) -> [Option<Latency>; 2] {
        let at_once = self.subflows.iter().map(|(_, subflow)| &subflow.at_once);
        let to_reader = DurationSummary::joined(&self.to_reader, at_once);
        let mut reassembly = self.reassembly.clone();
        reassembly.add_zeros(self.without_waiting);
        [Latency::of_all(to_reader), Latency::of_all(reassembly)]
    }

    /// The one-way delay and the RTT of the subflow whose packets had these ends.
    pub(crate) fn of_subflow(&self, ends: impl Iterator<Item = Ends> + Clone) -> [Option<Latency>; 2] {
        let mut known = self.subflows.iter().filter(|(known, _)| ends.clone().any(|of| of == *known)).map(|(_, of)| of);
        let Some(SubflowDelays { at_once, one_way, rtt }) = known.next() else { return [None, None] };
        let others: Vec<&SubflowDelays> = known.collect();
        let delays = others.iter().flat_map(|of| [&of.at_once, &of.one_way]);
        let one_way = DurationSummary::joined(one_way, core::iter::once(at_once).chain(delays));
        let rtt = DurationSummary::joined(rtt, others.iter().map(|of| &of.rtt));
        [Latency::of_all(one_way), Latency::of_all(rtt)]
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use subflow_scenario::Scenario;
    use subflow_scenario::file::Document;

    use crate::results::{FlowResult, Latency, RunResult};
    use crate::simulate::{RunOptions, simulate};

    /// A run with a flow over a link of 8 Mbit/s and 20 ms each way.
    fn run(link: &str, flow: &str) -> RunResult {
        let text = format!(
            "duration = \"10 s\"\nwarm_up = \"2 s\"\n[hosts]\na = [\"x\"]\nb = [\"x\"]\n\
             [links.l]\nbetween = [\"a\", \"b\"]\nrate = \"8 Mbit/s\"\ndelay = \"20 ms\"\n{link}\n\
             [flows.f]\nfrom = \"a\"\nto = \"b\"\n{flow}\n"
        );
        let document = Document::parse(Path::new("delays.toml"), text).expect("TOML");
        let scenario = Scenario::read(&document).expect("a valid scenario");
        simulate(&scenario, 1, &RunOptions { series: true, ..RunOptions::default() }).expect("it runs")
    }

    fn all(flow: &FlowResult) -> [Latency; 4] {
        let subflow = &flow.subflows[0];
        [flow.delay, flow.reassembly_delay, subflow.one_way_delay, subflow.rtt].map(|delay| delay.expect("samples"))
    }

    #[test]
    fn without_losses_a_segment_takes_the_link_and_nothing_waits_for_it() {
        // 10 kB never fill the path of 40 kB: there is no queue but that of the segments before.
        for flow in ["protocol = \"tcp\"", "protocol = \"mptcp\"", "protocol = \"sctp\""] {
            let result = run("", &format!("{flow}\nrequests = {{ response = \"10 kB\" }}"));
            let [delay, reassembly, one_way, rtt] = all(&result.flows[0]);
            // 1500 bytes take 1.5 ms, and up to seven of them are sent at once.
            assert!((21.4..31.0).contains(&one_way.p50_ms), "{flow}: {one_way:?}");
            assert_eq!((delay.p50_ms, reassembly.p99_ms), (one_way.p50_ms, 0.0), "{flow}");
            assert!((41.4..54.0).contains(&rtt.p50_ms), "{flow}: {rtt:?}");
        }
    }

    #[test]
    fn a_retransmission_counts_for_the_reader_and_not_as_a_one_way_delay() {
        let result = run("loss = \"1 %\"\nqueue = \"unlimited\"", "protocol = \"tcp\"");
        let [delay, reassembly, one_way, rtt] = all(&result.flows[0]);
        assert!(result.flows[0].retransmissions > 10);
        assert!(one_way.samples < delay.samples && rtt.samples > 100);
        // A lost segment takes at least a further round trip, and the data behind it waits for it.
        assert!(delay.p99_ms > one_way.p99_ms + 30.0 && reassembly.p99_ms > 30.0, "{delay:?} {one_way:?}");
    }

    #[test]
    fn the_warm_up_does_not_count() {
        let result = run("", "protocol = \"tcp\"\nsend = \"100 kB\"");
        assert_eq!((result.flows[0].delay, result.flows[0].subflows[0].rtt), (None, None));
        assert!(result.flows[0].completion_s.is_some());
    }
}
