//! Groups of flows: many flows of one kind, which start one after the other and send amounts of their own.

use std::borrow::Cow;
use std::ops::Range;

use subflow_network::stream;
use subflow_quantity::Duration;

use crate::{Flow, Period, Scenario, SizeDistribution, Traffic};

/// What is drawn at random for the flows of one `[flows.NAME]` in each run.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowGroup {
    /// The name in the scenario.
    pub name: String,
    /// The flows, by index into [`Scenario::flows`].
    pub flows: Range<usize>,
    /// When the first flow starts.
    pub start: Duration,
    /// The time from the start of a flow to that of the next one.
    pub arrivals: Period,
    /// What each flow sends, if that is drawn.
    pub sizes: Option<SizeDistribution>,
}

impl FlowGroup {
    /// Sets the start and the size of each of its flows. Starts and sizes have streams of random numbers of their own:
    /// with other sizes, the flows start at the same times.
    fn draw(&self, seed: u64, flows: &mut [Flow]) {
        let mut gaps = stream(seed, &format!("arrivals of {}", self.name));
        let mut sizes = stream(seed, &format!("sizes of {}", self.name));
        let mut start = self.start;
        for flow in flows {
            flow.stop = flow.stop.map(|stop| start.saturating_add(stop - flow.start));
            flow.start = start;
            start = start.saturating_add(self.arrivals.draw(&mut gaps));
            if let Some(distribution) = &self.sizes {
                flow.traffic = Traffic::Bulk { bytes: Some(distribution.draw(&mut sizes)) };
            }
        }
    }
}

impl Scenario {
    /// The scenario of the run with `seed`: with the starts and sizes of flows that are drawn for each run. Before,
    /// flows have the means.
    pub fn drawn(&self, seed: u64) -> Cow<'_, Self> {
        if self.groups.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut drawn = self.clone();
        for group in &self.groups {
            group.draw(seed, &mut drawn.flows[group.flows.clone()]);
        }
        Cow::Owned(drawn)
    }
}
