//! An answer that follows a value of the server: pieces of text that come while the value changes. A client that reads
//! slowly misses states between two that it sees, and never makes the server keep more than a few pieces for it.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_core::Stream;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::sync::watch;

/// The most pieces that wait for a client.
const WAITING: usize = 8;

/// What a value has become since a client last heard of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct News {
    /// The pieces of the answer that say so.
    pub(crate) pieces: Vec<Bytes>,
    /// Whether nothing follows.
    pub(crate) is_last: bool,
}

/// The pieces that were written. `_guard` is dropped when the client has gone or has all of them.
struct Pieces<G> {
    receiver: Receiver<Bytes>,
    _guard: G,
}

impl<G: Unpin> Stream for Pieces<G> {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.receiver.poll_recv(context).map(|piece| piece.map(Ok))
    }
}

/// An answer of the type `kind` that has what `news` says of each state of `value` that the client is quick enough to
/// see. It ends with the last piece, or when nobody is left who could change the value.
pub(crate) fn follow<T, G>(
    mut value: watch::Receiver<T>,
    kind: &'static str,
    guard: G,
    mut news: impl FnMut(&T) -> News + Send + 'static,
) -> Response
where
    T: Send + Sync + 'static,
    G: Send + Unpin + 'static,
{
    let (sender, receiver) = channel(WAITING);
    tokio::spawn(async move {
        loop {
            let News { pieces, is_last } = news(&value.borrow_and_update());
            for piece in pieces {
                if sender.send(piece).await.is_err() {
                    return;
                }
            }
            if is_last || value.changed().await.is_err() {
                return;
            }
        }
    });
    let body = Body::from_stream(Pieces { receiver, _guard: guard });
    ([(header::CONTENT_TYPE, kind)], body).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().build().expect("a runtime")
    }

    /// The state in a line; 9 is the last one.
    fn told(state: &u64) -> News {
        News { pieces: vec![format!("{state}\n").into()], is_last: *state == 9 }
    }

    #[test]
    fn a_slow_client_misses_states_and_hears_the_last_one() {
        let text = runtime().block_on(async {
            let (sender, receiver) = watch::channel(0);
            let response = follow(receiver, "text/plain", (), told);
            for state in 1..=9 {
                sender.send_replace(state);
            }
            axum::body::to_bytes(response.into_body(), 1000).await.expect("all pieces")
        });
        assert_eq!(&text[..], b"9\n", "the states before were replaced before anyone looked");
    }

    #[test]
    fn the_guard_is_dropped_with_the_answer_and_the_answer_ends_with_the_value() {
        let guard = std::sync::Arc::new(());
        let (sender, receiver) = watch::channel(1);
        let text = runtime().block_on(async {
            let response = follow(receiver.clone(), "text/plain", std::sync::Arc::clone(&guard), told);
            assert_eq!(std::sync::Arc::strong_count(&guard), 2);
            drop(response);
            assert_eq!(std::sync::Arc::strong_count(&guard), 1);
            let response = follow(receiver, "text/plain", (), told);
            drop(sender);
            axum::body::to_bytes(response.into_body(), 1000).await.expect("all pieces")
        });
        assert_eq!(&text[..], b"1\n");
    }
}
