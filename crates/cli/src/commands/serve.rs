//! `subflow serve`: the page to work in, until a signal ends the command.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use subflow_scenario::file::Reach;
use subflow_scenario::input;
use subflow_serve::{Opened, Server, Source};

use super::signals::stop_on_signals;
use crate::arguments::Serve;
use crate::failure::Failure;
use crate::output::{print, say};

/// A page with a larger text would be slow.
const LARGEST_FILE_MIB: u64 = 1;

/// The beginning of a scenario as the page shares it.
const SHARED: &str = "#s=";

pub(crate) fn serve(arguments: &Serve) -> Result<(), Failure> {
    let shared = arguments.source.as_deref().and_then(Path::to_str).filter(|text| text.starts_with(SHARED));
    let source = match (&arguments.source, shared) {
        (Some(path), None) if path.is_dir() => Source::Folder(path.clone()),
        (Some(path), None) => Source::Scenario(opened(path)?),
        _ => Source::Example,
    };
    let fragment = shared.map_or(Ok(""), fragment)?;
    let server = Server::bind(arguments.port, source, arguments.limits());
    let server = server.map_err(|error| {
        let message = format!("cannot listen on port {} of loopback: {error}", arguments.port);
        Failure::bad_input(message, "choose another one with --port, or 0 for any that is free")
    })?;
    let stop = stop_on_signals()?;
    let address = server.address() + fragment;
    print(&format!("{address}\n"))?;
    say("the page is at this address, for this machine only; Ctrl-C ends it");
    if arguments.open {
        open_browser(&address);
    }
    server.run(&stop).map_err(|error| Failure::RunFailed(format!("cannot serve the page: {error}")))
}

/// A shared scenario, which only the page reads: it becomes the end of the address.
fn fragment(shared: &str) -> Result<&str, Failure> {
    let is_ours = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    match shared.strip_prefix(SHARED).is_some_and(|code| !code.is_empty() && code.chars().all(is_ours)) {
        true => Ok(shared),
        false => Err(Failure::bad_input(
            format!("found a character after {SHARED} that no shared scenario has"),
            "copy the whole command from the page, with its quotation marks",
        )),
    }
}

/// The scenario to begin with. It is shown whatever is wrong with it, so that it can be mended in the page.
fn opened(path: &Path) -> Result<Opened, Failure> {
    let unreadable = |what: String| {
        let message = format!("{}: {what}", path.display());
        Failure::bad_input(message, "a scenario is a TOML file in UTF-8, for example scenarios/wifi-lte.toml")
    };
    let bytes = input::read(path, LARGEST_FILE_MIB);
    let bytes = bytes.map_err(|error| unreadable(format!("cannot read the scenario: {error}")))?;
    let text = String::from_utf8(bytes).map_err(|_| unreadable("found bytes that are not UTF-8".to_owned()))?;
    Ok(Opened { path: path.to_owned(), text, reach: Reach::Directory })
}

/// Asks the desktop for its browser. Where there is none, the address was printed.
fn open_browser(address: &str) {
    let opener = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let mut command = Command::new(opener);
    command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let outcome: io::Result<_> = command.spawn();
    if let Err(error) = outcome {
        say(&format!("cannot open the browser with {opener} ({error}): open the address yourself"));
    }
}
