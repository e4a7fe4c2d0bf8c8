//! What `run --tui` shows: a chart for each metric, with a line for each flow, subflow or link that has it.

use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Axis, Block, Chart, Dataset, GraphType, Paragraph};
use subflow_lab::execute::Progress;
use subflow_lab::results::Series;
use subflow_lab::simulate::LiveRun;

/// The least height of a chart, in lines.
const LEAST_HEIGHT: u16 = 8;
/// The width of the list of latest values, where there is room for it.
const LEGEND: u16 = 34;
/// Lines of a chart; there are as many colours.
const COLOURS: [Color; 8] = [
    Color::Blue,
    Color::LightRed,
    Color::Green,
    Color::Magenta,
    Color::Yellow,
    Color::Cyan,
    Color::LightMagenta,
    Color::Gray,
];

/// What the screen shows.
pub(super) struct View {
    /// The name of the scenario.
    name: String,
    /// The chosen metrics, each a chart.
    metrics: Vec<String>,
    /// The chart at the top.
    first: usize,
    progress: Progress,
    run: Option<LiveRun>,
    is_cancelled: bool,
}

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Nothing,
    /// The end of the runs.
    Cancel,
}

impl View {
    pub(super) fn new(name: &str, metrics: &[String]) -> Self {
        let progress = Progress { done: 0, total: 0 };
        Self { name: name.to_owned(), metrics: metrics.to_vec(), first: 0, progress, run: None, is_cancelled: false }
    }

    /// Takes how many runs are done, and a run under way. Without one, that of before stays in sight.
    pub(super) fn take(&mut self, progress: Progress, run: Option<LiveRun>) {
        self.progress = progress;
        self.run = run.or(self.run.take());
    }

    /// Handles a key. The end is asked for once.
    pub(super) fn on_key(&mut self, key: KeyEvent) -> Asked {
        if key.kind == KeyEventKind::Release {
            return Asked::Nothing;
        }
        let is_interrupt = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('q') | KeyCode::Esc if !self.is_cancelled => self.is_cancelled = true,
            _ if is_interrupt && !self.is_cancelled => self.is_cancelled = true,
            KeyCode::Down | KeyCode::Tab => {
                self.first = (self.first + 1).min(self.metrics.len().saturating_sub(1));
                return Asked::Nothing;
            }
            KeyCode::Up | KeyCode::BackTab => {
                self.first = self.first.saturating_sub(1);
                return Asked::Nothing;
            }
            _ => return Asked::Nothing,
        }
        Asked::Cancel
    }

    pub(super) fn draw(&self, frame: &mut Frame<'_>) {
        let [head, body, foot] =
            Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)]).areas(frame.area());
        frame.render_widget(Paragraph::new(self.head()).bold(), head);
        let keys = match self.is_cancelled {
            true => "ending …",
            false => "q cancels the runs, arrows choose the charts",
        };
        frame.render_widget(Paragraph::new(keys).dim(), foot);
        let fitting = usize::from(body.height / LEAST_HEIGHT).clamp(1, self.metrics.len().max(1));
        // At the end of the list all charts that fit are still shown.
        let first = self.first.min(self.metrics.len().saturating_sub(fitting));
        let shown = self.metrics.iter().skip(first).take(fitting);
        let areas = Layout::vertical(vec![Constraint::Fill(1); fitting]).split(body);
        for (metric, area) in shown.zip(areas.iter()) {
            self.chart(frame, metric, *area);
        }
    }

    fn head(&self) -> String {
        let Progress { done, total } = self.progress;
        let runs = if total > 1 { format!(", {done} of {total} runs done") } else { String::new() };
        match &self.run {
            Some(run) => format!("{}{runs}; run {} at {:.1} s", self.name, run.run, run.time_s),
            None => format!("{}{runs}", self.name),
        }
    }

    fn chart(&self, frame: &mut Frame<'_>, metric: &str, area: Rect) {
        let series = self.run.iter().flat_map(|run| &run.series).filter(|one| one.metric == metric);
        let series: Vec<&Series> = series.filter(|one| !one.points().is_empty()).collect();
        let Some(unit) = series.first().map(|one| &one.unit) else {
            let block = Block::bordered().title(format!(" {metric} "));
            return frame.render_widget(Paragraph::new("no samples yet").block(block), area);
        };
        let wide = area.width > 2 * LEGEND;
        let legend_width = if wide { LEGEND } else { 0 };
        let [plot, legend] = Layout::horizontal([Constraint::Fill(1), Constraint::Length(legend_width)]).areas(area);
        let lines: Vec<Vec<(f64, f64)>> = series.iter().take(COLOURS.len()).map(|one| points(one)).collect();
        let of_all = |value: fn(&(f64, f64)) -> f64| lines.iter().flatten().map(value).fold(0.0, f64::max);
        let (end, most) = (of_all(|point| point.0), of_all(|point| point.1));
        let most = if most > 0.0 { most } else { 1.0 };
        let data = lines.iter().zip(COLOURS).map(|(line, colour)| {
            let data = Dataset::default().marker(Marker::Braille).graph_type(GraphType::Line);
            data.style(Style::new().fg(colour)).data(line)
        });
        let chart = Chart::new(data.collect())
            .block(Block::bordered().title(format!(" {metric} ({unit}) ")))
            .legend_position(None)
            .x_axis(Axis::default().bounds([0.0, end]).labels(["0".to_owned(), format!("{end:.1} s")]))
            .y_axis(Axis::default().bounds([0.0, most * 1.05]).labels(["0".to_owned(), shown(most)]));
        frame.render_widget(chart, plot);
        if wide {
            frame.render_widget(latest(&series, legend.height), legend);
        }
    }
}

