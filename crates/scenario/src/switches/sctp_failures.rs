//! The switches of SCTP for lost packets and failing paths.

use subflow_transport::sctp::config::{Config, UDP_ENCAPSULATION};

use super::notation::{COUNT, duration, false_or, flag, flag_for, positive_duration, unlimited_or, whole};
use super::{Stack, Switch, setter, switch};

/// The default of switches that `cmt` sets.
pub(super) const VALUE_OF_CMT: &str = "the value of cmt";

pub(super) fn retransmission() -> Vec<Switch<Stack>> {
    vec![
        switch(
            "initial_rto",
            positive_duration(),
            |s| &mut s.sctp.rto.initial,
            "the retransmission timeout before the first RTT sample",
        ),
        switch(
            "min_rto",
            positive_duration(),
            |s| &mut s.sctp.rto.min,
            "the lower bound of the retransmission timeout",
        ),
        switch(
            "max_rto",
            positive_duration(),
            |s| &mut s.sctp.rto.max,
            "the upper bound of the retransmission timeout",
        ),
        switch(
            "gap_acks_restart_timer",
            flag(),
            |s: &mut Stack| &mut s.sctp.gap_acks_restart_timer,
            "whether newly acknowledged data beyond a gap restarts the retransmission timer, as an advance of the \
             cumulative TSN does (RFC 9260 leaves it open, Linux does not)",
        )
        .by_default(VALUE_OF_CMT),
        switch(
            "fast_retransmission_restarts_timer",
            flag(),
            |s| &mut s.sctp.fast_retransmission_restarts_timer,
            "whether a fast retransmission of the earliest outstanding data restarts the retransmission timer (RFC \
             9260 does, Linux does not)",
        ),
        switch(
            "late_back_off",
            flag(),
            |s| &mut s.sctp.late_back_off,
            "whether the retransmission after a timeout starts the timer with the timeout before it is doubled (as in \
             Linux; RFC 9260 doubles it first)",
        ),
        switch(
            "single_fast_packet",
            flag(),
            |s| &mut s.sctp.single_fast_packet,
            "whether only one packet is fast-retransmitted at once, whatever the window, and the others wait for \
             window space, as in Linux",
        ),
        switch(
            "segmentation_offload",
            flag(),
            |s| &mut s.sctp.segmentation_offload,
            "whether this packet may be larger than the MTU, up to 64 KiB or half the window, and is divided when it \
             is sent, as in Linux",
        ),
    ]
}

pub(super) fn failover() -> Vec<Switch<Stack>> {
    vec![
        switch(
            "association_max_retransmissions",
            whole(COUNT),
            |s| &mut s.sctp.association_max_retransmissions,
            "the number of consecutive timeouts that an association tolerates",
        ),
        switch(
            "path_max_retransmissions",
            whole(COUNT),
            |s| &mut s.sctp.path_max_retransmissions,
            "the number of consecutive timeouts that a path tolerates before it is inactive",
        ),
        switch(
            "potentially_failed_max_retransmissions",
            unlimited_or(whole(COUNT)),
            |s| &mut s.sctp.potentially_failed_max_retransmissions,
            "the number of consecutive timeouts that are tolerated; after one more the path is potentially failed, \
             and data uses others (RFC 7829); 0 in Linux",
        ),
        switch(
            "probe_at_once",
            flag(),
            |s: &mut Stack| &mut s.sctp.probe_at_once,
            "whether a path is probed at once when it becomes potentially failed (CMT-PF), not one timeout later as \
             in Linux",
        )
        .by_default(VALUE_OF_CMT),
        switch(
            "sack_ends_potentially_failed",
            flag(),
            |s: &mut Stack| &mut s.sctp.sack_ends_potentially_failed,
            "whether a path is active again when data that was sent only there is acknowledged (RFC 7829), not only \
             when a probe is answered, as in Linux",
        )
        .by_default(VALUE_OF_CMT),
        switch(
            "alternate_sources",
            flag(),
            |s| &mut s.sctp.alternate_sources,
            "whether packets leave from the host's next address after one was not answered, if no other address of \
             the peer is active (RFC 9260, section 6.4.1); in Linux routes alone decide the source",
        ),
    ]
}

pub(super) fn handshake() -> Vec<Switch<Stack>> {
    vec![
        switch(
            "init_retransmissions",
            whole(COUNT),
            |s| &mut s.sctp.max_init_retransmits,
            "how often INIT and COOKIE ECHO are retransmitted",
        ),
        switch(
            "heartbeat_interval",
            false_or(positive_duration()),
            |s| &mut s.sctp.heartbeat_interval,
            "how often an idle path is probed; new addresses are probed at once in any case",
        ),
        switch(
            "cookie_life",
            positive_duration(),
            |s| &mut s.sctp.cookie_life,
            "how long the handshake's cookie is valid",
        ),
        switch(
            "udp_encapsulation",
            flag_for(Some(UDP_ENCAPSULATION), None),
            |s| &mut s.sctp.encapsulation,
            "whether packets are encapsulated in UDP, from and to port 9899 (RFC 6951)",
        ),
        setter(
            "timer_tick",
            duration(),
            (
                |s| s.sctp.timer_tick,
                |s, tick, _| {
                    s.sctp.timer_tick = tick;
                    s.sctp.rto.granularity = tick.max(Config::rfc9260().rto.granularity);
                    Ok(())
                },
            ),
            "the unit to which timers are rounded up; 0 s makes them exact",
        ),
        switch(
            "timer_wheel",
            flag(),
            |s| &mut s.sctp.timer_wheel,
            "whether timers of 63 ticks and more fire up to 8 ticks late, of 504 and more up to 64, and so on, as in \
             Linux since 4.8",
        ),
    ]
}
