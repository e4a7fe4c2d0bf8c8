//! PIE: proportional integral controller enhanced (RFC 8033), as `tc pie`.
//!
//! A packet that comes is dropped, or marked, with a probability that a controller adapts to the waiting times of the
//! packets that leave (`pie_state.rs`).

use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;
use subflow_quantity::Instant;

use super::pie_state::{PieConfig, PieState, pie_options};
use super::{Arrival, Departure, Limit, Place, QueueDiscipline, Verdict};
use crate::catalogue::{Attribute, Catalogued, Conflict, Description};

/// PIE for one queue.
#[derive(Clone, Debug)]
pub struct Pie {
    config: PieConfig,
    state: PieState,
    random: Pcg64Mcg,
}

impl Pie {
    /// PIE with an empty queue.
    pub fn new(config: PieConfig) -> Self {
        let state = PieState::new(Instant::ZERO + config.tupdate);
        Self { config, state, random: Pcg64Mcg::seed_from_u64(0) }
    }
}

impl Default for Pie {
    fn default() -> Self {
        Self::new(PieConfig::default())
    }
}

impl Catalogued for Pie {
    const DESCRIPTION: Description = Description {
        name: "pie",
        aliases: &[],
        summary: "drops or marks packets with a probability that aims for a waiting time",
        source: "RFC 8033; Linux sch_pie",
    };

    const OPTIONS: &'static [Attribute<Self>] = pie_options![config];
}

impl QueueDiscipline for Pie {
    fn begin(&mut self, seed: u64) {
        self.random = Pcg64Mcg::seed_from_u64(seed);
    }

    fn fit(&mut self, place: &Place) -> Result<(), Conflict> {
        self.config.full_packet = place.full_packet();
        self.state = PieState::new(Instant::ZERO + self.config.tupdate);
        Ok(())
    }

    fn usual_limit(&self) -> Option<Limit> {
        Some(Limit::Packets(1000))
    }

    fn acts_on_departure(&self) -> bool {
        true
    }

    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        let packet = (arrival.at, arrival.bytes, arrival.ecn, arrival.held_bytes);
        self.state.on_arrival(&self.config, packet, &mut self.random)
    }

    fn on_departure(&mut self, departure: &Departure<'_>) -> Verdict {
        self.state.on_departure(&self.config, departure.at, departure.sojourn, departure.waiting.bytes());
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use subflow_quantity::Duration;

    use super::*;
    use crate::queue::tests::arrival;
    use crate::queue::{Backlog, Codepoint, Head};

    /// The packets dropped, and the mean waiting time in milliseconds, of `seconds` in which a packet comes each `gap`
    /// microseconds and one leaves per millisecond.
    fn run(gap: u64, seconds: u64) -> (u64, f64) {
        let (mut pie, mut backlog) = (Pie::default(), Backlog::default());
        pie.begin(1);
        let (mut dropped, mut waited, mut left) = (0, 0, 0);
        for us in 0..seconds * 1_000_000 {
            let at = Instant::ZERO + Duration::from_micros(us);
            if us % gap == 0 {
                let held_bytes = backlog.waiting().bytes();
                match pie.on_arrival(&Arrival { held_bytes, ..arrival(at, 0, 1500) }) {
                    Verdict::Pass => backlog.push(0, Head { came: at, bytes: 1500, ecn: Codepoint::NotEct }, us),
                    _ => dropped += 1,
                }
            }
            if us % 1000 == 0
                && let Some(departed) = backlog.depart(&mut pie, at, |_| {})
            {
                (waited, left) = (waited + us - departed.packet, left + 1);
            }
        }
        (dropped, waited as f64 / left as f64 / 1000.0)
    }

    #[test]
    fn a_load_that_does_not_react_loses_what_is_too_much_and_the_rest_waits_for_about_the_target() {
        let (dropped, waited) = run(800, 60);
        // 1250 packets per second come and 1000 leave.
        assert!((13_000..15_500).contains(&dropped), "{dropped}");
        assert!((10.0..60.0).contains(&waited), "{waited} ms");
    }

    #[test]
    fn below_the_rate_of_the_link_nothing_is_dropped() {
        assert_eq!(run(1100, 10).0, 0);
    }
}
