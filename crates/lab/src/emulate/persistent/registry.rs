//! The networks of this machine, by name: their sockets, logs and locks in the state folder.
//!
//! `network-NAME.lock` is locked for as long as the process of the network runs, `network-NAME` is its socket, and
//! `network-NAME.log` what it and its programs print.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use subflow_linux::{NoLock, STATE_FOLDER, StateLock};

use super::message::{Answer, Request};
use crate::RunError;

const PREFIX: &str = "network-";
const LOCK: &str = ".lock";
/// The longest name, so that those of its files are short enough for a socket.
const LONGEST_NAME: usize = 64;

/// Checks that a network can have this name.
pub fn check_name(name: &str) -> Result<(), RunError> {
    let is_good = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    match !name.is_empty() && name.len() <= LONGEST_NAME && name.bytes().all(is_good) {
        true => Ok(()),
        false => Err(RunError::Scenario(format!(
            "the name of a network: found {name:?}, expected 1 to {LONGEST_NAME} letters, digits, - and _; give one \
             with --name"
        ))),
    }
}

/// The files of a network, which are this process's until it ends.
#[derive(Debug)]
pub struct Claim {
    pub(super) name: String,
    _lock: StateLock,
}

impl Claim {
    /// Claims a name, if no network has it.
    pub fn take(name: &str) -> Result<Self, RunError> {
        check_name(name)?;
        match StateLock::take(&path(name, LOCK)) {
            Ok(lock) => Ok(Self { name: name.to_owned(), _lock: lock }),
            Err(NoLock::Taken(_)) => Err(RunError::Machine(format!(
                "there is a network {name:?} already; end it with `subflow down {name}`, or give this one another name \
                 with --name"
            ))),
            Err(NoLock::Failed(error)) => {
                Err(RunError::Machine(format!("cannot write to {STATE_FOLDER}: {error}; run it as root (sudo)")))
            }
        }
    }

    /// Creates its log.
    pub fn log(&self) -> Result<File, RunError> {
        let path = log_path(&self.name);
        // A log of a killed network may be that of another user.
        let _ = fs::remove_file(&path);
        let created = File::options().append(true).create(true).mode(0o600).open(&path);
        created.map_err(|error| RunError::write("the log", &path, &error))
    }

    /// Opens its socket, for its user alone.
    pub(super) fn listen(&self) -> io::Result<UnixListener> {
        let path = path(&self.name, "");
        let _ = fs::remove_file(&path);
        let listener = UnixListener::bind(&path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        remove_files(&self.name);
    }
}

fn remove_files(name: &str) {
    let _ = fs::remove_file(path(name, ""));
    let _ = fs::remove_file(log_path(name));
}

/// Where a network writes what it and its programs print.
pub fn log_path(name: &str) -> PathBuf {
    path(name, ".log")
}

fn path(name: &str, ending: &str) -> PathBuf {
    Path::new(STATE_FOLDER).join(format!("{PREFIX}{name}{ending}"))
}

/// The names of all networks, also of those that were killed, in alphabetical order.
pub fn names() -> Vec<String> {
    let entries = fs::read_dir(STATE_FOLDER).into_iter().flatten().map_while(io::Result::ok);
    let name =
        |entry: fs::DirEntry| Some(entry.file_name().to_str()?.strip_prefix(PREFIX)?.strip_suffix(LOCK)?.to_owned());
    let mut names: Vec<String> = entries.filter_map(name).collect();
    names.sort();
    names
}

/// The network of this name, or the only one.
pub fn select(name: Option<&str>) -> Result<String, RunError> {
    let names = names();
    let listed = || names.join(", ");
    match (name, names.as_slice()) {
        (Some(name), _) if names.iter().any(|known| known == name) => Ok(name.to_owned()),
        (_, []) => Err(RunError::Scenario("there is no network; `subflow up SCENARIO` makes one".to_owned())),
        (Some(name), _) => {
            Err(RunError::Scenario(format!("there is no network {name:?}, expected one of these: {}", listed())))
        }
        (None, [only]) => Ok(only.clone()),
        (None, _) => Err(RunError::Scenario(format!("there are several networks: name one of {}", listed()))),
    }
}

/// A connection to a network.
#[derive(Debug)]
pub struct Client {
    name: String,
    stream: BufReader<UnixStream>,
}

impl Client {
    /// Connects to the network `name`.
    pub fn connect(name: &str) -> Result<Self, RunError> {
        let stream = UnixStream::connect(path(name, "")).map_err(|error| unreachable(name, &error))?;
        Ok(Self { name: name.to_owned(), stream: BufReader::new(stream) })
    }

