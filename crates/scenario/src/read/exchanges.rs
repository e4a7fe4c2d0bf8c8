//! `exchanges = [{ … }]` of a flow: requests that wait for the responses of others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::file::{Collector, Field, Problem, Section, Value};
use crate::size_table::MOST_BYTES;
use crate::{Flow, PlannedExchange, Prerequisite, schema};

/// The most exchanges of a flow.
const MOST_EXCHANGES: usize = 10_000;

/// The exchanges of a list. What they wait for is checked when all flows are known.
pub(super) fn read(field: &Field<'_>) -> Result<Arc<[PlannedExchange]>, Problem> {
    let elements = field.list("a list of tables, such as [{ response = \"20 kB\" }]")?;
    if elements.is_empty() || elements.len() > MOST_EXCHANGES {
        return Err(field.problem(format!("found {} exchanges, expected 1 to {MOST_EXCHANGES}", elements.len())));
    }
    // `flows.NAME.exchanges`: names contain no dots.
    let own = field.path.split('.').nth(1).unwrap_or_default().to_owned();
    elements.iter().enumerate().map(|(place, element)| exchange(element, &own, place)).collect()
}

fn exchange(field: &Field<'_>, own: &str, place: usize) -> Result<PlannedExchange, Problem> {
    let section = field.section(&schema::EXCHANGE)?;
    let before = || place.checked_sub(1).map(|exchange| Prerequisite { flow: own.to_owned(), exchange });
    let after = match section.given("after") {
        None => before().into_iter().collect(),
        Some(after) => match after.value() {
            Value::Array(_) => after.list("a list of names")?.iter().map(prerequisite).collect::<Result<_, _>>()?,
            _ => vec![prerequisite(&after)?],
        },
    };
    Ok(PlannedExchange {
        request: section.value("request").size(1..=MOST_BYTES)?,
        response: section.required("response")?.size(1..=MOST_BYTES)?,
        wait: section.value("wait").duration()?,
        after,
        pause: section.value("pause").duration()?,
    })
}

/// `FLOW.N`.
fn prerequisite(field: &Field<'_>) -> Result<Prerequisite, Problem> {
    let expected = "a flow and the number of one of its exchanges, such as \"page.3\"";
    let text = field.string(expected)?;
    let parts = text.rsplit_once('.').and_then(|(flow, number)| Some((flow, number.parse::<usize>().ok()?)));
    match parts {
        Some((flow, number)) if number > 0 => Ok(Prerequisite { flow: flow.to_owned(), exchange: number - 1 }),
        _ => Err(field.expected(expected)),
    }
}

/// Rejects exchanges that wait for one that does not exist, or for each other.
pub(super) fn check(section: &Section<'_>, flows: &[Flow], problems: &mut Collector) {
    let listed: BTreeMap<&str, &[PlannedExchange]> =
        flows.iter().filter_map(|flow| Some((flow.name.as_str(), &**flow.planned_exchanges()?))).collect();
    if listed.is_empty() {
        return;
    }
    let with_lists = flows.iter().filter(|flow| flow.planned_exchanges().is_some());
    let groups: BTreeSet<&str> = with_lists.filter_map(|flow| flow.group.as_deref()).collect();
    for (name, field) in section.entries_of("flows") {
        if groups.contains(name) {
            problems.add(field.problem("a flow with a list of exchanges has neither count, arrivals nor pairs"));
            return;
        }
    }
    for (name, field) in section.entries_of("flows") {
        let is_known = |after: &&Prerequisite| {
            listed.get(after.flow.as_str()).is_some_and(|exchanges| after.exchange < exchanges.len())
        };
        let unknown = listed
            .get(name)
            .and_then(|exchanges| exchanges.iter().flat_map(|exchange| &exchange.after).find(|after| !is_known(after)));
        if let Some(Prerequisite { flow, exchange }) = unknown {
            let number = exchange + 1;
            let problem = field.problem(format!("no exchange {flow}.{number}, which an exchange here waits for"));
            problems
                .add(problem.help("a flow with a list of exchanges has them by its name and their numbers, from 1 on"));
            return;
        }
    }
    let possible = possible(&listed);
    for (name, field) in section.entries_of("flows") {
        let waiting = possible.get(name).and_then(|of_flow| of_flow.iter().position(|possible| !possible));
        if let Some(place) = waiting {
            let problem = field.problem(format!("exchange {name}.{} waits for one that waits for it", place + 1));
            return problems.add(problem.help("let one of them begin without the other"));
        }
    }
}

