//! The log of commands that run for long, on standard error.

use std::io::Write;

use env_logger::{Builder, Target};
use log::{Level, LevelFilter};

use crate::arguments::live::LogLevel;

/// Begins to log.
pub(super) fn start_logging(level: LogLevel) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_journal_shows_a_warning_as_one() {
        // sd-daemon(3): SD_ERR, SD_WARNING, SD_INFO, SD_DEBUG.
        let levels = [Level::Error, Level::Warn, Level::Info, Level::Debug, Level::Trace];
        assert_eq!(levels.map(priority), [3, 4, 6, 7, 7]);
    }
}
