//! `count`, `arrivals` and `until`: a flow that stands for many.

use subflow_quantity::Duration;

use super::traffic::period;
use crate::file::{Field, Problem, Section};
use crate::{Flow, FlowGroup, OpenEnd, Period, SizeDistribution};

/// The maximum number of flows of a group: each has a port of its own.
const MOST_FLOWS: u64 = 50_000;

/// How many flows there are of one kind, and what is drawn for them.
pub(super) struct Numbers {
    number: Number,
    arrivals: Period,
    sizes: Option<SizeDistribution>,
}

/// How many flows there are.
#[derive(Clone, Copy)]
enum Number {
    /// One with the plain name.
    One,
    /// So many.
    Count(usize),
    /// As many as arrive before a time, which are at most so many.
    Until { until: Duration, most: usize },
}

impl Numbers {
    /// What the flow in `section` stands for, in a run of `duration`; the first flow starts at `start`.
    pub(super) fn read(
        section: &Section<'_>,
        sizes: Option<SizeDistribution>,
        duration: Duration,
        start: Duration,
    ) -> Result<Self, Problem> {
        let count = section.given("count").map(|count| count.integer(1..=MOST_FLOWS)).transpose()?;
        let arrivals = section.given("arrivals");
        let until = section.given("until");
        let number = match (count, &arrivals, &until) {
            (None, Some(_), _) if section.given("pairs").is_some() => Number::One,
            (None, Some(arrivals), _) => open_end(arrivals, until.as_ref(), duration, start)?,
            (Some(_), _, Some(until)) => {
                return Err(until
                    .problem("found count and until, expected one of them")
                    .label("one too many")
                    .help("a group has a number of flows, or goes on arriving until a time"));
            }
            (None, None, Some(until)) => {
                return Err(until
                    .problem("found the time at which arrivals end, and no arrivals")
                    .label("not for one flow")
                    .help("say how flows arrive: arrivals = { exponential = \"100 ms\" }"));
            }
            (Some(count), _, None) => Number::Count(count as usize),
            (None, None, None) => Number::One,
        };
        if let (Some(port), false) = (section.given("port"), matches!(number, Number::One)) {
            return Err(port
                .problem("found one port for many flows: every flow needs a port of its own")
                .label("one port for many flows")
                .help("drop the port; flows without one have ports of their own"));
        }
        if let (Some(stop), Some(_)) = (section.given("stop"), &arrivals) {
            return Err(stop
                .problem("found the time at which a flow stops, and flows that start at different times")
                .label("before the start of some flows")
                .help("give the time for which each flow sends: duration = \"10 s\""));
        }
        let arrivals = arrivals.map_or(Ok(Period::Constant(Duration::ZERO)), |field| period(&field))?;
        Ok(Self { number, arrivals, sizes })
    }

    /// How often each pair of `pairs` has a flow.
    pub(super) fn of_each_pair(&self) -> usize {
        self.most()
    }

    /// The flows of pairs, each of which `flow` makes of its number, and what is drawn for them in each run. They are
    /// from `position` on in the scenario.
    pub(super) fn of_pairs(
        self,
        name: &str,
        position: usize,
        (flows, have_starts): (Vec<Flow>, bool),
    ) -> (Vec<Flow>, FlowGroup) {
        let start = flows.iter().map(|flow| flow.start).min().unwrap_or_default();
        let later = |(number, flow): (usize, Flow)| {
            let gap = self.arrivals.mean().saturating_mul(number as u64);
            let stop = flow.stop.map(|stop| stop.saturating_add(gap));
            let name = format!("{name}.{}", number + 1);
            Flow { name, group: Some(flow.name.clone()), start: flow.start.saturating_add(gap), stop, ..flow }
        };
        let flows: Vec<Flow> = flows.into_iter().enumerate().map(later).collect();
        let group = FlowGroup {
            name: name.to_owned(),
            flows: position..position + flows.len(),
            start,
            arrivals: (!have_starts).then_some(self.arrivals),
            sizes: self.sizes,
            open_end: None,
        };
        (flows, group)
    }

    /// The number of flows, or more.
    pub(super) fn most(&self) -> usize {
        match self.number {
            Number::One => 1,
            Number::Count(count) => count,
            Number::Until { most, .. } => most,
        }
    }

    /// The flows that `first` stands for, and what is drawn for them in each run. Until then they have the means; a
    /// group that goes on arriving has its first flow only. `index` counts flows for their ports, of which `port` is
    /// that of the flow with an index; `position` is where the flows are in the scenario.
    pub(super) fn flows(
        self,
        first: Flow,
        (index, position): (usize, usize),
        mut port: impl FnMut(usize) -> Result<u16, Problem>,
    ) -> Result<(Vec<Flow>, Option<FlowGroup>), Problem> {
        let mut ports = vec![first.port];
        for number in 1..self.most() {
            ports.push(port(index + number)?);
        }
        let group = |flows: usize, sizes: Option<SizeDistribution>| FlowGroup {
            name: first.name.clone(),
            flows: position..position + flows,
            start: first.start,
            arrivals: Some(self.arrivals),
            sizes,
            open_end: None,
        };
        match self.number {
            Number::One => {
                let group = self.sizes.is_some().then(|| group(1, self.sizes));
                Ok((vec![first], group))
            }
            Number::Count(count) => {
                let group = group(count, self.sizes);
                let flows = ports.into_iter().enumerate().map(|(number, port)| {
                    let later = self.arrivals.mean().saturating_mul(number as u64);
                    FlowGroup::member(&first, number, port, first.start.saturating_add(later))
                });
                Ok((flows.collect(), Some(group)))
            }
            Number::Until { until, .. } => {
                let member = FlowGroup::member(&first, 0, first.port, first.start);
                Ok((vec![member], Some(FlowGroup { open_end: Some(OpenEnd { until, ports }), ..group(1, self.sizes) })))
            }
        }
    }
}

/// A group that goes on arriving until the time in `until`, or the end of the run.
fn open_end(
    arrivals: &Field<'_>,
    until: Option<&Field<'_>>,
    duration: Duration,
    start: Duration,
) -> Result<Number, Problem> {
    let period = period(arrivals)?;
    let gap = period.mean();
    if gap.is_zero() {
        return Err(arrivals
            .problem("found no time between flows, and no number of them")
            .label("they would all start at once")
            .help("say how many flows there are (count = 100), or the time between them"));
    }
    let end = match until {
        None => duration,
        Some(field) => match field.duration()? {
            until if until > start => until.min(duration),
            _ => return Err(field.expected(&format!("a time after the start of the first flow, {start}"))),
        },
    };
    let expected = (end - start).as_nanos().div_ceil(gap.as_nanos());
    // The number of a Poisson process has the standard deviation √expected; ten of these are never exceeded.
    let most = match period {
        Period::Constant(_) => expected,
        Period::Exponential(_) => expected + (10.0 * (expected as f64).sqrt()).ceil() as u64 + 20,
    };
    if most > MOST_FLOWS {
        return Err(arrivals
            .problem(format!(
                "found about {expected} flows until {end}, or {most} by chance, expected at most {MOST_FLOWS}"
            ))
            .label("a flow each time")
            .help("raise the time between flows, or end arrivals earlier: until = \"10 s\""));
    }
    Ok(Number::Until { until: end, most: most as usize })
}
