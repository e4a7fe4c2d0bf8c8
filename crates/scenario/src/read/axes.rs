//! `[axes.NAME]`: titles and units of the axes of figures.

use super::printable;
use crate::axes::{AXES, AxisUnit, own_units};
use crate::file::{Collector, Document, Field, Problem, Section, Value, did_you_mean, list};
use crate::{AxisWords, schema};

/// All of them, without those that have problems.
pub(super) fn read(section: &Section<'_>, problems: &mut Collector) -> Vec<AxisWords> {
    if let Some(field) = section.given("axes").filter(|field| !matches!(field.value(), Value::Table(_))) {
        problems.add(field.expected("a table with one axis per name"));
    }
    section.entries_of("axes").filter_map(|(name, field)| problems.keep(axis(name, &field))).collect()
}

fn axis(name: &str, field: &Field<'_>) -> Result<AxisWords, Problem> {
    let units = own_units(name);
    if units.is_none() && !is_path(name) {
        let names = || AXES.iter().map(|(known, _)| *known);
        return Err(field
            .problem("no figure has an axis of this name")
            .label(did_you_mean(name, names(), "no such axis"))
            .help(format!("there are: {}; and the paths that are swept", list(names()))));
    }
    let section = field.section(&schema::AXIS)?;
    let title = section.given("title").map(|title| printable(&title, "a line of text", |_| false)).transpose()?;
    let unit = section.given("unit").map(|unit| unit_of(&unit, units)).transpose()?;
    if title.is_none() && unit.is_none() {
        return Err(field.problem("it has neither title nor unit, expected at least one of them"));
    }
    Ok(AxisWords { of: name.to_owned(), title, unit })
}

/// The unit, to which values in one of `units` can be converted.
fn unit_of(field: &Field<'_>, units: Option<&[&str]>) -> Result<AxisUnit, Problem> {
    field.choice("a unit", &schema::AXIS_UNITS)?;
    let name = field.string("a unit")?;
    let unit = AxisUnit::of(name).expect("it is one of them");
    match units {
        Some(units) if units.iter().all(|own| unit.factor_from(own).is_none()) => {
            let own = if units == [""] { "no unit".to_owned() } else { units.join(" or ") };
            Err(field
                .problem(format!("values of this axis have {own} and cannot be converted to {name}"))
                .label("of another quantity")
                .help("leave the unit out, or choose one of the same quantity"))
        }
        _ => Ok(unit),
    }
}

/// Whether an axis of this name is that of a swept path.
fn is_path(name: &str) -> bool {
    name.contains('.') || schema::ROOT.keys().any(|key| key == name)
}

/// Warnings: axes of paths that are not among the `swept` ones.
pub(crate) fn idle_axes(document: &Document, swept: &[&str]) -> Vec<Problem> {
    let root = Field::root(&document.root);
    let Ok(section) = root.section(&schema::ROOT) else { return Vec::new() };
    let is_idle = |name: &&str| own_units(name).is_none() && !swept.contains(name);
    let idle = section.entries_of("axes").filter(|(name, _)| is_idle(name));
    idle.map(|(_, field)| field.without_effect(&field.path, "this path is not swept")).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::file::Document;
    use crate::sweep::Plan;

    fn plan(axes: &str) -> Result<Plan, String> {
        let text = format!(
            "[hosts]\na = ['x']\nb = ['x']\n[links.l]\nbetween = ['a', 'b']\nrate = '1 Mbit/s'\n[flows.f]\nfrom = 'a'\n\
             to = 'b'\n[axes]\n{axes}\n[sweep]\n'links.l.delay' = ['1 ms', '2 ms', '3 ms']\n"
        );
        let document = Document::parse(Path::new("axes.toml"), text).expect("TOML");
        Plan::read(document).map_err(|problems| format!("{problems:?}"))
    }

    #[test]
    fn an_axis_has_a_title_and_a_unit_of_its_quantity() {
        let plan = plan("goodput = { title = 'Throughput', unit = 'kbit/s' }\n'links.l.delay' = { title = 'Delay' }")
            .expect("good axes");
        let [goodput, delay] = &plan.points[0].scenario.axes[..] else { panic!("two axes") };
        assert_eq!((goodput.of.as_str(), goodput.title.as_deref()), ("goodput", Some("Throughput")));
        assert_eq!(goodput.unit.and_then(|unit| unit.factor_from("Mbit/s")), Some(1000.0));
        assert_eq!((delay.of.as_str(), delay.unit), ("links.l.delay", None));
        assert!(plan.without_effect.is_empty(), "{:?}", plan.without_effect);
    }

    #[test]
    fn what_no_axis_can_have_is_an_error_and_a_path_that_is_not_swept_a_warning() {
        for (axes, words) in [
            ("goodptu = { title = 'x' }", "did you mean \"goodput\"?"),
            ("goodput = { unit = 'ms' }", "values of this axis have Mbit/s and cannot be converted to ms"),
            ("timeouts = { unit = '%' }", "values of this axis have no unit"),
            ("goodput = { unit = 'kbps' }", "found \"kbps\", expected a unit"),
            ("goodput = {}", "neither title nor unit"),
            ("goodput = 'Throughput'", "expected a table with title and unit"),
        ] {
            let problems = plan(axes).expect_err(axes);
            assert!(problems.contains(words), "{axes}: {problems}");
        }
        let idle = plan("'links.l.rate' = { title = 'Rate' }").expect("a warning only").without_effect;
        assert!(idle.len() == 1 && idle[0].message.contains("links.l.rate"), "{idle:?}");
    }
}
