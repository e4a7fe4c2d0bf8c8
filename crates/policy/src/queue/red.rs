//! Random early detection (Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance", 1993).

use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64Mcg;
use subflow_quantity::{Probability, Size};

use super::{Arrival, ECN_DOC, FULL_PACKET, IdleAgeing, Limit, Place, QueueDiscipline, Verdict};
use crate::catalogue::{Attribute, Catalogued, Choice, Conflict, Description, Value};

/// The unit of RED's average and thresholds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RedUnit {
    /// Packets.
    #[default]
    Packets,
    /// Bytes; the drop probability of a packet is then proportional to its size divided by `max_packet`.
    Bytes {
        /// The size of a packet with the full drop probability, usually 1500.
        max_packet: u32,
    },
}

/// How RED chooses the packets to drop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RedDrop {
    /// Section 4 of the paper: each packet is dropped with probability p_a = p_b / (1 − count · p_b), where count is
    /// the number of packets since the last drop.
    #[default]
    PerPacket,
    /// Section 11 of the paper ("efficient implementation") as in dummynet: a number R, uniform in \[0, 1), is drawn
    /// when the average reaches min_th and after each drop; the first packet with count · p_b > R is dropped. The
    /// packet for which R is drawn always passes.
    PerInterval,
}

impl RedDrop {
    const ALL: [Choice<Self>; 2] = [
        Choice::new("per-packet", Self::PerPacket, "each packet by a draw of its own")
            .source("Floyd, Jacobson, ToN 1993, section 4"),
        Choice::new("per-interval", Self::PerInterval, "one draw for each stretch of packets between two drops")
            .source("Floyd, Jacobson, ToN 1993, section 11; FreeBSD dummynet"),
    ];
}

/// RED's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedConfig {
    /// w_q: weight of a new sample in the average.
    pub weight: f64,
    /// min_th: below this average nothing is dropped. In `unit`s.
    pub min_threshold: f64,
    /// max_th: from this average on every packet is dropped (with `gentle`, an increasing fraction). In `unit`s.
    pub max_threshold: f64,
    /// max_p: drop probability when the average reaches max_th.
    pub max_probability: f64,
    /// Whether the drop probability increases from max_p to 1 between max_th and 2 max_th instead of jumping to 1
    /// (dummynet: `gred`).
    pub gentle: bool,
    /// The unit of average and thresholds.
    pub unit: RedUnit,
    /// How the packets to drop are chosen.
    pub drop: RedDrop,
    /// How the average decreases during idle times.
    pub idle: IdleAgeing,
    /// Whether packets of transports that use ECN are marked instead of dropped, also above max_th.
    pub ecn: bool,
}

impl RedConfig {
    /// RED as in the paper, with the recommended w_q = 0.002 and max_p = 0.02, in packets.
    pub fn floyd(min_threshold: f64, max_threshold: f64) -> Self {
        Self {
            weight: 0.002,
            min_threshold,
            max_threshold,
            max_probability: 0.02,
            gentle: false,
            unit: RedUnit::Packets,
            drop: RedDrop::PerPacket,
            idle: IdleAgeing::Packets { packet: 512 },
            ecn: false,
        }
    }

    /// RED as configured on FreeBSD by `ipfw pipe config … red w_q/min_th/max_th/max_p`, with the default of 1000 clock
    /// ticks per second and a queue in packets; `gentle` for `gred`.
    ///
    /// dummynet's queue does not contain the packet in transmission: use it on a link that counts only waiting packets.
    /// Its 16-bit fixed point (w_q in steps of 1/65536) and its departures on clock ticks are not modelled.
    pub fn dummynet(weight: f64, min_threshold: f64, max_threshold: f64, max_probability: f64, gentle: bool) -> Self {
        Self {
            weight,
            min_threshold,
            max_threshold,
            max_probability,
            gentle,
            unit: RedUnit::Packets,
            drop: RedDrop::PerInterval,
            idle: IdleAgeing::Dummynet { hz: 1000 },
            ecn: false,
        }
    }
}

