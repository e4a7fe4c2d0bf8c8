//! `queue = …`.

use subflow_network::{Limit, QueueConfig, Service};
use subflow_policy::catalogue::Choice;
use subflow_policy::queue::{CoDel, CoDelConfig, Discipline, Red, RedConfig, RedUnit};
use subflow_quantity::notation::NotationError;
use subflow_quantity::{Bdp, Duration, Packets, Probability, Rate, Size};

use crate::file::{Field, Problem, Section, Value};
use crate::schema::{DISCIPLINES, QueueKind, RED_AGEING, RED_DROPS};
use crate::{CustomAlgorithms, schema};

const EXPECTED_LIMIT: &str = "a limit such as \"100 packets\", \"64 KiB\", \"50 ms\" or \"1 bdp\", or \"unlimited\"";

/// What times and bandwidth-delay products are measured by: one direction of a link.
#[derive(Clone, Copy)]
pub(super) struct Measure<'a> {
    pub(super) service: &'a Service,
    /// The delay there and back.
    pub(super) round_trip: Duration,
    /// What each packet takes besides its IP length, in bytes.
    pub(super) overhead: u16,
}

impl Measure<'_> {
    fn rate(self, field: &Field<'_>) -> Result<Rate, Problem> {
        let (label, help) = match self.service {
            Service::Rate(rate) => return Ok(*rate),
            Service::TokenBucket(bucket) => return Ok(bucket.rate),
            Service::Trace(_) => ("its rate varies", "give the limit in packets or bytes"),
            Service::Unlimited => ("nothing waits there", "give the link a rate, or the limit in packets or bytes"),
        };
        Err(field.problem("the link has no rate to measure the queue by").label(label).help(help))
    }

    /// The bytes of so many products of the rate and the round trip.
    fn bytes_of(self, bdp: Bdp, field: &Field<'_>) -> Result<u64, Problem> {
        if self.round_trip.is_zero() {
            return Err(field
                .problem("the link has no delay, so its bandwidth-delay product is 0")
                .label("of the link, not of the path")
                .help("give the limit as a time, in packets or in bytes"));
        }
        Ok(bdp.bytes(self.rate(field)?, self.round_trip))
    }
}

/// The smallest queue in bytes that accepts a full-sized packet.
const FULL_PACKET: u64 = 1500;

pub(super) fn read(field: &Field<'_>, measure: Measure<'_>, custom: &CustomAlgorithms) -> Result<QueueConfig, Problem> {
    if !matches!(field.value(), Value::Table(_)) {
        return Ok(QueueConfig { limit: limit(field, measure)?, ..QueueConfig::default() });
    }
    let section = field.section(&schema::QUEUE)?;
    let limit_field = section.value("limit");
    let limit = limit(&limit_field, measure)?;
    let name = section.value("discipline");
    let named = named(&name, custom)?;
    refuse_parameters_of_others(&section, &named, name.string(WHAT)?)?;
    let discipline = match named {
        Named::BuiltIn(QueueKind::DropTail) => Discipline::DropTail,
        Named::BuiltIn(QueueKind::Red) => Discipline::Red(Red::new(red(&section, measure, limit, &limit_field)?)),
        Named::BuiltIn(QueueKind::CoDel) => Discipline::CoDel(CoDel::new(codel(&section, measure)?)),
        Named::Custom(discipline) => discipline,
    };
    let counts_transmitting = section.value("counts_transmitting").boolean()?;
    Ok(QueueConfig { discipline, limit, counts_transmitting })
}

/// A discipline by name.
enum Named {
    BuiltIn(QueueKind),
    /// One of the program's own, without parameters.
    Custom(Discipline),
}

const WHAT: &str = "a queue discipline";

/// The discipline with the name in `field`: one of `custom`, or a built-in one.
fn named(field: &Field<'_>, custom: &CustomAlgorithms) -> Result<Named, Problem> {
    let name = field.string(WHAT)?;
    if let Some((_, prototype)) = custom.queues.iter().find(|(known, _)| known == name) {
        return Ok(Named::Custom(Discipline::clone(prototype)));
    }
    match Choice::find(&DISCIPLINES, name) {
        Some(built_in) => Ok(Named::BuiltIn(built_in)),
        None => {
            let own = custom.queues.iter().map(|(name, _)| name.as_str());
            Err(field.unknown_name(
                name,
                WHAT,
                DISCIPLINES.iter().map(|discipline| discipline.description.name).chain(own),
            ))
        }
    }
}

