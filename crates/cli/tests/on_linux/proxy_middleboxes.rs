//! The proxy behind each middlebox: a download by curl from a server with the kernel's MPTCP, as docs/src/middleboxes.md
//! has it.

use serde_json::Value;

use crate::support::{SCENARIO, command, in_one_line, machine_has, results, scenario, subflow};

/// A phone whose proxy uses WiFi and LTE, with a middlebox on the WiFi link, or at the router.
fn download(on_wifi: &str, at_router: &str) -> String {
    let (network, _) = SCENARIO.split_once("[flows.file]").expect("a flow");
    let network = network
        .replace("2 s", "12 s")
        .replace("[links.wifi]", &format!("[links.wifi]\nmiddlebox = {on_wifi}"))
        .replace("internet = {}", &format!("internet = {{ middlebox = {at_router} }}"));
    let proxy = command().get_program().to_string_lossy().into_owned();
    format!(
        "{network}[programs]\n\
         server = {{ on = \"server\", run = \"truncate -s 2M large; exec python3 -m http.server 80\", directory = \".\", \
         mptcp = true }}\n\
         proxy = {{ on = \"phone\", run = \"ip route add default dev lte metric 2; exec {proxy} proxy --via wifi --via lte\", \
         after = {{ port = 80, on = \"server\" }} }}\n\
         client = {{ on = \"phone\", after = {{ port = 1080 }}, run = \"curl -sS -m 8 -x socks5h://127.0.0.1:1080 \
         http://server/large -o answer -w '%{{size_download}} %{{time_starttransfer}} %{{time_total}}'\", \
         directory = \".\" }}\n"
    )
}

/// What became of a download.
struct Outcome {
    /// "both" paths, "wifi", "lte", "TCP" over WiFi, "refused", or "stall".
    what: &'static str,
    /// Until the first byte of the answer.
    first_byte_s: f64,
    said: String,
}

/// A download behind a middlebox.
fn outcome(on_wifi: &str, at_router: &str) -> Outcome {
    let (_folder, path) = scenario(&download(on_wifi, at_router));
    let output = subflow(&["run", &path, "--on", "linux", "--format", "json"]);
    let said = in_one_line(&output.stderr);
    let json = results(&output);
    let run = &json["runs"][0];
    let numbers = said.split_once("client: ").map(|(_, rest)| rest.split(' ')).into_iter().flatten();
    let numbers: Vec<f64> = numbers.map_while(|word| word.parse().ok()).collect();
    let is_whole = numbers.first() == Some(&2_097_152.0);
    let down = |link: usize| run["links"][link]["down"]["packets"].as_f64().expect("a number");
    let [wifi, lte] = [down(0), down(1)];
    let is_tcp = |flow: &&Value| flow["bytes_delivered"].as_u64() > Some(1_000_000) && flow["protocol"] == "mptcp";
    let fell_back = |flow: &Value| flow["fallback"] == true;
    let multipath = run["flows"].as_array().and_then(|flows| flows.iter().find(is_tcp).map(fell_back));
    let gave_up = said.contains("client: curl: (") && !said.contains("client: curl: (28)");
    let what = match (is_whole, multipath) {
        (false, _) if gave_up => "refused",
        (false, _) => "stall",
        (true, None | Some(true)) if wifi > 10.0 * lte => "TCP",
        (true, _) if wifi > 0.1 * lte && lte > 0.1 * wifi => "both",
        (true, _) if lte > wifi => "lte",
        (true, _) => "wifi",
    };
    Outcome { what, first_byte_s: numbers.get(1).copied().unwrap_or(f64::INFINITY), said }
}

/// What stands on the WiFi link, and what becomes of the download.
const OUTCOMES: [(&str, &str); 17] = [
    ("[]", "both"),
    ("{ kind = \"strip-option\", option = \"mptcp\" }", "TCP"),
    ("{ kind = \"strip-option\", option = \"mp-capable\", on = \"syn-ack\" }", "TCP"),
    ("{ kind = \"strip-option\", option = \"mptcp\", on = \"data\" }", "TCP"),
    ("{ kind = \"strip-option\", option = \"timestamps\" }", "both"),
    ("{ kind = \"drop-option\", option = \"mp-capable\" }", "both"),
    ("{ kind = \"drop-option\", option = \"dss\" }", "stall"),
    ("{ kind = \"block\", protocol = \"tcp\", answer = \"reset\" }", "refused"),
    ("{ kind = \"nat\", preserves_ports = false }", "both"),
    ("{ kind = \"mss-clamp\", mss = 1000 }", "both"),
    ("{ kind = \"rewrite-sequence\", sack = \"unchanged\" }", "both"),
    ("{ kind = \"mtu\", mtu = 1420 }", "both"),
    ("{ kind = \"mtu\", mtu = 1420, reports = false }", "lte"),
    ("{ kind = \"split\" }", "both"),
    ("{ kind = \"reorder\" }", "both"),
    ("{ kind = \"rewrite-payload\" }", "both"),
    ("{ kind = \"reset\", segments = 50 }", "lte"),
];

#[test]
fn the_proxy_has_the_outcomes_of_the_table() {
    if !machine_has(&["curl", "python3", "mptcpize"]) {
        return;
    }
    // Some at a time: they wait for packets most of the time.
    std::thread::scope(|scope| {
        for some in OUTCOMES.chunks(OUTCOMES.len().div_ceil(3)) {
            scope.spawn(move || {
                for (middlebox, expected) in some {
                    let Outcome { what, said, .. } = outcome(middlebox, "[]");
                    assert_eq!(what, *expected, "{middlebox}: {said}");
                }
            });
        }
    });
}

/// With the middlebox at the router no path lets a SYN with MP_CAPABLE through.
#[test]
fn the_proxy_serves_by_tcp_within_four_seconds_where_mp_capable_is_dropped() {
    if !machine_has(&["curl", "python3", "mptcpize"]) {
        return;
    }
    let Outcome { what, first_byte_s, said } = outcome("[]", "{ kind = \"drop-option\", option = \"mp-capable\" }");
    assert_eq!(what, "TCP", "{said}");
    assert!((2.9..4.0).contains(&first_byte_s), "{first_byte_s} s: {said}");
}
