//! Two namespaces with two veth pairs between them: `c`, where the proxy and its clients are, and `s`, the server. A
//! test may add `t`, a server behind `s`.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Output, Stdio};
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

use subflow_prerequisite::Prerequisite;

/// The variable that makes this executable a proxy.
pub(crate) const PROCESS: &str = "SUBFLOW_TEST_PROXY";

/// The signals that end the proxy: SIGHUP, SIGINT and SIGTERM.
const SIGNALS: [i32; 3] = [1, 2, 15];

/// A server that sends as many bytes as the path says, or tells how many of those that it gets are right; with MPTCP if
/// told so.
const SERVER: &str = r"
import http.server, socket, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        length = int(self.path[1:])
        self.send_response(200)
        self.send_header('Content-Length', str(length))
        self.end_headers()
        block = bytes((7 * offset) % 251 for offset in range(251)) * 1024
        while length > 0:
            self.wfile.write(block[:length])
            length -= min(length, len(block))
    def do_PUT(self):
        self.send_response(200)
        self.end_headers()
        length = int(self.headers['Content-Length'])
        body = self.rfile.read(length)
        right = body == (bytes((7 * offset) % 251 for offset in range(251)) * (length // 251 + 1))[:length]
        self.wfile.write(b'%d right' % length if right else b'others')
        self.close_connection = True
    def log_message(self, *_): pass
class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 1024
    def __init__(self, protocol):
        super().__init__(('::', 80), Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = socket.socket(socket.AF_INET6, socket.SOCK_STREAM, protocol)
        self.server_bind()
        self.server_activate()
server = Server(int(sys.argv[1]))
print('ready', flush=True)
server.serve_forever()
";

/// What the server sends.
pub(crate) fn pattern(length: usize) -> Vec<u8> {
    let block: Vec<u8> = (0..251u32).map(|offset| (7 * offset % 251) as u8).collect();
    block.iter().copied().cycle().take(length).collect()
}

pub(crate) struct Setup {
    name: String,
    /// Whether programs run before all other processes.
    goes_first: bool,
}

/// Runs the proxy in this process and ends it, if it was started for that.
pub(crate) fn be_the_proxy() {
    let Ok(settings) = std::env::var(PROCESS) else { return };
    let mut words = settings.split(' ').map(str::to_owned);
    let listen = words.next().and_then(|word| word.parse().ok()).expect("an address");
    let options = subflow_proxy::Options { mtu: u16::MAX, ..subflow_proxy::Options::default() };
    let settings = subflow_proxy::Settings { listen, via: words.collect(), options };
    let outcome = subflow_proxy::run(&settings, SIGNALS, |line| eprintln!("{line}"));
    std::process::exit(match outcome {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("{error}");
            2
        }
    });
}

/// A process that is ended with this value.
pub(crate) struct Process(pub(crate) Child);

impl Process {
    /// Ends it with a signal, and returns its exit code.
    pub(crate) fn end(&mut self, signal: &str) -> Option<i32> {
        // The shell has a `kill` of its own; a program of that name is not everywhere.
        let status = Command::new("sh").args(["-c", &format!("kill {signal} {}", self.0.id())]).status();
        assert!(status.is_ok_and(|status| status.success()));
        self.wait()
    }

    /// The most memory that it has had.
    pub(crate) fn largest_memory_mb(&self) -> f64 {
        self.memory_mb("VmHWM:")
    }

    /// A line of its `/proc/PID/status` that is an amount of memory.
    pub(crate) fn memory_mb(&self, name: &str) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).expect("it runs");
        let line = status.lines().find(|line| line.starts_with(name)).expect("a line");
        line.split_whitespace().nth(1).and_then(|kib| kib.parse::<f64>().ok()).expect("a number") * 1024.0 / 1e6
    }

    pub(crate) fn wait(&mut self) -> Option<i32> {
        self.0.wait().expect("it ends").code()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            let _ = Command::new("sh").args(["-c", &format!("kill -TERM {}", self.0.id())]).status();
            let _ = self.0.wait();
        }
    }
}

/// Waits until a condition holds, which on a busy machine may take a while.
pub(crate) fn comes_true(what: &str, holds: impl Fn() -> bool) {
    let mut looks = (0..200).map(|_| holds()).inspect(|_| sleep(Duration::from_millis(50)));
    assert!(looks.any(|held| held), "not after ten seconds: {what}");
}

