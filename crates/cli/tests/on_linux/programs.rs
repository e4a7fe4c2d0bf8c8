//! Programs in hosts: what they see, how they end, and what is left of them.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::support::{
    SCENARIO, in_one_line, left_behind, machine_has, machine_serves, results, scenario, send_signal, start_a_run,
    subflow,
};

/// The hosts of the scenario alone, for as long as `duration` says.
fn hosts(duration: &str) -> String {
    let (hosts, _) = SCENARIO.split_once("[flows.").expect("it has a flow");
    hosts.replace("2 s", duration)
}

/// Whether a process of this machine has `word` in its command line.
fn is_running(word: &str) -> bool {
    let processes = fs::read_dir("/proc").expect("there is /proc").flatten();
    processes
        .filter_map(|process| fs::read(process.path().join("cmdline")).ok())
        .any(|line| String::from_utf8_lossy(&line).split('\0').any(|argument| argument == word))
}

/// Waits for at most a minute.
fn wait_until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..1200 {
        if holds() {
            return;
        }
        thread::sleep(Duration::from_millis(50));
    }
    panic!("after a minute not yet: {what}");
}

#[test]
fn the_simulator_refuses_programs_and_runs_the_flows_beside_them() {
    let program = "[programs.ping]\non = \"phone\"\nrun = [\"ping\", \"server\"]\n";
    let (_folder, path) = scenario(&(hosts("3 s") + program));
    let refused = subflow(&["run", &path]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(in_one_line(&refused.stderr).contains("--on linux"), "{}", in_one_line(&refused.stderr));
    let nothing = subflow(&["run", &path, "--without-programs"]);
    assert_eq!(nothing.status.code(), Some(2), "there is no flow");
    let flow = "[flows.file]\nfrom = \"phone\"\nto = \"server\"\nsend = \"100 kB\"\n";
    let (_folder, path) = scenario(&format!("{}{program}{flow}", hosts("3 s")));
    let simulated = subflow(&["run", &path, "--without-programs", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&simulated.stdout).expect("results");
    assert_eq!(json["runs"][0]["flows"][0]["bytes_delivered"], 100_000);
}

#[test]
fn programs_see_names_wait_for_each_other_and_their_output_is_kept() {
    if !machine_has(&["python3", "grep"]) {
        return;
    }
    let programs = r#"
[programs.server]
on = "server"
directory = "/"
run = ["python3", "-u", "-m", "http.server", "8000", "--bind", "{address:server}"]
[programs.client]
on = "phone"
run = "python3 -c 'import urllib.request as u; print(len(u.urlopen(\"http://server:8000/etc/hostname\").read()) > 0)'"
after = { port = 8000, on = "server" }
[programs.last]
on = "phone"
run = "echo $WORD $(pwd); grep -c phone.lte /etc/hosts; exit 3"
after = { exit = "client" }
environment = { WORD = "to-{address:phone.lte}" }
directory = "/"
[programs.never]
on = "phone"
run = ["true"]
after = { port = 9, on = "server" }
"#;
    let (folder, path) = scenario(&(hosts("6 s") + programs));
    let out = folder.path().join("results");
    let out = out.to_str().expect("a path");
    let output = subflow(&["run", &path, "--on", "linux", "--format", "json", "--out", out]);
    let json = results(&output);
    let programs = json["runs"][0]["real_time"]["programs"].as_array().expect("four programs").clone();
    let of = |name: &str| programs.iter().find(|program| program["name"] == name).expect("it has a result").clone();
    let kept = |name: &str| fs::read_to_string(Path::new(out).join("programs").join(name)).expect("it is kept");
    let said = in_one_line(&output.stderr);
    assert_eq!((&of("client")["exit_code"], kept("0-client.stdout").as_str()), (&0.into(), "True\n"), "{said}");
    assert_eq!((&of("last")["exit_code"], kept("0-last.stdout").as_str()), (&3.into(), "to-10.0.1.2 /\n1\n"));
    assert_eq!(of("server")["was_asked_to_end"], true);
    assert_eq!(of("never")["started_s"], serde_json::Value::Null);
    assert!(of("last")["started_s"].as_f64() >= of("client")["ended_s"].as_f64());
    assert!(said.contains("client: True"), "the terminal shows it: {said}");
}

#[test]
fn daemons_endless_output_and_ignored_signals_leave_nothing() {
    if !machine_serves() {
        return;
    }
    // The command line of each has a number that nothing else has.
    let programs = r#"
[programs.daemon]
on = "phone"
run = "setsid sh -c 'trap : TERM HUP; sleep 86123' & exit 0"
[programs.deaf]
on = "phone"
run = ["sh", "-c", "trap '' TERM; sleep 86124; sleep 86124"]
[programs.flood]
on = "server"
run = "yes | head -c 1000000000; echo done >&2"
[programs.stopped]
on = "server"
run = ["sleep", "86125"]
stop = "500 ms"
"#;
    let (folder, path) = scenario(&(hosts("6 s") + programs));
    let out = folder.path().join("results");
    let out = out.to_str().expect("a path");
    let json = results(&subflow(&["run", &path, "--on", "linux", "--format", "json", "--out", out]));
    assert!(["86123", "86124", "86125"].iter().all(|word| !is_running(word)));
    let programs = &json["runs"][0]["real_time"]["programs"];
    assert_eq!(programs[0]["exit_code"], 0);
    assert_eq!(programs[1]["signal"], 9);
    assert_eq!(programs[2]["stdout_bytes"], 1_000_000_000);
    assert_eq!(fs::metadata(Path::new(out).join("programs/0-flood.stdout")).expect("it is kept").len(), 64 << 20);
    assert_eq!((&programs[3]["signal"], &programs[3]["was_asked_to_end"]), (&15.into(), &true.into()));
    assert!(programs[3]["ended_s"].as_f64().is_some_and(|end| (0.5..2.0).contains(&end)), "{}", programs[3]);
}

#[test]
fn what_is_not_there_is_named_before_anything_is_created() {
    if !machine_serves() {
        return;
    }
    let (_folder, path) =
        scenario(&format!("{}[programs.x]\non = \"phone\"\nrun = [\"no-such-program\"]\n", hosts("3 s")));
    let refused = subflow(&["run", &path, "--on", "linux"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(in_one_line(&refused.stderr).contains("programs.x.run: there is no program \"no-such-program\""));
}

#[test]
fn a_program_runs_as_its_user_with_its_directory_and_home() {
    if !machine_has(&["id"]) {
        return;
    }
    let of_nobody = "[programs.own]\non = \"phone\"\nuser = \"nobody\"\n";
    let line =
        "run = \"id -un; pwd; echo $HOME; echo $SHELL; cat /proc/self/status | grep Groups\"\ndirectory = \"/\"\n";
    let environment = "environment = { SHELL = \"/own\" }\n";
    let (folder, path) = scenario(&format!("{}{of_nobody}{line}{environment}", hosts("3 s")));
    let out = folder.path().join("results");
    let json =
        results(&subflow(&["run", &path, "--on", "linux", "--format", "json", "--out", out.to_str().expect("a path")]));
    assert_eq!(json["runs"][0]["real_time"]["programs"][0]["exit_code"], 0);
    let printed = fs::read_to_string(out.join("programs/0-own.stdout")).expect("it is kept");
    let users = fs::read_to_string("/etc/passwd").expect("there are users");
    let nobody = users.lines().find(|line| line.starts_with("nobody:")).expect("a user of every Linux");
    let home = nobody.split(':').nth(5).expect("a home");
    assert_eq!(printed.trim_end(), format!("nobody\n/\n{home}\n/own\nGroups:"), "no group of root is left");
    // A folder that this user may not enter.
    let private = folder.path().join("private");
    fs::create_dir(&private).expect("a folder");
    fs::set_permissions(&private, std::os::unix::fs::PermissionsExt::from_mode(0o700)).expect("it is ours");
    let (_folder, path) =
        scenario(&format!("{}{of_nobody}run = [\"id\"]\ndirectory = \"{}\"\n", hosts("3 s"), private.display()));
    let out = folder.path().join("refused");
    let refused = subflow(&["run", &path, "--on", "linux", "--out", out.to_str().expect("a path")]);
    assert_eq!(refused.status.code(), Some(2));
    let said = in_one_line(&refused.stderr);
    assert!(said.contains("programs.own.run: cannot start id: Permission denied"), "{said}");
    assert!(said.contains("(as nobody in /"), "{said}");
}

#[test]
fn nothing_of_a_killed_command_runs_on() {
    if !machine_serves() {
        return;
    }
    let _alone = left_behind();
    let program = "[programs.daemon]\non = \"phone\"\nrun = \"trap '' TERM; setsid sleep 86126 & sleep 86126\"\n";
    let (_folder, path) = scenario(&(hosts("300 s") + program));
    let mut run = start_a_run(&path, &[]);
    wait_until("the program starts", || is_running("86126"));
    send_signal("-KILL", run.id());
    run.wait().expect("it was killed");
    wait_until("the kernel kills what the command started", || !is_running("86126"));
    let cleaned = subflow(&["cleanup"]);
    assert!(cleaned.status.success(), "{}", in_one_line(&cleaned.stderr));
    let folder = format!("subflow-{}.", run.id());
    let left = fs::read_dir(std::env::temp_dir()).expect("a folder").flatten();
    assert_eq!(left.filter(|entry| entry.file_name().to_string_lossy().starts_with(&folder)).count(), 0);
}

/// The page of the cookbook with programs.
fn page() -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/cookbook/programs.md");
    fs::read_to_string(page).expect("the page is there")
}

/// The first block of this language.
fn block<'p>(language: &str, text: &'p str) -> Option<&'p str> {
    let (_, rest) = text.split_once(&format!("```{language}\n"))?;
    Some(rest.split_once("```")?.0)
}

/// The scenario under each heading, and the words of the heading.
fn recipes(page: &str) -> Vec<(&str, &str)> {
    let parts = page.split("\n## ").skip(1).filter_map(|part| Some((part.lines().next()?, block("toml", part)?)));
    parts.collect()
}

#[test]
fn the_recipes_run_over_both_paths_with_mptcp_and_over_one_without() {
    if !machine_has(&["iperf3", "curl", "mptcpize", "nginx", "wrk"]) {
        return;
    }
    let page = page();
    let recipes = recipes(&page);
    assert_eq!(recipes.len(), 3, "iperf3, curl with a server in Python, and a web site of two tiers");
    let kept = |name: &str| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/programs");
        fs::read_to_string(folder.join(name)).expect("the repository has it")
    };
    let configuration = block("nginx", &page).expect("that of the web site");
    assert_eq!(configuration, kept("site.conf"));
    for ((heading, text), name) in recipes.into_iter().zip(["iperf3.toml", "curl.toml", "web-site.toml"]) {
        assert!(text.lines().count() <= 15, "{heading}");
        assert_eq!(text, kept(name), "{heading}");
        let (folder, path) = scenario(text);
        fs::write(folder.path().join("site.conf"), configuration).expect("written");
        for mptcp in [true, false] {
            let sets = ["client", "server"].map(|name| format!("programs.{name}.mptcp={mptcp}"));
            let output =
                subflow(&["run", &path, "--on", "linux", "--format", "json", "--set", &sets[0], "--set", &sets[1]]);
            let (json, said) = (results(&output), in_one_line(&output.stderr));
            let run = &json["runs"][0];
            let mut programs = run["real_time"]["programs"].as_array().expect("programs").iter();
            let client = programs.find(|program| program["name"] == "client").expect("a client");
            assert_eq!(client["exit_code"], 0, "{heading}: {said}");
            let used = |name: &str| {
                let links = run["links"].as_array().expect("links").iter();
                let link = links.clone().find(|link| link["name"] == name).expect("it is there");
                ["up", "down"].iter().map(|way| link[way]["packets"].as_u64().unwrap_or_default()).sum::<u64>()
            };
            assert!(used("wifi") > 100, "{heading}: {said}");
            assert_eq!(used("lte") > 100, mptcp, "{heading}, {} packets over LTE: {said}", used("lte"));
        }
    }
}
