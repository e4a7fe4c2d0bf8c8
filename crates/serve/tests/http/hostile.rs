//! Other pages, other names, other files, and scenarios that would take everything.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use subflow_quantity::Size;
use subflow_scenario::file::Reach;
use subflow_serve::{Limits, Opened, Source};

use crate::WIFI_LTE;
use crate::client::Served;

#[test]
fn requests_of_other_origins_names_and_strangers_are_refused() {
    let served = Served::start(Source::Example, Limits::default());
    let (host, path) = (served.host().to_owned(), served.path("start.json"));
    let port = host.split(':').nth(1).expect("a port");
    let get = |path: &str, headers: &str| {
        served.raw(&format!("GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n")).status
    };
    assert_eq!(get(&path, &format!("Host: {host}\r\n")), 200);
    // A name that an attacker's server has resolved to loopback.
    assert_eq!(get(&path, &format!("Host: rebound.example:{port}\r\n")), 403);
    assert_eq!(get(&path, &format!("Host: {host}\r\nOrigin: http://evil.example\r\n")), 403);
    assert_eq!(get(&path, &format!("Host: {host}\r\nOrigin: null\r\n")), 403);
    assert_eq!(get(&path, &format!("Host: {host}\r\nSec-Fetch-Site: cross-site\r\n")), 403);
    let mut wrong = path.clone().into_bytes();
    wrong[5] = if wrong[5] == b'A' { b'B' } else { b'A' };
    let wrong = String::from_utf8(wrong).expect("text");
    for path in [wrong.as_str(), "/", "/start.json", "//start.json"] {
        assert_eq!(get(path, &format!("Host: {host}\r\n")), 403, "{path}");
    }
    for of in ["live", "folder.json", "runs.json", "runs/1"] {
        let path = served.path(of);
        assert_eq!(get(&path, &format!("Host: rebound.example:{port}\r\n")), 403, "{of}");
        assert_eq!(get(&path, &format!("Host: {host}\r\nOrigin: http://evil.example\r\n")), 403, "{of}");
        assert_eq!(get(&path, &format!("Host: {host}\r\nSec-Fetch-Site: same-site\r\n")), 403, "{of}");
        assert_eq!(get(&format!("/{of}"), &format!("Host: {host}\r\n")), 403, "{of}");
    }
    // A form of another page can post text, and nothing else without asking first.
    let form = served.request("run", "{}").replace("application/json", "text/plain");
    assert_eq!(served.raw(&form).status, 403);
}

#[test]
fn answers_forbid_frames_and_scripts_of_others() {
    let served = Served::start(Source::Example, Limits::default());
    let page = served.get("");
    let policy = page.header("content-security-policy");
    for rule in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'none'"] {
        assert!(policy.contains(rule), "{policy}");
    }
    assert!(!policy.contains("unsafe-inline"), "{policy}");
    assert_eq!(page.header("x-content-type-options"), "nosniff");
    assert_eq!(page.header("referrer-policy"), "no-referrer");
    assert_eq!(page.header("access-control-allow-origin"), "");
    let refused = served.raw("GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
    assert!(refused.header("content-security-policy").contains("default-src 'none'"));
}

#[test]
fn no_path_leads_to_a_file() {
    let served = Served::start(Source::Example, Limits::default());
    for name in [
        "../../etc/passwd",
        "..%2f..%2fetc%2fpasswd",
        "results/1/..%2f..%2fCargo.toml",
        "%2e%2e/Cargo.toml",
        "main.js/../../Cargo.toml",
        "page/main.js",
        "/etc/passwd",
    ] {
        let answer = served.get(name);
        assert!([403, 404].contains(&answer.status), "{name}: {}", answer.status);
        assert!(!answer.body.contains("root:") && !answer.body.contains("[package]"), "{name}");
    }
}

/// The problems of a text.
fn problems(served: &Served, text: &str) -> String {
    served.post("check", &json!({ "text": text })).json()["problems"].to_string()
}

#[test]
fn scenarios_name_no_file_outside_of_their_folder() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let inside = folder.path().join("inside");
    std::fs::create_dir(&inside).expect("a folder");
    std::fs::write(folder.path().join("secret"), "1\n2\n").expect("written");
    std::fs::write(inside.join("trace"), "1\n2\n").expect("written");
    let traced = |trace: &str| WIFI_LTE.replace("\"50 Mbit/s\"", &format!("{trace:?}"));
    let opened = Opened { path: inside.join("mine.toml"), text: String::new(), reach: Reach::Directory };
    let served = Served::start(Source::Scenario(opened), Limits::default());
    assert_eq!(problems(&served, &traced("trace")), "[]");
    let secret = folder.path().join("secret").display().to_string();
    for name in ["../secret", &secret, "/etc/passwd", "/dev/zero"] {
        assert!(problems(&served, &traced(name)).contains("outside of the scenario's directory"), "{name}");
    }
    let served = Served::start(Source::Example, Limits::default());
    assert!(problems(&served, &traced("trace")).contains("cannot name files"));
}

