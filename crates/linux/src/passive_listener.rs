//! Reads the events of MPTCP connections where that changes nothing.
//!
//! The kernel takes whoever receives the events for a path manager, and lets peers open subflows on connections of the
//! userspace path manager. So a passive listener receives events only while there are no such connections, or while another
//! program receives them. Which path manager a connection has is decided when its socket is created, by `net.mptcp.pm_type`
//! (`net/mptcp/pm.c`, `mptcp_pm_data_reset`). One case is not noticed: a socket that was created while that was the
//! userspace one, and connects after the setting was changed.

use std::fmt;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::error::{Result, While};
use crate::kernel::Sysctl;
use crate::netlink::{MptcpEvent, MptcpEvents, MptcpPathManager, Received, event_listeners, is_passive};

/// Which path manager new connections have, by name (since Linux 6.15); the kernel keeps both settings equal.
const BY_NAME: Sysctl<'_> = Sysctl("mptcp/path_manager");
/// The same by number (since Linux 5.19).
const BY_NUMBER: Sysctl<'_> = Sysctl("mptcp/pm_type");

/// Receives the events of the MPTCP connections of a network namespace as long as that changes nothing.
#[derive(Debug, Default)]
pub struct PassiveListener(Option<Listening>);

#[derive(Debug)]
struct Listening {
    events: MptcpEvents,
    why: Harmless,
}

/// Why listening changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Harmless {
    /// There is no connection of the userspace path manager.
    NoneConcerned,
    /// Others listen.
    OthersListen,
}

/// Why events are not received.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unread {
    /// New connections have the userspace path manager, and nobody listens.
    UserspaceSetting,
    /// There are connections of the userspace path manager still, and nobody listens.
    UserspaceConnections,
    /// Something failed, or this kernel has no events.
    Failed(String),
}

impl PassiveListener {
    /// Begins or ends listening in the calling thread's network namespace, as its state demands. `connections` are the
    /// tokens of all connections there. Returns why it does not listen. What was not read before it ends is lost.
    pub fn check(&mut self, connections: impl IntoIterator<Item = u32>) -> Option<Unread> {
        let outcome = self.decide(connections).and_then(|decided| {
            decided.map_or_else(
                |why| Ok(Some(why)),
                |why| {
                    self.listen(why)?;
                    Ok(None)
                },
            )
        });
        let unread = outcome.unwrap_or_else(|error| Some(Unread::Failed(error.to_string())));
        if unread.is_some() {
            self.0 = None;
        }
        unread
    }

    fn listen(&mut self, why: Harmless) -> Result<()> {
        match &mut self.0 {
            Some(listening) => listening.why = why,
            None => self.0 = Some(Listening { events: MptcpEvents::open_passively()?, why }),
        }
        Ok(())
    }

    fn decide(&self, connections: impl IntoIterator<Item = u32>) -> Result<core::result::Result<Harmless, Unread>> {
        let userspace = is_userspace_setting()?;
        // There is none that began since then, either.
        if !userspace && self.0.as_ref().is_some_and(|listening| listening.why == Harmless::NoneConcerned) {
            return Ok(Ok(Harmless::NoneConcerned));
        }
        if event_listeners()?.into_iter().any(|port| !is_passive(port)) {
            return Ok(Ok(Harmless::OthersListen));
        }
        if userspace {
            return Ok(Err(Unread::UserspaceSetting));
        }
        let mut kernel = MptcpPathManager::open()?;
        let concerned = connections.into_iter().any(|token| kernel.is_userspace(token));
        Ok(if concerned { Err(Unread::UserspaceConnections) } else { Ok(Harmless::NoneConcerned) })
    }

    /// The next events.
    pub fn receive(&self) -> Result<Received<MptcpEvent>> {
        self.0.as_ref().map_or(Ok(Received::Nothing), |listening| listening.events.receive())
    }

    /// Waits for events, at most for `longest`. Returns whether there may be some.
    pub fn wait(&self, longest: Duration) -> Result<bool> {
        let Some(listening) = &self.0 else {
            std::thread::sleep(longest);
            return Ok(false);
        };
        let timeout = Timespec { tv_sec: longest.as_secs() as i64, tv_nsec: longest.subsec_nanos().into() };
        match poll(&mut [PollFd::from_borrowed_fd(listening.events.as_fd(), PollFlags::IN)], Some(&timeout)) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error).during(|| "cannot wait for the kernel's events".into()),
        }
    }
}

/// Whether new connections have the userspace path manager.
fn is_userspace_setting() -> Result<bool> {
    if BY_NAME.exists() {
        return Ok(BY_NAME.read()? == "userspace");
    }
    Ok(BY_NUMBER.exists() && BY_NUMBER.read()? == "1")
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const EFFECT: &str = "no program reads its events: reading them would let peers open subflows";
        match self {
            Self::UserspaceSetting => {
                write!(f, "new connections have the userspace path manager (net.mptcp.pm_type=1), and {EFFECT}")
            }
            Self::UserspaceConnections => {
                write!(f, "some connections have the userspace path manager (net.mptcp.pm_type=1), and {EFFECT}")
            }
            Self::Failed(why) => f.write_str(why),
        }
    }
}
