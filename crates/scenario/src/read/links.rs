//! `[links.NAME]`.

use std::ops::RangeInclusive;

use subflow_network::{
    Distribution, Jitter, LinkConfig, Overtaking, Peak, Probability, Reordering, Service, TokenBucketConfig,
};
use subflow_quantity::Duration;

use super::topology::Topology;
use super::traces::Traces;
use super::{References, cellular, loss, middleboxes, queue, wifi};
use crate::file::{Field, Place, Problem, Section, Value};
use crate::schema::DISTRIBUTIONS;
use crate::{Link, schema};

/// A longer delay is assumed to be a mistake in its unit.
const LONGEST_DELAY: Duration = Duration::from_secs(3600);

/// Reads links; nodes have been read before.
pub(super) struct LinkReader<'a> {
    pub(super) topology: &'a Topology,
    pub(super) references: References<'a>,
}

impl LinkReader<'_> {
    /// The link and the places of its ends.
    pub(super) fn read(&self, name: &str, field: &Field<'_>) -> Result<(Link, [Place; 2]), Problem> {
        let section = field.section(&schema::LINK)?;
        let between = section.required("between")?;
        let list = between.list("a list of two ends")?;
        let [first, second] = &list[..] else {
            return Err(between.problem(format!("found {} in the list, expected two ends", list.len())));
        };
        let ends = [self.topology.attachment(first)?, self.topology.attachment(second)?];
        if ends[0] == ends[1] {
            return Err(between.problem("both ends are the same").label("a link joins two nodes"));
        }
        let [up, down] = configs(&section, self.references)?;
        let of_link = section.given("middlebox").map_or(Ok(Vec::new()), |field| middleboxes::of_link(&field))?;
        let middleboxes = middleboxes::with_those_of_routers(of_link, ends, &self.topology.router_middleboxes);
        let link = Link { name: name.to_owned(), ends, up, down, middleboxes };
        Ok((link, [first.place().clone(), second.place().clone()]))
    }
}

/// The properties of both directions of a link.
pub(super) fn configs(section: &Section<'_>, references: References<'_>) -> Result<[LinkConfig; 2], Problem> {
    let References { custom, traces } = references;
    let rate = directions(&section.required("rate")?, || None, |f| service(f, traces))?;
    let delay = directions_of(section, "delay", delay)?;
    let round_trip = delay[0] + delay[1];
    let overhead = directions_of(section, "overhead", |f| f.size(0..=65_535))?;
    let overhead = overhead.map(|bytes| bytes as u16);
    let queues = section.value("queue");
    let queue = |index: usize| {
        let of_direction = direction(&queues, || Some(section.default("queue")), index)?;
        let measure = queue::Measure { service: &rate[index], round_trip, overhead: overhead[index] };
        queue::read(&of_direction, measure, custom)
    };
    let queue = [queue(0)?, queue(1)?];
    let loss = directions_of(section, "loss", |f| loss::read(f, traces))?;
    let duplicate = directions_of(section, "duplicate", loss::probability)?;
    let jitter = match section.given("jitter") {
        None => [None, None],
        Some(field) => optional_directions(&field, jitter)?,
    };
    let reorder = match section.given("reorder") {
        None => [None, None],
        Some(field) => optional_directions(&field, reorder)?,
    };
    for index in [0, 1] {
        // With jitter around a delay of 0, some packets are delayed and others can skip that delay.
        if let (Some(Reorder::Overtaking(_)), true, None) = (reorder[index], delay[index].is_zero(), jitter[index]) {
            let field = section.given("reorder").expect("it was read");
            return Err(field
                .problem("packets overtake by skipping the delay, and the link has neither delay nor jitter")
                .label("nothing to skip")
                .help("give the link a delay or jitter, or the packets that are held back an extra_delay"));
        }
    }

    let config = |index: usize| LinkConfig {
        service: rate[index].clone(),
        delay: delay[index],
        overhead: overhead[index],
        queue: queue[index].clone(),
        loss: loss[index].0.clone(),
        loss_position: loss[index].1,
        duplication: duplicate[index],
        jitter: jitter[index],
        overtaking: match reorder[index] {
            Some(Reorder::Overtaking(overtaking)) => Some(overtaking),
            _ => None,
        },
        reordering: match reorder[index] {
            Some(Reorder::Late(reordering)) => Some(reordering),
            _ => None,
        },
        reports_departures: false,
    };
    Ok([config(0), config(1)])
}

