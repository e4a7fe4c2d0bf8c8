//! `count` and `arrivals`: a flow that stands for many.

use subflow_quantity::Duration;

use super::traffic::period;
use crate::file::{Problem, Section};
use crate::{Flow, FlowGroup, Period, SizeDistribution};

/// The maximum number of flows of a group: each has a port of its own.
const MOST_FLOWS: u64 = 50_000;

/// How many flows there are of one kind, and what is drawn for them.
pub(super) struct Numbers {
    /// `None` for one flow with the plain name.
    pub(super) count: Option<usize>,
    arrivals: Period,
    sizes: Option<SizeDistribution>,
}

impl Numbers {
    pub(super) fn read(section: &Section<'_>, sizes: Option<SizeDistribution>) -> Result<Self, Problem> {
        let count = section.given("count").map(|count| count.integer(1..=MOST_FLOWS)).transpose()?;
        let arrivals = match (section.given("arrivals"), count) {
            (Some(field), Some(_)) => period(&field)?,
            (Some(field), None) => {
                return Err(field
                    .problem("found the time between flows, and one flow")
                    .label("not for one flow")
                    .help("say how many flows there are: count = 100"));
            }
            (None, _) => Period::Constant(Duration::ZERO),
        };
        if let (Some(port), Some(_)) = (section.given("port"), count) {
            return Err(port
                .problem("found one port, and count: every flow needs a port of its own")
                .label("one port for many flows")
                .help("drop the port; flows without one have ports of their own"));
        }
        if let (Some(stop), Some(_)) = (section.given("stop"), section.given("arrivals")) {
            return Err(stop
                .problem("found the time at which a flow stops, and flows that start at different times")
                .label("before the start of some flows")
                .help("give the time for which each flow sends: duration = \"10 s\""));
        }
        Ok(Self { count: count.map(|count| count as usize), arrivals, sizes })
    }

    /// The flows that `first` stands for, from `index` on, and what is drawn for them in each run. Until then they have
    /// the means. `port` is the port of the flow with an index.
    pub(super) fn flows(
        self,
        first: Flow,
        index: usize,
        mut port: impl FnMut(usize) -> Result<u16, Problem>,
    ) -> Result<(Vec<Flow>, Option<FlowGroup>), Problem> {
        let is_drawn = self.count.is_some() || self.sizes.is_some();
        let count = self.count.unwrap_or(1);
        let group = is_drawn.then(|| FlowGroup {
            name: first.name.clone(),
            flows: index..index + count,
            start: first.start,
            arrivals: self.arrivals,
            sizes: self.sizes,
        });
        if self.count.is_none() {
            return Ok((vec![first], group));
        }
        let mut flows = Vec::new();
        for number in 0..count {
            let mut flow = first.clone();
            let later = self.arrivals.mean().saturating_mul(number as u64);
            flow.group = Some(std::mem::replace(&mut flow.name, format!("{}.{}", first.name, number + 1)));
            flow.start = first.start.saturating_add(later);
            flow.stop = first.stop.map(|stop| stop.saturating_add(later));
            if number > 0 {
                flow.port = port(index + number)?;
            }
            flows.push(flow);
        }
        Ok((flows, group))
    }
}
