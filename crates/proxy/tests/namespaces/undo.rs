//! What is left when changes cannot be undone, or when descriptors are short.

use std::net::TcpStream;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use crate::setup::{Setup, comes_true, machine_serves, works};

/// A folder with these commands of the machine, for a PATH.
pub(crate) fn tools(names: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for name in names {
        let path = std::env::var_os("PATH").expect("there is a PATH");
        let mut files = std::env::split_paths(&path)
            .chain(["/usr/sbin".into(), "/sbin".into()])
            .map(|folder| folder.join(name))
            .filter(|file| file.exists());
        let file = files.next().expect("the machine has it");
        std::os::unix::fs::symlink(file, folder.path().join(name)).expect("a link");
    }
    folder
}

/// The command of a proxy that may have as many open files.
fn with_open_files(setup: &Setup, most: usize, via: &[&str]) -> Command {
    let command = setup.proxy_command(via);
    let words = command.get_args().map(ToOwned::to_owned).collect::<Vec<_>>();
    let mut limited = Command::new("sh");
    limited.args(["-c", &format!("ulimit -n {most} && exec ip \"$@\""), "sh"]).args(words);
    limited.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    limited.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    limited
}

/// Clients that say nothing.
fn idle_clients(setup: &Setup, number: usize) -> Vec<TcpStream> {
    setup.in_client(|| (0..number).filter_map(|_| TcpStream::connect("127.0.0.1:1080").ok()).collect())
}

#[test]
fn what_cannot_be_undone_stays_in_the_journal_and_cleanup_undoes_it() {
    let Some(setup) = machine_serves("undone") else { return };
    let (firewall, commands) = match works("nft --version") {
        true => ("nft", vec!["ip", "nft"]),
        false => ("iptables", vec!["ip", "iptables", "ip6tables"]),
    };
    let tools = tools(&commands);
    let proxy = setup.proxy_command(&["c0", "c1"]).env("PATH", tools.path()).spawn().expect("starts");
    let (mut proxy, heard) = Setup::listening_and_heard(proxy);
    std::fs::remove_file(tools.path().join(firewall)).expect("removed");
    assert_eq!(proxy.end("-TERM"), Some(2));
    let said = heard.join().expect("it is read");
    assert!(said.contains(&format!("there is no command {firewall}")) && said.contains("subflow cleanup"), "{said}");
    let left = setup.left_behind();
    assert!(!left.contains("lookup 500000") && left.contains("subflow"), "all but the firewall is undone: {left}");
    setup.cleanup();
    assert_eq!(setup.left_behind(), "");
}

#[test]
fn a_proxy_whose_clients_have_all_descriptors_undoes_everything() {
    let Some(setup) = machine_serves("descriptors") else { return };
    let mut proxy = Setup::listening(with_open_files(&setup, 64, &["c0", "c1"]).spawn().expect("starts"));
    let clients = idle_clients(&setup, 100);
    sleep(Duration::from_millis(500));
    assert_eq!(proxy.end("-TERM"), Some(0));
    assert_eq!(setup.left_behind(), "");
    drop(clients);
}

#[test]
fn clients_that_ask_for_nothing_neither_end_the_proxy_nor_keep_others_away() {
    let Some(setup) = machine_serves("idle") else { return };
    let _server = setup.serve(true);
    let mut proxy = Setup::listening(with_open_files(&setup, 256, &["c0", "c1"]).spawn().expect("starts"));
    let clients = idle_clients(&setup, 400);
    assert_eq!(clients.len(), 400);
    setup.ip("c", "route add 10.1.2.0/24 dev c0");
    sleep(Duration::from_millis(500));
    setup.fetch_by("socks5h", 1_000_000);
    assert!(setup.output("c", &["ip", "route", "show", "table", "500000"]).contains("10.1.2.0/24"));
    assert_eq!(proxy.end("-TERM"), Some(0));
    assert_eq!(setup.left_behind(), "");
}

#[test]
fn interfaces_that_cannot_be_looked_at_are_looked_at_again() {
    let Some(setup) = machine_serves("again") else { return };
    let tools = tools(&["ip", if works("nft --version") { "nft" } else { "iptables" }]);
    let proxy = setup.proxy_command(&["c0", "c1"]).env("PATH", tools.path()).spawn().expect("starts");
    let (mut proxy, heard) = Setup::listening_and_heard(proxy);
    let [ip, hidden] = ["ip", "hidden"].map(|name| tools.path().join(name));
    std::fs::rename(&ip, &hidden).expect("renamed");
    setup.ip("c", "link set c1 down");
    sleep(Duration::from_millis(700));
    std::fs::rename(&hidden, &ip).expect("renamed");
    sleep(Duration::from_millis(1500));
    assert_eq!(proxy.end("-TERM"), Some(0));
    let said = heard.join().expect("it is read");
    let position = |words: &str| said.find(words).unwrap_or_else(|| panic!("{words}: {said}"));
    assert!(position("retrying every second") < position("c1 does not carry IPv4"), "{said}");
}

#[test]
fn an_idle_client_is_asked_whether_it_is_still_there() {
    let Some(setup) = machine_serves("alive") else { return };
    if !works("ss -V") {
        return subflow_prerequisite::Prerequisite::Kernel.missing("`ss -V` does not work");
    }
    let _proxy = setup.proxy(&["c0"]);
    let clients = idle_clients(&setup, 1);
    let timers = || setup.output("c", &["ss", "-Htno", "sport = :1080"]);
    comes_true("the kernel asks in two minutes", || timers().contains("timer:(keepalive,2min"));
    drop(clients);
}
