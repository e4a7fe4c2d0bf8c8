//! What a scheduler sees and returns.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use subflow_policy::scheduler;

/// The state of one subflow, as passed to a scheduler. Windows are in packets, times in seconds. It does not change.
///
/// Attributes
/// ----------
/// eligible : bool
///     Whether it may carry now what is to be sent next. A reinjection does not go where it was sent before if there is
///     another way; backups are eligible only while no other subflow is live.
/// srtt : float or None
///     Smoothed RTT; None before the first sample.
/// rtt_variation : float
///     RTT variation (RTTVAR of RFC 6298).
/// latest_rtt : float or None
///     The latest sample of the RTT.
/// cwnd : int
///     Congestion window.
/// in_flight : int
///     Packets that are sent, not acknowledged and not marked lost, with queued ones.
/// space : int
///     Packets that the window still allows; zero or less if it is full.
/// mss : int
///     Payload bytes of a full-sized segment.
/// queued_bytes : int
///     Bytes assigned to the subflow and not yet sent.
/// held_bytes : int
///     Used bytes of its send buffer.
/// buffer_full : bool
///     Whether its send buffer is full.
/// pacing_rate : int
///     Pacing rate in bytes per second.
/// packets_sent : int
///     Packets with data sent so far, with retransmissions.
/// packets_resent : int
///     Retransmissions so far.
/// slow_start : bool
///     Whether it is in slow start.
/// established : bool
///     Whether it can carry data: established and not closed.
/// backup : bool
///     Whether either side marked it as a backup.
/// potentially_failed : bool
///     Whether it is in a timeout or stale.
/// can_send : bool
///     Whether its window and the peer's allow a segment.
#[pyclass(module = "subflow", frozen)]
pub(crate) struct SubflowView {
    pub(super) view: scheduler::SubflowView,
    #[pyo3(get)]
    pub(super) eligible: bool,
}

#[pymethods]
impl SubflowView {
    #[getter]
    fn srtt(&self) -> Option<f64> {
        self.view.srtt.map(|srtt| srtt.as_secs_f64())
    }
    #[getter]
    fn rtt_variation(&self) -> f64 {
        self.view.rtt_variation.as_secs_f64()
    }
    #[getter]
    fn latest_rtt(&self) -> Option<f64> {
        self.view.latest_rtt.map(|rtt| rtt.as_secs_f64())
    }
    #[getter]
    fn cwnd(&self) -> u32 {
        self.view.cwnd
    }
    #[getter]
    fn in_flight(&self) -> u32 {
        self.view.in_flight
    }
    #[getter]
    fn space(&self) -> i64 {
        self.view.space()
    }
    #[getter]
    fn mss(&self) -> u32 {
        self.view.mss
    }
    #[getter]
    fn queued_bytes(&self) -> u64 {
        self.view.queued_bytes
    }
    #[getter]
    fn held_bytes(&self) -> u64 {
        self.view.held_bytes
    }
    #[getter]
    fn buffer_full(&self) -> bool {
        self.view.buffer_full
    }
    #[getter]
    fn pacing_rate(&self) -> u64 {
        self.view.pacing_rate
    }
    #[getter]
    fn packets_sent(&self) -> u64 {
        self.view.packets_sent
    }
    #[getter]
    fn packets_resent(&self) -> u64 {
        self.view.packets_resent
    }
    #[getter]
    fn slow_start(&self) -> bool {
        self.view.slow_start
    }
    #[getter]
    fn established(&self) -> bool {
        self.view.established
    }
    #[getter]
    fn backup(&self) -> bool {
        self.view.backup
    }
    #[getter]
    fn potentially_failed(&self) -> bool {
        self.view.potentially_failed
    }
    #[getter]
    fn can_send(&self) -> bool {
        self.view.can_send
    }
    fn __repr__(&self) -> String {
        let SubflowView { view, eligible } = self;
        let srtt = view.srtt.map_or_else(|| "None".to_owned(), |srtt| format!("{:.6}", srtt.as_secs_f64()));
        format!("<subflow.SubflowView srtt={srtt} cwnd={} in_flight={} eligible={eligible}>", view.cwnd, view.in_flight)
    }
}

