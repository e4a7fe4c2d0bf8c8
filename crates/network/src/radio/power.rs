//! The states of a radio, what they take, and what they have taken.

use subflow_quantity::{Duration, Energy, EnergyPerBit, Power};

/// What a radio interface takes in the states of its connection to a base station or an access point.
///
/// A packet finds the radio idle or connected. An idle one is promoted first, for [`promotion_time`](Self::promotion_time).
/// A connected radio receives continuously until it has had no packet for [`inactivity_time`](Self::inactivity_time). From
/// then on it is in its tail, with short and then long cycles of discontinuous reception (DRX), until it has had no packet
/// for [`tail_time`](Self::tail_time), when it is idle again. A packet in the tail makes it receive continuously at once.
///
/// The default takes nothing at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RadioPower {
    /// The time that it takes from idle to connected.
    pub promotion_time: Duration,
    /// The power during that time.
    pub promotion_power: Power,
    /// The power of continuous reception without data: β of published models.
    pub active_power: Power,
    /// What each sent bit costs besides: α of the uplink.
    pub up: EnergyPerBit,
    /// What each received bit costs besides: α of the downlink.
    pub down: EnergyPerBit,
    /// The time without packets after which continuous reception ends.
    pub inactivity_time: Duration,
    /// The time without packets after which it is idle; at least that and `short_drx_time` together.
    pub tail_time: Duration,
    /// The power of the tail between the times at which the radio listens.
    pub tail_power: Power,
    /// When it listens during the first part of the tail.
    pub short_drx: Listening,
    /// The duration of that part.
    pub short_drx_time: Duration,
    /// When it listens during the rest of the tail.
    pub long_drx: Listening,
    /// The power of the idle radio between the times at which it listens.
    pub idle_power: Power,
    /// When the idle radio listens, for paging or beacons.
    pub paging: Listening,
}

/// At the beginning of each cycle the radio listens for a time, with another power.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Listening {
    /// The power while it listens.
    pub power: Power,
    /// How long it listens in each cycle; at most the cycle.
    pub time: Duration,
    /// The cycle; zero if it never listens.
    pub cycle: Duration,
}

impl RadioPower {
    /// LTE as Huang et al. measured and modelled it in a commercial network: "A close examination of performance and power
    /// characteristics of 4G LTE networks", MobiSys 2012. The costs of bits, the power of continuous reception and the
    /// tail are the paper's; powers and times of promotion, DRX and paging are those of the profile for this model that
    /// AT&T's Application Resource Optimizer has (`lte.conf`), rounded as there.
    pub const LTE_HUANG2012: Self = Self {
        promotion_time: Duration::from_millis(260),
        promotion_power: Power::from_microwatts(1_210_000),
        active_power: Power::from_microwatts(1_288_040),
        up: EnergyPerBit::from_picojoules(438_390),
        down: EnergyPerBit::from_picojoules(51_970),
        inactivity_time: Duration::from_millis(100),
        tail_time: Duration::from_millis(11_576),
        tail_power: Power::from_microwatts(1_060_000),
        short_drx: Listening {
            power: Power::from_microwatts(1_680_000),
            time: Duration::from_millis(2),
            cycle: Duration::from_millis(20),
        },
        short_drx_time: Duration::from_millis(20),
        long_drx: Listening {
            power: Power::from_microwatts(1_680_000),
            time: Duration::from_millis(2),
            cycle: Duration::from_millis(40),
        },
        idle_power: Power::ZERO,
        paging: Listening {
            power: Power::from_microwatts(594_000),
            time: Duration::from_millis(43),
            cycle: Duration::from_millis(1280),
        },
    };

    /// WiFi of the same paper: the costs of bits and the power while it is awake. It stays awake for the 250 ms of the same
    /// tool's profile (`WiFi.conf`) and then saves power (PSM), which takes nothing here.
    pub const WIFI_HUANG2012: Self = Self {
        promotion_time: Duration::ZERO,
        promotion_power: Power::ZERO,
        active_power: Power::from_microwatts(132_860),
        up: EnergyPerBit::from_picojoules(283_170),
        down: EnergyPerBit::from_picojoules(137_010),
        inactivity_time: Duration::from_millis(250),
        tail_time: Duration::from_millis(250),
        tail_power: Power::ZERO,
        short_drx: Listening::NEVER,
        short_drx_time: Duration::ZERO,
        long_drx: Listening::NEVER,
        idle_power: Power::ZERO,
        paging: Listening::NEVER,
    };
}

/// A state of a radio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RadioState {
    /// From idle to connected.
    Promotion,
    /// It receives continuously.
    Active,
    /// It waits for more packets, with discontinuous reception.
    Tail,
    /// It has no connection.
    Idle,
}

/// What a radio has taken since the start of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RadioUse {
    /// The energy, in all states.
    pub energy: Energy,
    /// IP bytes that it has sent.
    pub sent_bytes: u64,
    /// IP bytes that it has received.
    pub received_bytes: u64,
    /// How often it was promoted.
    pub promotions: u64,
    /// By [`RadioState`].
    pub(super) times: [Duration; 4],
}

impl RadioUse {
    /// The time in `state`.
    pub fn time_in(&self, state: RadioState) -> Duration {
        self.times[state as usize]
    }
}

impl Listening {
    /// It never listens.
    pub const NEVER: Self = Self { power: Power::ZERO, time: Duration::ZERO, cycle: Duration::ZERO };

    /// The energy of the first `span` of a state that takes `between` while the radio does not listen.
    pub(super) fn energy(self, between: Power, span: Duration) -> Energy {
        if self.cycle.is_zero() {
            return between.over(span);
        }
        let cycles = span.as_nanos() / self.cycle.as_nanos();
        let rest = Duration::from_nanos(span.as_nanos() % self.cycle.as_nanos());
        let listens = self.time.saturating_mul(cycles) + rest.min(self.time);
        self.power.over(listens) + between.over(span - listens)
    }
}