/// Random early detection: the state of one queue.
///
/// It uses only additions, multiplications and divisions of floats, whose results are the same on every machine.
#[derive(Clone, Debug)]
pub struct Red {
    config: RedConfig,
    /// min_th and max_th as they were chosen; without a value they follow from the limit ([`Red::fit`]).
    chosen: [Option<Value>; 2],
    /// avg.
    average: f64,
    /// Packets since the last drop; −1 while the average is below min_th.
    count: i64,
    /// R of [`RedDrop::PerInterval`].
    interval: f64,
    random: Pcg64Mcg,
}

/// RED with thresholds that follow from the limit of the queue. Before [`QueueDiscipline::fit`] it drops nothing.
impl Default for Red {
    fn default() -> Self {
        Self::new(RedConfig {
            max_probability: 0.1,
            gentle: true,
            idle: IdleAgeing::Packets { packet: FULL_PACKET },
            ..RedConfig::floyd(f64::INFINITY, f64::INFINITY)
        })
    }
}

impl Catalogued for Red {
    const DESCRIPTION: Description = Description {
        name: "red",
        aliases: &[],
        summary: "random early detection: drops or marks some packets before it is full",
        source: "Floyd, Jacobson, ToN 1993; gentle: Floyd 2000; FreeBSD dummynet",
    };

    const OPTIONS: &'static [Attribute<Self>] = &[
        Attribute::queue_length(
            "min_threshold",
            "the average below which nothing is dropped",
            |red| red.chosen[0].clone().unwrap_or(Value::Derived("a sixth of the limit")),
            |red, threshold| red.choose(0, threshold),
        ),
        Attribute::queue_length(
            "max_threshold",
            "the average at which the drop probability is max_probability",
            |red| red.chosen[1].clone().unwrap_or(Value::Derived("half the limit")),
            |red, threshold| red.choose(1, threshold),
        ),
        Attribute::probability(
            "max_probability",
            "the drop probability at max_threshold",
            |red| Probability::nearest(red.config.max_probability).unwrap_or(Probability::ALWAYS),
            |red, probability| red.config.max_probability = probability.as_f64(),
        ),
        Attribute::weight(
            "weight",
            "the weight of a new sample in the average",
            |red| red.config.weight,
            |red, weight| red.config.weight = weight,
        ),
        Attribute::flag(
            "gentle",
            "whether the drop probability increases to 1 between max_threshold and twice that, instead of jumping to 1",
            |red| red.config.gentle,
            |red, gentle| red.config.gentle = gentle,
        ),
        Attribute::name(
            "drop",
            "how the packets to drop are chosen",
            || Choice::descriptions(&RedDrop::ALL),
            |red| Choice::name_of(&RedDrop::ALL, red.config.drop),
            |red, name| red.config.drop = Choice::find(&RedDrop::ALL, name).unwrap_or(red.config.drop),
        ),
        Attribute::name(
            "idle",
            "how the average decreases while the queue is empty",
            || Choice::descriptions(&IdleAgeing::ALL),
            |red| red.config.idle.name(),
            |red, name| red.config.idle = Choice::find(&IdleAgeing::ALL, name).unwrap_or(red.config.idle),
        ),
        Attribute::flag("ecn", ECN_DOC, |red| red.config.ecn, |red, ecn| red.config.ecn = ecn),
    ];
}

impl QueueDiscipline for Red {
    fn begin(&mut self, seed: u64) {
        self.random = Pcg64Mcg::seed_from_u64(seed);
    }

    fn begin_with(&mut self, random: &mut Pcg64Mcg) {
        self.random = random.clone();
    }

