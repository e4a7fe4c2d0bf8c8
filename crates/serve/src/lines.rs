//! An answer in lines of JSON, which come while a run goes on. When nobody reads it any more, the run is stopped.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_core::Stream;
use serde::Serialize;
use subflow_lab::Stop;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::check::Checked;

/// A line.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line<'a> {
    /// So many runs have begun.
    Started(usize),
    /// How many of them are done.
    Progress { done: usize, total: usize },
    /// The last line: the number of the results, how many runs they have, and the flows of the first point.
    Result { number: u64, runs: usize, cpu_s: f64, flows: Vec<Headline> },
    /// The last line: a scenario cannot be run. `variant` is `a` or `b`.
    Refused { variant: &'static str, checked: &'a Checked },
    /// The last line: why there are no results.
    Error(&'a str),
}

/// A flow in numbers: its mean goodput over the runs, and when it completed.
#[derive(Debug, Serialize)]
pub(crate) struct Headline {
    pub(crate) flow: String,
    pub(crate) goodput_mbps: f64,
    pub(crate) completion_s: Option<f64>,
}

/// Where the lines of an answer are written.
#[derive(Clone, Debug)]
pub(crate) struct Writer(UnboundedSender<Bytes>);

impl Writer {
    /// Adds a line. Where nobody reads, it is dropped.
    pub(crate) fn line(&self, value: &impl Serialize) {
        let mut line = serde_json::to_vec(value).expect("the keys of all values are texts");
        line.push(b'\n');
        // The reader has gone: what is written for it is of no use to anyone.
        let _ = self.0.send(line.into());
    }
}

/// The lines that were written. Dropping it requests the stop: the browser has cancelled the request, or has gone.
struct Lines {
    receiver: UnboundedReceiver<Bytes>,
    stop: Stop,
}

impl Stream for Lines {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.receiver.poll_recv(context).map(|line| line.map(Ok))
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.stop.request();
    }
}

/// A writer, and the answer with what it writes. The answer ends when all clones of the writer are dropped.
pub(crate) fn answer(stop: Stop) -> (Writer, Response) {
    let (sender, receiver) = unbounded_channel();
    let body = Body::from_stream(Lines { receiver, stop });
    let kind = [(header::CONTENT_TYPE, "application/x-ndjson; charset=utf-8")];
    (Writer(sender), (kind, body).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_nobody_reads_stops_the_run() {
        let stop = Stop::default();
        let (writer, response) = answer(stop.clone());
        writer.line(&1);
        assert!(!stop.is_requested());
        drop(response);
        assert!(stop.is_requested());
        writer.line(&2);
    }

    #[test]
    fn lines_come_in_their_order_and_end_with_the_writer() {
        let (writer, response) = answer(Stop::default());
        writer.line(&serde_json::json!({ "a": 1 }));
        writer.line(&2);
        drop(writer);
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let bytes = runtime.block_on(axum::body::to_bytes(response.into_body(), 100)).expect("all lines");
        assert_eq!(&bytes[..], b"{\"a\":1}\n2\n");
    }
}
