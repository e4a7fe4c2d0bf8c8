//! Handovers of a satellite link: at regular marks it is interrupted, and has another rate and another delay afterwards.

use rand_core::RngCore;
use subflow_network::{LinkChange, Service, stream};
use subflow_quantity::{Duration, Rate};

use crate::conditions::OUTAGE;
use crate::random::below;
use crate::{LinkEvent, Scenario};

/// The handovers of a link. Rates and delays are drawn in each run, all values of a range with the same probability.
#[derive(Clone, Debug)]
pub struct Handovers {
    /// Index into [`Scenario::links`].
    pub link: usize,
    /// The first mark; before the end of the run.
    pub first: Duration,
    /// The time from one mark to the next.
    pub every: Duration,
    /// For how long packets wait after a mark; shorter than `every`.
    pub outage: Duration,
    /// The lowest and the highest rate of each direction after a handover, up and down; `None` if it stays.
    pub rate: [Option<[Rate; 2]>; 2],
    /// The shortest and the longest delay, which both directions have; `None` if it stays.
    pub delay: Option<[Duration; 2]>,
    /// What the directions of the link have where no rate is drawn.
    pub(crate) service: [Service; 2],
}

/// What is drawn for one handover.
struct Draw {
    rate: [Option<Rate>; 2],
    delay: Option<Duration>,
}

impl Handovers {
    /// The changes of the link in a run of `duration`, each handover with the next draw.
    fn events(&self, duration: Duration, mut draw: impl FnMut() -> Draw) -> Vec<LinkEvent> {
        let mut events = Vec::new();
        let mut mark = self.first;
        while mark < duration {
            let Draw { rate, delay } = draw();
            let after = |direction: usize| -> Vec<LinkChange> {
                let service = match rate[direction] {
                    Some(rate) => Some(Service::Rate(rate)),
                    None if self.outage.is_zero() => None,
                    None => Some(self.service[direction].clone()),
                };
                service.map(LinkChange::Service).into_iter().chain(delay.map(LinkChange::Delay)).collect()
            };
            let mut add = |at, up, down| events.push(LinkEvent { at, link: self.link, up, down, is_drawn: true });
            if !self.outage.is_zero() {
                let outage = || vec![LinkChange::Service(Service::Rate(OUTAGE))];
                add(mark, outage(), outage());
            }
            if mark.saturating_add(self.outage) < duration {
                add(mark + self.outage, after(0), after(1));
            }
            mark = mark.saturating_add(self.every);
        }
        events
    }

    /// Each with the middle of its range.
    pub(crate) fn mean_events(&self, duration: Duration) -> Vec<LinkEvent> {
        let middle = |low: u64, high: u64| low + (high - low) / 2;
        let rate = |range: [Rate; 2]| {
            let [low, high] = range.map(Rate::bits_per_second);
            Rate::from_bits_per_second(middle(low, high))
        };
        let delay = |range: [Duration; 2]| {
            let [low, high] = range.map(Duration::as_nanos);
            Duration::from_nanos(middle(low, high))
        };
        let of = || Draw { rate: self.rate.map(|range| range.map(rate)), delay: self.delay.map(delay) };
        self.events(duration, of)
    }

    /// Those of the run with `seed`. What is drawn has a stream of random numbers of its own.
    fn drawn_events(&self, link: &str, number: usize, duration: Duration, seed: u64) -> Vec<LinkEvent> {
        let mut random = stream(seed, &format!("handovers {number} of {link}"));
        self.events(duration, || Draw {
            rate: self.rate.map(|range| {
                let [low, high] = range?.map(Rate::bits_per_second);
                Some(Rate::from_bits_per_second(within(low, high, &mut random)))
            }),
            delay: self.delay.map(|range| {
                let [low, high] = range.map(Duration::as_nanos);
                Duration::from_nanos(within(low, high, &mut random))
            }),
        })
    }
}

/// A whole number from `low` to `high`.
fn within(low: u64, high: u64, random: &mut impl RngCore) -> u64 {
    low + below((high - low).saturating_add(1), random)
}

impl Scenario {
    /// Replaces the events of handovers by those of the run with `seed`.
    pub(crate) fn draw_handovers(&mut self, seed: u64) {
        self.timeline.retain(|event| !event.is_drawn);
        for (number, handovers) in self.handovers.iter().enumerate() {
            let link = &self.links[handovers.link].name;
            self.timeline.extend(handovers.drawn_events(link, number, self.duration, seed));
        }
        self.timeline.sort_by_key(|event| event.at);
    }
}