    /// The thresholds are in the unit of the limit, and follow from it unless they were chosen.
    fn fit(&mut self, place: &Place) -> Result<(), Conflict> {
        let conflict = |key, expected| Conflict { key, expected };
        let (limit, unit) = match place.limit {
            Limit::Packets(limit) => (u64::from(limit), RedUnit::Packets),
            Limit::Bytes(limit) => (limit, RedUnit::Bytes { max_packet: FULL_PACKET }),
            Limit::Unlimited => {
                let expected = "a limit in packets or bytes, in whose unit RED's thresholds are";
                return Err(conflict("limit", expected.to_owned()));
            }
        };
        let threshold = |key, chosen: &Option<Value>, default: f64| match (chosen, unit) {
            (None, _) => Ok(default),
            (Some(Value::Packets(length)), RedUnit::Packets) | (Some(Value::Bytes(length)), RedUnit::Bytes { .. })
                if (1..=limit).contains(length) =>
            {
                Ok(*length as f64)
            }
            (_, RedUnit::Packets) => Err(conflict(key, format!("from 1 packet to the limit of {limit} packets"))),
            (_, RedUnit::Bytes { .. }) => {
                Err(conflict(key, format!("from 1 byte to the limit of {}", Size::from_bytes(limit))))
            }
        };
        let min_threshold = threshold("min_threshold", &self.chosen[0], limit as f64 / 6.0)?;
        let max_threshold = threshold("max_threshold", &self.chosen[1], limit as f64 / 2.0)?;
        if min_threshold >= max_threshold {
            return Err(match self.chosen[0] {
                Some(_) => conflict("min_threshold", format!("less than max_threshold, which is {max_threshold}")),
                None => conflict("max_threshold", format!("more than min_threshold, which is {min_threshold}")),
            });
        }
        self.config = RedConfig { min_threshold, max_threshold, unit, ..self.config };
        Ok(())
    }

    /// Processes every packet that comes, also if it then does not fit.
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        self.update_average(arrival);
        let Some(p_b) = self.drop_probability(arrival.bytes) else {
            self.count = -1;
            return Verdict::Pass;
        };
        if p_b >= 1.0 {
            self.count = match self.config.drop {
                RedDrop::PerPacket => 0,
                RedDrop::PerInterval => -1,
            };
            return self.signal();
        }
        self.count += 1;
        let drops = match self.config.drop {
            RedDrop::PerPacket => self.drops_packet(p_b),
            RedDrop::PerInterval => self.drops_interval(p_b),
        };
        if !drops {
            return Verdict::Pass;
        }
        self.count = 0;
        self.interval = self.uniform();
        self.signal()
    }
}

impl Red {
    /// RED with an empty queue.
    pub fn new(config: RedConfig) -> Self {
        Self {
            config,
            chosen: [None, None],
            average: 0.0,
            count: -1,
            interval: 0.0,
            random: Pcg64Mcg::seed_from_u64(0),
        }
    }

    /// Sets a threshold as it was chosen.
    fn choose(&mut self, threshold: usize, value: Value) {
        self.chosen[threshold] = Some(value).filter(|value| !matches!(value, Value::Derived(_)));
    }

    /// What is done with a packet that is to tell its sender of congestion. A mark drops it if its transport does not
    /// use ECN.
    fn signal(&self) -> Verdict {
        if self.config.ecn { Verdict::Mark } else { Verdict::Drop }
    }

    fn update_average(&mut self, arrival: &Arrival) {
        let w_q = self.config.weight;
        match (arrival.idle, self.config.unit) {
            (None, RedUnit::Packets) => self.average += w_q * (f64::from(arrival.held_packets) - self.average),
            (None, RedUnit::Bytes { .. }) => self.average += w_q * (arrival.held_bytes as f64 - self.average),
            (Some(_), _) if self.average == 0.0 => {}
            (Some(idle), _) => self.average *= self.config.idle.factor(w_q, idle, arrival.speed),
        }
    }

    /// p_b for a packet of `size` bytes; `None` below min_th.
    fn drop_probability(&self, size: u32) -> Option<f64> {
        let RedConfig { min_threshold, max_threshold, max_probability, gentle, unit, .. } = self.config;
        if self.average < min_threshold {
            return None;
        }
        let p_b = if self.average < max_threshold {
            max_probability * (self.average - min_threshold) / (max_threshold - min_threshold)
        } else if gentle && self.average < 2.0 * max_threshold {
            max_probability + (1.0 - max_probability) * (self.average - max_threshold) / max_threshold
        } else {
            return Some(1.0);
        };
        Some(match unit {
            RedUnit::Packets => p_b,
            RedUnit::Bytes { max_packet } => p_b * f64::from(size) / f64::from(max_packet),
        })
    }

