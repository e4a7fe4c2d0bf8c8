//! SCTP in real time: ours at both ends, on kernels' IP.

use std::path::Path;

use crate::support::{machine_has, machine_serves, results, scenario, subflow};

const SCENARIO: &str = r#"title = "SCTP over two paths"
duration = "3 s"
[hosts]
phone = ["wifi", "lte"]
server = ["eth0", "eth1"]
[links.wifi]
between = ["phone.wifi", "server.eth0"]
rate = "20 Mbit/s"
delay = "5 ms"
[links.lte]
between = ["phone.lte", "server.eth1"]
rate = "10 Mbit/s"
delay = "10 ms"
[flows.file]
from = "phone"
to = "server"
protocol = "sctp"
send = "2 MB"
sctp = { cmt = true, nr_sack = true, message_size = "1400 bytes" }
"#;

fn run(text: &str, further: &[&str]) -> serde_json::Value {
    let (_folder, path) = scenario(text);
    let mut arguments = vec!["run", &path, "--on", "linux", "--format", "json"];
    arguments.extend(further);
    results(&subflow(&arguments))
}

#[test]
fn sctp_transfers_a_file_over_both_paths_in_ip_and_in_udp() {
    if !machine_serves() {
        return;
    }
    let devices = ["tun", "veth"].into_iter().filter(|device| *device == "veth" || Path::new("/dev/net/tun").exists());
    for (device, in_udp) in devices.flat_map(|device| [(device, false), (device, true)]) {
        let setting = format!("flows.file.sctp.udp_encapsulation={in_udp}");
        let json = run(SCENARIO, &["--device", device, "--set", &setting]);
        let flow = &json["runs"][0]["flows"][0];
        let case = format!("{device}, in UDP {in_udp}: {flow}");
        assert_eq!(flow["bytes_delivered"], 2_000_000, "{case}");
        let paths = flow["subflows"].as_array().expect("paths");
        let sent: Vec<u64> = paths.iter().filter_map(|path| path["packets_sent"].as_u64()).collect();
        assert!(sent.len() == 2 && sent.iter().all(|&packets| packets > 200), "{case}");
        assert_eq!(json["runs"][0]["real_time"]["ignored_packets"], 0, "{case}");
    }
}

/// The packets of both leave through the same devices, and a host may also have our stack in the process alone.
#[test]
fn sctp_and_kernel_tcp_share_hosts_and_requests_are_answered() {
    if !machine_serves() {
        return;
    }
    let flows = "[flows.web]\nfrom = \"phone\"\nto = \"server\"\nprotocol = \"sctp\"\nport = 6000\n\
                 requests = { response = \"20 kB\", count = 10, think = \"10 ms\" }\n\
                 [flows.tcp]\nfrom = \"phone\"\nto = \"server\"\nprotocol = \"tcp\"\ncongestion = \"cubic\"\n\
                 send = \"500 kB\"\n";
    for host in ["", "server"] {
        let ours = "hosts.server={ interfaces = [\"eth0\", \"eth1\"], stack = \"subflow\" }";
        let further = if host.is_empty() { vec![] } else { vec!["--set", ours] };
        let json = run(&format!("{SCENARIO}{flows}"), &further);
        let flow = |name: &str| {
            let all = json["runs"][0]["flows"].as_array().expect("flows");
            all.iter().find(|flow| flow["name"] == name).expect("it ran").clone()
        };
        assert_eq!(flow("file")["bytes_delivered"], 2_000_000, "{host}: {json}");
        assert_eq!(flow("web")["bytes_delivered"], 200_000, "{host}: {json}");
        assert_eq!(flow("tcp")["bytes_delivered"], 500_000, "{host}: {json}");
    }
}

/// A program with an SCTP of its own has a raw socket: three packets of ports that no flow has, each with eight bytes of
/// data. The second one is sent again.
const RAW: &str = r#"
[programs.own]
on = "phone"
run = ["python3", "-c", """
import socket, struct
def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF
header = struct.pack('!HHI', 7000, 7001, 1)
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, 132)
for number in (1, 2, 2):
    data = struct.pack('!BBHIHHI', 0, 3, 24, number, 0, 0, 0) + b'12345678'
    checksum = struct.pack('<I', crc32c(header + bytes(4) + data))
    raw.sendto(header + checksum + data, ('{address:server.eth0}', 0))
"""]
"#;

#[test]
fn sctp_of_programs_is_a_connection_of_the_results_and_that_of_flows_is_none() {
    if !machine_has(&["python3"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("results").display().to_string();
    let json = run(&format!("{SCENARIO}{RAW}"), &["--out", &out]);
    let run = &json["runs"][0];
    assert_eq!(run["flows"][0]["bytes_delivered"], 2_000_000, "{run}");
    let notes = run["real_time"]["notes"].as_array().expect("notes").clone();
    let of_sctp = |note: &&serde_json::Value| note.as_str().is_some_and(|note| note.starts_with("SCTP of programs"));
    let said = notes.iter().find(of_sctp).unwrap_or_else(|| panic!("no note: {run}"));
    let said = said.as_str().map(|said| said.replace('\n', " ")).expect("a text");
    let told = |packets: usize| format!("phone:7000 and server:7001 ({packets} packets with 24 bytes of data)");
    // While the server's flow runs, its SCTP answers each with ABORT: it has no such association (RFC 9260, section 8.4).
    let packets = (3..=6).find(|&packets| said.ends_with(&told(packets))).unwrap_or_else(|| panic!("{said}"));
    let table = std::fs::read_to_string(folder.path().join("results/tables/connections.csv")).expect("a table");
    let [titles, row] = &table.lines().map(|line| line.split(',').collect::<Vec<_>>()).collect::<Vec<_>>()[..] else {
        panic!("one connection: {table}")
    };
    let cell = |title: &str| titles.iter().position(|of| *of == title).map(|at| row[at]).expect("a column");
    let ends = ["local", "remote"].map(|end| cell(end).rsplit(':').next());
    assert_eq!((cell("connection"), cell("protocol"), ends), ("sctp:1", "sctp", [Some("7000"), Some("7001")]));
    assert_eq!([cell("bytes_sent"), cell("retransmissions"), cell("bytes_received")], ["16", "1", "0"], "{table}");
    assert_eq!(cell("end_s").is_empty(), packets == 3, "an ABORT is its end: {table}");
}
