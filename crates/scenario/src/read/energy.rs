//! `energy` of an interface.

use subflow_network::{Listening, RadioPower};
use subflow_quantity::{Duration, EnergyPerBit, Power};

use crate::file::{Field, Problem, Section, Value};
use crate::schema::{self, RADIOS};

/// The name of a model, or a table with one, with none, and with numbers of its own.
pub(super) fn read(field: &Field<'_>) -> Result<RadioPower, Problem> {
    if !matches!(field.value(), Value::Table(_)) {
        return field.choice("the name of an energy model, or a table", &RADIOS);
    }
    let section = field.section(&schema::ENERGY)?;
    let model = match section.given("model") {
        Some(model) => model.choice("the name of an energy model", &RADIOS)?,
        None => RadioPower::default(),
    };
    let power = |key, of_model| power(&section, key, of_model);
    let time = |key, of_model| time(&section, key, of_model);
    let drx = |cycle, of_model| listening(&section, ["drx_power", "drx_time", cycle], of_model);
    let radio = RadioPower {
        promotion_time: time("promotion_time", model.promotion_time)?,
        promotion_power: power("promotion_power", model.promotion_power)?,
        active_power: power("active_power", model.active_power)?,
        up: per_bit(&section, "up", model.up)?,
        down: per_bit(&section, "down", model.down)?,
        inactivity_time: time("inactivity_time", model.inactivity_time)?,
        tail_time: time("tail_time", model.tail_time)?,
        tail_power: power("tail_power", model.tail_power)?,
        short_drx: drx("short_drx_cycle", model.short_drx)?,
        short_drx_time: time("short_drx_time", model.short_drx_time)?,
        long_drx: drx("long_drx_cycle", model.long_drx)?,
        idle_power: power("idle_power", model.idle_power)?,
        paging: listening(&section, ["paging_power", "paging_time", "paging_cycle"], model.paging)?,
    };
    let before_long_drx = radio.inactivity_time + radio.short_drx_time;
    if radio.tail_time < before_long_drx {
        let at = section.given("tail_time").unwrap_or_else(|| field.clone());
        let message = format!(
            "the tail ends after {}, before inactivity_time and short_drx_time, which are {before_long_drx} together",
            radio.tail_time
        );
        return Err(at.problem(message).help("tail_time is counted from the last packet on"));
    }
    Ok(radio)
}

fn power(section: &Section<'_>, key: &'static str, of_model: Power) -> Result<Power, Problem> {
    section.given(key).map_or(Ok(of_model), |field| field.quantity("a power such as \"250 mW\""))
}

fn time(section: &Section<'_>, key: &'static str, of_model: Duration) -> Result<Duration, Problem> {
    section.given(key).map_or(Ok(of_model), |field| field.duration())
}

fn per_bit(section: &Section<'_>, key: &'static str, of_model: EnergyPerBit) -> Result<EnergyPerBit, Problem> {
    section.given(key).map_or(Ok(of_model), |field| field.quantity("an energy per bit such as \"50 nJ/bit\""))
}

/// When a radio listens.
fn listening(
    section: &Section<'_>,
    [of_power, of_time, of_cycle]: [&'static str; 3],
    of_model: Listening,
) -> Result<Listening, Problem> {
    let listening = Listening {
        power: power(section, of_power, of_model.power)?,
        time: time(section, of_time, of_model.time)?,
        cycle: time(section, of_cycle, of_model.cycle)?,
    };
    let named = || [of_time, of_cycle, of_power].into_iter().find_map(|key| section.given(key));
    if let Some(named) = named().filter(|_| !listening.cycle.is_zero() && listening.time > listening.cycle) {
        let message = format!("it listens for {} in each cycle of {}", listening.time, listening.cycle);
        return Err(named.problem(message).label("longer than the cycle").help(format!("see {of_cycle}")));
    }
    Ok(listening)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Scenario;
    use crate::file::Document;

    fn energy(value: &str) -> Result<RadioPower, String> {
        let text = format!(
            "[hosts]\na = [{{ name = \"x\", energy = {value} }}]\nb = [\"x\"]\n[links.l]\nbetween = [\"a\", \"b\"]\n\
             rate = \"1 Mbit/s\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n"
        );
        let document = Document::parse(Path::new("energy.toml"), text).expect("it is TOML");
        let scenario = Scenario::read(&document).map_err(|problems| problems.to_string())?;
        Ok(scenario.hosts[0].interfaces[0].energy.expect("a radio"))
    }

    #[test]
    fn a_model_may_have_numbers_of_its_own() {
        assert_eq!(energy("\"lte-huang2012\""), Ok(RadioPower::LTE_HUANG2012));
        let own = energy("{ model = \"lte-huang2012\", up = \"400 mW/Mbps\", tail_time = \"10 s\" }").expect("a radio");
        let expected = RadioPower {
            up: EnergyPerBit::from_picojoules(400_000),
            tail_time: Duration::from_secs(10),
            ..RadioPower::LTE_HUANG2012
        };
        assert_eq!(own, expected);
    }

    #[test]
    fn without_a_model_what_is_not_given_takes_nothing() {
        let own =
            energy("{ active_power = \"1 W\", inactivity_time = \"1 s\", tail_time = \"2 s\" }").expect("a radio");
        let expected = RadioPower {
            active_power: Power::from_microwatts(1_000_000),
            inactivity_time: Duration::from_secs(1),
            tail_time: Duration::from_secs(2),
            ..RadioPower::default()
        };
        assert_eq!(own, expected);
    }

    #[test]
    fn times_that_contradict_each_other_are_named() {
        for (value, said) in [
            ("{ model = \"lte-huang2012\", tail_time = \"50 ms\" }", "the tail ends after 50 ms"),
            ("{ inactivity_time = \"1 s\" }", "the tail ends after 0 s"),
            ("{ model = \"lte-huang2012\", paging_time = \"2 s\" }", "it listens for 2 s in each cycle of 1280 ms"),
            ("\"lte\"", "there are: lte-huang2012 and wifi-huang2012"),
        ] {
            let problem = energy(value).expect_err(value);
            assert!(problem.contains(said), "{problem}");
        }
    }
}