#[test]
fn sweeps_that_are_too_large_are_refused_with_the_limit_and_the_way_out() {
    let served = Served::start(Source::Example, Limits::default());
    let to_thousand = "\"links.wifi.delay\" = \"1 ms .. 1000 ms step 1 ms\"";
    let sweeps = [
        "\"links.wifi.delay\" = \"1 ns .. 1000000000 ns step 1 ns\"".to_owned(),
        "\"links.wifi.delay\" = \"1.000 ms .. 2.000 ms log 900000000\"".to_owned(),
        to_thousand.to_owned(),
        format!("\"links.wifi.loss\" = {:?}", (1..=201).map(|loss| format!("0.{loss:03} %")).collect::<Vec<_>>()),
        format!("{}\n\"links.lte.delay\" = \"1 ms .. 100 ms step 1 ms\"", to_thousand.replace("1000", "100")),
        format!("{to_thousand}\ndesign = {{ name = \"random\", points = 201 }}"),
    ];
    for sweep in sweeps {
        let told = problems(&served, &format!("{WIFI_LTE}\n[sweep]\n{sweep}\n"));
        assert!(told.contains("expected at most 200 here") && told.contains("or use `subflow run`"), "{sweep}: {told}");
    }
    let drawn = format!("{WIFI_LTE}\n[sweep]\n{to_thousand}\ndesign = {{ name = \"random\", points = 200 }}\n");
    assert_eq!(problems(&served, &drawn), "[]", "they may be drawn from more values");
}

#[test]
fn huge_requests_and_scenarios_are_refused_at_once() {
    let limits = Limits { request: Size::from_bytes(100_000), ..Limits::default() };
    let served = Served::start(Source::Example, limits);
    assert_eq!(served.post("check", &json!({ "text": " ".repeat(200_000) })).status, 413);
    // A line that describes 42,496 nodes and links, at each of 100 points.
    let tree = "duration = \"1 s\"\n[topology]\nkind = \"fat-tree\"\nk = 32\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n\
                [flows.f]\nfrom = \"h0\"\nto = \"h1\"\n[sweep]\n\"topology.delay\" = \"1 ms .. 100 ms step 1 ms\"\n";
    assert!(problems(&served, tree).contains("hosts, routers, links and flows"), "{}", problems(&served, tree));
    let repeated = json!({ "a": { "text": WIFI_LTE, "set": ["repeat=900000"] } });
    let lines = served.post("run", &repeated).lines();
    let told = lines.last().expect("lines")["error"].to_string();
    assert!(told.contains("expected at most 1000"), "{told}");
    let nested = format!("a = {}1{}", "[".repeat(20_000), "]".repeat(20_000));
    assert!(problems(&served, &nested).contains("not valid TOML"));
}

#[test]
fn scripts_in_titles_and_names_are_text() {
    let served = Served::start(Source::Example, Limits::default());
    let script = "<script>parent.document.title='taken'</script><img src=x onerror=alert(1)>";
    let text = WIFI_LTE.replace("A phone moves a file", script);
    let lines = served.post("run", &json!({ "a": { "text": text } })).lines();
    let number: &Value = &lines.last().expect("lines")["result"]["number"];
    assert_eq!(served.post("check", &json!({ "text": text })).header("content-type"), "application/json");
    for of in ["frame", "content", "report.html"] {
        let report = served.get(&format!("results/{number}/{of}")).body;
        assert!(!report.contains("<script>parent") && !report.contains("<img src=x"), "{of}");
    }
    let frame = served.get(&format!("results/{number}/frame"));
    assert!(
        frame.header("content-security-policy").contains("sandbox allow-scripts"),
        "it has no rights of our origin"
    );
    assert!(!frame.header("content-security-policy").contains("allow-same-origin"));
}

#[test]
fn silent_and_slow_clients_do_not_keep_the_page_from_its_reader() {
    let limits = Limits { connections: 8, silence: Duration::from_millis(300), ..Limits::default() };
    let served = Served::start(Source::Example, limits);
    // They say nothing, or not all, and come before any token.
    let silent: Vec<TcpStream> =
        (0..20).map(|n| served.connect(if n % 2 == 0 { "" } else { "GET / HTTP/1.1\r\nHost: " })).collect();
    assert_eq!(served.get("start.json").status, 200);
    // They follow what goes on and never read it.
    let live = format!("GET {} HTTP/1.1\r\nHost: {}\r\n\r\n", served.path("live"), served.host());
    let slow: Vec<TcpStream> = (0..5).map(|_| served.connect(&live)).collect();
    let lines = served.post("run", &json!({ "a": { "text": WIFI_LTE } })).lines();
    assert!(lines.last().expect("lines")["result"].is_object());
    drop((silent, slow));
}

#[test]
fn a_request_that_is_sent_slowly_loses_its_place_even_with_the_token() {
    let limits = Limits { connections: 4, upload: Duration::from_millis(400), ..Limits::default() };
    let served = Served::start(Source::Example, limits);
    let whole = served.request("check", &json!({ "text": WIFI_LTE }).to_string());
    let (head, body) = whole.split_at(whole.find("\r\n\r\n").expect("a head") + 4);
    // Their heads are complete, and some bytes come again and again: they are never silent for long.
    let mut slow: Vec<TcpStream> = (0..4).map(|_| served.connect(head)).collect();
    for byte in &body.as_bytes()[..40] {
        std::thread::sleep(Duration::from_millis(50));
        // Who has lost its place cannot send any more.
        slow.retain_mut(|stream| stream.write_all(&[*byte]).is_ok());
    }
    assert!(slow.is_empty(), "{} of 4 go on", slow.len());
    let mut late = served.connect(head);
    let mut answer = String::new();
    late.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("within 0.4 s"), "{answer}");
    assert_eq!(served.raw(&whole).status, 200, "a request as the page sends it");
}

#[test]
fn strangers_whose_requests_were_refused_do_not_keep_their_connections() {
    let limits = Limits { connections: 8, silence: Duration::from_secs(600), ..Limits::default() };
    let served = Served::start(Source::Example, limits);
    // They would be kept for ten minutes.
    let refused = format!("GET /wrong/ HTTP/1.1\r\nHost: {}\r\n\r\n", served.host());
    let strangers: Vec<TcpStream> = (0..20).map(|_| served.connect(&refused)).collect();
    assert_eq!(served.get("start.json").status, 200);
    drop(strangers);
}