pub(crate) fn works(line: &str) -> bool {
    let words: Vec<&str> = line.split(' ').collect();
    let status = Command::new(words[0]).args(&words[1..]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// The namespaces, if this machine can have them.
pub(crate) fn machine_serves(test: &str) -> Option<Setup> {
    let missing = |why: &str| {
        Prerequisite::Kernel.missing(why);
        None
    };
    for tool in ["ip -V", "tc -V", "curl --version", "python3 --version"] {
        if !works(tool) {
            return missing(&format!("`{tool}` does not work"));
        }
    }
    let has_iptables = || works("iptables --version") && works("ip6tables --version");
    if !works("nft --version") && !has_iptables() {
        return missing("there is neither nft nor both iptables and ip6tables");
    }
    let setup = Setup { name: format!("sfp-{}-{test}", std::process::id()), goes_first: false };
    if !rustix::process::geteuid().is_root() || !works(&format!("ip netns add {}-c", setup.name)) {
        return missing("only root makes network namespaces");
    }
    assert!(works(&format!("ip netns add {}-s", setup.name)));
    for host in ["c", "s"] {
        setup.ip(host, "link set lo up");
    }
    for path in [0, 1] {
        setup.ip("c", &format!("link add c{path} type veth peer name s{path} netns {}-s", setup.name));
        for (host, number) in [("c", 1), ("s", 2)] {
            setup.ip(host, &format!("addr add 10.7{path}.0.{number}/24 dev {host}{path}"));
            setup.ip(host, &format!("link set {host}{path} up"));
        }
        setup.ip("c", &format!("route add default via 10.7{path}.0.2 metric {path}00"));
    }
    setup.ip("s", "addr add 10.99.0.1/32 dev lo");
    Some(setup)
}

impl Setup {
    /// Adds `t` behind `s`, with the address 10.98.0.2. Packets to it may have `mtu` bytes, which no interface of `c` or
    /// `t` knows.
    pub(crate) fn add_server_behind(&self, mtu: u16) {
        assert!(works(&format!("ip netns add {}-t", self.name)));
        self.ip("s", &format!("link add st type veth peer name t0 netns {}-t", self.name));
        for (host, device, number) in [("s", "st", 1), ("t", "t0", 2)] {
            self.ip(host, &format!("addr add 10.98.0.{number}/24 dev {device}"));
            self.ip(host, &format!("link set {device} up"));
        }
        self.ip("s", &format!("link set st mtu {mtu}"));
        self.ip("t", "route add default via 10.98.0.1");
        assert!(works(&format!("ip netns exec {}-s sysctl -qw net.ipv4.ip_forward=1", self.name)));
    }

    /// From now on the router `s` tells nobody that a packet is too large.
    pub(crate) fn suppress_icmp_errors(&self) {
        let by_nft = "nft -f - <<END\ntable ip mute { chain output { type filter hook output priority 0; \
                      icmp type destination-unreachable drop; }; }\nEND\n";
        let by_iptables = "iptables -A OUTPUT -p icmp --icmp-type destination-unreachable -j DROP";
        let script = if works("nft --version") { by_nft } else { by_iptables };
        let output = self.command("s", "sh").args(["-c", script]).output().expect("runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Sends a file of [`pattern`] to a server and returns its answer.
    pub(crate) fn put(&self, server: &str, length: usize) -> String {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(&pattern(length)).expect("writes");
        let path = file.path().to_string_lossy().into_owned();
        let url = format!("http://{server}/");
        let words = ["-s", "--max-time", "60", "-x", "socks5h://127.0.0.1:1080", "-T", &path, &url];
        let output = self.command("c", "curl").args(words).output().expect("runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs `ip` in a namespace.
    pub(crate) fn ip(&self, host: &str, words: &str) {
        assert!(works(&format!("ip -n {}-{host} {words}", self.name)), "ip {words}");
    }

    /// From now on programs in the namespaces, and this thread, run before all other processes, if that is permitted.
    pub(crate) fn go_first(&mut self) {
        self.goes_first = works("chrt -r 1 true");
        let _ = subflow_linux::Priority::Application.take();
    }

    pub(crate) fn command(&self, host: &str, program: &str) -> Command {
        let mut command = Command::new(if self.goes_first { "chrt" } else { "ip" });
        if self.goes_first {
            command.args(["-r", "1", "ip"]);
        }
        command.args(["netns", "exec", &format!("{}-{host}", self.name), program]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Limits a path to `mbit` in the server's direction.
    pub(crate) fn shape(&self, path: usize, mbit: u32) {
        let shaper =
            format!("tc -n {}-s qdisc add dev s{path} root tbf rate {mbit}mbit burst 16k latency 40ms", self.name);
        assert!(works(&shaper), "{shaper}");
    }

    /// Bytes that the server has sent on a path.
    pub(crate) fn bytes_sent(&self, path: usize) -> usize {
        let file = format!("/sys/class/net/s{path}/statistics/tx_bytes");
        let output = self.command("s", "cat").arg(file).output().expect("runs");
        String::from_utf8_lossy(&output.stdout).trim().parse().expect("a number of bytes")
    }

    pub(crate) fn serve(&self, mptcp: bool) -> Process {
        self.serve_on("s", mptcp)
    }

    /// The same in another namespace.
    pub(crate) fn serve_on(&self, host: &str, mptcp: bool) -> Process {
        let mut command = self.command(host, "python3");
        let mut child = command.args(["-c", SERVER, if mptcp { "262" } else { "6" }]).spawn().expect("starts");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("piped")).read_line(&mut line).expect("it says so");
        assert_eq!(line, "ready\n");
        Process(child)
    }

    /// Starts a program in a namespace, to be ended with this value.
    pub(crate) fn program(&self, host: &str, words: &[&str]) -> Process {
        let mut command = self.command(host, words[0]);
        Process(command.args(&words[1..]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts"))
    }

    /// What a program in a namespace prints.
    pub(crate) fn output(&self, host: &str, words: &[&str]) -> String {
        let output = self.command(host, words[0]).args(&words[1..]).output().expect("runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub(crate) fn proxy_command(&self, via: &[&str]) -> Command {
        let executable = std::env::current_exe().expect("this test");
        let mut command = self.command("c", &executable.to_string_lossy());
        command.args(["--exact", "process", "--nocapture"]);
        command.env(PROCESS, format!("127.0.0.1:1080 {}", via.join(" ")));
        command
    }

    /// Starts a proxy over these interfaces.
    pub(crate) fn start(&self, via: &[&str]) -> Child {
        self.proxy_command(via).spawn().expect("starts")
    }

    /// Starts a proxy over these interfaces and waits until it listens.
    pub(crate) fn proxy(&self, via: &[&str]) -> Process {
        Self::listening(self.start(via))
    }

    pub(crate) fn listening(child: Child) -> Process {
        Self::listening_and_heard(child).0
    }

    /// Waits until a proxy listens. What it says afterwards can be had from the thread when it has ended.
    pub(crate) fn listening_and_heard(mut child: Child) -> (Process, JoinHandle<String>) {
        let mut errors = BufReader::new(child.stderr.take().expect("piped"));
        let mut said = String::new();
        while !said.contains("listening on") {
            assert_ne!(errors.read_line(&mut said).expect("readable"), 0, "the proxy has ended: {said}");
        }
        let heard = std::thread::spawn(move || {
            let mut text = String::new();
            errors.read_to_string(&mut text).map_or_else(|error| error.to_string(), |_| text)
        });
        (Process(child), heard)
    }

    pub(crate) fn curl_command(&self, scheme: &str, url: &str) -> Command {
        let mut command = self.command("c", "curl");
        let proxy = format!("{scheme}://127.0.0.1:1080");
        let tunnel = if scheme == "http" { "--proxytunnel" } else { "--no-progress-meter" };
        command.args(["-s", tunnel, "--max-time", "120", "-x", &proxy, url]);
        command
    }

    pub(crate) fn start_curl(&self, scheme: &str, url: &str) -> Child {
        self.curl_command(scheme, url).spawn().expect("starts")
    }

    pub(crate) fn curl(&self, scheme: &str, url: &str) -> Output {
        self.start_curl(scheme, url).wait_with_output().expect("it ends")
    }

    /// Fetches as many bytes from the server, and checks each.
    pub(crate) fn fetch_by(&self, scheme: &str, length: usize) {
        self.fetch_from("10.99.0.1", scheme, length);
    }

    /// The same, from an address of the server.
    pub(crate) fn fetch_from(&self, server: &str, scheme: &str, length: usize) {
        let output = self.curl(scheme, &format!("http://{server}/{length}"));
        assert!(output.status.success(), "{:?} {}", output.status, String::from_utf8_lossy(&output.stderr));
        assert!(output.stdout == pattern(length), "{} bytes of {length}, or others", output.stdout.len());
    }

    /// Works in the client's namespace, in a thread.
    pub(crate) fn in_client<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let namespace = std::fs::File::open(format!("/run/netns/{}-c", self.name)).expect("it is there");
        std::thread::scope(|scope| {
            let working = scope.spawn(|| {
                let kind = rustix::thread::LinkNameSpaceType::Network;
                let moved = rustix::thread::move_into_link_name_space(std::os::fd::AsFd::as_fd(&namespace), Some(kind));
                moved.expect("a thread may change its namespace");
                work()
            });
            working.join().expect("no panic")
        })
    }

    /// What identifies the client's namespace.
    pub(crate) fn namespace_id(&self) -> subflow_linux::NamespaceId {
        self.in_client(|| subflow_linux::NamespaceId::of_this_thread().expect("it has one"))
    }

    pub(crate) fn cleanup(&self) {
        let mut cleaned = Vec::new();
        self.in_client(|| subflow_proxy::cleanup(|line| cleaned.push(line.to_owned())).expect("cleans up"));
        // Other tests leave journals of namespaces that have ended.
        assert!(cleaned.contains(&"removed proxy 0".to_owned()), "{cleaned:?}");
    }

    /// Rules, tables and settings of the client's namespace that are a proxy's.
    pub(crate) fn left_behind(&self) -> String {
        let script = "ip rule | grep 198.19; ip -6 rule | grep fd73; ip link | grep subflow; \
                      ip route show table 500000; (nft list tables; iptables-save) 2> /dev/null | grep -E 'subflow|198.19'; \
                      cat /proc/sys/net/ipv4/conf/c0/forwarding | grep 1; true";
        let output = self.command("c", "sh").args(["-c", script]).output().expect("runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

impl Drop for Setup {
    fn drop(&mut self) {
        for host in ["c", "s", "t"] {
            let _ = works(&format!("ip netns del {}-{host}", self.name));
        }
    }
}