    /// Asks it, and waits for its answer. What it refuses is an error.
    pub fn ask(&mut self, request: &Request) -> Result<Answer, RunError> {
        let mut line = serde_json::to_string(request).map_err(|error| RunError::Defect(error.to_string()))?;
        line.push('\n');
        let mut answer = String::new();
        let asked = self.stream.get_mut().write_all(line.as_bytes());
        let read = asked.and_then(|()| self.stream.read_line(&mut answer));
        if read.as_ref().is_ok_and(|&length| length == 0) {
            return Err(RunError::System(format!("the network {:?} has ended", self.name)));
        }
        read.map_err(|error| unreachable(&self.name, &error))?;
        match serde_json::from_str(&answer) {
            Ok(Answer::Refused { message }) => Err(RunError::Scenario(message)),
            Ok(Answer::Failed { message }) => Err(RunError::System(message)),
            Ok(answer) => Ok(answer),
            Err(error) => {
                Err(RunError::System(format!("the network {:?} is of another version of subflow: {error}", self.name)))
            }
        }
    }
}

fn unreachable(name: &str, error: &io::Error) -> RunError {
    match error.kind() {
        ErrorKind::PermissionDenied => RunError::Machine(format!(
            "the network {name:?} is another user's; run this as that user, mostly root (sudo)"
        )),
        // It is being built or taken down, or has left its files.
        ErrorKind::NotFound | ErrorKind::ConnectionRefused => RunError::Machine(format!(
            "the network {name:?} does not run; if it was killed, `subflow cleanup` removes what it left"
        )),
        _ => RunError::System(format!("the network {name:?} does not answer: {error}")),
    }
}

/// Removes the files of networks that were killed, and reports the name of each.
pub fn cleanup(mut report: impl FnMut(&str)) -> Result<(), RunError> {
    for name in names() {
        match StateLock::take(&path(&name, LOCK)) {
            Ok(_lock) => {
                remove_files(&name);
                report(&name);
            }
            Err(NoLock::Taken(_)) => {}
            Err(NoLock::Failed(error)) => {
                return Err(RunError::Machine(format!(
                    "cannot remove what the network {name:?} left: {error}; run `subflow cleanup` as root (sudo)"
                )));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_part_of_the_names_of_files() {
        assert!(check_name("wifi-lte_2").is_ok());
        for bad in ["", "a.lock", "../x", "a b", &"x".repeat(65)] {
            assert!(check_name(bad).is_err_and(|error| error.is_refusal()), "{bad}");
        }
    }

    #[test]
    fn a_name_is_claimed_once_and_nothing_of_it_stays() {
        let name = format!("claim-{}", std::process::id());
        let Ok(claim) = Claim::take(&name) else {
            return subflow_prerequisite::Prerequisite::Kernel.missing("only root has files in /run");
        };
        assert!(Claim::take(&name).expect_err("it is taken").to_string().contains("--name"));
        claim.log().expect("a log");
        claim.listen().expect("a socket");
        assert!(names().contains(&name));
        drop(claim);
        assert!(!log_path(&name).exists() && !names().contains(&name));
        assert!(Client::connect(&name).is_err_and(|error| error.to_string().contains("does not run")));
    }
}