    fn drops_packet(&mut self, p_b: f64) -> bool {
        let spent = self.count as f64 * p_b;
        spent >= 1.0 || self.uniform() < p_b / (1.0 - spent)
    }

    fn drops_interval(&mut self, p_b: f64) -> bool {
        if self.count == 0 {
            self.interval = self.uniform();
            return false;
        }
        self.count as f64 * p_b > self.interval
    }

    /// A random number in \[0, 1), from 32 random bits.
    fn uniform(&mut self) -> f64 {
        f64::from((self.random.next_u64() >> 32) as u32) / (1u64 << 32) as f64
    }
}

#[cfg(test)]
mod tests {
    use subflow_quantity::{Duration, Instant, Rate};

    use super::*;
    use crate::catalogue::Catalogue;
    use crate::queue::{Codepoint, Discipline, Speed};

    fn red(config: RedConfig) -> Red {
        let mut red = Red::new(config);
        red.begin(3);
        red
    }

    /// A packet of `bytes` that finds `packets` packets, on a link with one microsecond per byte.
    fn holding(packets: u32, bytes: u32) -> Arrival {
        Arrival {
            at: Instant::ZERO,
            bytes,
            ecn: Codepoint::NotEct,
            dscp: 0,
            flow: 0,
            hosts: [0; 2],
            held_packets: packets,
            held_bytes: u64::from(packets) * 1500,
            wait: Duration::ZERO,
            idle: None,
            speed: Speed::Rate(Rate::from_mbit(8)),
        }
    }

    #[test]
    fn thresholds_follow_from_the_limit_unless_they_are_chosen() {
        let fitted = |limit, options: &[(&str, Value)]| {
            let chosen = options.iter().cloned();
            let red = chosen.fold(Discipline::from(Red::default()), |red, (key, value)| red.with(key, value).unwrap());
            let Discipline::Red(mut red) = red else { unreachable!("RED stays RED") };
            let place = Place { limit, ..Place::default() };
            red.fit(&place).map(|()| (red.config.min_threshold, red.config.max_threshold)).map_err(|it| it.key)
        };
        let min = |value| [("min_threshold", value)];
        assert_eq!(fitted(Limit::Packets(60), &[]), Ok((10.0, 30.0)));
        assert_eq!(fitted(Limit::Packets(60), &min(Value::Packets(20))), Ok((20.0, 30.0)));
        assert_eq!(fitted(Limit::Packets(60), &min(Value::Packets(30))), Err("min_threshold"));
        assert_eq!(fitted(Limit::Packets(60), &min(Value::Bytes(20))), Err("min_threshold"), "another unit");
        assert_eq!(fitted(Limit::Bytes(6000), &min(Value::Bytes(2000))), Ok((2000.0, 3000.0)));
        assert_eq!(fitted(Limit::Bytes(6000), &[("max_threshold", Value::Bytes(900))]), Err("max_threshold"));
        assert_eq!(fitted(Limit::Unlimited, &[]), Err("limit"));
    }

    #[test]
    fn the_average_follows_the_queue_with_weight_w_q() {
        // Section 6: after L packets that raise an empty queue from 0 to L, avg = L + 1 + ((1 − w)^(L+1) − 1) / w.
        let mut red = red(RedConfig::floyd(1000.0, 2000.0));
        for packets in 1..=50 {
            red.on_arrival(&holding(packets, 1500));
        }
        let (l, w) = (50.0, 0.002f64);
        let expected = l + 1.0 + ((1.0 - w).powf(l + 1.0) - 1.0) / w;
        assert!((red.average - expected).abs() < 1e-9, "{} {expected}", red.average);
    }

    #[test]
    fn an_idle_time_decreases_the_average_as_if_small_packets_had_come() {
        let mut red = red(RedConfig::floyd(5.0, 15.0));
        red.average = 4.0;
        red.on_arrival(&Arrival { idle: Some(Duration::from_micros(512 * 10)), ..holding(0, 1500) });
        assert!((red.average - 4.0 * 0.998f64.powf(10.0)).abs() < 1e-12);
    }

