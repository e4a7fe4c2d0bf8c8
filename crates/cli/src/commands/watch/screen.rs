//! The table in a terminal.

use std::io;
use std::time::Duration;

use ratatui::DefaultTerminal;
use ratatui::Frame;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyModifiers};
use ratatui::widgets::{Block, Paragraph};

use super::report::Report;
use crate::failure::Failure;

/// A terminal that shows nothing else until this is dropped.
pub(super) struct Screen {
    terminal: DefaultTerminal,
    /// The number of lines above the first that is shown.
    above: usize,
    report: Option<Report>,
}

impl Screen {
    pub(super) fn open() -> Result<Self, Failure> {
        let terminal = ratatui::try_init().map_err(failure)?;
        Ok(Self { terminal, above: 0, report: None })
    }

    /// Shows a report in the place of the last one.
    pub(super) fn show(&mut self, report: &Report) -> Result<(), Failure> {
        self.report = Some(report.clone());
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
