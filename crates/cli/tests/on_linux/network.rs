//! Networks that stay: what runs in them, what changes, how they end, and what is left of them.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use crate::support::{
    SCENARIO, command, in_one_line, left_behind, machine_has, machine_serves, scenario, send_signal, subflow, text,
};

/// A network that is up for the length of a test.
pub(crate) struct Network(pub(crate) String);

impl Network {
    /// Brings it up with a name that no other test has, or says why it cannot.
    pub(crate) fn up(name: &str, scenario: &str, further: &[&str]) -> (Self, Output) {
        let name = format!("{name}-{}", std::process::id());
        let output = subflow(&[&["up", scenario, "--name", &name], further].concat());
        assert!(output.status.success(), "{}", in_one_line(&output.stderr));
        (Self(name), output)
    }

    pub(crate) fn exec(&self, host: &str, words: &[&str]) -> Output {
        subflow(&[&["exec", "--network", &self.0, host, "--"], words].concat())
    }

    /// What a line of the shell in a host prints.
    fn said(&self, host: &str, line: &str) -> String {
        let output = self.exec(host, &["sh", "-c", line]);
        assert!(output.status.success(), "{line}: {}", in_one_line(&output.stderr));
        text(&output.stdout)
    }

    /// Its entry of `subflow ps`, if it is up.
    pub(crate) fn status(&self) -> Option<serde_json::Value> {
        let listing = subflow(&["ps", "--format", "json"]);
        let json: serde_json::Value = serde_json::from_slice(&listing.stdout).expect("a listing");
        json["networks"]
            .as_array()
            .expect("networks")
            .iter()
            .find(|network| network["name"] == self.0.as_str())
            .cloned()
    }

    pub(crate) fn process(&self) -> u32 {
        self.status().expect("it is up")["process"].as_u64().expect("a number") as u32
    }

    /// The round-trip time from the phone over WiFi, in milliseconds; none if a packet is lost.
    pub(crate) fn round_trip(&self) -> Option<f64> {
        let line = "python3 -c \"import socket as s, time
c = s.socket(s.AF_INET, s.SOCK_DGRAM)
c.settimeout(1)
t = time.monotonic()
c.sendto(b'x', ('server', 7))
try:
    c.recv(9)
    print((time.monotonic() - t) * 1e3)
except TimeoutError:
    print('lost')\"";
        self.said("phone", line).trim().parse().ok()
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let _ = subflow(&["down", &self.0]);
    }
}

/// Whether anything in this folder has a name with `part`.
fn has_entry(folder: &Path, part: &str) -> bool {
    std::fs::read_dir(folder)
        .is_ok_and(|entries| entries.flatten().any(|entry| entry.file_name().to_string_lossy().contains(part)))
}

/// Whether anything of a network is left: its files, the namespaces of its process, their folders.
fn is_left(name: &str, process: u32) -> bool {
    let namespaces = format!("subflow-{process}.");
    has_entry(Path::new("/run/subflow"), &format!("network-{name}"))
        || has_entry(Path::new("/run/netns"), &namespaces)
        || has_entry(&std::env::temp_dir(), &namespaces)
}

/// Answers each datagram to port 7, which the tests measure round trips with.
pub(crate) const ECHO: &str = r#"
[programs.echo]
on = "server"
run = ["python3", "-c", "import socket as s; c = s.socket(s.AF_INET, s.SOCK_DGRAM); c.bind(('0.0.0.0', 7))\nwhile True: d, a = c.recvfrom(9); c.sendto(d, a)"]
"#;

