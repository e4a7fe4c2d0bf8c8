//! Progress on standard error: a bar on a terminal, lines elsewhere.
// It reads the wall clock.
#![allow(clippy::disallowed_types)]

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use subflow_lab::execute::Progress;
use subflow_lab::simulate::LiveView;
use subflow_scenario::sweep::Plan;

use crate::arguments::Run;
use crate::commands::run_screen::Screen;
use crate::failure::Failure;
use crate::output::say;

/// The shortest time between two lines, and before the first: short commands print none.
const SHORTEST_PAUSE: Duration = Duration::from_secs(5);
/// The time after which the end of a run is a line even if less than a tenth of the runs has ended since the last one.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The progress of a command.
pub(crate) enum Bar {
    OnTerminal(ProgressBar),
    OnScreen(Screen),
    InLines { begin: Instant, lines: Mutex<Lines> },
}

impl Bar {
    pub(crate) fn new() -> Self {
        if !std::io::stderr().is_terminal() {
            return Self::InLines { begin: Instant::now(), lines: Mutex::default() };
        }
        let bar = ProgressBar::new(0);
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos} of {len} runs, {eta} to go") {
            bar.set_style(style);
        }
        Self::OnTerminal(bar)
    }

    /// The progress of simulated runs, with their metrics over time if `arguments` ask for a screen. What runs have to
    /// show for it is the second value.
    pub(crate) fn of_runs(arguments: &Run, plan: &Plan) -> Result<(Self, Option<LiveView>), Failure> {
        let Some(metrics) = &arguments.tui else { return Ok((Self::new(), None)) };
        let live = LiveView::default();
        let screen = Screen::open(&plan.document.name, metrics, live.clone())?;
        Ok((Self::OnScreen(screen), Some(live)))
    }

    /// Shows the progress.
    pub(crate) fn show(&self, progress: Progress) {
        match self {
            Self::OnTerminal(bar) => {
                bar.set_length(progress.total as u64);
                bar.set_position(progress.done as u64);
            }
            Self::OnScreen(screen) => screen.note(progress),
            Self::InLines { begin, lines } => {
                let mut lines = lines.lock().expect("no thread panics while it has the lock");
                if let Some(line) = lines.next(progress, begin.elapsed()) {
                    say(&line);
                }
            }
        }
    }

    /// Removes the bar.
    pub(crate) fn finish(self) {
        if let Self::OnTerminal(bar) = self {
            bar.finish_and_clear();
        }
    }
}

/// Decides which progress becomes a line.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    series: Option<Series>,
    /// The runs done, of the present series, and the time at the last line.
    last: (usize, Duration),
}

/// Runs that are counted together. A command may have several series, one after the other.
#[derive(Debug)]
struct Series {
    begin: Duration,
    /// Runs that were done at its beginning, in an earlier command.
    before: usize,
    /// The most runs reported as done so far.
    done: usize,
    total: usize,
}

impl Lines {
    /// The line for `progress` at `elapsed` since the beginning, if it is time for one.
    fn next(&mut self, Progress { done, total }: Progress, elapsed: Duration) -> Option<String> {
        let is_new = |series: &Series| series.total != total || series.done == series.total && done < series.done;
        if self.series.as_ref().is_none_or(is_new) {
            self.last.0 = 0;
            self.series = Some(Series { begin: elapsed, before: done, done, total });
        }
        let series = self.series.as_mut().expect("it was just set");
        series.done = series.done.max(done);
        let (last_done, last_at) = self.last;
        let pause = elapsed.saturating_sub(last_at);
        let is_tenth = done * 10 / total.max(1) > last_done * 10 / total.max(1);
        // Threads report in any order.
        if pause < SHORTEST_PAUSE || done <= last_done || !is_tenth && pause < LONGEST_PAUSE {
            return None;
        }
        self.last = (done, elapsed);
        let elapsed = elapsed.saturating_sub(series.begin).as_secs_f64();
        let rest = match done.saturating_sub(series.before) {
            _ if done >= total => String::new(),
            0 => String::new(),
            new => format!(", about {} to go", rounded(elapsed * total.saturating_sub(done) as f64 / new as f64)),
        };
        Some(format!("{done} of {total} runs after {}{rest}", rounded(elapsed)))
    }
}

/// A duration as text, in the unit that gives two to three digits: `42 s`, `12 min`, `3.5 h`.
pub(crate) fn rounded(seconds: f64) -> String {
    match seconds {
        s if s < 0.05 => "less than 0.1 s".to_owned(),
        s if s < 9.95 => format!("{s:.1} s"),
        s if s < 119.5 => format!("{s:.0} s"),
        s if s < 7170.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(of: &[(usize, u64)], total: usize) -> Vec<String> {
        let mut lines = Lines::default();
        let line = |&(done, seconds)| lines.next(Progress { done, total }, Duration::from_secs(seconds));
        of.iter().filter_map(line).collect()
    }

    #[test]
    fn a_short_command_prints_no_lines() {
        assert!(lines(&[(0, 0), (5, 2), (10, 4)], 10).is_empty());
    }

    #[test]
    fn each_tenth_of_the_runs_is_a_line_and_each_minute() {
        let found = lines(&[(0, 0), (9, 9), (10, 10), (11, 11), (19, 19), (20, 20), (21, 81)], 100);
        let expected = [
            "10 of 100 runs after 10 s, about 90 s to go",
            "20 of 100 runs after 20 s, about 80 s to go",
            "21 of 100 runs after 81 s, about 5 min to go",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn nothing_is_to_go_when_all_runs_are_done() {
        assert_eq!(lines(&[(0, 0), (12, 53)], 12), ["12 of 12 runs after 53 s"]);
    }

    #[test]
    fn runs_of_an_earlier_command_do_not_count_as_speed() {
        assert_eq!(lines(&[(50, 0), (60, 10)], 100), ["60 of 100 runs after 10 s, about 40 s to go"]);
    }

    #[test]
    fn a_second_series_of_runs_has_lines_of_its_own() {
        let found = lines(&[(0, 0), (10, 10), (0, 12), (1, 22)], 10);
        let expected = ["10 of 10 runs after 10 s", "1 of 10 runs after 10 s, about 90 s to go"];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_thread_that_reports_late_is_ignored() {
        assert_eq!(lines(&[(0, 0), (40, 10), (30, 90)], 100).len(), 1);
    }

    #[test]
    fn durations_have_two_or_three_digits() {
        let shown = [0.01, 0.31, 9.9, 41.6, 119.0, 150.0, 7169.0, 9000.0].map(rounded);
        assert_eq!(shown, ["less than 0.1 s", "0.3 s", "9.9 s", "42 s", "119 s", "2 min", "119 min", "2.5 h"]);
    }
}
