//! Properties that hold in every state that a transport can reach, and in many that it cannot.

use proptest::prelude::*;
use subflow_policy::catalogue::{Catalogue, Domain, Value};
use subflow_policy::congestion::{Ack, Algorithm, CongestionControl, Loss, Path, RecoveryState, Rules, Timeout};
use subflow_quantity::{Duration, Instant, Probability, Ratio};

use super::rounds::delivery;

/// What happens to an algorithm: an event of the transport, or another window than it has set.
#[derive(Clone, Debug)]
enum Event {
    Ack { acked: u32, rtt: Option<u64> },
    Delivery { acked: u32 },
    Loss { by_timer: bool },
    Recovered,
    Timeout { repeated: bool },
    State(RecoveryState),
    Idle { nanos: u64 },
    Restart { timeouts: u32 },
    Unused { used: u32 },
    Penalty,
    Rtt { nanos: u64 },
    Window { cwnd: u32, ssthresh: u32 },
    Established(bool),
}

/// A duration from 1 ns to 1000 s; every order of magnitude has the same probability.
fn span() -> impl Strategy<Value = u64> {
    (0_u32..40, any::<u64>()).prop_map(|(bits, n)| (1 + n % (1 << bits)).min(1_000_000_000_000))
}

fn window() -> impl Strategy<Value = u32> {
    (0_u32..=30, any::<u32>()).prop_map(|(bits, n)| 1 + n % (1 << bits))
}

fn state() -> impl Strategy<Value = RecoveryState> {
    use RecoveryState::{Disorder, Loss, Open, Recovery, WindowReduced};
    prop::sample::select(vec![Open, Disorder, WindowReduced, Recovery, Loss])
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        8 => (prop_oneof![1_u32..4, window()], prop::option::of(span()))
            .prop_map(|(acked, rtt)| Event::Ack { acked, rtt }),
        2 => window().prop_map(|acked| Event::Delivery { acked }),
        2 => any::<bool>().prop_map(|by_timer| Event::Loss { by_timer }),
        1 => Just(Event::Recovered),
        1 => any::<bool>().prop_map(|repeated| Event::Timeout { repeated }),
        2 => state().prop_map(Event::State),
        1 => span().prop_map(|nanos| Event::Idle { nanos }),
        1 => (0_u32..40).prop_map(|timeouts| Event::Restart { timeouts }),
        1 => window().prop_map(|used| Event::Unused { used }),
        1 => Just(Event::Penalty),
        2 => span().prop_map(|nanos| Event::Rtt { nanos }),
        2 => (window(), any::<u32>()).prop_map(|(cwnd, ssthresh)| Event::Window { cwnd, ssthresh }),
        1 => any::<bool>().prop_map(Event::Established),
    ]
}

/// A connection with the offsets of its streams. Its windows follow the rules of TCP if they are in packets, else those
/// of SCTP.
struct Driver {
    algorithm: Algorithm,
    paths: Vec<Path>,
    now: Instant,
    una: u64,
}

impl Driver {
    fn new(algorithm: Algorithm, paths: usize, quantum: u32) -> Self {
        let mut driver = Self { algorithm, paths: Vec::new(), now: Instant::ZERO, una: 0 };
        for index in 0..paths {
            driver.paths.push(new_path(quantum));
            driver.algorithm.on_path_added(&driver.paths, index);
        }
        driver
    }

    /// Path 1 is a new one from now on.
    fn replace_path_1(&mut self) {
        self.paths[1] = new_path(1);
        self.algorithm.on_path_added(&self.paths, 1);
    }

