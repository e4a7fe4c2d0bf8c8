//! A sample of the window, data in flight and RTT of a subflow of any protocol.

use subflow_policy::congestion::Controller;
use subflow_quantity::Duration;
use subflow_transport::tcp::Connection;

/// The window, the data in flight and the RTT of a subflow at one time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathSample {
    /// Congestion window in packets.
    pub(crate) cwnd: f64,
    /// Slow-start threshold in packets, if it is finite.
    pub(crate) ssthresh: Option<f64>,
    /// Packets in flight.
    pub(crate) in_flight: f64,
    /// Unacknowledged bytes.
    pub(crate) flight_size: u64,
    /// Smoothed RTT, if there was an RTT sample.
    pub(crate) srtt: Option<Duration>,
}

impl PathSample {
    /// The sample of a TCP connection or an MPTCP subflow.
    pub(super) fn of_tcp(tcp: &Connection, controller: &Controller) -> Self {
        let path = controller.path(tcp.path());
        Self {
            cwnd: path.cwnd().into(),
            ssthresh: (path.ssthresh() < subflow_policy::congestion::Path::INFINITE).then(|| path.ssthresh().into()),
            in_flight: tcp.in_flight().into(),
            flight_size: tcp.unacknowledged_bytes(),
            srtt: tcp.rtt().srtt(),
        }
    }
}
