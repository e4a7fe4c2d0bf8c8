//! A line with a time, and that time.

use subflow_quantity::Duration;
use subflow_scenario::file::{Problem, did_you_mean, list};

use super::header::Header;
use super::item::Direction;
use super::line::Line;
use super::token::TokenKind;
use crate::act::VERBS;
use crate::expression::{Expression, Kind};
use crate::script::{Step, What, When};
use crate::value::Value;

pub(super) fn read(line: &mut Line<'_>, header: &mut Header) -> Result<Step, Problem> {
    let start = line.position();
    let when = line.when()?;
    let protocol = header.protocol(&line.place())?;
    let named_path = match (line.peek(), line.peek_second()) {
        (Some(TokenKind::Word(name)), Some(TokenKind::Symbol("<" | ">"))) => {
            let place = line.place();
            line.next();
            Some((name.as_str(), place))
        }
        _ => None,
    };
    let direction = match line.peek() {
        Some(TokenKind::Symbol("<")) => Some(Direction::Arrives),
        Some(TokenKind::Symbol(">")) => Some(Direction::Leaves),
        _ => None,
    };
    let what = match direction {
        None if line.peek() == Some(&TokenKind::Word("set".to_owned())) => {
            line.next();
            What::Change(header.change(line)?)
        }
        None => act(line)?,
        Some(direction) => {
            line.next();
            let path = header.path(named_path)?;
            if direction == Direction::Leaves && line.peek() == Some(&TokenKind::Word("nothing".to_owned())) {
                line.next();
                What::Silence
            } else {
                let items = line.items(protocol.fields(), direction, 0)?;
                match direction {
                    Direction::Arrives => What::Arrive { path, items },
                    Direction::Leaves => What::Leave { path, items },
                }
            }
        }
    };
    line.end()?;
    let place = line.place_since(start);
    if when.latest.is_some() && !matches!(what, What::Leave { .. }) {
        return Err(
            Problem::at(&place, "only a packet that must leave may have a range of times").help("write one time")
        );
    }
    Ok(Step { place, when, what })
}

fn act(line: &mut Line<'_>) -> Result<What, Problem> {
    let place = line.place();
    let verb = line.word("<, > or a verb")?;
    let Some(known) = VERBS.iter().find(|known| known.name == verb) else {
        let names = || VERBS.iter().map(|verb| verb.name);
        let help = did_you_mean(verb, names(), &format!("the verbs are {}", list(names())));
        return Err(Problem::at(&place, format!("there is no verb {verb:?}")).help(help));
    };
    let mut arguments = Vec::new();
    while !line.is_at_end() {
        let place = line.place();
        arguments.push(match line.peek() {
            Some(TokenKind::Word(word)) => {
                line.next();
                Expression { place, kind: Kind::Value(Value::Word(word.clone())) }
            }
            _ => line.expression(0)?,
        });
    }
    if !known.arguments.contains(&arguments.len()) {
        return Err(
            Problem::at(&place, format!("{verb} does not have {} arguments", arguments.len())).help(known.usage)
        );
    }
    Ok(What::Act { verb: verb.to_owned(), arguments })
}

impl Line<'_> {
    pub(super) fn begins_with_time(&self) -> bool {
        matches!(self.peek(), Some(TokenKind::Number(_) | TokenKind::Time(_) | TokenKind::Symbol("+")))
    }

    /// `0.5`, `+0.5`, `0.5~0.6`, `+0.5~0.6`.
    pub(super) fn when(&mut self) -> Result<When, Problem> {
        let (start, relative) = (self.position(), self.accept("+"));
        let earliest = self.time()?;
        let latest = if self.accept("~") { Some(self.time()?) } else { None };
        if latest.is_some_and(|latest| latest < earliest) {
            let problem = Problem::at(&self.place_since(start), "the range ends before it begins");
            return Err(problem.help("both ends count from the same time, as in +0.2~0.3"));
        }
        Ok(When { relative, earliest, latest })
    }

    /// Seconds, or a number with a unit.
    pub(super) fn time(&mut self) -> Result<Duration, Problem> {
        const LONGEST: u64 = 1_000_000_000;
        let time = match self.peek() {
            Some(TokenKind::Number(seconds)) if *seconds < LONGEST => Duration::from_secs(*seconds),
            Some(TokenKind::Time(time)) if *time < Duration::from_secs(LONGEST) => *time,
            _ => return Err(self.expected("a time").help("seconds such as 0.25, or 250ms; less than 10⁹ s")),
        };
        self.next();
        Ok(time)
    }
}
