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
    /// The time from the start of a flow to that of the next one; `None` if the scenario has the start of each.
    pub arrivals: Option<Period>,
    /// What each flow sends, if that is drawn.
    pub sizes: Option<SizeDistribution>,
    /// The end of a group whose number of flows is drawn, too. Before that, it has its first flow only.
    pub open_end: Option<OpenEnd>,
}

/// The end of a group that goes on arriving.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenEnd {
    /// No flow starts at this time or later.
    pub until: Duration,
    /// Ports for its flows, more than flows come.
    pub ports: Vec<u16>,
}

impl FlowGroup {
    /// The flow with this number, counted from 0, of the group that `like` stands for or is part of.
    pub(crate) fn member(like: &Flow, number: usize, port: u16, start: Duration) -> Flow {
        let group = like.key().to_owned();
        let stop = like.stop.map(|stop| start.saturating_add(stop - like.start));
        Flow { name: format!("{group}.{}", number + 1), group: Some(group), port, start, stop, ..like.clone() }
    }

    /// Its flows in the run with `seed`; `flows` are those of the scenario. Starts and sizes have streams of random
    /// numbers of their own: with other sizes, the flows start at the same times.
    fn draw(&self, seed: u64, flows: &[Flow]) -> Vec<Flow> {
        let mut gaps = stream(seed, &format!("arrivals of {}", self.name));
        let mut sizes = stream(seed, &format!("sizes of {}", self.name));
        let mut start = self.start;
        let mut starts = std::iter::from_fn(|| {
            let this = start;
            start = start.saturating_add(self.arrivals?.draw(&mut gaps));
            Some(this)
        });
        let mut drawn: Vec<Flow> = match &self.open_end {
            None if self.arrivals.is_none() => flows.to_vec(),
            None => {
                let later = |flow: &Flow, start: Duration| {
                    let stop = flow.stop.map(|stop| start.saturating_add(stop - flow.start));
                    Flow { start, stop, ..flow.clone() }
                };
                flows.iter().zip(starts).map(|(flow, start)| later(flow, start)).collect()
            }
            Some(OpenEnd { until, ports }) => {
                let starts = starts.by_ref().take_while(|start| start < until);
                let members = ports.iter().zip(starts).enumerate();
                members.map(|(number, (port, start))| Self::member(&flows[0], number, *port, start)).collect()
            }
        };
        if let Some(distribution) = &self.sizes {
            for flow in &mut drawn {
                flow.traffic = Traffic::Bulk { bytes: Some(distribution.draw(&mut sizes)) };
            }
        }
        drawn
    }
}

impl Scenario {
    /// The scenario of the run with `seed`: with the starts, sizes and numbers of flows and the handovers that are drawn for
    /// each run. Before, they have the means.
    pub fn drawn(&self, seed: u64) -> Cow<'_, Self> {
        if self.groups.is_empty() && self.handovers.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut drawn = Self { flows: Vec::new(), ..self.clone() };
        drawn.draw_handovers(seed);
        let mut next = 0;
        for group in &mut drawn.groups {
            drawn.flows.extend_from_slice(&self.flows[next..group.flows.start]);
            next = group.flows.end;
            let first = drawn.flows.len();
            drawn.flows.extend(group.draw(seed, &self.flows[group.flows.clone()]));
            group.flows = first..drawn.flows.len();
        }
        drawn.flows.extend_from_slice(&self.flows[next..]);
        Cow::Owned(drawn)
    }
}