/// The value of a key for each direction. A missing direction has the default of the schema.
fn directions_of<T: Clone>(
    section: &Section<'_>,
    key: &'static str,
    read: impl Fn(&Field<'_>) -> Result<T, Problem>,
) -> Result<[T; 2], Problem> {
    directions(&section.value(key), || Some(section.default(key)), read)
}

/// One value for both directions, or `{ up, down }`. A missing direction has the value `default`, if there is one.
pub(super) fn directions<'a, T: Clone>(
    field: &Field<'a>,
    default: impl Fn() -> Option<Field<'a>>,
    read: impl Fn(&Field<'_>) -> Result<T, Problem>,
) -> Result<[T; 2], Problem> {
    if !is_directions(field) {
        let value = read(field)?;
        return Ok([value.clone(), value]);
    }
    Ok([read(&direction(field, &default, 0)?)?, read(&direction(field, &default, 1)?)?])
}

/// The value for one direction: that of `up` (0) or `down` (1) if it is given for each, as in [`directions`].
fn direction<'f, 'a: 'f>(
    field: &'f Field<'a>,
    default: impl Fn() -> Option<Field<'a>>,
    index: usize,
) -> Result<Field<'f>, Problem> {
    if !is_directions(field) {
        return Ok(field.clone());
    }
    let key = ["up", "down"][index];
    let missing = || field.problem(format!("{key} is missing, expected a value for each direction"));
    match field.section(&schema::DIRECTIONS)?.given(key) {
        Some(given) => Ok(given),
        None => default().ok_or_else(missing),
    }
}

