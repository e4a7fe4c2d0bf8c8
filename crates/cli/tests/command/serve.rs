//! `subflow serve`, as far as it is a command: its address, its end, and what it refuses.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use crate::desk::{Desk, QUICK};

/// Starts the command, asks for `file` below its address, and ends it with a signal. Returns the address, the answer and
/// the exit code.
fn served(desk: &Desk, arguments: &[&str], file: &str) -> (String, String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_subflow"));
    command.current_dir(desk.root()).arg("serve").args(arguments).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the command starts");
    let mut address = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut address).expect("an address");
    let address = address.trim_end().to_owned();
    let rest = address.trim_start_matches("http://").split('#').next().expect("an address").to_owned();
    let (host, path) = rest.split_once('/').expect("a path");
    let mut stream = TcpStream::connect(host).expect("it listens");
    let request = format!("GET /{path}{file} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let killed = Command::new("sh").args(["-c", &format!("kill -TERM {}", child.id())]).status().expect("a shell");
    assert!(killed.success());
    (address, answer, child.wait().expect("it ends").code())
}

#[test]
fn the_page_shows_the_scenario_and_a_signal_ends_the_command() {
    let desk = Desk::new(QUICK);
    let (address, answer, code) = served(&desk, &["quick.toml"], "start.json");
    assert!(address.starts_with("http://127.0.0.1:") && address.ends_with('/'), "{address}");
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("One short transfer"), "{answer}");
    assert_eq!(code, Some(0));
}

#[test]
fn a_shared_scenario_is_the_end_of_the_address() {
    let desk = Desk::new(QUICK);
    let (address, answer, _) = served(&desk, &["#s=q1YqUbJSUqoFAA"], "");
    assert!(address.ends_with("/#s=q1YqUbJSUqoFAA"), "{address}");
    assert!(answer.contains("text/html"), "{answer}");
    let (code, _, stderr) = desk.subflow(&["serve", "#s=a b"]);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("copy the whole command"), "{stderr}");
}

#[test]
fn a_folder_is_opened_with_what_commands_have_written_there() {
    let desk = Desk::new(QUICK);
    let (code, _, stderr) = desk.subflow(&["run", "quick.toml", "--out", "results/quick"]);
    assert_eq!(code, Some(0), "{stderr}");
    let (_, answer, _) = served(&desk, &["results"], "folder.json");
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("1 run of quick"), "{answer}");
    let (_, answer, _) = served(&desk, &["results"], "start.json");
    assert!(answer.contains(r#""folder":"results""#), "{answer}");
}

#[test]
fn what_cannot_be_served_is_refused_before_anything_listens() {
    let desk = Desk::new(QUICK);
    for (arguments, expected) in [
        (["serve", "missing.toml"].as_slice(), "missing.toml: cannot read the scenario"),
        (&["serve", "/dev/zero"], "larger than 1 MiB"),
        (&["serve", "--run-limit", "0"], "0 is not in 1..=100000"),
    ] {
        let (code, _, stderr) = desk.subflow(arguments);
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.split_whitespace().collect::<Vec<_>>().join(" ").contains(expected), "{stderr}");
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let (code, _, stderr) = desk.subflow(&["serve", "--port", &port]);
    assert!(code == Some(2) && stderr.contains("choose another one with --port"), "{stderr}");
}
