//! `bottleneck = …` and `coupling = …`: how shared bottlenecks are detected, and which subflows are coupled.

use subflow_policy::bottleneck::Parameters;
use subflow_policy::scheduler::{Scheduler, Scheduling};
use subflow_quantity::Duration;
use subflow_transport::mptcp::Bottleneck;

use crate::file::{Field, Problem, Section, Value};
use crate::schema::COUPLINGS;
use crate::{Coupling, Detector, DetectorName, schema};

/// The detector of a flow: the named one, or the one that `scheduler` or the coupling requires.
pub(super) fn read(section: &Section<'_>, scheduler: &Scheduling) -> Result<Option<Bottleneck>, Problem> {
    let coupling = section.value("coupling").choice("a coupling", &COUPLINGS)?;
    let needed = match coupling {
        _ if scheduler.goes_by_correlations() => Some("red-cpi"),
        Coupling::SharedBottleneck => Some("rfc8382"),
        Coupling::Connection => None,
    };
    let detector = match section.given("bottleneck") {
        Some(field) => Some(detector(&field)?),
        None => needed.map(|name| Detector::of(DetectorName::parse(name).expect("it is a detector"))),
    };
    Ok(detector.map(|detector| Bottleneck {
        detection: detector.build(),
        regroup: (coupling == Coupling::SharedBottleneck).then_some(detector.regroup),
    }))
}

fn detector(field: &Field<'_>) -> Result<Detector, Problem> {
    if !matches!(field.value(), Value::Table(_)) {
        return Ok(Detector::of(named(field)?));
    }
    let section = field.section(&schema::BOTTLENECK)?;
    let mut detector = Detector::of(named(&section.required("detector")?)?);
    let parameters = &mut detector.parameters;
    if let Some(window) = section.given("window") {
        let allowed = Parameters::SMALLEST_WINDOW.into()..=Parameters::LARGEST_WINDOW.into();
        parameters.window = window.integer(allowed)? as u32;
    }
    if let Some(threshold) = section.given("threshold") {
        parameters.threshold = threshold.fraction()?;
    }
    if let Some(interval) = section.given("interval") {
        parameters.interval = match detector.name.name() {
            "rfc8382" => interval.positive_duration()?,
            _ => interval.duration()?,
        };
    }
    let polled = section.value("polled");
    parameters.polled = polled.boolean()?;
    if parameters.polled {
        if detector.name.name() == "rfc8382" {
            return Err(polled.problem("rfc8382 is not polled").help("drop polled, or choose red-cpi or mscm"));
        }
        if parameters.interval == Duration::ZERO {
            return Err(section.value("interval").expected("above zero where polled is true"));
        }
    }
    detector.regroup = section.value("regroup").positive_duration()?;
    Ok(detector)
}

fn named(field: &Field<'_>) -> Result<DetectorName, Problem> {
    const WHAT: &str = "the name of a shared-bottleneck detector";
    let name = field.string(WHAT)?;
    let names = DetectorName::catalogue();
    DetectorName::parse(name).ok_or_else(|| field.unknown_name(name, WHAT, names.iter().map(|entry| entry.name)))
}
