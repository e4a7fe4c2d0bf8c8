//! The metrics over time of one flow and its subflows.

use subflow_transport::mptcp::LISTED_SUBFLOWS;
use subflow_transport::tcp::Ends;
use subflow_transport::{Endpoint, PathState};

use super::flow_data::{DataRecord, SubflowSample};
use super::object_series::{Metric, Moment, ObjectSeries};
use crate::results::goodput_mbps;

/// The series of a flow.
#[derive(Clone)]
pub(crate) struct FlowSeries {
    own: ObjectSeries,
    /// The bytes delivered at the last sample.
    delivered: u64,
    /// By number.
    subflows: Vec<SubflowSeries>,
    /// By the number in the record of the flow's data: which subflow it is.
    recorded: Vec<RecordedSubflow>,
    /// How often the ends of the flow had been drained at the last sample.
    drains: Option<u64>,
    /// How many of the latest sample times it has samples of.
    done: usize,
}

/// The series of a subflow.
#[derive(Clone)]
struct SubflowSeries {
    series: ObjectSeries,
    /// The bytes delivered at the last sample.
    delivered: u64,
    /// Where the receiver had it at the last sample, among its subflows.
    place: usize,
}

/// A subflow that has carried data.
#[derive(Clone, Copy, Debug, Default)]
struct RecordedSubflow {
    /// Where the sender had it at the last sample, among its subflows.
    place: usize,
    /// Its number there, which no other subflow gets.
    number: Option<usize>,
    /// The object with its series, if it has any.
    object: Option<Object>,
}

/// Whose series they are.
#[derive(Clone, Copy, Debug)]
enum Object {
    /// A TCP connection is its own subflow.
    Flow,
    /// The subflow with this number.
    Subflow(usize),
}

impl FlowSeries {
    /// Nothing yet of the flow, or group, that results call `name`.
    pub(crate) fn new(name: &str) -> Self {
        Self {
            own: ObjectSeries::new(name),
            delivered: 0,
            subflows: Vec::new(),
            recorded: Vec::new(),
            drains: None,
            done: 0,
        }
    }

    /// Whether nothing has changed since the last sample.
    pub(super) fn is_quiet(&self, drains: u64) -> bool {
        self.drains == Some(drains)
    }

    /// Begins the sample at the last of the latest sample times; at those before for which it has none, nothing had
    /// changed.
    pub(super) fn begin(&mut self, times: &[Moment], drains: u64) {
        self.repeat(&times[..times.len() - 1]);
        self.done = times.len();
        self.drains = Some(drains);
        self.own.begin();
        self.subflows.iter_mut().for_each(|subflow| subflow.series.begin());
    }

    /// Adds samples at those of the latest sample times for which it has none: nothing has changed.
    pub(super) fn repeat(&mut self, times: &[Moment]) {
        let new = times.get(self.done..).unwrap_or_default();
        // A group, or a flow that is not simulated, has its samples in other ways.
        if self.drains.is_some() && !new.is_empty() {
            self.own.repeat(new);
            self.subflows.iter_mut().for_each(|subflow| subflow.series.repeat(new));
        }
        self.done = times.len();
    }

    /// The list of the latest sample times begins anew.
    pub(super) fn forget_times(&mut self) {
        self.done = 0;
    }

    /// The bytes delivered since the last sample, of which there are `total` now.
    pub(super) fn delivered_since(&mut self, total: u64) -> u64 {
        growth(&mut self.delivered, total)
    }

    /// Adds the goodput of the flow, which has delivered `total` bytes.
    pub(crate) fn push_delivered(&mut self, total: u64, at: Moment) {
        let bytes = self.delivered_since(total);
        self.push_goodput(bytes, at);
    }

    /// Adds the goodput with which `bytes` were delivered since the last sample.
    pub(super) fn push_goodput(&mut self, bytes: u64, at: Moment) {
        self.own.push(Metric::Goodput, &at, goodput_mbps(bytes, at.span));
    }

    /// Adds the receive window.
    pub(super) fn push_window(&mut self, bytes: u64, at: Moment) {
        self.own.push(Metric::ReceiveWindow, &at, bytes as f64 / 1e3);
    }

    /// Samples the subflows of a sender with our stack. `delivered` has the bytes that the receiver of MPTCP got on the
    /// subflow with these ends of the sender, and where it found that subflow at the last sample.
    pub(crate) fn sample_sender(
        &mut self,
        sender: &Endpoint,
        at: Moment,
        mut delivered: impl FnMut(Ends, &mut usize) -> u64,
    ) {
        let is_single = sender.is_single_path();
        sender.visit_paths(|path| {
            if is_single {
                return self.push_own_path(&path, at);
            }
            let place = &mut self.subflow(path.number).place;
            let total = path.bytes_acknowledged.unwrap_or_else(|| delivered(path.ends, place));
            self.push_subflow(total, &path, at);
        });
    }

    /// Adds a sample of a subflow, which has delivered `total` bytes.
    pub(crate) fn push_subflow(&mut self, total: u64, sample: &PathState, at: Moment) {
        let series = self.subflow(sample.number);
        series.push_delivered(total, at);
        push_path(&mut series.series, sample, at);
    }

    /// Adds a sample of a flow that is its own subflow.
    pub(crate) fn push_own_path(&mut self, sample: &PathState, at: Moment) {
        push_path(&mut self.own, sample, at);
    }

