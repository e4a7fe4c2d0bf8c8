//! Commands and their failures in words, for the log.

use std::io;
use std::net::{IpAddr, SocketAddr};

use subflow_policy::path_manager::{Address, Command, FourTuple};

use super::local::LocalAddresses;
use crate::error::Error;

/// What becomes of a subflow for which there is no route or no address yet.
const RETRIED: &str = "; it is tried again when addresses or routes change, and with a growing delay";

/// What a command has done.
pub(super) fn done(command: &Command, local: &LocalAddresses) -> String {
    match command {
        Command::Open { .. } => format!("opening {}", object(command, local)),
        Command::Announce(_) => format!("announced {}", object(command, local)),
        Command::Withdraw { .. } => format!("withdrew {}", object(command, local)),
        Command::Close(_) => format!("closed {}", object(command, local)),
        Command::SetBackup { .. } => format!("made {}", object(command, local)),
    }
}

/// Why the kernel refused a command. The text of its number says more than the text that the kernel adds to it.
pub(super) fn refused(command: &Command, local: &LocalAddresses, error: &Error) -> String {
    let verb = match command {
        Command::Open { .. } => "open",
        Command::Announce(_) => "announce",
        Command::Withdraw { .. } => "withdraw",
        Command::Close(_) => "close",
        Command::SetBackup { .. } => "make",
    };
    let (reason, number) = match error {
        Error::System { source, .. } => (reason(source), source.raw_os_error()),
        other => (other.to_string(), None),
    };
    let follows = match (command, number) {
        (Command::Open { .. }, Some(libc::ENETUNREACH | libc::EHOSTUNREACH | libc::EADDRNOTAVAIL)) => RETRIED,
        _ => "",
    };
    format!("cannot {verb} {}: {reason}{follows}", object(command, local))
}

/// Why a subflow that was requested did not open, by the error of its socket.
pub(super) fn not_opened(
    FourTuple { local: from, remote: to }: FourTuple,
    local: &LocalAddresses,
    errno: u8,
) -> String {
    let reason = reason(&io::Error::from_raw_os_error(errno.into()));
    format!("the subflow from {} to {to} did not open: {reason}", local.described(from.ip()))
}

/// What a command is about.
fn object(command: &Command, local: &LocalAddresses) -> String {
    match *command {
        Command::Open { local: Address { address, .. }, remote, port, backup } => {
            let (from, to) = (local.described(address), SocketAddr::new(remote.address, port));
            format!("a {}subflow from {from} to {to}", if backup { "backup " } else { "" })
        }
        Command::Announce(Address { id, address, .. }) => announced(address, id),
        Command::Withdraw { id } => format!("the address with identifier {id}"),
        Command::Close(subflow) => between(subflow),
        Command::SetBackup { subflow, backup } => {
            format!("{} a {} one", between(subflow), if backup { "backup" } else { "regular" })
        }
    }
}

fn announced(address: IpAddr, id: u8) -> String {
    format!("{address} with identifier {id}")
}

/// A subflow by its ends.
fn between(FourTuple { local, remote }: FourTuple) -> String {
    format!("the subflow from {local} to {remote}")
}

/// The text of an error without its number.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match error.raw_os_error() {
        Some(number) => text.trim_end_matches(&format!(" (os error {number})")).to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_system_is_its_text() {
        let unreachable = io::Error::from_raw_os_error(libc::ENETUNREACH);
        assert_eq!(reason(&unreachable), "Network is unreachable");
        assert_eq!(reason(&io::Error::other("cut")), "cut");
    }
}