#[test]
fn commands_run_in_hosts_with_their_streams_and_exit_codes() {
    if !machine_has(&["grep"]) {
        return;
    }
    let (_folder, path) = scenario(SCENARIO);
    let (network, output) = Network::up("commands", &path, &[]);
    let said = text(&output.stdout);
    assert!(said.contains("is up: phone, server") && said.contains("its flows (1) are not run"), "{said}");
    assert_eq!(network.said("phone", "grep -c phone.lte /etc/hosts; pwd").lines().next(), Some("1"));
    assert_eq!(network.exec("server", &["sh", "-c", "exit 7"]).status.code(), Some(7));
    let ended = network.exec("server", &["sh", "-c", "kill -TERM $$"]);
    assert_eq!((ended.status.code(), in_one_line(&ended.stderr).as_str()), (Some(143), "sh was ended by SIGTERM"));
    let mut cat = command();
    cat.args(["exec", "--network", &network.0, "phone", "--", "cat"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut cat = cat.spawn().expect("the command starts");
    std::io::Write::write_all(&mut cat.stdin.take().expect("a pipe"), b"from outside").expect("it reads");
    assert_eq!(text(&cat.wait_with_output().expect("it ends").stdout), "from outside");
    let missing = network.exec("phone", &["no-such-program"]);
    assert_eq!(missing.status.code(), Some(127), "as shells have it");
    assert_eq!(network.exec("phone", &["/etc/hosts"]).status.code(), Some(126));
    assert!(in_one_line(&missing.stderr).contains("cannot start no-such-program"));
    let nowhere = network.exec("router", &["true"]);
    assert_eq!(nowhere.status.code(), Some(2));
    assert!(in_one_line(&nowhere.stderr).contains("expected one of phone"), "{}", in_one_line(&nowhere.stderr));
}

#[test]
fn a_network_needs_neither_flows_nor_programs_and_has_its_name_once() {
    if !machine_serves() {
        return;
    }
    let (hosts, _) = SCENARIO.split_once("[flows.").expect("it has a flow");
    let (_folder, path) = scenario(hosts);
    let (network, output) = Network::up("bare", &path, &[]);
    assert!(!text(&output.stdout).contains("not run"), "{}", text(&output.stdout));
    let again = subflow(&["up", &path, "--name", &network.0]);
    assert_eq!(again.status.code(), Some(2));
    assert!(in_one_line(&again.stderr).contains("there is a network"), "{}", in_one_line(&again.stderr));
    assert_eq!(network.exec("phone", &["true"]).status.code(), Some(0), "the first one stands");
    // What runs when the network ends, ends with it.
    let mut sleep = command();
    sleep.args(["exec", "--network", &network.0, "phone", "--", "sleep", "300"]).stderr(Stdio::piped());
    let sleep = sleep.spawn().expect("it runs");
    thread::sleep(Duration::from_millis(500));
    let down = subflow(&["down", &network.0]);
    assert!(down.status.success(), "{}", in_one_line(&down.stderr));
    let sleep = sleep.wait_with_output().expect("it ends");
    assert_eq!(sleep.status.code(), Some(137), "as shells say of what was killed");
    let said = format!("sleep was ended by SIGKILL: the network {} has ended", network.0);
    assert!(in_one_line(&sleep.stderr).contains(&said), "{}", in_one_line(&sleep.stderr));
    assert_eq!(subflow(&["run", &path]).status.code(), Some(2), "a run needs traffic");
}

#[test]
fn a_signal_to_exec_ends_its_program_and_a_daemon_stays_until_the_end() {
    if !machine_serves() {
        return;
    }
    let (_folder, path) = scenario(SCENARIO);
    let (network, _) = Network::up("signals", &path, &[]);
    let runs = |word: &str| {
        let status = network.status().expect("it is up");
        let hosts = status["hosts"].as_array().expect("hosts").clone();
        hosts
            .iter()
            .flat_map(|host| host["programs"].as_array().expect("programs").clone())
            .any(|program| program["command"].as_str().is_some_and(|command| command.contains(word)))
    };
    let wait_until = |what: &str, holds: &dyn Fn() -> bool| {
        assert!((0..600).any(|_| holds() || (thread::sleep(Duration::from_millis(100)), false).1), "not yet: {what}");
    };
    for (signal, code) in [("-TERM", Some(143)), ("-USR1", Some(138)), ("-KILL", None)] {
        let mut exec = command();
        exec.args(["exec", "--network", &network.0, "phone", "--", "sleep", "86201"]);
        let mut exec = exec.spawn().expect("the command starts");
        wait_until("the program starts", &|| runs("sleep 86201"));
        send_signal(signal, exec.id());
        assert_eq!(exec.wait().expect("it ends").code(), code);
        wait_until("the program ends", &|| !runs("sleep 86201"));
    }
    network.said("server", "setsid sh -c 'trap \"\" TERM HUP; sleep 86202' > /dev/null 2>&1 & exit 0");
    wait_until("the daemon starts", &|| runs("sleep 86202"));
    let (name, process) = (network.0.clone(), network.process());
    assert!(subflow(&["down", &name]).status.success());
    assert!(!is_left(&name, process));
    let again = subflow(&["down", &name]);
    assert_eq!(again.status.code(), Some(2), "{}", in_one_line(&again.stderr));
    let processes =
        Command::new("sh").args(["-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"]).output().expect("a shell");
    assert!(!text(&processes.stdout).contains("sleep 86202"), "it ends with the network");
}

#[test]
fn links_go_down_and_change_as_they_are_told() {
    if !machine_has(&["python3"]) {
        return;
    }
    let (_folder, path) = scenario(&format!("{SCENARIO}{ECHO}"));
    let (network, _) = Network::up("changes", &path, &[]);
    let told = |words: &[&str]| {
        let (verb, rest) = words.split_first().expect("a command");
        let output = subflow(&[&[*verb, "--network", &network.0], rest].concat());
        (output.status.code(), in_one_line(&output.stderr))
    };
    assert!((0..100).any(|_| network.round_trip().is_some()), "the program of the scenario answers");
    assert!(network.round_trip().is_some_and(|ms| ms >= 10.0));
    assert_eq!(told(&["link", "wifi", "down"]).0, Some(0));
    assert_eq!(network.round_trip(), None);
    assert_eq!(network.status().expect("it is up")["links"]["wifi"], false);
    assert_eq!(told(&["link", "wifi", "up"]).0, Some(0));
    assert_eq!(told(&["set", "links.wifi.delay", "80 ms"]).0, Some(0));
    assert!(network.round_trip().is_some_and(|ms| ms >= 160.0));
    assert_eq!(network.status().expect("it is up")["changes"][0], "links.wifi.delay = 80 ms");
    for (words, part) in [
        (["set", "links.wifi.delay", "80 metres"], "unknown unit \"metres\""),
        (["set", "links.wifi.queue", "10 packets"], "links.LINK.rate, links.LINK.delay or links.LINK.loss"),
        (["set", "links.wifi.rate", "0"], "links.wifi.rate"),
        (["link", "wimax", "down"], "there is no link \"wimax\", expected one of wifi"),
    ] {
        let (code, said) = told(&words);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(part), "{said}");
    }
    assert!(network.round_trip().is_some_and(|ms| ms >= 160.0), "what is refused changes nothing");
}

#[test]
fn two_networks_with_the_same_addresses_stand_side_by_side() {
    if !machine_has(&["python3", "curl"]) {
        return;
    }
    let (_folder, path) = scenario(SCENARIO);
    let networks = ["one", "two"].map(|name| Network::up(name, &path, &["--without-programs"]).0);
    let taken = subflow(&["up", &path, "--name", &networks[0].0]);
    assert_eq!(taken.status.code(), Some(2));
    assert!(in_one_line(&taken.stderr).contains("there is a network"), "{}", in_one_line(&taken.stderr));
    let ambiguous = subflow(&["exec", "phone", "--", "true"]);
    assert_eq!(ambiguous.status.code(), Some(2));
    assert!(in_one_line(&ambiguous.stderr).contains("there are several networks"));
    for network in &networks {
        network.said(
            "server",
            &format!("echo {} > /dev/shm/{0}; python3 -m http.server 80 -d /dev/shm >/dev/null 2>&1 &", network.0),
        );
    }
    for network in &networks {
        let line =
            format!("for i in $(seq 50); do curl -sf http://server/{} && exit; sleep 0.2; done; exit 1", network.0);
        assert_eq!(network.said("phone", &line), format!("{}\n", network.0));
        let _ = std::fs::remove_file(format!("/dev/shm/{}", network.0));
    }
}

#[test]
fn nothing_stays_of_a_killed_network_after_cleanup() {
    if !machine_serves() {
        return;
    }
    let _alone = left_behind();
    let (_folder, path) = scenario(SCENARIO);
    let (other, _) = Network::up("survivor", &path, &[]);
    let (network, _) = Network::up("killed", &path, &[]);
    network.said("phone", "sleep 86203 > /dev/null 2>&1 &");
    let process = network.process();
    send_signal("-KILL", process);
    let cleaned = subflow(&["cleanup"]);
    assert!(cleaned.status.success(), "{}", in_one_line(&cleaned.stderr));
    assert!(text(&cleaned.stdout).contains(&format!("removed the network {}", network.0)), "{}", text(&cleaned.stdout));
    assert!(!is_left(&network.0, process));
    assert!(other.status().is_some(), "a network that runs is not removed");
    let (name, process) = (other.0.clone(), other.process());
    send_signal("-TERM", process);
    let mut looks = 0..600;
    assert!(looks.any(|_| !is_left(&name, process) || (thread::sleep(Duration::from_millis(100)), false).1));
}

#[test]
fn a_host_whose_first_process_was_killed_is_named_and_the_others_stay() {
    if !machine_serves() {
        return;
    }
    let (_folder, path) = scenario(SCENARIO);
    let (network, _) = Network::up("headless", &path, &[]);
    let first = |process: &str| {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        stat.contains(&format!("(sleep) S {} ", network.process()))
    };
    let processes = std::fs::read_dir("/proc").expect("there is /proc").flatten();
    let mut numbers = processes.map(|process| process.file_name().to_string_lossy().into_owned());
    let phone = numbers.find(|process| first(process)).expect("each host has one");
    send_signal("-KILL", phone.parse().expect("a number"));
    let ended = |host: &str| network.exec(host, &["true"]);
    let look = |_| {
        thread::sleep(Duration::from_millis(100));
        ["phone", "server"].into_iter().find(|host| ended(host).status.code() == Some(1))
    };
    let headless = (0..600).find_map(look).expect("one has ended");
    let said = in_one_line(&ended(headless).stderr);
    assert!(said.contains(&format!("the first process of {headless} was killed")), "{said}");
    let other = if headless == "phone" { "server" } else { "phone" };
    assert_eq!(ended(other).status.code(), Some(0));
    let (name, process) = (network.0.clone(), network.process());
    assert!(subflow(&["down", &name]).status.success());
    assert!(!is_left(&name, process));
}

#[test]
fn a_shell_has_a_terminal_and_controls_its_jobs() {
    if !machine_has(&["python3", "bash"]) {
        return;
    }
    let (_folder, path) = scenario(SCENARIO);
    let (network, _) = Network::up("terminal", &path, &[]);
    // Python opens a terminal for the command, types lines and Ctrl-C, and reads what comes back. On a busy machine the
    // program that Ctrl-C is for may not have started yet, so that it is typed again until the shell answers.
    let script = "import os, pty, select, signal, sys
pid, fd = pty.fork()
if pid == 0:
    # What runs in the background of a script ignores it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.environ['SHELL'] = '/bin/bash'
    os.execv(sys.argv[1], sys.argv[1:])
shown = b''
def wait_for(words):
    global shown
    while words not in shown:
        shown += os.read(fd, 1024)
os.write(fd, b'tty; cat /proc/1/comm; echo $((40 + 2))ready; sleep 86204\\n')
wait_for(b'42ready\\r\\n')
while b'43ready' not in shown:
    os.write(fd, b'\\x03')
    os.write(fd, b'echo $((40 + 3))ready\\n')
    while b'43ready' not in shown and select.select([fd], [], [], 1)[0]:
        shown += os.read(fd, 1024)
os.write(fd, b'sleep 86205 & jobs; exit 9\\n')
try:
    while part := os.read(fd, 1024):
        shown += part
except OSError:
    pass
print(shown.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
";
    let binary = assert_cmd::cargo::cargo_bin("subflow");
    let mut python = Command::new("python3");
    python.arg("-c").arg(script).arg(binary).args(["shell", "--network", &network.0, "phone"]);
    let output = python.output().expect("python starts");
    let said = text(&output.stdout);
    assert!(said.contains("/dev/pts/") && said.contains("sleep\r\n"), "{said}");
    assert!(said.contains("Running") && said.trim_end().ends_with(" 9"), "it controls jobs: {said}");
}

#[test]
fn the_recipe_of_the_page_shows_the_change_of_a_rate() {
    if !machine_has(&["bash", "python3", "curl"]) {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/src/network.md")).expect("the page is there");
    let (_, recipe) = page.split_once("```sh\n").expect("a recipe");
    let (recipe, _) = recipe.split_once("```").expect("its end");
    let binary = assert_cmd::cargo::cargo_bin("subflow");
    let path =
        format!("{}:{}", binary.parent().expect("a folder").display(), std::env::var("PATH").unwrap_or_default());
    let mut bash = Command::new("bash");
    let output = bash.args(["-euc", recipe]).current_dir(root).env("PATH", path).output().expect("bash starts");
    assert!(output.status.success(), "{}", in_one_line(&output.stderr));
    let times: Vec<f64> = text(&output.stdout).lines().filter_map(|line| line.parse().ok()).collect();
    // 2 MiB at 50 and at 2 Mbit/s.
    assert!(times.len() == 2 && times[1] > 8.0 && times[0] < times[1] / 2.0, "{times:?}");
}

#[test]
fn what_is_wrong_is_said_before_anything_is_left() {
    if !machine_serves() {
        return;
    }
    let (_folder, path) = scenario(&format!("{SCENARIO}[programs.x]\non = \"phone\"\nrun = [\"no-such-program\"]\n"));
    let name = format!("wrong-{}", std::process::id());
    for (further, part) in [
        (vec!["--name", &name], "programs.x.run: there is no program"),
        (vec!["--name", "a.b"], "expected 1 to 64 letters"),
        (vec!["--name", &name, "--set", "links.wifi.rate=fast"], "fast"),
        (vec!["--name", &name, "--set", "sweep={\"links.wifi.rate\"=[\"1 Mbit/s\", \"2 Mbit/s\"]}"], "one network"),
    ] {
        let refused = subflow(&[&["up", path.as_str()], further.as_slice()].concat());
        let said = in_one_line(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains(part), "{said}");
    }
    assert!(!has_entry(Path::new("/run/subflow"), &name));
}
