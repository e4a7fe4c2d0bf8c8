//! The state machine of a radio, and what it has taken.

use subflow_quantity::{Instant, Power};

use super::power::{Listening, RadioPower, RadioState, RadioUse};

/// A radio with what it has taken. Packets come in the order of time.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    takes: RadioPower,
    connection: Option<Connection>,
    /// Since when it is idle, if it has no connection.
    idle_since: Instant,
    /// Until when its states are counted.
    counted_until: Instant,
    used: RadioUse,
}

/// The connection that the last packets have used.
#[derive(Clone, Copy, Debug)]
struct Connection {
    promoted_from: Instant,
    promoted_until: Instant,
    /// From when its timers run: the last packet, or the end of the promotion if that is later.
    active_at: Instant,
}

/// A time in one state.
struct Stay {
    state: RadioState,
    from: Instant,
    until: Instant,
    power: Power,
    listening: Listening,
}

impl Meter {
    /// An idle radio at the start of the run.
    pub(crate) fn new(takes: RadioPower) -> Self {
        Self {
            takes,
            connection: None,
            idle_since: Instant::ZERO,
            counted_until: Instant::ZERO,
            used: RadioUse::default(),
        }
    }

    /// A packet of `bytes` has been sent at `at`.
    pub(crate) fn sent(&mut self, at: Instant, bytes: u64) {
        self.wake(at);
        self.used.sent_bytes += bytes;
        self.used.energy += self.takes.up.of_bytes(bytes);
    }

    /// A packet of `bytes` has been received at `at`.
    pub(crate) fn received(&mut self, at: Instant, bytes: u64) {
        self.wake(at);
        self.used.received_bytes += bytes;
        self.used.energy += self.takes.down.of_bytes(bytes);
    }

    /// What it has taken until `at`.
    pub(crate) fn used_until(mut self, at: Instant) -> RadioUse {
        self.count_until(at);
        self.used
    }

    /// Counts the states until `at`, and begins the timers of the connection anew, or a connection.
    fn wake(&mut self, at: Instant) {
        self.count_until(at);
        match &mut self.connection {
            Some(connection) => connection.active_at = at.max(connection.promoted_until),
            None => {
                let promoted_until = at.saturating_add(self.takes.promotion_time);
                self.connection = Some(Connection { promoted_from: at, promoted_until, active_at: promoted_until });
                self.used.promotions += 1;
            }
        }
    }

    fn count_until(&mut self, at: Instant) {
        let (from, until) = (self.counted_until, at.max(self.counted_until));
        for stay in self.stays() {
            let (begin, end) = (stay.from.max(from), stay.until.min(until));
            if begin < end {
                let first = |end: Instant| stay.listening.energy(stay.power, end.since(stay.from));
                self.used.energy += first(end) - first(begin);
                self.used.times[stay.state as usize] += end.since(begin);
            }
        }
        self.counted_until = until;
        if let Some(connection) = self.connection
            && let idle_since = connection.active_at.saturating_add(self.takes.tail_time)
            && idle_since <= until
        {
            (self.connection, self.idle_since) = (None, idle_since);
        }
    }