    fn tell(&mut self, path: usize, event: &Event) {
        let (algorithm, paths, now) = (&mut self.algorithm, &mut self.paths, self.now);
        match *event {
            Event::Ack { acked, rtt } => {
                self.now += Duration::from_millis(1);
                self.una += u64::from(acked);
                let ack = self.ack(acked, rtt);
                self.algorithm.on_sample(&mut self.paths, path, &ack);
                self.algorithm.on_ack(&mut self.paths, path, &ack);
            }
            Event::Delivery { acked } => {
                self.una += u64::from(acked);
                let sample = delivery(self.ack(acked, None), true);
                self.algorithm.on_delivered(&mut self.paths, path, &sample);
            }
            Event::Loss { by_timer } => {
                let in_flight = paths[path].cwnd();
                algorithm.enter_recovery(paths, path, &Loss { now, in_flight, by_timer });
                self.set_state(path, RecoveryState::Recovery);
            }
            Event::Recovered => {
                algorithm.leave_recovery(paths, path);
                self.set_state(path, RecoveryState::Open);
            }
            Event::Timeout { repeated } => {
                algorithm.on_timeout(paths, path, &Timeout { now, in_flight: 0, repeated });
                self.set_state(path, RecoveryState::Loss);
            }
            Event::State(state) => self.set_state(path, state),
            Event::Idle { nanos } => {
                self.now += Duration::from_nanos(nanos);
                algorithm.on_transmit_after_idle(paths, path, self.now, Duration::from_nanos(nanos));
            }
            Event::Restart { timeouts } => algorithm.restart_after_idle(paths, path, timeouts),
            Event::Unused { used } => algorithm.on_application_limited(paths, path, used),
            Event::Penalty => algorithm.penalise(paths, path),
            Event::Rtt { nanos } => paths[path].set_srtt(Duration::from_nanos(nanos)),
            Event::Window { cwnd, ssthresh } => {
                let cwnd = cwnd.max(paths[path].quantum());
                paths[path].set_cwnd(cwnd);
                paths[path].set_ssthresh(ssthresh);
            }
            Event::Established(established) => paths[path] = paths[path].clone().with_established(established),
        }
    }

    fn ack(&self, acked: u32, rtt: Option<u64>) -> Ack {
        let rtt = rtt.map(Duration::from_nanos);
        Ack { now: self.now, acked, rtt, una: self.una, nxt: self.una + 10, in_flight: acked }
    }

    fn set_state(&mut self, path: usize, state: RecoveryState) {
        self.algorithm.on_state(&self.paths, path, state);
        self.paths[path] = self.paths[path].clone().with_state(state);
    }
}

fn new_path(quantum: u32) -> Path {
    let rules = if quantum == 1 { Rules::default() } else { Rules::Rfc9260 };
    Path::new(quantum, 10 * quantum).with_rules(rules).with_established(true)
}

fn usual(name: &str) -> Algorithm {
    Algorithm::from_name(name).expect("a name of the catalogue")
}

