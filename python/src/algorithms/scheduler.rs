//! Schedulers in Python.

use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use subflow_policy::custom::FlowEnd;
use subflow_policy::scheduler::{self, Scheduler, SentRange, SubflowSet, What, next_work};

use super::instance::{Instance, Kind, integer, shown, tuple};
use super::scheduler_views::{Assignment, QueueView, SubflowView};

static KIND: Kind = Kind { base: "Scheduler", argument: "schedulers", method: "next" };

#[derive(Clone, Debug)]
pub(super) struct PythonScheduler {
    instance: Instance,
    queues_ahead: bool,
    repeats: bool,
}

impl PythonScheduler {
    pub(super) fn new(name: &str, class: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (instance, object) = Instance::new(&KIND, name, class)?;
        let is = |attribute| {
            let found = object.getattr(attribute)?;
            found.extract::<bool>().map_err(|_| match shown(&found) {
                Ok(found) => PyTypeError::new_err(format!(
                    "schedulers: {attribute} of {name:?} is {found}, expected True or False"
                )),
                Err(error) => error,
            })
        };
        Ok(Self { instance, queues_ahead: is("queues_ahead")?, repeats: is("repeats")? })
    }
}

impl Scheduler for PythonScheduler {
    fn next(
        &mut self,
        subflows: &[scheduler::SubflowView],
        queue: &scheduler::QueueView<'_>,
    ) -> Option<scheduler::Assignment> {
        let (what, candidates) = next_work(subflows, queue).unzip();
        let call = Call { subflows, queue, what, queues_ahead: self.queues_ahead };
        let eligible = candidates.unwrap_or_default();
        Python::attach(|py| {
            let views = tuple(py, views(subflows, eligible));
            let queue = Bound::new(py, queue_view(queue, self.repeats));
            let arguments = views.and_then(|views| Ok((views, queue?)));
            let arguments = arguments.unwrap_or_else(|error| self.instance.fail(error));
            self.instance.call(py, arguments, |decision| call.read(&decision))
        })
    }

    fn queues_ahead(&self) -> bool {
        self.queues_ahead
    }

    fn repeats(&self) -> bool {
        self.repeats
    }

    fn on_replaced(&mut self, subflow: usize, last: &scheduler::SubflowView) {
        Python::attach(|py| {
            let last = SubflowView { view: last.clone(), eligible: false };
            let name = pyo3::intern!(py, "on_replaced");
            self.instance.call_method(name, (subflow, last), |_| Ok(()));
        });
    }

    fn begin(&mut self, end: FlowEnd) {
        self.instance.begin(end);
    }
}

fn views(subflows: &[scheduler::SubflowView], eligible: SubflowSet) -> impl ExactSizeIterator<Item = SubflowView> {
    subflows
        .iter()
        .enumerate()
        .map(move |(index, view)| SubflowView { view: view.clone(), eligible: eligible.contains(index) })
}

/// A copy that lives as long as Python keeps it. The outstanding ranges may be many: they are copied only if asked for.
fn queue_view(queue: &scheduler::QueueView<'_>, with_outstanding: bool) -> QueueView {
    QueueView {
        now: queue.now.as_secs_f64(),
        new_data: (queue.new_data.start, queue.new_data.end),
        fragment_end: queue.fragment_end,
        backlog: queue.backlog,
        window: queue.window,
        blocked: queue.blocked,
        reinjection: queue.reinjection.cloned(),
        outstanding: if with_outstanding { queue.outstanding_from(0).cloned().collect() } else { Vec::new() },
    }
}

/// What a decision is checked against.
struct Call<'a> {
    subflows: &'a [scheduler::SubflowView],
    queue: &'a scheduler::QueueView<'a>,
    /// What is to be sent next, if a subflow can carry it.
    what: Option<What>,
    queues_ahead: bool,
}

impl Call<'_> {
    /// The decision that Python returned, if it makes sense.
    fn read(&self, decision: &Bound<'_, PyAny>) -> PyResult<Option<scheduler::Assignment>> {
        if decision.is_none() {
            return Ok(None);
        }
        if let Some(index) = integer(decision) {
            let subflow = self.subflow(index.extract().ok(), decision)?;
            let what = match &self.what {
                Some(what) => what.clone(),
                None => self.new_data(u64::MAX)?,
            };
            return Ok(Some(scheduler::Assignment { subflow, what }));
        }
        let Ok(assignment) = decision.cast::<Assignment>() else {
            return Err(PyTypeError::new_err(format!(
                "next returned {}, expected the index of a subflow, a subflow.Assignment, or None to send nothing now",
                shown(decision)?
            )));
        };
        let Assignment { subflow, at_most, copy } = *assignment.get();
        let subflow = self.subflow(Some(subflow), decision)?;
        let what = match copy {
            Some((start, end)) => self.copy(subflow, start, end)?,
            None => self.new_data(at_most.unwrap_or(u64::MAX))?,
        };
        Ok(Some(scheduler::Assignment { subflow, what }))
    }

    /// The subflow with this index, if it can take data now.
    fn subflow(&self, index: Option<usize>, decision: &Bound<'_, PyAny>) -> PyResult<usize> {
        let Some((index, view)) = index.and_then(|index| Some((index, self.subflows.get(index)?))) else {
            return Err(PyIndexError::new_err(format!(
                "next returned {}, expected the index of one of the {} subflows, from 0",
                shown(decision)?,
                self.subflows.len()
            )));
        };
        if !view.established {
            return Err(PyValueError::new_err(format!(
                "next returned subflow {index}, which is closed or not yet established; choose among those whose \
                 `eligible` is True, or return None"
            )));
        }
        if !view.can_send && !self.queues_ahead {
            return Err(PyValueError::new_err(format!(
                "next returned subflow {index}, whose window is full; choose among those whose `eligible` is True, \
                 return None, or set queues_ahead = True in the class to queue data for it"
            )));
        }
        Ok(index)
    }

    fn new_data(&self, at_most: u64) -> PyResult<What> {
        match self.queue.new_data.is_empty() {
            false => Ok(What::New { at_most }),
            true => Err(PyValueError::new_err(
                "next returned a subflow for new data, and there is none; look at queue.new_data, and return \
                 subflow.Assignment(subflow, copy=(start, end)) for a copy, or None",
            )),
        }
    }

    /// A copy does not queue ahead: nothing but the window would end its repetition.
    fn copy(&self, subflow: usize, start: u64, end: u64) -> PyResult<What> {
        if !self.subflows[subflow].can_send {
            return Err(PyValueError::new_err(format!(
                "next returned a copy for subflow {subflow}, whose window is full; choose one whose `can_send` is True"
            )));
        }
        let within = |sent: &SentRange| sent.range.start <= start && end <= sent.range.end;
        if self.queue.outstanding_from(start).next().is_some_and(within) || self.queue.reinjection.is_some_and(within) {
            return Ok(What::Copy { range: start..end });
        }
        Err(PyValueError::new_err(format!(
            "next returned a copy of ({start}, {end}), which is not within one outstanding range; take its ends from \
             queue.reinjection or, with repeats = True in the class, from queue.outstanding"
        )))
    }
}