    /// The states from the last promotion on, if no packet comes any more; one after the other.
    fn stays(&self) -> impl Iterator<Item = Stay> + use<> {
        let takes = self.takes;
        let idle = |from| Stay {
            state: RadioState::Idle,
            from,
            until: Instant::MAX,
            power: takes.idle_power,
            listening: takes.paging,
        };
        let connected = self.connection.map(|Connection { promoted_from, promoted_until, active_at }| {
            let short = active_at.saturating_add(takes.inactivity_time);
            let long = short.saturating_add(takes.short_drx_time);
            let end = active_at.saturating_add(takes.tail_time);
            let stay = |state, from, until, power, listening| Stay { state, from, until, power, listening };
            let never = Listening::NEVER;
            [
                stay(RadioState::Promotion, promoted_from, promoted_until, takes.promotion_power, never),
                stay(RadioState::Active, promoted_until, short, takes.active_power, never),
                stay(RadioState::Tail, short, long, takes.tail_power, takes.short_drx),
                stay(RadioState::Tail, long, end, takes.tail_power, takes.long_drx),
                idle(end),
            ]
        });
        let alone = if connected.is_some() { None } else { Some(idle(self.idle_since)) };
        connected.into_iter().flatten().chain(alone)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use subflow_quantity::Duration;

    use super::*;

    const MTU: u64 = 1500;
    const BITS: f64 = 12_000.0;
    /// From the LTE model, in watts and joules per bit.
    const ACTIVE: f64 = 1.28804;
    const UP: f64 = 438.39e-9;
    const DOWN: f64 = 51.97e-9;
    const PROMOTION: f64 = 1.21 * 0.26;
    /// 20 ms with one time of 2 ms at 1.68 W, then 11.456 s with 286 full cycles of 40 ms and 16 ms of another.
    const TAIL: f64 = 1.06 * 11.476 + (1.68 - 1.06) * 0.002 * (1.0 + 286.0 + 1.0);

    fn at(milliseconds: u64) -> Instant {
        Instant::from_nanos(milliseconds * 1_000_000)
    }

    fn lte() -> Meter {
        Meter::new(RadioPower { paging: Listening::NEVER, ..RadioPower::LTE_HUANG2012 })
    }

    #[track_caller]
    fn joules(used: &RadioUse, expected: f64) {
        assert!((used.energy.as_joules() - expected).abs() < 1e-9, "{} J, not {expected} J", used.energy.as_joules());
    }

    #[test]
    fn one_packet_costs_a_promotion_the_inactivity_time_and_a_whole_tail() {
        let mut radio = lte();
        radio.sent(at(1000), MTU);
        let used = radio.used_until(at(60_000));
        joules(&used, PROMOTION + UP * BITS + ACTIVE * 0.1 + TAIL);
        let times = [RadioState::Promotion, RadioState::Active, RadioState::Tail, RadioState::Idle];
        assert_eq!(times.map(|state| used.time_in(state).as_millis()), [260, 100, 11_476, 48_164]);
        assert_eq!(used.promotions, 1);
    }

    #[test]
    fn a_long_transfer_takes_alpha_times_throughput_plus_beta() {
        let mut radio = lte();
        // 12 Mbit/s down and 1.2 Mbit/s up for ten seconds after the promotion.
        for n in 0..10_000 {
            radio.received(at(260 + n), MTU);
            if n % 10 == 0 {
                radio.sent(at(260 + n), MTU);
            }
        }
        // The first packet comes at 260 ms: it is the one that promotes, until 520 ms.
        let used = radio.used_until(at(10_260));
        let active_s = 10.0 - 0.26;
        joules(&used, PROMOTION + ACTIVE * active_s + 51.97e-3 * 12.0 * 10.0 + 438.39e-3 * 1.2 * 10.0);
    }

    #[test]
    fn bursts_closer_than_the_tail_share_one_promotion() {
        let two = |apart: u64| {
            let mut radio = lte();
            radio.received(at(0), MTU);
            radio.received(at(260 + apart), MTU);
            radio.used_until(at(60_000))
        };
        // After 5 s in the tail: 4.88 s with 122 full long cycles, behind the short one.
        let closer = two(5_000);
        let first_tail = 1.06 * 4.9 + (1.68 - 1.06) * 0.002 * (1.0 + 122.0);
        joules(&closer, PROMOTION + 2.0 * (DOWN * BITS + ACTIVE * 0.1) + first_tail + TAIL);
        let farther = two(11_577);
        joules(&farther, 2.0 * (PROMOTION + DOWN * BITS + ACTIVE * 0.1 + TAIL));
        assert_eq!((closer.promotions, farther.promotions), (1, 2));
    }

    #[test]
    fn packets_during_a_promotion_do_not_prolong_it() {
        let mut radio = lte();
        for milliseconds in [0, 50, 259] {
            radio.sent(at(milliseconds), MTU);
        }
        let used = radio.used_until(at(360));
        joules(&used, PROMOTION + 3.0 * UP * BITS + ACTIVE * 0.1);
    }

    #[test]
    fn an_idle_radio_listens_for_pages() {
        let radio = Meter::new(RadioPower::LTE_HUANG2012);
        let used = radio.clone().used_until(at(12_800));
        joules(&used, 10.0 * 0.594 * 0.043);
        joules(&radio.used_until(at(1_290)), 0.594 * (0.043 + 0.010));
    }

    #[test]
    fn wifi_falls_asleep_after_a_quarter_of_a_second() {
        let mut radio = Meter::new(RadioPower::WIFI_HUANG2012);
        radio.sent(at(100), MTU);
        radio.received(at(200), MTU);
        let used = radio.used_until(at(10_000));
        joules(&used, 0.13286 * 0.35 + (283.17e-9 + 137.01e-9) * BITS);
    }

    proptest! {
        /// Where it is looked at in between changes nothing, and every instant is in one state.
        #[test]
        fn counting_in_parts_is_counting_at_once(
            gaps in proptest::collection::vec(0u64..20_000, 1..20), looks in 1u64..3_000,
        ) {
            let (mut plain, mut watched, mut now) = (Meter::new(RadioPower::LTE_HUANG2012), Meter::new(RadioPower::LTE_HUANG2012), 0);
            for gap in gaps {
                for look in (now..now + gap).step_by(looks as usize) {
                    watched.count_until(at(look));
                }
                now += gap;
                plain.sent(at(now), MTU);
                watched.sent(at(now), MTU);
            }
            let (plain, watched) = (plain.used_until(at(now + 7)), watched.used_until(at(now + 7)));
            prop_assert_eq!(&plain, &watched);
            let all: Duration = plain.times.into_iter().sum();
            prop_assert_eq!(all, at(now + 7).since(Instant::ZERO));
        }
    }
}
