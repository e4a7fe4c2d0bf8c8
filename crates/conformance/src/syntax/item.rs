//! The parts of a packet, as a script writes them.

use subflow_scenario::file::{Problem, did_you_mean, list};

use super::line::{Line, MOST_NESTED};
use super::token::TokenKind;
use crate::script::Item;
use crate::vocabulary::Entry;

/// Whether a packet is described that arrives, or one that must leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Arrives,
    Leaves,
}

impl Line<'_> {
    /// Items up to the end of the line or of the group.
    pub(super) fn items(
        &mut self,
        entries: &'static [&'static [Entry]],
        direction: Direction,
        depth: usize,
    ) -> Result<Vec<Item>, Problem> {
        let mut items = Vec::new();
        while !self.is_at_end() && self.peek() != Some(&TokenKind::Symbol(")")) {
            items.push(self.item(entries, direction, depth)?);
        }
        Ok(items)
    }

    fn item(
        &mut self,
        entries: &'static [&'static [Entry]],
        direction: Direction,
        depth: usize,
    ) -> Result<Item, Problem> {
        let start = self.position();
        let mut name = self.word("the name of a field")?;
        let absent = name == "no";
        if absent {
            if direction == Direction::Arrives {
                let problem = Problem::at(&self.place_since(start), "no FIELD is for packets that must leave");
                return Err(problem.help("fields that are not named are not in a packet that arrives"));
            }
            name = self.word("the name of a field")?;
        }
        let place = self.place_since(start);
        let all = || entries.iter().flat_map(|entries| entries.iter());
        let Some(entry) = all().find(|entry| entry.name == name) else {
            let names = || all().map(|entry| entry.name);
            let help = did_you_mean(name, names(), &format!("the names are {}", list(names())));
            return Err(Problem::at(&place, format!("{name:?} is no field that stands here")).help(help));
        };
        if entry.only_arrives && direction == Direction::Leaves {
            let problem = Problem::at(&place, format!("{name} is for packets that arrive"));
            return Err(problem.help(entry.description));
        }
        let mut item = Item { place, name: name.to_owned(), absent, values: Vec::new(), parts: Vec::new() };
        if absent {
            return Ok(item);
        }
        while self.has_value() {
            item.values.push(self.expression(0)?);
        }
        if !entry.values.contains(&item.values.len()) {
            let message = format!("{name} has {}, not {}", entry.values_shown(), item.values.len());
            return Err(Problem::at(&self.place_since(start), message).help(entry.description));
        }
        if !entry.parts.is_empty() && depth < MOST_NESTED && self.accept("(") {
            item.parts = self.items(entry.parts, direction, depth + 1)?;
            self.expect(")")?;
        }
        item.place = self.place_since(start);
        Ok(item)
    }
}
