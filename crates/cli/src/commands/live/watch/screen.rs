//! The table in a terminal.

use std::io;
use std::time::Duration;

use ratatui::DefaultTerminal;
use ratatui::Frame;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyModifiers};
use ratatui::widgets::{Block, Paragraph};
use subflow_watch::Report;

use crate::failure::Failure;

/// The most events that are shown, of the last reports.
const MOST_EVENTS: usize = 12;

/// A terminal that shows nothing else until this is dropped.
pub(super) struct Screen {
    terminal: DefaultTerminal,
    /// The number of lines above the first that is shown.
    above: usize,
    report: Option<Report>,
}

/// Puts the events of the report before those of `report`, as many as are shown.
fn with_earlier(earlier: Option<&Report>, report: &Report) -> Report {
    let mut shown = report.clone();
    let new = std::mem::take(&mut shown.interval.events);
    let earlier = earlier.map(|report| report.interval.events.as_slice()).unwrap_or_default();
    let beyond = (earlier.len() + new.len()).saturating_sub(MOST_EVENTS);
    shown.interval.events = earlier.iter().cloned().chain(new).skip(beyond).collect();
    shown
}

impl Screen {
    pub(super) fn open() -> Result<Self, Failure> {
        let terminal = ratatui::try_init().map_err(failure)?;
        Ok(Self { terminal, above: 0, report: None })
    }

    /// Shows a report in the place of the last one, with the last events of that, too.
    pub(super) fn show(&mut self, report: &Report) -> Result<(), Failure> {
        self.report = Some(with_earlier(self.report.as_ref(), report));
        self.draw()
    }

    fn draw(&mut self) -> Result<(), Failure> {
        let Some(report) = &self.report else { return Ok(()) };
        let text = report.text();
        self.above = self.above.min(text.lines().count().saturating_sub(1));
        let above = u16::try_from(self.above).unwrap_or(u16::MAX);
        let block = Block::bordered().title(" subflow watch: arrows scroll, q ends ");
        let table = Paragraph::new(text).scroll((above, 0)).block(block);
        self.terminal.draw(|frame: &mut Frame<'_>| frame.render_widget(table, frame.area())).map_err(failure)?;
        Ok(())
    }

    /// Handles keys. Returns whether the user wants to end.
    pub(super) fn is_closed(&mut self) -> Result<bool, Failure> {
        while event::poll(Duration::ZERO).map_err(failure)? {
            match event::read().map_err(failure)? {
                Event::Key(key) => match key.code {
                    KeyCode::Char('q') | KeyCode::Esc => return Ok(true),
                    // In raw mode the terminal makes no signal of it.
                    KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => return Ok(true),
                    KeyCode::Down => self.above += 1,
                    KeyCode::Up => self.above = self.above.saturating_sub(1),
                    _ => continue,
                },
                Event::Resize(..) => {}
                _ => continue,
            }
            self.draw()?;
        }
        Ok(false)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

fn failure(error: io::Error) -> Failure {
    Failure::RunFailed(format!("cannot use the terminal: {error}"))
}

#[cfg(test)]
mod tests {
    use subflow_watch::{Event, Interval};

    use super::*;

    #[test]
    fn the_last_events_stay_until_newer_ones_need_their_place() {
        let report = |times: std::ops::Range<usize>| {
            let event = |time| Event { time_s: time as f64, ..Event::default() };
            let interval = Interval { events: times.map(event).collect(), ..Interval::default() };
            Report { time_s: 0.0, connections: Vec::new(), interval }
        };
        let times = |report: &Report| report.interval.events.iter().map(|event| event.time_s).collect::<Vec<_>>();
        let first = with_earlier(None, &report(0..10));
        assert_eq!(times(&first).len(), 10);
        let second = with_earlier(Some(&first), &report(10..15));
        assert_eq!((times(&second).len(), times(&second)[0], times(&second)[11]), (MOST_EVENTS, 3.0, 14.0));
        assert_eq!(times(&with_earlier(Some(&second), &report(0..0))), times(&second));
    }
}
