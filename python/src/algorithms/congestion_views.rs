//! What a congestion control sees and changes.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use subflow_policy::congestion::{self, RecoveryState};

use super::instance::shown;

/// The largest window in segments that is taken from outside: more than any path of a scenario holds, and little enough
/// for the products of transports.
pub(crate) const LARGEST_WINDOW: u32 = 100_000;

/// The congestion-control state of one path: a subflow of MPTCP, a destination of SCTP, or the connection of TCP.
///
/// Windows are in the unit of the transport: packets for TCP and MPTCP (``quantum`` is 1), bytes for SCTP (``quantum``
/// is the path MTU). Times are in seconds. ``on_sample`` and ``on_ack`` may change ``cwnd``, ``ssthresh`` and
/// ``credit``; changes elsewhere have no effect.
///
/// Attributes
/// ----------
/// cwnd : int
///     Congestion window.
/// ssthresh : int
///     Slow-start threshold; 2**30 or more before the first loss.
/// credit : int
///     Acknowledged amount that congestion avoidance has not yet added to the window.
/// quantum : int
///     One full-sized segment.
/// srtt, min_rtt : float or None
///     Smoothed and smallest RTT; None before the first sample.
/// state : str
///     ``"open"``, ``"disorder"``, ``"window-reduced"``, ``"recovery"`` or ``"loss"``.
/// established : bool
///     Whether the path is established and not closed.
/// group : int
///     Only paths of the same group are coupled.
#[pyclass(module = "subflow")]
pub(crate) struct Path {
    pub(super) path: congestion::Path,
}

#[pymethods]
impl Path {
    #[getter]
    fn cwnd(&self) -> u32 {
        self.path.cwnd()
    }
    #[setter]
    fn set_cwnd(&mut self, cwnd: &Bound<'_, PyAny>) -> PyResult<()> {
        self.path.set_cwnd(amount("cwnd", cwnd)?);
        Ok(())
    }
    #[getter]
    fn ssthresh(&self) -> u32 {
        self.path.ssthresh()
    }
    #[setter]
    fn set_ssthresh(&mut self, ssthresh: &Bound<'_, PyAny>) -> PyResult<()> {
        self.path.set_ssthresh(amount("ssthresh", ssthresh)?);
        Ok(())
    }
    #[getter]
    fn credit(&self) -> u32 {
        self.path.credit()
    }
    #[setter]
    fn set_credit(&mut self, credit: &Bound<'_, PyAny>) -> PyResult<()> {
        self.path.set_credit(amount("credit", credit)?);
        Ok(())
    }
    #[getter]
    fn quantum(&self) -> u32 {
        self.path.quantum()
    }
    #[getter]
    fn srtt(&self) -> Option<f64> {
        self.path.srtt().map(|srtt| srtt.as_secs_f64())
    }
    #[getter]
    fn min_rtt(&self) -> Option<f64> {
        self.path.min_rtt().map(|rtt| rtt.as_secs_f64())
    }
    #[getter]
    fn state(&self) -> &'static str {
        state_name(self.path.state())
    }
    #[getter]
    fn established(&self) -> bool {
        self.path.is_established()
    }
    #[getter]
    fn group(&self) -> usize {
        self.path.group()
    }
    /// Whether the window is below the slow-start threshold.
    #[getter]
    fn in_slow_start(&self) -> bool {
        self.path.in_slow_start()
    }

    /// Slow start (RFC 5681, section 3.1): increase the window by what was acknowledged, up to the threshold.
    ///
    /// Parameters
    /// ----------
    /// acked : int
    ///     Newly acknowledged amount.
    ///
    /// Returns
    /// -------
    /// int
    ///     What is left of it for congestion avoidance.
    fn slow_start(&mut self, acked: u32) -> u32 {
        congestion::slow_start(&mut self.path, acked)
    }

    /// Increase the window by one segment for each ``window`` that is acknowledged.
    ///
    /// Parameters
    /// ----------
    /// window : int
    ///     The window itself for Reno, less for faster growth.
    /// acked : int
    ///     Newly acknowledged amount.
    fn additive_increase(&mut self, window: u32, acked: u32) {
        congestion::additive_increase(&mut self.path, window, acked);
    }

    fn __repr__(&self) -> String {
        let (cwnd, ssthresh, state) = (self.path.cwnd(), self.path.ssthresh(), state_name(self.path.state()));
        format!("<subflow.Path cwnd={cwnd} ssthresh={ssthresh} state={state}>")
    }
}

/// A number that Python has assigned to `attribute`.
fn amount(attribute: &str, found: &Bound<'_, PyAny>) -> PyResult<u32> {
    if let Ok(number) = found.extract::<u32>() {
        return Ok(number);
    }
    if found.hasattr("__index__")? {
        return Err(PyValueError::new_err(format!(
            "{attribute}: found {found}, expected an int from 0 to {}",
            u32::MAX
        )));
    }
    Err(PyTypeError::new_err(format!(
        "{attribute}: found {}, expected an int: round it, for example with //",
        shown(found)?
    )))
}

pub(super) fn state_name(state: RecoveryState) -> &'static str {
    match state {
        RecoveryState::Open => "open",
        RecoveryState::Disorder => "disorder",
        RecoveryState::WindowReduced => "window-reduced",
        RecoveryState::Recovery => "recovery",
        RecoveryState::Loss => "loss",
    }
}

/// The content of an acknowledgment. Amounts are in the unit of the windows.
///
/// Attributes
/// ----------
/// now : float
///     Simulated time in seconds at which it arrived.
/// acked : int
///     Newly delivered amount, cumulative and selective.
/// rtt : float or None
///     RTT sample in seconds, if it has one.
/// una, nxt : int
///     Stream bytes of the path that are acknowledged and sent so far. A round ends when ``una`` passes the value that
///     ``nxt`` had at its start.
/// in_flight : int
///     Amount in flight before it.
#[pyclass(module = "subflow", frozen, get_all)]
pub(crate) struct Ack {
    now: f64,
    acked: u32,
    rtt: Option<f64>,
    una: u64,
    nxt: u64,
    in_flight: u32,
}

#[pymethods]
impl Ack {
    fn __repr__(&self) -> String {
        format!("<subflow.Ack now={:.6} acked={} in_flight={}>", self.now, self.acked, self.in_flight)
    }
}

impl From<&congestion::Ack> for Ack {
    fn from(ack: &congestion::Ack) -> Self {
        Self {
            now: ack.now.as_secs_f64(),
            acked: ack.acked,
            rtt: ack.rtt.map(|rtt| rtt.as_secs_f64()),
            una: ack.una,
            nxt: ack.nxt,
            in_flight: ack.in_flight,
        }
    }
}
