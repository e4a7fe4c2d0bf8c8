//! `subflow serve`: a page to work in. A scenario is edited in the browser, checked as one types and run on this machine,
//! and the figures of the report renew.
//!
//! This crate is internal to Subflow: its items may change in any release.
//!
//! | to find | look in |
//! |---|---|
//! | who is answered: token, host, origin, and the headers of answers | `access.rs` |
//! | how many clients there may be, and how long one may say nothing | `connections.rs` |
//! | which addresses there are | `routes.rs` |
//! | the files of the page, the cards of its gallery | `assets.rs`, `page/`, `gallery/` |
//! | a text, checked: problems, values with their places, the network | `check.rs`, `picture.rs` |
//! | a run in the background, its progress and its end | `run.rs`, `jobs.rs`, `lines.rs`; what it may take: `limits.rs` |
//! | an answer that comes in pieces, also to slow clients | `follow.rs` |
//! | lessons: a scenario, a question, and figures that decide the answers | `lessons/` |
//! | what the page shows of an instant of a run | `moments.rs` |
//! | a folder of results and stores | `folder.rs`, `folder_routes.rs` |
//! | connections of this machine | `live.rs` |
//! | two variants of a scenario as one experiment | `variants.rs` |
//! | what requests share; results that are kept, and what can be saved of them | `kept.rs`; `exports.rs`, `answers.rs` |
//!
//! The server listens on loopback only, and answers who knows the random token of its address. It reads no file but the
//! scenario that it was given and traces in the scenario's directory, or what commands have written to the folder that it
//! was given; it writes none.

mod access;
mod answers;
mod assets;
mod check;
mod connections;
mod exports;
mod folder;
mod folder_routes;
mod follow;
mod jobs;
mod kept;
mod lessons;
mod limits;
mod lines;
mod live;
mod moments;
mod picture;
mod routes;
mod run;
mod variants;
mod waits;

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use subflow_lab::Stop;

use access::Access;
pub use check::Opened;
use kept::Shared;
pub use kept::Source;
pub use limits::Limits;
use routes::router;

/// How long a request to stop may go unnoticed.
const LOOK: Duration = Duration::from_millis(50);

/// A server that is bound to its port.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    access: Access,
    shared: Shared,
}

impl Server {
    /// Binds to `port` of loopback, or to a free one if it is 0. The page begins with `source`.
    ///
    /// # Errors
    ///
    /// Where the port cannot be bound, or the system gives no random numbers for the token.
    pub fn bind(port: u16, source: Source, limits: Limits) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let access = Access::new(listener.local_addr()?.port())?;
        Ok(Self { listener, access, shared: Shared::new(source, limits) })
    }

    /// The address of the page, with the token.
    pub fn address(&self) -> String {
        self.access.address()
    }

    /// Answers until `stop` is requested. Runs that are not done then are stopped.
    ///
    /// # Errors
    ///
    /// Where the system gives no event loop.
    pub fn run(self, stop: &Stop) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let served = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let limits = self.shared.limits;
            let service = router(Arc::new(self.access), Arc::new(self.shared));
            let serving = tokio::spawn(connections::serve(listener, service, limits));
            while !stop.is_requested() && !serving.is_finished() {
                tokio::time::sleep(LOOK).await;
            }
            Ok(())
        });
        // With their requests all runs are stopped.
        runtime.shutdown_background();
        served
    }
}