/// The disciplines with parameters of their own: as errors call them, by name, and their keys.
const PARAMETERS: [(QueueKind, &str, &str, &[&str]); 2] = [
    (
        QueueKind::Red,
        "RED",
        "red",
        &["min_threshold", "max_threshold", "max_probability", "weight", "gentle", "drop", "idle"],
    ),
    (QueueKind::CoDel, "CoDel", "codel", &["target", "interval", "ecn"]),
];

fn refuse_parameters_of_others(section: &Section<'_>, named: &Named, name: &str) -> Result<(), Problem> {
    for (owner, title, owner_name, keys) in PARAMETERS {
        if matches!(named, Named::BuiltIn(built_in) if *built_in == owner) {
            continue;
        }
        if let Some(stray) = keys.iter().find_map(|key| section.given(key)) {
            return Err(stray
                .problem(format!("the queue discipline {name} has no such parameter"))
                .label(format!("a parameter of {title}"))
                .help(format!("add discipline = \"{owner_name}\", or drop it")));
        }
    }
    Ok(())
}

fn codel(section: &Section<'_>, measure: Measure<'_>) -> Result<CoDelConfig, Problem> {
    Ok(CoDelConfig {
        target: section.value("target").positive_duration()?,
        interval: section.value("interval").positive_duration()?,
        max_packet: FULL_PACKET as u32 + u32::from(measure.overhead),
        ecn: section.value("ecn").boolean()?,
    })
}

/// A number of packets, a number of bytes, what stands for it, or "unlimited".
fn limit(field: &Field<'_>, measure: Measure<'_>) -> Result<Limit, Problem> {
    if matches!(field.value(), Value::String(text) if text == "unlimited") {
        return Ok(Limit::Unlimited);
    }
    let limit = match amount(field, measure)? {
        Amount::Packets(n) => u32::try_from(n).ok().filter(|n| *n > 0).map(Limit::Packets),
        Amount::Bytes(n) => (n >= FULL_PACKET).then_some(Limit::Bytes(n)),
    };
    limit.ok_or_else(|| {
        field.expected("at least 1 packet or 1500 bytes, at most 4294967295 packets").label("nothing could pass")
    })
}

enum Amount {
    Packets(u64),
    Bytes(u64),
}

fn amount(field: &Field<'_>, measure: Measure<'_>) -> Result<Amount, Problem> {
    let packets: Result<Packets, Problem> = field.quantity(EXPECTED_LIMIT);
    let Err(problem) = packets else { return packets.map(|n| Amount::Packets(n.count())) };
    let Value::String(text) = field.value() else { return Err(unit_is_missing(field, problem)) };
    if let Ok(time) = text.parse::<Duration>() {
        return measure.rate(field).map(|rate| Amount::Bytes(rate.bytes_in(time)));
    }
    if let Ok(bdp) = text.parse::<Bdp>() {
        return measure.bytes_of(bdp, field).map(Amount::Bytes);
    }
    match text.parse::<Size>() {
        Ok(size) => Ok(Amount::Bytes(size.as_bytes())),
        Err(NotationError::MissingUnit { .. }) => Err(unit_is_missing(field, problem)),
        Err(NotationError::UnknownUnit { .. } | NotationError::NotANumber { .. }) => {
            Err(field.expected(EXPECTED_LIMIT))
        }
        Err(_) => field.quantity::<Size>(EXPECTED_LIMIT).map(|size| Amount::Bytes(size.as_bytes())),
    }
}

/// The problem of a number without a unit, which may mean packets or bytes; `otherwise` for every other value.
fn unit_is_missing(field: &Field<'_>, otherwise: Problem) -> Problem {
    match field.value() {
        Value::Integer(n) if *n < 0 => otherwise,
        Value::Integer(_) | Value::Float(_) | Value::String(_) => {
            field.expected(EXPECTED_LIMIT).label("the unit is missing: packets, bytes or a time?")
        }
        _ => otherwise,
    }
}

