//! The log: on standard error, with the levels of the journal where systemd reads it.

use std::io::Write;

use env_logger::{Builder, Target};
use log::{Level, LevelFilter};

use crate::arguments::live::LogLevel;

/// Begins to log.
pub(super) fn start(level: LogLevel) {
    let mut builder = Builder::new();
    builder.target(Target::Stderr).filter_level(match level {
        LogLevel::Error => LevelFilter::Error,
        LogLevel::Warn => LevelFilter::Warn,
        LogLevel::Info => LevelFilter::Info,
        LogLevel::Debug => LevelFilter::Debug,
    });
    // systemd sets the variable where the journal reads the stream; it knows the time (sd-daemon(3)).
    if std::env::var_os("JOURNAL_STREAM").is_some() {
        builder.format(|line, record| writeln!(line, "<{}>{}", priority(record.level()), record.args()));
    } else {
        builder.format(|line, record| {
            writeln!(line, "{} {:5} {}", line.timestamp_millis(), record.level(), record.args())
        });
    }
    // It fails if there is a logger already, which then serves.
    let _ = builder.try_init();
}

/// The priority of syslog.
fn priority(level: Level) -> u8 {
    match level {
        Level::Error => 3,
        Level::Warn => 4,
        Level::Info => 6,
        Level::Debug | Level::Trace => 7,
    }
}
