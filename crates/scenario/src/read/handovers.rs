//! `handovers` of an event.

use subflow_quantity::Duration;

use super::RunLength;
use super::links::{delay, directions};
use crate::file::{Field, Problem, Section};
use crate::{Handovers, Link, schema};

/// More handovers in a run are assumed to be a mistake.
const MOST: u64 = 100_000;

/// The handovers of the link with index `index`, from `first` on.
pub(super) fn read(
    field: &Field<'_>,
    first: Duration,
    (index, link): (usize, &Link),
    run: &RunLength,
) -> Result<Handovers, Problem> {
    let section = field.section(&schema::HANDOVERS)?;
    let every = section.value("every");
    let (period, outage) = (every.positive_duration()?, section.value("outage").duration()?);
    if (run.duration - first).as_nanos() / period.as_nanos() >= MOST {
        return Err(every.expected(&format!("a time between handovers of which a run has at most {MOST}")));
    }
    if outage >= period {
        let at = section.given("outage").unwrap_or(every);
        return Err(at.problem(format!("the link is interrupted for {outage} of each {period}, expected less")));
    }
    let rate = match section.given("rate") {
        None => [None, None],
        Some(rate) => directions(&rate, || None, |rate| range(rate, |value| value.rate()))?.map(Some),
    };
    let delay = section.given("delay").map(|field| range(&field, delay)).transpose()?;
    if rate[0].is_none() && delay.is_none() {
        return Err(nothing_drawn(&section));
    }
    let service = [link.up.service.clone(), link.down.service.clone()];
    Ok(Handovers { link: index, first, every: period, outage, rate, delay, service })
}

/// The lowest and the highest value.
fn range<T: PartialOrd + Copy>(
    field: &Field<'_>,
    read: impl Fn(&Field<'_>) -> Result<T, Problem>,
) -> Result<[T; 2], Problem> {
    let expected = "a list of two values, the lowest and the highest";
    let list = field.list(expected)?;
    let [low, high] = &list[..] else { return Err(field.expected(expected)) };
    let range = [read(low)?, read(high)?];
    if range[0] > range[1] {
        return Err(field.expected("the lower value first").label("the other way round"));
    }
    Ok(range)
}

fn nothing_drawn(section: &Section<'_>) -> Problem {
    section.field().problem("nothing changes at a handover, expected rate, delay or both").label("neither is given")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use subflow_network::{LinkChange, Service};
    use subflow_quantity::Rate;

    use super::*;
    use crate::Scenario;
    use crate::file::Document;

    fn scenario(handovers: &str) -> Result<Scenario, String> {
        let text = format!(
            "duration = \"60 s\"\n[hosts]\na = [\"x\"]\nb = [\"x\"]\n[links.sat]\nbetween = [\"a\", \"b\"]\n\
             rate = \"20 Mbit/s\"\ndelay = \"30 ms\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n\
             [[timeline]]\nat = \"12 s\"\nlink = \"sat\"\nhandovers = {handovers}\n"
        );
        let document = Document::parse(Path::new("sat.toml"), text).expect("it is TOML");
        Scenario::read(&document).map_err(|problems| problems.to_string())
    }

    const USUAL: &str = "{ rate = { up = [\"5 Mbit/s\", \"15 Mbit/s\"], down = [\"50 Mbit/s\", \"250 Mbit/s\"] }, \
                         delay = [\"20 ms\", \"40 ms\"] }";

    #[test]
    fn a_minute_has_four_handovers_fifteen_seconds_apart() {
        let scenario = scenario(USUAL).expect("a good scenario");
        let times: Vec<u64> = scenario.timeline.iter().map(|event| event.at.as_millis()).collect();
        assert_eq!(times, [12_000, 12_140, 27_000, 27_140, 42_000, 42_140, 57_000, 57_140]);
        let [LinkChange::Service(Service::Rate(rate)), LinkChange::Delay(delay)] = &scenario.timeline[1].up[..] else {
            panic!("{:?}", scenario.timeline[1]);
        };
        assert_eq!((*rate, *delay), (Rate::from_mbit(10), Duration::from_millis(30)), "before they are drawn");
    }

    /// Of each seed the rates down and the delays that follow the handovers.
    fn drawn(scenario: &Scenario, seed: u64) -> Vec<(Rate, Duration)> {
        let drawn = scenario.drawn(seed);
        let after = drawn.timeline.iter().filter_map(|event| match &event.down[..] {
            [LinkChange::Service(Service::Rate(rate)), LinkChange::Delay(delay)] => Some((*rate, *delay)),
            _ => None,
        });
        after.collect()
    }

    #[test]
    fn each_seed_draws_others_within_the_ranges_and_evenly() {
        let scenario = scenario(USUAL).expect("a good scenario");
        assert_eq!(drawn(&scenario, 7), drawn(&scenario, 7));
        let all: Vec<(Rate, Duration)> = (0..1000).flat_map(|seed| drawn(&scenario, seed)).collect();
        let mbit: Vec<f64> = all.iter().map(|(rate, _)| rate.as_mbit()).collect();
        let ms: Vec<f64> = all.iter().map(|(_, delay)| delay.as_secs_f64() * 1e3).collect();
        for (values, low, high) in [(mbit, 50.0, 250.0), (ms, 20.0, 40.0)] {
            assert!(values.len() == 4000 && values.iter().all(|value| (low..=high).contains(value)));
            let mean = values.iter().sum::<f64>() / 4000.0;
            // The standard error of the mean of so many values of a uniform distribution.
            let error = (high - low) / 12f64.sqrt() / 4000f64.sqrt();
            assert!((mean - (low + high) / 2.0).abs() < 4.0 * error, "{mean}");
        }
    }

    #[test]
    fn an_interruption_alone_gives_the_link_its_own_rate_back() {
        let scenario = scenario("{ delay = [\"20 ms\", \"20 ms\"], outage = \"1 s\" }").expect("a good scenario");
        let [LinkChange::Service(Service::Rate(rate)), LinkChange::Delay(_)] = &scenario.timeline[1].down[..] else {
            panic!("{:?}", scenario.timeline[1]);
        };
        assert_eq!((*rate, scenario.timeline[1].at), (Rate::from_mbit(20), Duration::from_secs(13)));
    }

    #[test]
    fn what_is_wrong_with_handovers_is_named() {
        for (handovers, said) in [
            ("{}", "nothing changes at a handover"),
            ("{ delay = \"20 ms\" }", "the lowest and the highest"),
            ("{ delay = [\"40 ms\", \"20 ms\"] }", "the lower value first"),
            (
                "{ delay = [\"20 ms\", \"40 ms\"], every = \"1 s\", outage = \"1 s\" }",
                "interrupted for 1 s of each 1 s",
            ),
            ("{ delay = [\"20 ms\", \"40 ms\"], every = \"100 us\", outage = \"0 s\" }", "at most 100000"),
        ] {
            let problem = scenario(handovers).expect_err(handovers);
            assert!(problem.contains(said), "{problem}");
        }
    }
}
