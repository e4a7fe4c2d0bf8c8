//! `middlebox` of links and of routers.

use std::collections::BTreeMap;

use subflow_network::{Middlebox, PlacedMiddlebox};

use super::algorithms;
use crate::file::{Field, Problem, Section, Value};
use crate::schema::EVENT_DIRECTIONS;
use crate::{Attachment, options, schema};

/// The middleboxes of a link, between those of the routers at its `ends`, which act on what leaves these.
pub(super) fn with_those_of_routers(
    of_link: Vec<PlacedMiddlebox>,
    ends: [Attachment; 2],
    routers: &BTreeMap<usize, Vec<PlacedMiddlebox>>,
) -> Vec<PlacedMiddlebox> {
    let of_router = |end: usize| {
        let placed = match ends[end] {
            Attachment::Router(router) => routers.get(&router).cloned(),
            Attachment::Interface(_) => None,
        };
        let placed = placed.unwrap_or_default().into_iter();
        placed.map(move |placed| PlacedMiddlebox { directions: [end == 0, end == 1], ..placed })
    };
    of_router(0).chain(of_link).chain(of_router(1).rev()).collect()
}

/// A table, or a list of tables in order from the link's first end to its second.
pub(super) fn of_link(field: &Field<'_>) -> Result<Vec<PlacedMiddlebox>, Problem> {
    tables(field)?.iter().map(|table| placed_middlebox(&table.section(&schema::MIDDLEBOX)?)).collect()
}

/// Those of a router, in the order in which packets pass. It has many links, so that nothing is inside or outside, and no direction is the first.
pub(super) fn of_router(field: &Field<'_>) -> Result<Vec<PlacedMiddlebox>, Problem> {
    let place = |table: &Field<'_>| {
        let section = table.section(&schema::MIDDLEBOX)?;
        let placed = placed_middlebox(&section)?;
        if let Some(direction) = section.given("direction") {
            return Err(direction
                .problem("a router's middlebox acts on all packets that leave the router, expected no direction")
                .label("not at a router")
                .help("put the middlebox on a link"));
        }
        match placed.middlebox {
            Middlebox::Nat(_) => Err(table
                .problem("a router has no inside and outside, expected nat on a link")
                .label("not at a router")
                .help("put it on the link to the outside, whose first end is this router")),
            _ => Ok(placed),
        }
    };
    tables(field)?.iter().map(place).collect()
}

/// The only table, or those of a list.
fn tables<'a>(field: &'a Field<'_>) -> Result<Vec<Field<'a>>, Problem> {
    match field.value() {
        Value::Table(_) => Ok(vec![field.clone()]),
        _ => field.list("a table, or a list of tables, each with a kind"),
    }
}

fn placed_middlebox(section: &Section<'_>) -> Result<PlacedMiddlebox, Problem> {
    let middlebox: Middlebox =
        algorithms::in_section(section, &section.required("kind")?, "a middlebox", &[], &options::of_no_place)?;
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

    /// The middleboxes of link `l`, between a host and the router, and of link `m` behind it.
    fn read(of_link: &str, of_router: &str) -> Result<[Vec<PlacedMiddlebox>; 2], String> {
        let text = format!(
            "[hosts]\na = [\"x\"]\nb = [\"x\"]\n[routers]\nr = {{ middlebox = {of_router} }}\n[links.l]\n\
             between = [\"a\", \"r\"]\nrate = \"1 Mbit/s\"\nmiddlebox = {of_link}\n\
             [links.m]\nbetween = [\"r\", \"b\"]\nrate = \"1 Mbit/s\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n"
        );
        let document = Document::parse(Path::new("middlebox.toml"), text).expect("it is TOML");
        let scenario = Scenario::read(&document).map_err(|problems| problems.to_string())?;
        let mut links = scenario.links.into_iter().map(|link| link.middleboxes);
        Ok([(); 2].map(|()| links.next().expect("two links")))
    }

    fn placed(of_link: &str) -> Result<Vec<PlacedMiddlebox>, String> {
        read(of_link, "[]").map(|[placed, _]| placed)
    }

    #[test]
    fn what_leaves_a_router_passes_its_middleboxes_in_their_order() {
        let of_router = "[{ kind = \"mtu\" }, { kind = \"mss-clamp\", start = \"1 s\" }]";
        let shown = |placed: &[PlacedMiddlebox]| -> Vec<(String, [bool; 2])> {
            placed.iter().map(|placed| (placed.middlebox.name().to_owned(), placed.directions)).collect()
        };
        let [to_router, behind] = read("{ kind = \"split\" }", of_router).expect("they are valid");
        // The router is at the second end of the first link, whose packets pass in the opposite order.
        let expected = [("split", [true, true]), ("mss-clamp", [false, true]), ("mtu", [false, true])];
        assert_eq!(shown(&to_router), expected.map(|(name, directions)| (name.to_owned(), directions)));
        let expected = [("mtu", [true, false]), ("mss-clamp", [true, false])];
        assert_eq!(shown(&behind), expected.map(|(name, directions)| (name.to_owned(), directions)));
        assert_eq!(behind[1].start, Duration::from_secs(1));
    }

    #[test]
    fn a_router_has_no_inside_and_no_direction() {
        for (value, expected) in [
            ("{ kind = \"nat\" }", "no inside and outside"),
            ("[{ kind = \"mtu\", direction = \"up\" }]", "no direction"),
            ("\"mtu\"", "a list of tables"),
        ] {
            let problems = read("[]", value).expect_err(value);
            assert!(problems.contains(expected), "{value}: {problems}");
        }
    }

    #[test]
    fn one_middlebox_is_a_table_and_several_are_a_list() {
        let names = |value| -> Vec<String> {
            let placed = placed(value).expect(value);
            placed.iter().map(|placed| placed.middlebox.name().to_owned()).collect()
        };
        assert_eq!(names("{ kind = \"nat\" }"), ["nat"]);
        assert_eq!(names("[{ kind = \"nat\" }, { kind = \"mtu\", mtu = 1400 }]"), ["nat", "mtu"]);
        assert!(names("[]").is_empty());
    }

    #[test]
    fn a_middlebox_has_a_direction_and_a_start() {
        let placed = placed("{ kind = \"block\", port = 80, direction = \"down\", start = \"2 s\" }");
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
            let problems = placed(value).expect_err(value);
            assert!(problems.contains(expected), "{value}: {problems}");
        }
    }
}
