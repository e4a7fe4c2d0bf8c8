//! A rate with `tti`: a cellular link.

use subflow_network::CellularConfig;
use subflow_quantity::{Duration, Probability};

use crate::file::{Field, Problem};
use crate::schema;

/// Of one packet in so many blocks nothing is left to study.
const MOST_ERRORS: u64 = 900_000_000_000;
/// A longer interval is assumed to be a mistake.
const LONGEST_TTI: Duration = Duration::from_secs(1);
/// The most intervals of a HARQ round trip.
const MOST_INTERVALS: u64 = 1000;

/// The keys of a cellular link alone.
const KEYS: [&str; 4] = ["tti", "block_error_rate", "harq_rtt", "grant_delay"];

/// Whether a table is one of a cellular link.
pub(super) fn is_meant(field: &Field<'_>) -> bool {
    let section = field.section(&schema::RATE);
    section.is_ok_and(|section| KEYS.into_iter().any(|key| section.given(key).is_some()))
}

pub(super) fn read(field: &Field<'_>) -> Result<CellularConfig, Problem> {
    let section = field.section(&schema::RATE)?;
    if let Some(stray) = ["burst", "peak_rate", "mtu"].into_iter().find_map(|key| section.given(key)) {
        return Err(stray
            .problem("a token bucket has this, and a cellular link has not")
            .label("of another kind of rate")
            .help("drop tti, block_error_rate, harq_rtt and grant_delay, or this"));
    }
    let rate = section.required("rate")?;
    let tti = section.required("tti")?;
    let interval = tti.positive_duration()?;
    if interval > LONGEST_TTI {
        return Err(tti.expected(&format!("at most {LONGEST_TTI}")));
    }
    let errors = section.value("block_error_rate");
    let block_error_rate: Probability = errors.quantity("a probability such as \"10 %\"")?;
    if block_error_rate.as_trillionths() > MOST_ERRORS {
        return Err(errors.expected("at most 90 %"));
    }
    let harq = section.value("harq_rtt");
    let round_trip = harq.positive_duration()?;
    let intervals = round_trip.as_nanos() / interval.as_nanos();
    if round_trip.as_nanos() % interval.as_nanos() != 0 || intervals > MOST_INTERVALS {
        return Err(harq.expected(&format!("a whole number of intervals of {interval}, at most {MOST_INTERVALS}")));
    }
    let config = CellularConfig {
        rate: rate.rate()?,
        tti: interval,
        block_error_rate: block_error_rate.into(),
        harq_intervals: intervals as u32,
        grant_delay: section.value("grant_delay").duration()?,
    };
    match config.block_bytes() {
        0 => Err(rate.expected(&format!("at least a byte in each interval of {interval}"))),
        _ => Ok(config),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use subflow_network::Service;
    use subflow_quantity::Rate;

    use super::*;
    use crate::Scenario;
    use crate::file::Document;

    fn service(rate: &str) -> Result<Service, String> {
        let text = format!(
            "[hosts]\na = [\"x\"]\nb = [\"x\"]\n[links.l]\nbetween = [\"a\", \"b\"]\nrate = {rate}\n\
             [flows.f]\nfrom = \"a\"\nto = \"b\"\n"
        );
        let document = Document::parse(Path::new("cell.toml"), text).expect("it is TOML");
        let scenario = Scenario::read(&document).map_err(|problems| problems.to_string())?;
        Ok(scenario.links[0].up.service.clone())
    }

    #[test]
    fn the_defaults_are_those_of_lte() {
        let Ok(Service::Cellular(config)) = service("{ rate = \"20 Mbit/s\", tti = \"1 ms\" }") else {
            panic!("cellular")
        };
        assert_eq!((config.rate, config.block_bytes(), config.harq_intervals), (Rate::from_mbit(20), 2500, 8));
        assert_eq!(config.block_error_rate, Probability::nearest(0.1).expect("a probability").into());
        assert_eq!(config.grant_delay, Duration::ZERO);
    }

    #[test]
    fn what_is_wrong_with_a_cellular_link_is_named() {
        for (rate, said) in [
            ("{ rate = \"20 Mbit/s\" }", "expected one of burst, tti and standard"),
            ("{ rate = \"20 Mbit/s\", block_error_rate = \"1 %\" }", "tti is missing"),
            ("{ rate = \"20 Mbit/s\", tti = \"1 ms\", burst = \"10 kB\" }", "a token bucket has this"),
            ("{ rate = \"20 Mbit/s\", tti = \"1 ms\", block_error_rate = \"100 %\" }", "at most 90 %"),
            ("{ rate = \"20 Mbit/s\", tti = \"3 ms\" }", "a whole number of intervals of 3 ms"),
            ("{ rate = \"1 kbit/s\", tti = \"1 ms\" }", "at least a byte in each interval"),
        ] {
            let problem = service(rate).expect_err(rate);
            assert!(problem.contains(said), "{problem}");
        }
    }
}
