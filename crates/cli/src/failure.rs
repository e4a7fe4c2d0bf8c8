//! Errors of commands, and how they are reported.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, Severity, SourceCode};
use subflow_lab::RunError;
use subflow_lab::results::InputError;
use subflow_report::output::OutputError;
use subflow_scenario::file::{Problem, Problems};
use subflow_store::StoreError;

/// The width that messages are wrapped at.
const WIDTH: usize = 100;

/// The reason why a command ends early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The input is invalid, for these reasons.
    BadInput(Problems),
    /// The input was valid, but the run failed.
    RunFailed(String),
    /// The reader of our output has closed it.
    NobodyReads,
    /// A program that the command ran, or stands in for, ended with this exit code, and has said why.
    #[cfg(all(feature = "linux", target_os = "linux"))]
    Ended(u8),
}

impl Failure {
    /// Bad input that no scenario text can be shown for.
    pub(crate) fn bad_input(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::BadInput(Problem::nowhere(message).help(help).into())
    }

    /// Prints the reason on standard error and returns the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        let (text, code) = match self {
            Self::BadInput(problems) => (rendered(problems, std::io::stderr().is_terminal()), 2),
            Self::RunFailed(message) => (format!("error: {message}\n"), 1),
            Self::NobodyReads => return ExitCode::SUCCESS,
            #[cfg(all(feature = "linux", target_os = "linux"))]
            Self::Ended(code) => return ExitCode::from(*code),
        };
        // If standard error is closed, only the exit code reports the failure.
        let _ = std::io::stderr().write_all(text.as_bytes());
        ExitCode::from(code)
    }
}

/// A problem that does not keep a scenario from being run.
#[derive(Debug)]
struct Warning<'a>(&'a Problem);

impl std::fmt::Display for Warning<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Warning<'_> {}

impl Diagnostic for Warning<'_> {
    fn severity(&self) -> Option<Severity> {
        Some(Severity::Warning)
    }
    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        self.0.help()
    }
    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.0.source_code()
    }
    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.0.labels()
    }
}

/// Prints warnings on standard error.
pub(crate) fn warn(problems: &[Problem]) {
    let handler = handler(std::io::stderr().is_terminal());
    for problem in problems {
        let mut text = String::new();
        if handler.render_report(&mut text, &Warning(problem)).is_err() {
            text = format!("warning: {}\n", problem.in_one_line());
        }
        // Warnings are not worth a failure.
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}

fn handler(is_terminal: bool) -> GraphicalReportHandler {
    let colours = is_terminal && std::env::var_os("NO_COLOR").is_none();
    let theme = if colours { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    GraphicalReportHandler::new_themed(theme).with_width(WIDTH).with_links(false).with_context_lines(1)
}

/// The problems as text, for a terminal or not.
pub(crate) fn rendered(problems: &Problems, is_terminal: bool) -> String {
    let handler = handler(is_terminal);
    let mut text = String::new();
    for problem in &problems.first {
        let before = text.len();
        if handler.render_report(&mut text, problem as &dyn Diagnostic).is_err() {
            text.truncate(before);
            text += &format!("{}\n", problem.in_one_line());
        }
    }
    let (count, shown) = (problems.count, problems.first.len());
    match count {
        1 => {}
        _ if count == shown => text += &format!("\n{count} problems; nothing was run\n"),
        _ => text += &format!("\nthe first {shown} of {count} problems; nothing was run\n"),
    }
    text
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::BadInput(problem.into())
    }
}
impl From<Problems> for Failure {
    fn from(problems: Problems) -> Self {
        Self::BadInput(problems)
    }
}
impl From<InputError> for Failure {
    fn from(InputError { message, help }: InputError) -> Self {
        Self::bad_input(message, help)
    }
}
impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error.is_refusal() {
            true => Self::bad_input(error.to_string(), ""),
            false => Self::RunFailed(error.to_string()),
        }
    }
}
#[cfg(all(feature = "linux", target_os = "linux"))]
impl From<subflow_linux::Error> for Failure {
    fn from(error: subflow_linux::Error) -> Self {
        match error {
            subflow_linux::Error::Missing { missing, remedy } => Self::bad_input(missing, remedy),
            other => RunError::from(other).into(),
        }
    }
}
#[cfg(feature = "publications")]
impl From<subflow_publications::ReproduceError> for Failure {
    fn from(error: subflow_publications::ReproduceError) -> Self {
        use subflow_publications::ReproduceError;

        match error {
            ReproduceError::BadInput(problems) => Self::BadInput(problems),
            ReproduceError::Run(error) => error.into(),
            ReproduceError::Store(error) => error.into(),
            ReproduceError::Stopped { .. } => Self::RunFailed(error.to_string()),
        }
    }
}
impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Io { .. } | StoreError::Damaged { .. } => Self::RunFailed(error.to_string()),
            _ => Self::bad_input(error.to_string(), ""),
        }
    }
}
impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Self {
        match error {
            OutputError::Io { .. } => Self::RunFailed(error.to_string()),
            _ => Self::bad_input(error.to_string(), ""),
        }
    }
}