    /// Finds the subflows of the sender that have carried data, from their ends.
    pub(super) fn find_subflows(&mut self, sender: &Endpoint, recorded: &[Ends]) {
        for (number, ends) in recorded.iter().enumerate() {
            if self.recorded.len() == number {
                self.recorded.push(RecordedSubflow::default());
            }
            self.recorded[number].find(sender, *ends);
        }
    }

    /// Samples the record of the flow's data.
    pub(super) fn sample_data(&mut self, record: &mut DataRecord, at: Moment) {
        let data = record.sample(at.now);
        let mut push = |metric, value| self.own.push(metric, &at, value);
        push(Metric::Reassembly, data.out_of_order as f64 / 1e3);
        push(Metric::Outstanding, data.outstanding as f64 / 1e3);
        if let Some([delay, waited]) = data.delays {
            push(Metric::Delay, delay.as_secs_f64() * 1e3);
            push(Metric::ReassemblyDelay, waited.as_secs_f64() * 1e3);
        }
        push(Metric::Reinjected, goodput_mbps(data.repeated_elsewhere, at.span));
        for (number, sample) in record.take_subflow_samples().enumerate() {
            let object = self.recorded.get(number).and_then(|recorded| recorded.object);
            let series = match object {
                None => continue,
                Some(Object::Flow) => &mut self.own,
                Some(Object::Subflow(number)) => &mut subflow(&mut self.subflows, &self.own, number).series,
            };
            push_subflow_data(series, &sample, at);
        }
    }

    fn subflow(&mut self, number: usize) -> &mut SubflowSeries {
        subflow(&mut self.subflows, &self.own, number)
    }

    /// All objects with their series.
    pub(crate) fn into_objects(self) -> Vec<ObjectSeries> {
        core::iter::once(self.own).chain(self.subflows.into_iter().map(|subflow| subflow.series)).collect()
    }
}

impl SubflowSeries {
    fn push_delivered(&mut self, total: u64, at: Moment) {
        let bytes = growth(&mut self.delivered, total);
        self.series.push(Metric::Goodput, &at, goodput_mbps(bytes, at.span));
    }
}

/// By how much a count of delivered bytes has grown to `total` since it was `known`. A later SACK of SCTP may report a
/// chunk as missing that an earlier one reported as received: its bytes count once.
fn growth(known: &mut u64, total: u64) -> u64 {
    let grown = total.saturating_sub(*known);
    *known += grown;
    grown
}

impl RecordedSubflow {
    /// Finds it among the subflows of the sender, mostly where it was at the last sample.
    fn find(&mut self, sender: &Endpoint, ends: Ends) {
        self.number = sender.path_number(ends, &mut self.place, self.number);
        let listed = self.number.filter(|number| *number < LISTED_SUBFLOWS);
        self.object = listed.map(|number| if sender.is_single_path() { Object::Flow } else { Object::Subflow(number) });
    }
}

/// The bytes that arrived first on the subflow with these ends of the sender. It mostly is where it was at the last
/// sample.
pub(super) fn delivered_on(receiver: Option<&Endpoint>, ends: Ends, place: &mut usize) -> u64 {
    receiver.map_or(0, |receiver| receiver.bytes_received_on(ends.reversed(), place))
}

/// The series of the subflow with this number, made if it has none.
fn subflow<'a>(subflows: &'a mut Vec<SubflowSeries>, flow: &ObjectSeries, number: usize) -> &'a mut SubflowSeries {
    while subflows.len() <= number {
        let series = ObjectSeries::new(format!("{}/{}", flow.of(), subflows.len()));
        subflows.push(SubflowSeries { series, delivered: 0, place: 0 });
    }
    &mut subflows[number]
}

fn push_path(series: &mut ObjectSeries, sample: &PathState, at: Moment) {
    let mut push = |metric, value| series.push(metric, &at, value);
    push(Metric::Cwnd, sample.cwnd);
    if let Some(ssthresh) = sample.ssthresh {
        push(Metric::Ssthresh, ssthresh);
    }
    push(Metric::InFlight, sample.in_flight);
    push(Metric::FlightSize, sample.flight_size as f64 / 1e3);
    if let Some(srtt) = sample.srtt {
        push(Metric::Srtt, srtt.as_secs_f64() * 1e3);
    }
    if let Some(rate) = sample.pacing_rate {
        push(Metric::PacingRate, megabits(rate));
    }
    if let Some(model) = sample.model {
        push(Metric::Bandwidth, megabits(model.bandwidth));
        if let Some(rtt) = model.min_rtt {
            push(Metric::MinRtt, rtt.as_secs_f64() * 1e3);
        }
    }
}

/// A rate in bytes per second, in Mbit/s.
fn megabits(bytes_per_second: u64) -> f64 {
    bytes_per_second as f64 * 8e-6
}

fn push_subflow_data(series: &mut ObjectSeries, sample: &SubflowSample, at: Moment) {
    let share = sample.blocked.as_secs_f64() / at.span.as_secs_f64();
    series.push(Metric::Blocking, &at, 100.0 * share);
    series.push(Metric::Sequence, &at, sample.sequence as f64 / 1e6);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_an_acknowledgment_took_back_count_once() {
        let mut known = 0;
        let grown = [1000, 3000, 1500, 3000, 4000].map(|total| growth(&mut known, total));
        assert_eq!((grown, known), ([1000, 2000, 0, 0, 1000], 4000));
    }
}
