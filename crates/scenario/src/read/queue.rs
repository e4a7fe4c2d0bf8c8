//! `queue = …`.

use subflow_network::{Limit, QueueConfig, Service};
use subflow_policy::catalogue::Value as OptionValue;
use subflow_policy::queue::{FULL_PACKET, Place, QueueDiscipline};
use subflow_quantity::notation::NotationError;
use subflow_quantity::{Bdp, Duration, Packets, Rate, Size};

use super::algorithms;
use crate::file::{Field, Problem, Value};
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
            Service::Cellular(cellular) => return Ok(cellular.rate),
            Service::Wifi(wifi) => return Ok(wifi.rate),
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

pub(super) fn read(field: &Field<'_>, measure: Measure<'_>, custom: &CustomAlgorithms) -> Result<QueueConfig, Problem> {
    if !matches!(field.value(), Value::Table(_)) {
        return Ok(QueueConfig { limit: limit(field, measure)?, ..QueueConfig::default() });
    }
    let section = field.section(&schema::QUEUE)?;
    let name = section.value("discipline");
    let length = |field: &Field<'_>| length(field, measure);
    let mut discipline = algorithms::in_section(&section, &name, "a queue discipline", &custom.queues, &length)?;
    let limit = match (section.given("limit"), discipline.usual_limit()) {
        (None, Some(usual)) => usual,
        _ => limit(&section.value("limit"), measure)?,
    };
    let fitted = discipline.fit(&Place { limit, overhead: measure.overhead });
    fitted.map_err(|conflict| algorithms::conflicting(&section, &discipline, &conflict))?;
    Ok(QueueConfig { discipline, limit, counts_transmitting: section.value("counts_transmitting").boolean()? })
}

/// A number of packets, a number of bytes, what stands for it, or "unlimited".
fn limit(field: &Field<'_>, measure: Measure<'_>) -> Result<Limit, Problem> {
    if matches!(field.value(), Value::String(text) if text == "unlimited") {
        return Ok(Limit::Unlimited);
    }
    let limit = match length(field, measure)? {
        OptionValue::Packets(n) => u32::try_from(n).ok().filter(|n| *n > 0).map(Limit::Packets),
        OptionValue::Bytes(n) if n >= FULL_PACKET.into() => Some(Limit::Bytes(n)),
        _ => None,
    };
    limit.ok_or_else(|| {
        field.expected("at least 1 packet or 1500 bytes, at most 4294967295 packets").label("nothing could pass")
    })
}

/// A number of packets or of bytes; times and bandwidth-delay products stand for bytes.
fn length(field: &Field<'_>, measure: Measure<'_>) -> Result<OptionValue, Problem> {
    let packets: Result<Packets, Problem> = field.quantity(EXPECTED_LIMIT);
    let Err(problem) = packets else { return packets.map(|n| OptionValue::Packets(n.count())) };
    let Value::String(text) = field.value() else { return Err(unit_is_missing(field, problem)) };
    if let Ok(time) = text.parse::<Duration>() {
        return measure.rate(field).map(|rate| OptionValue::Bytes(rate.bytes_in(time)));
    }
    if let Ok(bdp) = text.parse::<Bdp>() {
        return measure.bytes_of(bdp, field).map(OptionValue::Bytes);
    }
    match text.parse::<Size>() {
        Ok(size) => Ok(OptionValue::Bytes(size.as_bytes())),
        Err(NotationError::MissingUnit { .. }) => Err(unit_is_missing(field, problem)),
        Err(NotationError::UnknownUnit { .. } | NotationError::NotANumber { .. }) => {
            Err(field.expected(EXPECTED_LIMIT))
        }
        Err(_) => field.quantity::<Size>(EXPECTED_LIMIT).map(|size| OptionValue::Bytes(size.as_bytes())),
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
