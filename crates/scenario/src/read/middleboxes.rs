//! `middlebox = …`: what stands on a link.

use subflow_network::{Middlebox, PlacedMiddlebox};

use super::algorithms;
use crate::file::{Field, Problem, Value};
use crate::options;
use crate::schema::{self, EVENT_DIRECTIONS};

/// A table, or a list of tables in order from the link's first end to its second.
pub(super) fn read(field: &Field<'_>) -> Result<Vec<PlacedMiddlebox>, Problem> {
    match field.value() {
        Value::Table(_) => Ok(vec![placed(field)?]),
        _ => field.list("a table, or a list of tables, each with a kind")?.iter().map(placed).collect(),
    }
}

fn placed(field: &Field<'_>) -> Result<PlacedMiddlebox, Problem> {
    let section = field.section(&schema::MIDDLEBOX)?;
    let middlebox: Middlebox =
        algorithms::in_section(&section, &section.required("kind")?, "a middlebox", &[], &options::of_no_link)?;
    Ok(PlacedMiddlebox {
        middlebox,
        directions: section.value("direction").choice("a direction", &EVENT_DIRECTIONS)?,
        start: section.value("start").duration()?,
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use subflow_quantity::Duration;

    use super::*;
    use crate::Scenario;
    use crate::file::Document;

    fn middleboxes(value: &str) -> Result<Vec<PlacedMiddlebox>, String> {
        let text = format!(
            "[hosts]\na = [\"x\"]\nb = [\"x\"]\n[links.l]\nbetween = [\"a\", \"b\"]\nrate = \"1 Mbit/s\"\n\
             middlebox = {value}\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n"
        );
        let document = Document::parse(Path::new("link.toml"), text).expect("it is TOML");
        let scenario = Scenario::read(&document).map_err(|problems| problems.to_string())?;
        Ok(scenario.links.into_iter().next().expect("a link").middleboxes)
    }

    #[test]
    fn one_middlebox_is_a_table_and_several_are_a_list() {
        let names = |value| -> Vec<String> {
            let placed = middleboxes(value).expect(value);
            placed.iter().map(|placed| placed.middlebox.name().to_owned()).collect()
        };
        assert_eq!(names("{ kind = \"nat\" }"), ["nat"]);
        assert_eq!(names("[{ kind = \"nat\" }, { kind = \"mtu\", mtu = 1400 }]"), ["nat", "mtu"]);
        assert!(names("[]").is_empty());
    }

    #[test]
    fn a_middlebox_has_a_direction_and_a_start() {
        let placed = middleboxes("{ kind = \"block\", port = 80, direction = \"down\", start = \"2 s\" }");
        let placed = placed.expect("it is valid").remove(0);
        assert_eq!((placed.directions, placed.start), ([false, true], Duration::from_secs(2)));
    }

    #[test]
    fn an_option_of_another_kind_is_refused() {
        for (value, expected) in [
            ("{ kind = \"nat\", mtu = 1400 }", "nat has no such option"),
            ("{ kind = \"strip-option\" }", "option is missing"),
            ("{ kind = \"nut\" }", "nat"),
            ("\"nat\"", "a list of tables"),
        ] {
            let problems = middleboxes(value).expect_err(value);
            assert!(problems.contains(expected), "{value}: {problems}");
        }
    }
}
