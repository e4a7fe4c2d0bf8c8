//! Connections of clients: at most so many at the same time, and none that says nothing for long. Who is not answered
//! could keep the page from its reader with silent connections otherwise: they come before any request, and need no token.
//! Nor may a request last for ever: that of a page which is stopped or was left half-way keeps its place no longer than
//! that of anybody else.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{FromRequest, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use crate::limits::Limits;

/// How long to wait when the system gives no connection, since it has no room for more files, say.
const AGAIN: Duration = Duration::from_millis(100);

/// Answers the clients of `listener` with `router`. A client beyond the limit waits until another one has gone.
pub(crate) async fn serve(listener: TcpListener, router: Router, limits: Limits) {
    let places = Arc::new(Semaphore::new(limits.connections));
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(AGAIN).await;
            continue;
        };
        let router = router.clone();
        tokio::spawn(async move {
            answer(stream, router, limits.silence).await;
            drop(place);
        });
    }
}

/// Answers the requests of a client until one of both ends the connection.
async fn answer(stream: TcpStream, router: Router, silence: Duration) {
    // Lines about a run are short, and none is to wait until the one before was acknowledged (RFC 896). A connection
    // that is not there any more ends below.
    let _ = stream.set_nodelay(true);
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(silence);
    // Its errors are those of clients that have gone, or say nothing.
    let _ = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router)).await;
}

/// Takes the whole body of a request within `time`, before it is answered.
pub(crate) async fn whole(State(time): State<Duration>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    let taken = Bytes::from_request(Request::from_parts(head.clone(), body), &());
    match tokio::time::timeout(time, taken).await {
        Ok(Ok(content)) => next.run(Request::from_parts(head, content.into())).await,
        Ok(Err(refused)) => refused.into_response(),
        Err(_) => {
            let told = format!("expected the whole request within {} s\n", time.as_secs_f64());
            (StatusCode::REQUEST_TIMEOUT, [(header::CONNECTION, "close")], told).into_response()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use axum::routing::get;

    use super::*;

    #[test]
    fn a_client_that_says_nothing_loses_its_place_to_one_that_waits() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let address = listener.local_addr().expect("bound");
        listener.set_nonblocking(true).expect("a socket");
        let limits = Limits { connections: 2, silence: Duration::from_millis(200), ..Limits::default() };
        runtime.spawn(async move {
            let listener = TcpListener::from_std(listener).expect("a socket");
            serve(listener, Router::new().route("/", get(|| async { "here" })), limits).await;
        });
        let connect = || {
            let stream = std::net::TcpStream::connect(address).expect("it listens");
            stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
            stream
        };
        let (silent, mut slow, mut waiting) = (connect(), connect(), connect());
        slow.write_all(b"GET / HTTP/1.1\r\nHost: ").expect("sent");
        waiting.write_all(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").expect("sent");
        let mut answer = String::new();
        waiting.read_to_string(&mut answer).expect("an answer");
        assert!(answer.ends_with("here"), "{answer}");
        drop((silent, slow));
    }
}