/// One value for both directions, or `{ up, down }`. A missing direction has no value.
pub(super) fn optional_directions<T: Clone>(
    field: &Field<'_>,
    read: impl Fn(&Field<'_>) -> Result<T, Problem>,
) -> Result<[Option<T>; 2], Problem> {
    if !is_directions(field) {
        let value = read(field)?;
        return Ok([Some(value.clone()), Some(value)]);
    }
    let section = field.section(&schema::DIRECTIONS)?;
    let side = |key| section.given(key).map(|given| read(&given)).transpose();
    Ok([side("up")?, side("down")?])
}

/// A table with `up` or `down` has a value for each direction; any other table is one value.
fn is_directions(field: &Field<'_>) -> bool {
    matches!(field.value(), Value::Table(entries) if entries.iter().any(|e| e.key == "up" || e.key == "down"))
}

/// A rate, "unlimited", a token bucket, a cellular or WiFi link, or the path of a capacity trace. Rates begin with a digit,
/// paths do not.
pub(super) fn service(field: &Field<'_>, traces: &Traces) -> Result<Service, Problem> {
    match field.value() {
        Value::Table(_) if wifi::is_meant(field) => wifi::read(field).map(|wifi| Service::Wifi(Box::new(wifi))),
        Value::Table(_) if cellular::is_meant(field) => cellular::read(field).map(Service::Cellular),
        Value::Table(_) => token_bucket(field).map(Service::TokenBucket),
        Value::String(text) if text == "unlimited" => Ok(Service::Unlimited),
        Value::String(text)
            if !text.trim_start().starts_with(|c: char| c.is_ascii_digit() || "+-\u{2212}.,".contains(c))
                || text.starts_with("./")
                || text.starts_with("../") =>
        {
            let expected = "a rate such as \"50 Mbit/s\", \"unlimited\", or the path of a capacity trace";
            traces.capacity(field, expected).map(Service::Trace)
        }
        _ => field.rate().map(Service::Rate),
    }
}

/// A propagation delay.
pub(super) fn delay(field: &Field<'_>) -> Result<Duration, Problem> {
    let delay = field.duration()?;
    if delay > LONGEST_DELAY {
        return Err(field.expected(&format!("at most {LONGEST_DELAY}")));
    }
    Ok(delay)
}

/// A bucket holds at least one full-sized packet.
const BUCKET: RangeInclusive<u64> = 1500..=1 << 30;

fn token_bucket(field: &Field<'_>) -> Result<TokenBucketConfig, Problem> {
    let section = field.section(&schema::RATE)?;
    let rate = section.required("rate")?.rate()?;
    let burst = section.given("burst").ok_or_else(|| {
        let help =
            "burst makes it a token bucket, tti a cellular link, standard a WiFi link, and text such as \"50 Mbit/s\" is a \
             constant rate";
        field.problem("expected one of burst, tti and standard beside the rate").label("none of them").help(help)
    })?;
    let burst = burst.size(BUCKET)? as u32;
    let peak = match section.given("peak_rate") {
        Some(peak) if peak.rate()? <= rate => return Err(peak.expected(&format!("more than the rate, {rate}"))),
        Some(peak) => Some(Peak { rate: peak.rate()?, burst: section.value("mtu").size(BUCKET)? as u32 }),
        None if section.given("mtu").is_some() => {
            return Err(field.problem("mtu is the bucket of the peak rate, and there is none").help("add peak_rate"));
        }
        None => None,
    };
    Ok(TokenBucketConfig { rate, burst, peak })
}

fn jitter(field: &Field<'_>) -> Result<Jitter, Problem> {
    if !matches!(field.value(), Value::Table(_)) {
        let deviation = jitter_deviation(field)?;
        return Ok(Jitter { deviation, distribution: Distribution::default(), correlation: Probability::NEVER });
    }
    let section = field.section(&schema::JITTER)?;
    Ok(Jitter {
        deviation: jitter_deviation(&section.required("deviation")?)?,
        distribution: section.value("distribution").choice("a distribution", &DISTRIBUTIONS)?,
        correlation: loss::probability(&section.value("correlation"))?,
    })
}

fn jitter_deviation(field: &Field<'_>) -> Result<Duration, Problem> {
    let deviation = field.positive_duration()?;
    match deviation <= LONGEST_DELAY {
        true => Ok(deviation),
        false => Err(field.expected(&format!("at most {LONGEST_DELAY}"))),
    }
}

/// How packets are reordered.
#[derive(Clone, Copy, Debug)]
enum Reorder {
    /// Some packets have an additional delay.
    Late(Reordering),
    /// Some packets skip the delay.
    Overtaking(Overtaking),
}

fn reorder(field: &Field<'_>) -> Result<Reorder, Problem> {
    let section = field.section(&schema::REORDER)?;
    let probability = loss::probability(&section.required("probability")?)?;
    let Some(extra) = section.given("extra_delay") else {
        let gap = section.value("gap").integer(1..=1_000_000)? as u32;
        let correlation = loss::probability(&section.value("correlation"))?;
        return Ok(Reorder::Overtaking(Overtaking { probability, correlation, gap }));
    };
    if let Some(stray) = ["gap", "correlation"].into_iter().find_map(|key| section.given(key)) {
        return Err(stray
            .problem("packets that are held back by extra_delay have no such parameter")
            .help("drop one of them"));
    }
    let extra_delay = extra.positive_duration()?;
    if extra_delay > LONGEST_DELAY {
        return Err(extra.expected(&format!("at most {LONGEST_DELAY}")));
    }
    Ok(Reorder::Late(Reordering { probability, extra_delay }))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Scenario;
    use crate::file::Document;

    fn scenario(keys: &str) -> Result<Scenario, String> {
        let text = format!(
            "[hosts]\na = [\"x\"]\nb = [\"x\"]\n[links.l]\nbetween = [\"a\", \"b\"]\nrate = \"1 Mbit/s\"\n{keys}\n\
             [flows.f]\nfrom = \"a\"\nto = \"b\"\n"
        );
        let document = Document::parse(Path::new("link.toml"), text).expect("it is TOML");
        Scenario::read(&document).map_err(|problems| problems.to_string())
    }

    fn link(keys: &str) -> Result<[LinkConfig; 2], String> {
        Ok(scenario(keys)?.links.into_iter().next().map(|link| [link.up, link.down]).expect("a link"))
    }

    #[test]
    fn packets_overtake_where_any_of_them_can_be_late() {
        let skip = "reorder = { probability = \"5 %\" }";
        for late in ["delay = \"1 ms\"", "jitter = \"1 ms\"", "delay = \"1 ms\"\njitter = \"1 ms\""] {
            let directions = link(&format!("{skip}\n{late}")).expect(late);
            assert!(directions.iter().all(|direction| direction.overtaking.is_some()), "{late}");
        }
        let in_one = "reorder = { up = { probability = \"5 %\" } }\njitter = { up = \"1 ms\" }";
        assert!(link(in_one).is_ok_and(|[up, down]| up.overtaking.is_some() && down.overtaking.is_none()));
        let in_the_other = in_one.replace("jitter = { up", "jitter = { down");
        for nothing in [skip, &in_the_other] {
            let problems = link(nothing).expect_err(nothing);
            assert!(problems.contains("neither delay nor jitter"), "{problems}");
        }
    }
}
