//! The figures of an SCTP association.

use std::net::SocketAddr;

use subflow_policy::congestion::Path;
use subflow_transport::sctp::Association;
use subflow_transport::tcp::Ends;

use super::path_sample::PathSample;
use super::subflow_figures::SubflowFigures;
use crate::results::{Abandoned, Retransmitted};

/// The figures of an association's destinations. The receiving end does not know which path carried a chunk, so that
/// the acknowledged bytes are counted.
pub(super) fn destinations(association: &Association) -> impl Iterator<Item = SubflowFigures> {
    association.destinations().iter().enumerate().map(|(index, destination)| {
        let counters = destination.counters();
        let retransmitted = Retransmitted {
            fast: counters.fast_retransmissions,
            timeout: counters.timeout_retransmissions,
            timeouts: counters.timeouts,
            fast_recoveries: counters.fast_recoveries,
        };
        SubflowFigures {
            ends: ends(association, index),
            bytes_received: 0,
            packets_sent: counters.packets_sent,
            retransmissions: retransmitted.fast + retransmitted.timeout,
            timeouts: retransmitted.timeouts,
            duplicate_acks: 0,
            srtt: destination.rtt().srtt(),
            cwnd: in_packets(association.congestion().path(index)),
            copies: 0,
            retransmitted: Some(retransmitted),
            bytes_acknowledged: Some(counters.bytes_acknowledged),
        }
    })
}

/// The messages that an association has abandoned.
pub(super) fn abandoned(association: &Association) -> Abandoned {
    let counters = association.counters();
    Abandoned { messages: counters.messages_abandoned, bytes: counters.bytes_abandoned }
}

/// The acknowledged bytes and a sample of each destination.
pub(super) fn samples(association: &Association) -> impl Iterator<Item = (u64, PathSample)> {
    association.destinations().iter().enumerate().map(|(index, destination)| {
        let path = association.congestion().path(index);
        let in_packets = |bytes: f64| bytes / f64::from(path.quantum());
        let sample = PathSample {
            cwnd: in_packets(path.cwnd().into()),
            ssthresh: (path.ssthresh() < Path::INFINITE).then(|| in_packets(path.ssthresh().into())),
            in_flight: in_packets(destination.bytes_in_flight() as f64),
            flight_size: destination.bytes_in_flight(),
            srtt: destination.rtt().srtt(),
        };
        (destination.counters().bytes_acknowledged, sample)
    })
}

/// The ends of the path to a destination.
pub(super) fn ends(association: &Association, index: usize) -> Ends {
    let Ends { local, remote } = association.ends();
    let destination = &association.destinations()[index];
    Ends {
        local: SocketAddr::new(destination.source(), local.port()),
        remote: SocketAddr::new(destination.address(), remote.port()),
    }
}

/// A window in packets of the path's MTU; SCTP counts bytes.
fn in_packets(path: &Path) -> f64 {
    f64::from(path.cwnd()) / f64::from(path.quantum())
}
