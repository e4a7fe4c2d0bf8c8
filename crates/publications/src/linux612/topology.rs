//! The measurements' networks as scenarios.
//!
//! ```text
//! client (c1, c2, …) -- a1 -- b1 -- server (s1, s2, …)     a chain for each path
//! ```
//!
//! The link a–b has the rate and the queue, what follows it the delay of data and the random loss; acknowledgments are
//! delayed between a and the client. Flows that share a path have a client each, and an MPTCP flow on a shared path a
//! second interface of its client on it. The kernel's processing time, 5 to 10 µs a hop, is left out.

use std::fmt::Write;
use std::path::Path;

use subflow_scenario::Scenario;
use subflow_scenario::file::Document;

use super::configuration::{Configuration, FlowSpec, Workload};
use super::run::Variant;

/// When a failing path fails, and when it works again, in seconds.
pub(super) const FAILURE_S: (u32, u32) = (10, 20);

/// The scenario of `configuration` with its flows starting as late as `variant` says.
pub(super) fn scenario(configuration: &Configuration, scheduler: &str, variant: Variant) -> Scenario {
    let text = text(configuration, scheduler, variant);
    let document = Document::parse(Path::new("linux612.toml"), text).expect("we write TOML");
    Scenario::read(&document).expect("configurations are checked when they are read")
}

/// The name of the link whose queue counts on path `index`.
pub(super) fn bottleneck(index: usize) -> String {
    format!("bottleneck{}", index + 1)
}

/// The name of the link that loses packets on path `index`.
pub(super) fn egress(index: usize) -> String {
    format!("egress{}", index + 1)
}

fn text(configuration: &Configuration, scheduler: &str, variant: Variant) -> String {
    let duration = duration_s(configuration);
    let sample = duration / f64::from(samples(configuration));
    let mut text = format!("duration = \"{duration} s\"\nsample_interval = \"{sample:.9} s\"\n");
    let clients = Clients { shared: configuration.flows.len() > 1, configuration };
    clients.write_nodes(&mut text);
    clients.write_links(&mut text);
    for (index, flow) in configuration.flows.iter().enumerate() {
        let late = variant.delay_s + if index > 0 { variant.offset_s } else { 0.0 };
        clients.write_flow(&mut text, index, flow, scheduler, late);
    }
    write_failure(&mut text, configuration);
    text
}

/// How many samples of the goodput are taken: one after each third tells what the tail begins with. Where a path fails,
/// there are three in each second, so that thirds and seconds begin with one.
pub(super) fn samples(configuration: &Configuration) -> u32 {
    match configuration.failure {
        Some(_) => 3 * duration_s(configuration).ceil() as u32,
        None => 3,
    }
}

/// How long to run: a transfer gets ten times what the kernel took.
fn duration_s(configuration: &Configuration) -> f64 {
    match configuration.workload {
        Workload::Seconds(seconds) => seconds,
        Workload::Bytes(_) => {
            let taken = configuration.references.iter().flat_map(|reference| &reference.completion_s);
            10.0 * taken.fold(3.0, |a: f64, &b| a.max(b))
        }
    }
}

/// Hosts and interfaces of the sending side.
struct Clients<'a> {
    /// Whether several flows share the one path.
    shared: bool,
    configuration: &'a Configuration,
}

