//! Accepting clients, as many at a time as there are places.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::{AbortHandle, JoinSet};

/// Whether the request of a client has come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked(Arc<AtomicBool>);

impl Asked {
    /// The request is complete: the client keeps its place.
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Clients whose requests had not come when they were looked at, the oldest first.
#[derive(Debug, Default)]
struct Silent(VecDeque<(Asked, AbortHandle)>);

impl Silent {
    fn push(&mut self, asked: Asked, client: AbortHandle) {
        // Those before one that is still silent stay: it has a time limit, so that they are few.
        while self.0.front().is_some_and(|(asked, client)| asked.is_set() || client.is_finished()) {
            self.0.pop_front();
        }
        self.0.push_back((asked, client));
    }

    /// Ends the one that has been silent longest.
    fn end_oldest(&mut self) {
        while let Some((asked, client)) = self.0.pop_front() {
            if !asked.is_set() && !client.is_finished() {
                return client.abort();
            }
        }
    }
}

/// Serves clients for ever, each by a task of `clients`. Where no place is left, a new client gets that of the one whose
/// request has been awaited longest: so clients that ask for nothing keep none away that does.
pub(crate) async fn accept<F>(
    listener: TcpListener,
    places: usize,
    clients: &mut JoinSet<()>,
    serve: impl Fn(TcpStream, Asked) -> F,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let places = Arc::new(Semaphore::new(places));
    let mut silent = Silent::default();
    loop {
        let Ok((client, _)) = listener.accept().await else {
            // There are too many open files, or the client is gone already.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        while clients.try_join_next().is_some() {}
        if places.available_permits() == 0 {
            silent.end_oldest();
        }
        let place = Arc::clone(&places).acquire_owned().await.expect("it is never closed");
        let asked = Asked::default();
        let serving = serve(client, asked.clone());
        let client = clients.spawn(async move {
            serving.await;
            drop(place);
        });
        silent.push(asked, client);
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    /// A client has asked with its first byte, which comes back.
    async fn answer(mut client: TcpStream, asked: Asked) {
        while let Ok(byte) = client.read_u8().await {
            asked.set();
            client.write_u8(byte).await.expect("it is there");
        }
    }

    #[tokio::test]
    async fn a_client_that_asks_gets_the_place_of_the_oldest_that_does_not() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("it has one");
        let connect = || async { TcpStream::connect(address).await.expect("connected") };
        let mut tasks = JoinSet::new();
        let test = async {
            let mut asking = connect().await;
            let is_served = async |client: &mut TcpStream| {
                client.write_u8(7).await.is_ok() && client.read_u8().await.is_ok_and(|byte| byte == 7)
            };
            assert!(is_served(&mut asking).await);
            let (mut first, mut second) = (connect().await, connect().await);
            let mut third = connect().await;
            assert!(is_served(&mut third).await, "there are three places");
            assert!(first.read_u8().await.is_err(), "the oldest that is silent gave its place");
            assert!(is_served(&mut second).await && is_served(&mut asking).await, "the others keep theirs");
            // Now all have asked: one more waits until a place is free.
            let mut fourth = connect().await;
            let waited = tokio::time::timeout(Duration::from_millis(200), is_served(&mut fourth)).await;
            assert!(waited.is_err(), "all places are taken");
            drop(asking);
            assert!(fourth.read_u8().await.is_ok_and(|byte| byte == 7));
        };
        tokio::select! {
            () = accept(listener, 3, &mut tasks, answer) => {}
            done = tokio::time::timeout(Duration::from_secs(20), test) => done.expect("in time"),
        }
    }
}