/// Of each exchange, whether it can be complete: whether those that it waits for can be. The others wait for themselves.
fn possible<'a>(listed: &BTreeMap<&'a str, &'a [PlannedExchange]>) -> BTreeMap<&'a str, Vec<bool>> {
    let mut possible: BTreeMap<&str, Vec<bool>> =
        listed.iter().map(|(flow, exchanges)| (*flow, vec![false; exchanges.len()])).collect();
    let (mut missing, mut waiting, mut ready) = (BTreeMap::new(), BTreeMap::<_, Vec<_>>::new(), Vec::new());
    for (&flow, exchanges) in listed {
        for (place, exchange) in exchanges.iter().enumerate() {
            missing.insert((flow, place), exchange.after.len());
            if exchange.after.is_empty() {
                ready.push((flow, place));
            }
            for after in &exchange.after {
                waiting.entry((after.flow.as_str(), after.exchange)).or_default().push((flow, place));
            }
        }
    }
    while let Some((flow, place)) = ready.pop() {
        possible.get_mut(flow).expect("it is listed")[place] = true;
        for next in waiting.remove(&(flow, place)).unwrap_or_default() {
            let missing = missing.get_mut(&next).expect("it is listed");
            *missing -= 1;
            if *missing == 0 {
                ready.push(next);
            }
        }
    }
    possible
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Scenario;
    use crate::file::Document;

    fn read_with(page: &str, other: &str) -> Result<Vec<Vec<PlannedExchange>>, String> {
        let text = format!(
            "[hosts]\na = [\"x\"]\nb = [\"x\"]\n[links.l]\nbetween = [\"a\", \"b\"]\nrate = \"1 Mbit/s\"\n\
             [flows.page]\nfrom = \"a\"\nto = \"b\"\nexchanges = {page}\n\
             [flows.other]\nfrom = \"a\"\nto = \"b\"\nexchanges = {other}\n"
        );
        let document = Document::parse(Path::new("page.toml"), text).expect("it is TOML");
        let scenario = Scenario::read(&document).map_err(|problems| format!("{problems:?}"))?;
        Ok(scenario.flows.iter().filter_map(|flow| Some(flow.planned_exchanges()?.to_vec())).collect())
    }

    #[test]
    fn an_exchange_waits_for_the_one_before_it_unless_it_names_others() {
        let page = "[{ response = \"20 kB\" }, { response = \"1 kB\" }, { response = \"5 kB\", after = \"page.1\" }]";
        let other = "[{ response = \"2 kB\", after = [\"page.1\", \"page.3\"], pause = \"5 ms\" }, \
                     { response = \"1 B\", after = [] }]";
        let read = read_with(page, other).expect("a good page");
        let after = |flow: &str, exchange| Prerequisite { flow: flow.to_owned(), exchange };
        let of = |flow: usize, exchange: usize| read[flow][exchange].after.clone();
        assert_eq!([of(0, 0), of(0, 1), of(0, 2)], [vec![], vec![after("page", 0)], vec![after("page", 0)]]);
        assert_eq!([of(1, 0), of(1, 1)], [vec![after("page", 0), after("page", 2)], vec![]]);
    }

    #[test]
    fn exchanges_that_can_never_begin_are_refused() {
        let one = "[{ response = \"1 kB\" }]";
        let fails = |page: &str, said: &str| {
            let problems = read_with(page, one).expect_err(said);
            assert!(problems.contains(said), "{problems}");
        };
        fails("[{ response = \"1 kB\", after = \"other.2\" }]", "no exchange other.2");
        fails("[{ response = \"1 kB\", after = \"nothing.1\" }]", "no exchange nothing.1");
        fails("[{ response = \"1 kB\", after = \"page.1\" }]", "page.1 waits for one that waits for it");
        fails("[{ response = \"1 kB\", after = \"other\" }]", "such as");
        fails("[]", "found 0 exchanges");
        fails("[{ response = \"1 kB\" }]\nwrite = { burst = \"1 kB\", every = \"1 s\" }", "times of its own");
    }

    #[test]
    fn flows_that_wait_for_each_other_in_a_circle_are_refused() {
        let page = "[{ response = \"1 kB\", after = \"other.1\" }]";
        let problems = read_with(page, "[{ response = \"1 kB\", after = \"page.1\" }]").expect_err("a circle");
        assert!(problems.contains("waits for one that waits for it"), "{problems}");
    }
}