/// The algorithm called `name` with a drawn value for each of its options and switches.
fn chosen(name: &str, draws: &[prop::sample::Index]) -> Algorithm {
    let algorithm = usual(name);
    let settings = algorithm.options().into_iter().chain(algorithm.switches());
    settings.zip(draws).fold(algorithm.clone(), |algorithm, (setting, draw)| {
        let value = match &setting.domain {
            Domain::Boolean => Value::Boolean(draw.index(2) == 1),
            Domain::Integer(range) | Domain::Subflows(range) => {
                let numbers = range.end() - range.start() + 1;
                Value::Integer(range.start() + draw.index(numbers as usize) as u64)
            }
            Domain::Ratio(range) => {
                let [least, most] = [range.start(), range.end()].map(|ratio| (ratio.as_f64() * 1000.0) as usize);
                let thousandths = least + draw.index(most - least + 1);
                Value::Ratio(Ratio::new(thousandths as u32, 1000).expect("a ratio"))
            }
            Domain::Fraction => Value::Fraction(draw.index(1001) as f64 / 1000.0),
            Domain::Duration => Value::Duration(Duration::from_millis(draw.index(1000) as u64)),
            Domain::Name(names) => Value::Name(names[draw.index(names.len())].name),
            Domain::Weight => Value::Fraction((1 + draw.index(1000)) as f64 / 1000.0),
            Domain::PositiveDuration => Value::Duration(Duration::from_millis(1 + draw.index(1000) as u64)),
            Domain::Probability => {
                let thousandths = draw.index(1001) as f64 / 1000.0;
                Value::Probability(Probability::nearest(thousandths).expect("a probability"))
            }
            Domain::QueueLength | Domain::Pattern | Domain::Integers(..) => {
                panic!("{}: it depends on a link", setting.key)
            }
        };
        algorithm.with(setting.key, value).expect("it is in the domain")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn windows_and_thresholds_stay_at_least_one_segment(
        name in prop::sample::select(Algorithm::NAMES.to_vec()),
        draws in prop::collection::vec(any::<prop::sample::Index>(), 8),
        paths in 1_usize..=64,
        quantum in prop::sample::select(vec![1_u32, 1452]),
        events in prop::collection::vec((any::<prop::sample::Index>(), event()), 1..200),
    ) {
        let mut driver = Driver::new(chosen(name, &draws), paths, quantum);
        for (index, event) in &events {
            let path = index.index(paths);
            driver.tell(path, event);
            prop_assert!(driver.paths[path].cwnd() >= quantum, "{name}: window after {event:?}");
            if matches!(event, Event::Loss { .. } | Event::Timeout { repeated: false }) {
                prop_assert!(driver.paths[path].ssthresh() >= quantum, "{name}: threshold");
            }
        }
    }

    #[test]
    fn a_path_in_the_place_of_a_closed_one_inherits_nothing(
        name in prop::sample::select(Algorithm::NAMES.to_vec()),
        draws in prop::collection::vec(any::<prop::sample::Index>(), 8),
        before in prop::collection::vec(event(), 1..60),
        after in prop::collection::vec((0_usize..2, event()), 1..60),
    ) {
        let mut used = Driver::new(chosen(name, &draws), 2, 1);
        let mut fresh = Driver::new(chosen(name, &draws), 2, 1);
        before.iter().for_each(|event| used.tell(1, event));
        used.tell(1, &Event::Established(false));
        fresh.now = used.now;
        used.una = 0;
        used.replace_path_1();
        fresh.replace_path_1();
        for (path, event) in &after {
            used.tell(*path, event);
            fresh.tell(*path, event);
            for index in 0..2 {
                let [a, b] = [&used, &fresh].map(|driver| {
                    let path = &driver.paths[index];
                    (path.cwnd(), path.ssthresh(), path.credit(), path.state())
                });
                prop_assert_eq!(a, b);
            }
        }
    }

    #[test]
    fn a_lone_path_grows_no_faster_than_reno(
        name in prop::sample::select(vec!["lia", "olia", "balia", "cmt-rpv1", "cmt-rpv2"]),
        cwnd in 1_u32..10_000,
        acks in 1_usize..2000,
    ) {
        let grown = |name: &str| {
            let mut driver = Driver::new(usual(name), 1, 1);
            driver.tell(0, &Event::Rtt { nanos: 50_000_000 });
            driver.tell(0, &Event::Window { cwnd, ssthresh: 1 });
            (0..acks).for_each(|_| driver.tell(0, &Event::Ack { acked: 1, rtt: None }));
            driver.paths[0].cwnd()
        };
        prop_assert!(grown(name) <= grown("reno"));
    }

    #[test]
    fn uncoupled_algorithms_do_not_change_the_siblings(
        name in prop::sample::select(vec!["reno", "cubic", "vegas", "westwood"]),
        events in prop::collection::vec((0_usize..2, event()), 1..100),
    ) {
        let mut both = Driver::new(usual(name), 2, 1);
        let mut alone = Driver::new(usual(name), 1, 1);
        for (path, event) in &events {
            if *path == 0 {
                (alone.now, alone.una) = (both.now, both.una);
                alone.tell(0, event);
            }
            both.tell(*path, event);
            prop_assert_eq!(both.paths[0].cwnd(), alone.paths[0].cwnd());
        }
    }
}