/// A range of data that was assigned to subflows and is not yet acknowledged at the data level.
///
/// Attributes
/// ----------
/// start, end : int
///     Data-level offsets; ``end`` is the first byte after it.
/// carried_by : list of int
///     The subflows that have carried it.
/// reinject : bool
///     Whether the transport asks for a reinjection.
#[pyclass(module = "subflow", frozen, get_all)]
#[derive(Clone)]
pub(crate) struct SentRange {
    start: u64,
    end: u64,
    carried_by: Vec<usize>,
    reinject: bool,
}

impl From<&scheduler::SentRange> for SentRange {
    fn from(sent: &scheduler::SentRange) -> Self {
        let carried_by = sent.carried_by.iter().collect();
        Self { start: sent.range.start, end: sent.range.end, carried_by, reinject: sent.reinject }
    }
}

/// The state of the send queue, as passed to a scheduler. It does not change.
///
/// Attributes
/// ----------
/// now : float
///     Simulated time in seconds.
/// new_data : tuple of int
///     Data-level offsets of the new data that may be sent: the first byte, and the first byte after it.
/// fragment_end : int
///     The end of the written fragment in which new data begins; the start of new data if there are no fragments.
/// backlog : int
///     Written bytes that are not assigned to a subflow.
/// window : int
///     Bytes from the first unacknowledged one to the end of the peer's window.
/// blocked : int
///     How often that window has kept a subflow with window space from sending.
/// reinjection : SentRange or None
///     A range that the transport asks to be sent again, before new data.
/// outstanding : list of SentRange
///     Ranges that are sent and not acknowledged, oldest first. Empty unless the scheduler ``repeats``.
#[pyclass(module = "subflow", frozen)]
pub(crate) struct QueueView {
    #[pyo3(get)]
    pub(super) now: f64,
    #[pyo3(get)]
    pub(super) new_data: (u64, u64),
    #[pyo3(get)]
    pub(super) fragment_end: u64,
    #[pyo3(get)]
    pub(super) backlog: u64,
    #[pyo3(get)]
    pub(super) window: u64,
    #[pyo3(get)]
    pub(super) blocked: u64,
    pub(super) reinjection: Option<scheduler::SentRange>,
    pub(super) outstanding: Vec<scheduler::SentRange>,
}

#[pymethods]
impl QueueView {
    #[getter]
    fn reinjection(&self) -> Option<SentRange> {
        self.reinjection.as_ref().map(SentRange::from)
    }
    #[getter]
    fn outstanding(&self) -> Vec<SentRange> {
        self.outstanding.iter().map(SentRange::from).collect()
    }
    fn __repr__(&self) -> String {
        let Self { now, new_data: (start, end), backlog, .. } = self;
        format!("<subflow.QueueView now={now:.6} new_data=({start}, {end}) backlog={backlog}>")
    }
}

/// What a scheduler returns if the index of a subflow does not say enough.
///
/// Parameters
/// ----------
/// subflow : int
///     Index of the subflow.
/// at_most : int, optional
///     New data of at most this number of bytes. The transport limits it to a segment.
/// copy : tuple of int, optional
///     Instead of new data: a copy of the data between these offsets, which are within one of the outstanding ranges,
///     or are the reinjection.
#[pyclass(module = "subflow", frozen)]
pub(crate) struct Assignment {
    #[pyo3(get)]
    pub(super) subflow: usize,
    #[pyo3(get)]
    pub(super) at_most: Option<u64>,
    #[pyo3(get)]
    pub(super) copy: Option<(u64, u64)>,
}

#[pymethods]
impl Assignment {
    #[new]
    #[pyo3(signature = (subflow, *, at_most=None, copy=None))]
    fn new(subflow: usize, at_most: Option<u64>, copy: Option<(u64, u64)>) -> PyResult<Self> {
        if at_most.is_some() && copy.is_some() {
            return Err(PyTypeError::new_err(
                "found at_most and copy, expected one of them: a copy is its whole range",
            ));
        }
        if at_most == Some(0) || copy.is_some_and(|(start, end)| start >= end) {
            return Err(PyValueError::new_err(
                "found no bytes to send, expected at least one; return None to send nothing",
            ));
        }
        Ok(Self { subflow, at_most, copy })
    }
    fn __repr__(&self) -> String {
        let what = match (self.at_most, self.copy) {
            (_, Some((start, end))) => format!(", copy=({start}, {end})"),
            (Some(at_most), None) => format!(", at_most={at_most}"),
            (None, None) => String::new(),
        };
        format!("subflow.Assignment({}{what})", self.subflow)
    }
}
