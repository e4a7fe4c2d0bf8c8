//! The time in front of a step.

use subflow_quantity::Duration;
use subflow_scenario::file::Problem;

use super::line::Line;
use super::token::TokenKind;
use crate::script::When;

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
