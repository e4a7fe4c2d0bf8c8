//! The MPTCP connections of this machine's kernel, as `subflow watch` sees them, for all pages that look. They are
//! watched while someone looks. Each page gets the latest report as a server-sent event; one that reads slowly misses
//! reports, and is told how many.

use std::sync::{Arc, Mutex};

use axum::body::Bytes;
use axum::response::Response;
use tokio::sync::watch;

use crate::follow::{News, follow};

/// The latest report.
#[derive(Clone, Debug, Default)]
struct Seen {
    /// Counts reports.
    number: u64,
    /// The report as JSON.
    report: Option<Bytes>,
    /// Why nothing is seen.
    refusal: Option<String>,
}

/// What is watched.
#[derive(Debug, Default)]
pub(crate) struct Live {
    seen: watch::Sender<Seen>,
    is_watching: Mutex<bool>,
}

impl Live {
    /// The answer that has each report as an event, or one event `refused` with the reason.
    pub(crate) fn follow(self: &Arc<Self>) -> Response {
        let mut last = None;
        let news = move |seen: &Seen| {
            if let Some(refusal) = &seen.refusal {
                return News { pieces: vec![event("refused", &serde_json::json!(refusal).to_string())], is_last: true };
            }
            let Some(report) = &seen.report else { return News::default() };
            let missed = last.map_or(0, |last| seen.number.saturating_sub(last + 1));
            last = Some(seen.number);
            let report = String::from_utf8_lossy(report);
            let data = format!("{{\"missed\":{missed},\"report\":{report}}}");
            News { pieces: vec![event("report", &data)], is_last: false }
        };
        let receiver = self.seen.subscribe();
        self.begin();
        follow(receiver, "text/event-stream; charset=utf-8", (), news)
    }
}

/// A server-sent event. JSON has no line ends, which would end its data.
fn event(name: &str, data: &str) -> Bytes {
    format!("event: {name}\ndata: {data}\n\n").into()
}

#[cfg(all(feature = "live", target_os = "linux"))]
mod watched {
    use std::sync::PoisonError;

    use subflow_quantity::Duration;
    use subflow_watch::{Report, Settings, Watcher};

    use super::{Arc, Bytes, Live, Seen};

    /// The time between two reports.
    const INTERVAL: Duration = Duration::from_millis(500);

    impl Live {
        /// Begins to watch, unless someone has.
        pub(super) fn begin(self: &Arc<Self>) {
            let mut is_watching = self.is_watching.lock().unwrap_or_else(PoisonError::into_inner);
            if *is_watching {
                return;
            }
            self.seen.send_replace(Seen::default());
            *is_watching = true;
            let live = Arc::clone(self);
            std::thread::spawn(move || live.watch());
        }

        /// Watches until nobody looks any more.
        fn watch(&self) {
            loop {
                if let Err(error) = self.look() {
                    self.seen.send_modify(|seen| seen.refusal = Some(error.to_string()));
                }
                // Whoever comes now waits for the lock, and begins anew.
                let mut is_watching = self.is_watching.lock().unwrap_or_else(PoisonError::into_inner);
                if self.seen.receiver_count() == 0 || self.seen.borrow().refusal.is_some() {
                    *is_watching = false;
                    return;
                }
            }
        }

        fn look(&self) -> subflow_linux::Result<()> {
            let mut watcher = Watcher::start(Settings { interval: INTERVAL, ..Settings::default() })?;
            while let Some(look) = watcher.look(|| self.seen.receiver_count() > 0)? {
                if let Some(report) = look.report {
                    self.show(&report);
                }
            }
            Ok(())
        }

        fn show(&self, report: &Report) {
            let json = serde_json::to_vec(report).expect("a report is plain data");
            self.seen.send_modify(|seen| {
                seen.number += 1;
                seen.report = Some(Bytes::from(json));
            });
        }
    }
}

#[cfg(not(all(feature = "live", target_os = "linux")))]
impl Live {
    fn begin(&self) {
        let refusal = "this build of subflow cannot watch connections: it takes Linux, and a build with the feature `live` \
                       (cargo build --release --features serve,live)";
        let mut is_watching = self.is_watching.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if !*is_watching {
            *is_watching = true;
            self.seen.send_replace(Seen { refusal: Some(refusal.to_owned()), ..Seen::default() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(body: &[u8]) -> String {
        String::from_utf8_lossy(body).into_owned()
    }

    #[test]
    fn a_slow_page_gets_the_latest_report_and_the_number_of_those_it_missed() {
        let live = Arc::new(Live::default());
        *live.is_watching.lock().expect("nobody has panicked") = true;
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let heard = runtime.block_on(async {
            let seen = |number: u64| Seen { number, report: Some(format!("{number}").into()), refusal: None };
            live.seen.send_replace(seen(1));
            let response = live.follow();
            tokio::task::yield_now().await;
            (2..=5).for_each(|number| drop(live.seen.send_replace(seen(number))));
            tokio::task::yield_now().await;
            live.seen.send_replace(Seen { refusal: Some("over".to_owned()), ..Seen::default() });
            axum::body::to_bytes(response.into_body(), 10_000).await.expect("all events")
        });
        let heard = text(&heard);
        let events: Vec<&str> = heard.split_terminator("\n\n").collect();
        assert_eq!(events[0], "event: report\ndata: {\"missed\":0,\"report\":1}");
        assert_eq!(events[1], "event: report\ndata: {\"missed\":3,\"report\":5}");
        assert_eq!(events[2..], ["event: refused\ndata: \"over\""]);
    }
}