impl Clients<'_> {
    /// The clients' hosts, each with its interfaces and the path that each of them is on.
    fn hosts(&self) -> Vec<(String, Vec<(String, usize)>)> {
        let flows = &self.configuration.flows;
        if !self.shared {
            let interfaces = (0..self.configuration.paths.len()).map(|path| (format!("c{}", path + 1), path));
            return vec![("client1".to_owned(), interfaces.collect())];
        }
        let interfaces = |flow: &FlowSpec| if flow.protocol == "mptcp" { 2 } else { 1 };
        let host = |(index, flow)| {
            (format!("client{}", index + 1), (1..=interfaces(flow)).map(|n| (format!("c{n}"), 0)).collect())
        };
        flows.iter().enumerate().map(host).collect()
    }

    fn write_nodes(&self, text: &mut String) {
        let list = |names: Vec<String>| names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        *text += "[hosts]\n";
        for (host, interfaces) in self.hosts() {
            let names = interfaces.into_iter().map(|(name, _)| name).collect();
            let _ = writeln!(text, "{host} = [{}]", list(names));
        }
        let paths = 1..=self.configuration.paths.len();
        let _ = writeln!(text, "server = [{}]", list(paths.clone().map(|n| format!("s{n}")).collect()));
        *text += "[routers]\n";
        paths.for_each(|n| *text += &format!("a{n} = {{}}\nb{n} = {{}}\n"));
    }

    fn write_links(&self, text: &mut String) {
        for (host, interfaces) in self.hosts() {
            for (interface, path) in interfaces {
                let delay = self.configuration.paths[path].delay_ms;
                let _ = writeln!(
                    text,
                    "[links.{}]\nbetween = [\"{host}.{interface}\", \"a{}\"]\nrate = \"unlimited\"\n\
                     delay = {{ up = \"0 ms\", down = \"{delay} ms\" }}",
                    access(&host, &interface),
                    path + 1,
                );
            }
        }
        for (index, path) in self.configuration.paths.iter().enumerate() {
            let number = index + 1;
            let _ = writeln!(
                text,
                "[links.{}]\nbetween = [\"a{number}\", \"b{number}\"]\n\
                 rate = {{ up = \"{} Mbit/s\", down = \"unlimited\" }}\n\
                 queue = {{ up = \"{} packets\", down = \"unlimited\" }}\n\
                 [links.{}]\nbetween = [\"b{number}\", \"server.s{number}\"]\nrate = \"unlimited\"\n\
                 delay = {{ up = \"{} ms\", down = \"0 ms\" }}\nloss = {{ up = \"{} %\", down = \"0 %\" }}",
                bottleneck(index),
                path.rate_mbps,
                path.queue,
                egress(index),
                path.delay_ms,
                self.configuration.loss_pct[index],
            );
        }
    }

    fn write_flow(&self, text: &mut String, index: usize, flow: &FlowSpec, scheduler: &str, late_s: f64) {
        let host = if self.shared { format!("client{}", index + 1) } else { "client1".to_owned() };
        let _ = writeln!(
            text,
            "[flows.flow{}]\nfrom = \"{host}.c1\"\nto = \"server.s1\"\nprotocol = \"{}\"\ncongestion = \"{}\"\n\
             start = \"{:.6} s\"",
            index + 1,
            flow.protocol,
            if flow.protocol == "sctp" { "sctp" } else { &flow.cc },
            flow.start_s + late_s,
        );
        if let Workload::Bytes(bytes) = self.configuration.workload {
            let _ = writeln!(text, "send = \"{bytes} bytes\"");
        }
        if flow.protocol == "sctp" {
            // SO_RCVBUF of 4 MiB; the kernel doubles it and offers half of that. It doubles SO_SNDBUF, too, and charges
            // 2560 bytes for a chunk of 1452.
            let message = self.configuration.message_bytes();
            let _ = writeln!(
                text,
                "sctp = {{ message_size = \"{message} bytes\", receive_buffer = \"4 MiB\", send_buffer = \"4646 KiB\" \
                 }}"
            );
        }
        if flow.protocol == "mptcp" {
            let _ = writeln!(text, "scheduler = \"{scheduler}\"\npath_manager = \"default\"");
            // net.mptcp.stale_loss_cnt as it comes.
            let _ = writeln!(text, "mptcp = {{ stale_loss_count = 4, subflows_open_window = true }}");
            let further =
                if self.shared { vec![(2, 1)] } else { (2..=self.configuration.paths.len()).map(|n| (n, n)).collect() };
            let subflow = |(from, to)| format!("{{ from = \"{host}.c{from}\", to = \"server.s{to}\" }}");
            let _ = writeln!(text, "subflows = [{}]", further.into_iter().map(subflow).collect::<Vec<_>>().join(", "));
        }
    }
}

fn access(host: &str, interface: &str) -> String {
    format!("access-{host}-{interface}")
}

fn write_failure(text: &mut String, configuration: &Configuration) {
    let Some(failure) = configuration.failure else { return };
    let mut change = |at: u32, link: &str, direction: &str, loss: f64| {
        let _ = writeln!(
            text,
            "[[timeline]]\nat = \"{at} s\"\nlink = \"{link}\"\ndirection = \"{direction}\"\nloss = \"{loss} %\""
        );
    };
    let (fails, works) = FAILURE_S;
    let data = egress(failure.path);
    change(fails, &data, "up", 100.0);
    change(works, &data, "up", configuration.loss_pct[failure.path]);
    if failure.both {
        let acknowledgments = access("client1", &format!("c{}", failure.path + 1));
        change(fails, &acknowledgments, "down", 100.0);
        change(works, &acknowledgments, "down", 0.0);
    }
}