fn red(
    section: &Section<'_>,
    measure: Measure<'_>,
    limit: Limit,
    limit_field: &Field<'_>,
) -> Result<RedConfig, Problem> {
    let (total, unit) = match limit {
        Limit::Packets(n) => (u64::from(n), RedUnit::Packets),
        Limit::Bytes(n) => (n, RedUnit::Bytes { max_packet: FULL_PACKET as u32 }),
        Limit::Unlimited => {
            return Err(limit_field
                .expected("a limit in packets or bytes")
                .label("RED needs a limit")
                .help("its thresholds are in the unit of the limit"));
        }
    };
    let threshold = |key, default: f64| match section.given(key) {
        None => Ok(default),
        Some(field) => match (amount(&field, measure)?, unit) {
            (Amount::Packets(n), RedUnit::Packets) | (Amount::Bytes(n), RedUnit::Bytes { .. })
                if n > 0 && n <= total =>
            {
                Ok(n as f64)
            }
            _ => Err(field.expected(&match unit {
                RedUnit::Packets => format!("from 1 packet to the limit of {total} packets"),
                RedUnit::Bytes { .. } => format!("from 1 byte to the limit of {}", Size::from_bytes(total)),
            })),
        },
    };
    let min_threshold = threshold("min_threshold", total as f64 / 6.0)?;
    let max_threshold = threshold("max_threshold", total as f64 / 2.0)?;
    if min_threshold >= max_threshold {
        let field = section.given("min_threshold").or_else(|| section.given("max_threshold"));
        let field = field.as_ref().unwrap_or(section.field());
        return Err(field.problem(format!(
            "RED's min_threshold is {min_threshold} and its max_threshold {max_threshold}, expected the first to be \
             less"
        )));
    }
    let max_probability: Probability = section.value("max_probability").quantity("a probability such as \"10 %\"")?;
    Ok(RedConfig {
        weight: section.value("weight").weight()?,
        min_threshold,
        max_threshold,
        max_probability: max_probability.as_f64(),
        gentle: section.value("gentle").boolean()?,
        unit,
        drop: section.value("drop").choice("a way to spread drops", &RED_DROPS)?,
        idle: section.value("idle").choice("a way to age the average", &RED_AGEING)?,
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Scenario;
    use crate::file::Document;

    /// The limits of both directions of a link, or what is wrong.
    fn limits(link: &str) -> Result<[Limit; 2], String> {
        let text = format!(
            "duration = \"1 s\"\n[hosts]\na = [\"eth\"]\nb = [\"eth\"]\n[links.path]\nbetween = [\"a.eth\", \"b.eth\"]\n\
             {link}\n[flows.f]\nfrom = \"a\"\nto = \"b\"\nprotocol = \"tcp\"\n"
        );
        let document = Document::parse(Path::new("queue.toml"), text).map_err(|problem| problem.to_string())?;
        let scenario = Scenario::read(&document).map_err(|problems| problems.to_string())?;
        let link = &scenario.links[0];
        Ok([&link.up, &link.down].map(|direction| direction.queue.limit))
    }

    #[test]
    fn a_time_is_what_the_link_sends_in_it_and_a_bdp_what_is_under_way() {
        let rates = "rate = { up = \"10 Mbit/s\", down = \"40 Mbit/s\" }\n";
        let delays = "delay = { up = \"10 ms\", down = \"30 ms\" }\n";
        for (queue, up, down) in [
            ("\"50 ms\"", 62_500, 250_000),
            ("\"1 bdp\"", 50_000, 200_000),
            ("{ up = \"0.5 bdp\", down = \"20 ms\" }", 25_000, 100_000),
            (
                "{ discipline = \"red\", limit = \"80 ms\", min_threshold = \"10 ms\", max_threshold = \"1 bdp\" }",
                100_000,
                400_000,
            ),
        ] {
            let found = limits(&format!("{rates}{delays}queue = {queue}"));
            assert_eq!(found, Ok([Limit::Bytes(up), Limit::Bytes(down)]), "{queue}");
        }
    }

    #[test]
    fn without_a_rate_or_a_delay_to_measure_by_it_is_an_error() {
        for (link, culprit) in [
            ("rate = \"unlimited\"\ndelay = \"1 ms\"\nqueue = \"50 ms\"", "no rate to measure the queue by"),
            ("rate = \"10 Mbit/s\"\nqueue = \"1 bdp\"", "its bandwidth-delay product is 0"),
            ("rate = \"10 Mbit/s\"\nqueue = \"1 ms\"", "at least 1 packet or 1500 bytes"),
            ("rate = \"10 Mbit/s\"\nqueue = \"1.0000001 bdp\"", "expected a limit such as"),
        ] {
            let problem = limits(link).expect_err("nothing to measure by");
            assert!(problem.contains(culprit), "{problem}");
        }
    }
}