    /// The numbers of packets from one drop to the next at a constant average.
    fn drop_distances(mut red: Red, average: f64, size: u32, n: u32) -> Vec<u32> {
        red.config.weight = 0.0;
        red.average = average;
        let mut distances = Vec::new();
        let mut distance = 0;
        for _ in 0..n {
            distance += 1;
            if red.on_arrival(&holding(10, size)) == Verdict::Drop {
                distances.push(distance);
                distance = 0;
            }
        }
        distances.split_off(1)
    }

    #[test]
    fn drops_are_uniformly_spaced_and_half_as_far_apart_as_one_over_p_b() {
        // avg midway: p_b = 0.02 / 2, so distances are uniform on 1 … 100 (section 7, method 2).
        for config in [RedConfig::floyd(5.0, 15.0), RedConfig::dummynet(0.002, 5.0, 15.0, 0.02, false)] {
            let distances = drop_distances(red(config), 10.0, 1500, 500_000);
            let mean = distances.iter().sum::<u32>() as f64 / distances.len() as f64;
            assert!((mean - 50.25).abs() < 1.2, "{mean}");
            assert!((98..=101).contains(distances.iter().max().unwrap()));
            let quarter = distances.iter().filter(|&&d| d <= 25).count() as f64 / distances.len() as f64;
            assert!((quarter - 0.25).abs() < 0.02, "{quarter}");
        }
    }

    #[test]
    fn below_min_th_nothing_and_from_max_th_on_everything_is_dropped() {
        let mut red = red(RedConfig { weight: 0.0, ..RedConfig::floyd(5.0, 15.0) });
        red.average = 4.99;
        assert!((0..1000).all(|_| red.on_arrival(&holding(10, 1500)) == Verdict::Pass));
        red.average = 15.0;
        assert!((0..1000).all(|_| red.on_arrival(&holding(10, 1500)) == Verdict::Drop));
    }

    #[test]
    fn with_ecn_packets_are_marked_where_they_would_be_dropped() {
        let verdicts = |ecn| -> Vec<Verdict> {
            let mut red = red(RedConfig { weight: 0.0, ecn, ..RedConfig::floyd(5.0, 15.0) });
            let at = |average| {
                red.average = average;
                red.on_arrival(&holding(10, 1500))
            };
            [10.0; 500].into_iter().chain([15.0, 99.0]).map(at).collect()
        };
        let marked = verdicts(false).into_iter().map(|it| if it == Verdict::Drop { Verdict::Mark } else { it });
        assert_eq!(verdicts(true), marked.collect::<Vec<_>>());
        assert_eq!(verdicts(true)[500..], [Verdict::Mark; 2]);
    }

    #[test]
    fn gentle_increases_the_probability_from_max_p_to_one() {
        let config = RedConfig { gentle: true, max_probability: 0.1, ..RedConfig::floyd(5.0, 15.0) };
        let mut red = red(config);
        let p_b = |red: &mut Red, average| {
            red.average = average;
            red.drop_probability(1500).unwrap()
        };
        assert_eq!(p_b(&mut red, 15.0), 0.1);
        assert!((p_b(&mut red, 22.5) - 0.55).abs() < 1e-12);
        assert_eq!(p_b(&mut red, 30.0), 1.0);
        // dummynet computes the same line as c_3 avg − c_4, c_3 = (1 − max_p) / max_th, c_4 = 1 − 2 max_p.
        assert!((p_b(&mut red, 20.0) - ((1.0 - 0.1) / 15.0 * 20.0 - (1.0 - 0.2))).abs() < 1e-12);
    }

    #[test]
    fn in_bytes_small_packets_are_dropped_less_often() {
        let config = RedConfig { unit: RedUnit::Bytes { max_packet: 1500 }, ..RedConfig::floyd(5000.0, 15000.0) };
        let mut red = red(config);
        red.average = 10_000.0;
        assert!((red.drop_probability(1500).unwrap() - 0.01).abs() < 1e-12);
        assert!((red.drop_probability(150).unwrap() - 0.001).abs() < 1e-12);
    }
}