/// The names of series in their colours, with their latest values.
fn latest<'s>(series: &[&'s Series], height: u16) -> Paragraph<'s> {
    let room = usize::from(height).saturating_sub(3);
    let line = |(index, one): (usize, &&'s Series)| {
        let value = one.points().last().map_or(0.0, |point| point.value);
        let colour = COLOURS.get(index).copied().unwrap_or_default();
        Line::from(vec![
            Span::from("■ ").fg(colour),
            Span::from(one.of.as_str()),
            Span::from(format!("  {}", shown(value))),
        ])
    };
    let mut lines: Vec<Line<'_>> = series.iter().enumerate().take(room).map(line).collect();
    if series.len() > room {
        lines.push(Line::from(format!("and {} more", series.len() - room)).dim());
    }
    Paragraph::new(lines).block(Block::bordered().title(" latest "))
}

fn points(series: &Series) -> Vec<(f64, f64)> {
    series.points().iter().map(|point| (point.time_s, point.value)).collect()
}

/// A value in about three digits.
fn shown(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use subflow_quantity::{Duration, Instant};

    use super::*;

    fn view() -> View {
        let series = |of: &str, metric: &str, unit: &str, values: &[f64]| {
            let mut series = Series::new(of, metric, unit, Duration::from_millis(100));
            for (index, value) in values.iter().enumerate() {
                series.push(Instant::from_nanos(index as u64 * 1_000_000_000), *value);
            }
            series
        };
        let run = LiveRun {
            run: 4,
            time_s: 3.0,
            series: vec![
                series("file", "goodput", "Mbit/s", &[0.0, 8.0, 12.5]),
                series("file/0", "cwnd", "packets", &[10.0, 20.0, 123.4]),
                series("file/1", "cwnd", "packets", &[10.0, 20.0, 30.0]),
            ],
        };
        let mut view = View::new("wifi-lte", &["goodput", "cwnd", "queue"].map(str::to_owned));
        view.take(Progress { done: 4, total: 20 }, Some(run));
        view
    }

    fn drawn(view: &View, terminal: &mut Terminal<TestBackend>) -> String {
        terminal.draw(|frame| view.draw(frame)).expect("a buffer");
        terminal.backend().to_string()
    }

    #[test]
    fn the_latest_values_and_the_progress_are_shown() {
        let mut terminal = Terminal::new(TestBackend::new(100, 40)).expect("a buffer");
        let text = drawn(&view(), &mut terminal);
        for part in [
            "wifi-lte, 4 of 20 runs done; run 4 at 3.0 s",
            "goodput (Mbit/s)",
            "file  12.5",
            "file/0  123",
            "q cancels",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(text.contains("no samples yet"), "the metric that no run has\n{text}");
    }

    #[test]
    fn it_fits_terminals_of_any_size_and_those_that_change_it() {
        let view = view();
        let mut terminal = Terminal::new(TestBackend::new(200, 60)).expect("a buffer");
        assert!(drawn(&view, &mut terminal).contains("cwnd (packets)"));
        for (width, height) in [(40, 12), (20, 5), (3, 2), (1, 1), (120, 9)] {
            terminal.backend_mut().resize(width, height);
            let text = drawn(&view, &mut terminal);
            assert_eq!(text.lines().count(), usize::from(height), "{text}");
        }
        terminal.backend_mut().resize(40, 12);
        let small = drawn(&view, &mut terminal);
        assert!(small.contains("goodput") && !small.contains("cwnd"), "one chart fits\n{small}");
    }

    #[test]
    fn keys_scroll_the_charts_and_cancel_once() {
        let mut view = view();
        let mut terminal = Terminal::new(TestBackend::new(40, 12)).expect("a buffer");
        let key = |code| KeyEvent::new(code, KeyModifiers::NONE);
        assert_eq!(view.on_key(key(KeyCode::Down)), Asked::Nothing);
        assert!(drawn(&view, &mut terminal).contains("cwnd (packets)"));
        for _ in 0..5 {
            view.on_key(key(KeyCode::Down));
        }
        assert!(drawn(&view, &mut terminal).contains("queue"), "the last one stays");
        assert_eq!(view.on_key(key(KeyCode::Char('c'))), Asked::Nothing);
        assert_eq!(view.on_key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)), Asked::Cancel);
        assert_eq!(
            view.on_key(key(KeyCode::Char('q'))),
            Asked::Nothing,
            "a second signal would end the command at once"
        );
        assert!(drawn(&view, &mut terminal).contains("ending"));
    }
}
