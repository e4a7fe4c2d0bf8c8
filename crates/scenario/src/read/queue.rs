//! `queue = …`.

use subflow_network::{Discipline, IdleAgeing, Limit, QueueConfig, RedConfig, RedDrop, RedUnit};
use subflow_quantity::notation::NotationError;
use subflow_quantity::{Packets, Probability, Size};

use crate::choice::Choice;
use crate::file::{Field, Problem, Section, Value};
use crate::schema;

/// The queue disciplines, and whether each is RED.
pub(super) const DISCIPLINES: [Choice<bool>; 2] = [
    Choice::new("drop-tail", false, "drops the packets that find it full; limited in packets or bytes")
        .source("tc netem, ns-3 DropTailQueue"),
    Choice::new("red", true, "random early detection: drops some packets before it is full")
        .source("Floyd, Jacobson, ToN 1993; gentle: Floyd 2000; FreeBSD dummynet"),
];

pub(super) const RED_DROPS: [Choice<RedDrop>; 2] = [
    Choice::new("per-packet", RedDrop::PerPacket, "each packet by a draw of its own")
        .source("Floyd, Jacobson, ToN 1993, section 4"),
    Choice::new("per-interval", RedDrop::PerInterval, "one draw for each stretch of packets between two drops")
        .source("Floyd, Jacobson, ToN 1993, section 11; FreeBSD dummynet"),
];

pub(super) const RED_AGEING: [Choice<IdleAgeing>; 2] = [
    Choice::new(
        "packets",
        IdleAgeing::Packets { packet: FULL_PACKET as u32 },
        "as if packets of 1500 bytes had passed",
    )
    .source("Floyd, Jacobson, ToN 1993, section 4"),
    Choice::new("dummynet", IdleAgeing::Dummynet { hz: 1000 }, "one step per millisecond").source("FreeBSD dummynet"),
];

const EXPECTED_LIMIT: &str = "a limit such as \"100 packets\" or \"64 KiB\", or \"unlimited\"";

/// The smallest queue in bytes that accepts a full-sized packet.
const FULL_PACKET: u64 = 1500;

pub(super) fn read(field: &Field<'_>) -> Result<QueueConfig, Problem> {
    if !matches!(field.value(), Value::Table(_)) {
        return Ok(QueueConfig { limit: limit(field)?, ..QueueConfig::default() });
    }
    let section = field.section(&schema::QUEUE)?;
    let limit_field = section.value("limit");
    let limit = limit(&limit_field)?;
    let discipline = section.value("discipline").choice("a queue discipline", &DISCIPLINES)?;
    let discipline = match discipline {
        true => Discipline::Red(red(&section, limit, &limit_field)?),
        false => {
            let of_red = ["min_threshold", "max_threshold", "max_probability", "weight", "gentle", "drop", "idle"];
            if let Some(stray) = of_red.into_iter().find_map(|key| section.given(key)) {
                return Err(stray
                    .problem("a drop-tail queue has no such parameter")
                    .label("a parameter of RED")
                    .help("add discipline = \"red\", or drop it"));
            }
            Discipline::DropTail
        }
    };
    let counts_transmitting = section.value("counts_transmitting").boolean()?;
    Ok(QueueConfig { discipline, limit, counts_transmitting })
}

/// A number of packets, a number of bytes or "unlimited".
fn limit(field: &Field<'_>) -> Result<Limit, Problem> {
    if matches!(field.value(), Value::String(text) if text == "unlimited") {
        return Ok(Limit::Unlimited);
    }
    let limit = match amount(field)? {
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

fn amount(field: &Field<'_>) -> Result<Amount, Problem> {
    let packets: Result<Packets, Problem> = field.quantity(EXPECTED_LIMIT);
    let Err(problem) = packets else { return packets.map(|n| Amount::Packets(n.count())) };
    let Value::String(text) = field.value() else { return Err(unit_is_missing(field, problem)) };
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
            field.expected(EXPECTED_LIMIT).label("the unit is missing: packets or bytes?")
        }
        _ => otherwise,
    }
}

fn red(section: &Section<'_>, limit: Limit, limit_field: &Field<'_>) -> Result<RedConfig, Problem> {
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
        Some(field) => match (amount(&field)?, unit) {
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
