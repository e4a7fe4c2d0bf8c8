//! Names of events and states in scripts.

use subflow_transport::tcp::{Closed, State};
use subflow_transport::{Event, sctp};
use subflow_wire::icmp::IcmpKind;

use crate::packet::ICMP_KINDS;

/// The name of an event, and how a connection ended.
pub(crate) fn of_event(event: &Event) -> (&'static str, Option<&'static str>) {
    match event {
        Event::Established => ("established", None),
        Event::Received => ("received", None),
        Event::Writable => ("writable", None),
        Event::PeerFinished => ("peer_finished", None),
        Event::StreamBegun(_) => ("stream_begun", None),
        Event::StreamCompleted(_) => ("stream_completed", None),
        Event::Acknowledged => ("acknowledged", None),
        Event::Closed(how) => ("closed", Some(of_end(*how))),
        Event::SubflowEstablished(_) => ("subflow_established", None),
        Event::SubflowClosed(_) => ("subflow_closed", None),
        Event::FellBack => ("fell_back", None),
    }
}

const fn of_end(how: Closed) -> &'static str {
    match how {
        Closed::Gracefully => "gracefully",
        Closed::Reset => "reset",
        Closed::Refused => "refused",
        Closed::TimedOut => "timed_out",
        Closed::Aborted => "aborted",
    }
}

/// The name of an error that ICMP reported; `none` without one.
pub(crate) fn of_network_error(error: Option<IcmpKind>) -> &'static str {
    let Some(error) = error else { return "none" };
    ICMP_KINDS.into_iter().find(|(_, kind)| *kind == error).map_or("other", |(name, _)| name)
}

/// The name of a state of TCP (RFC 9293, section 3.3.2).
pub(crate) const fn of_tcp_state(state: State) -> &'static str {
    match state {
        State::SynSent => "syn_sent",
        State::SynReceived => "syn_received",
        State::Established => "established",
        State::FinWait1 => "fin_wait_1",
        State::FinWait2 => "fin_wait_2",
        State::CloseWait => "close_wait",
        State::Closing => "closing",
        State::LastAck => "last_ack",
        State::TimeWait => "time_wait",
        State::Closed(_) => "closed",
    }
}

/// The name of a state of SCTP (RFC 9260, section 4).
pub(crate) const fn of_sctp_state(state: sctp::State) -> &'static str {
    match state {
        sctp::State::CookieWait => "cookie_wait",
        sctp::State::CookieEchoed => "cookie_echoed",
        sctp::State::Established => "established",
        sctp::State::ShutdownPending => "shutdown_pending",
        sctp::State::ShutdownSent => "shutdown_sent",
        sctp::State::ShutdownReceived => "shutdown_received",
        sctp::State::ShutdownAckSent => "shutdown_ack_sent",
        sctp::State::Closed(_) => "closed",
    }
}
