//! Networks for Mininet: those that its editor MiniEdit saves, and those of minitopo, which builds multipath topologies.

use serde::Deserialize;
use serde_json::{Map, Value};
use subflow_quantity::{Duration, Packets, Probability, Rate};

use crate::attributes::milliseconds;
use crate::network::counted;
use crate::{ImportError, Link, Network, Node};

#[derive(Deserialize)]
struct MiniEdit {
    #[serde(default)]
    hosts: Vec<Thing>,
    #[serde(default)]
    switches: Vec<Thing>,
    #[serde(default)]
    controllers: Vec<Value>,
    #[serde(default)]
    links: Vec<MiniEditLink>,
}

#[derive(Deserialize)]
struct Thing {
    opts: ThingOptions,
}

#[derive(Deserialize)]
struct ThingOptions {
    hostname: String,
}

#[derive(Deserialize)]
struct MiniEditLink {
    src: String,
    dest: String,
    #[serde(default)]
    opts: Map<String, Value>,
}

pub(crate) fn read_miniedit(text: &str) -> Result<Network, ImportError> {
    let file: MiniEdit = serde_json::from_str(text)
        .map_err(|error| ImportError::damaged(format!("not what MiniEdit saves: {error}")))?;
    let node = |thing: &Thing, is_host| {
        let name = thing.opts.hostname.clone();
        Node { id: name.clone(), label: name, is_host, position: None }
    };
    let hosts = file.hosts.iter().map(|host| node(host, true));
    let nodes = hosts.chain(file.switches.iter().map(|switch| node(switch, false))).collect();
    let mut network = Network { nodes, ..Network::default() };
    if !file.controllers.is_empty() {
        let what = counted(file.controllers.len(), "controller");
        network.notes.push(format!("{what}: left out; [routing] chooses paths, or `run --on linux --switches ovs`"));
    }
    for link in &file.links {
        let ends = [network.place(&link.src)?, network.place(&link.dest)?];
        network.links.push(of_tc_link(ends, &link.opts));
        let known = ["bw", "delay", "loss", "max_queue_size"];
        for (key, value) in link.opts.iter().filter(|(key, _)| !known.contains(&&***key)) {
            network.notes.push(format!("{key} = {value} of the link {}-{}: left out", link.src, link.dest));
        }
    }
    Ok(network)
}

/// The options of Mininet's `TCLink`: Mbit/s, a delay as for tc, per cent, packets.
fn of_tc_link(ends: [usize; 2], options: &Map<String, Value>) -> Link {
    let text = |key: &str| match options.get(key)? {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let number = |key: &str| text(key)?.parse::<f64>().ok().filter(|number| *number > 0.0);
    Link {
        ends,
        rate: number("bw").and_then(mbit),
        delay: text("delay").and_then(|delay| tc_time(&delay)),
        loss: number("loss").and_then(percent),
        queue: number("max_queue_size").map(|packets| Packets::new(packets as u64)),
        backup: false,
    }
}

/// A time as tc takes it: a number without a unit is of microseconds.
fn tc_time(text: &str) -> Option<Duration> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let value: f64 = text[..end].parse().ok()?;
    match text[end..].trim() {
        "s" | "sec" | "secs" => milliseconds(value * 1e3),
        "ms" | "msec" | "msecs" => milliseconds(value),
        "" | "us" | "usec" | "usecs" => milliseconds(value / 1e3),
        _ => None,
    }
}

fn mbit(value: f64) -> Option<Rate> {
    (1e-6..=1e9).contains(&value).then(|| Rate::from_bits_per_second((value * 1e6).round() as u64))
}

fn percent(value: f64) -> Option<Probability> {
    Probability::nearest(value / 100.0).filter(|probability| probability.as_trillionths() > 0)
}

/// Lines of `key:value`. Each `path_c2r_N` is an interface of the client behind a link of its own to the router, each
/// `path_r2s_N` one of the server; where there are none, the server has one interface with an unlimited link.
pub(crate) fn read_minitopo(text: &str) -> Result<Network, ImportError> {
    let node = |name: &str, is_host| Node { id: name.to_owned(), label: name.to_owned(), is_host, position: None };
    let nodes = vec![node("client", true), node("server", true), node("router", false)];
    let (client, server, router) = (0, 1, 2);
    let mut network = Network { nodes, ..Network::default() };
    let mut paths: Vec<(String, usize, &str)> = Vec::new();
    for (number, line) in text.lines().map(str::trim).enumerate() {
        let Some((key, value)) = line.split_once(':').filter(|_| !line.starts_with('#')) else { continue };
        match key.split('_').collect::<Vec<_>>()[..] {
            ["path", _] | ["path", "c2r" | "r2s", _] => paths.push((key.to_owned(), number + 1, value)),
            ["topoType"] => value.clone_into(&mut network.title),
            ["leftSubnet" | "rightSubnet" | "desc" | "changeNetem"] => {}
            _ => network.notes.push(format!("{key}: left out")),
        }
    }
    // minitopo goes through its paths by name.
    paths.sort();
    for (key, line, value) in paths {
        let ends = if key.starts_with("path_r2s") { [router, server] } else { [client, router] };
        let link = minitopo_link(ends, value);
        let help = "expected delay in ms, queue in packets, Mbit/s, and perhaps per cent of loss and 1 for backup";
        network.links.push(link.ok_or_else(|| ImportError::new(format!("line {line}: {key}: found {value:?}"), help))?);
    }
    if !network.links.iter().any(|link| link.ends[1] == server) {
        // Faster than all paths together, which is what no shaping means.
        let total: u64 = network.links.iter().filter_map(|link| link.rate).map(Rate::bits_per_second).sum();
        let rate = Some(Rate::from_bits_per_second(total.saturating_mul(10)));
        let link = Link { ends: [router, server], rate, delay: Some(Duration::ZERO), ..Link::default() };
        network.links.push(link);
        network.notes.push("the server's link has ten times the rate of all paths together and no delay".to_owned());
    }
    Ok(network)
}

/// `delay,bandwidth` or `delay,queue,bandwidth[,loss[,backup]]`.
fn minitopo_link(ends: [usize; 2], value: &str) -> Option<Link> {
    let numbers: Vec<f64> = value.split(',').map(|number| number.trim().parse().ok()).collect::<Option<_>>()?;
    let (delay, queue, rate, loss, backup) = match numbers[..] {
        [delay, rate] => (delay, None, rate, 0.0, 0.0),
        [delay, queue, rate] => (delay, Some(queue), rate, 0.0, 0.0),
        [delay, queue, rate, loss] => (delay, Some(queue), rate, loss, 0.0),
        [delay, queue, rate, loss, backup] => (delay, Some(queue), rate, loss, backup),
        _ => return None,
    };
    // Without a queue: the bandwidth-delay product in packets of 1500 bytes.
    let queue = queue.unwrap_or_else(|| (rate * 1e6 / 8.0 * delay * 2.0 / 1e3 / 1500.0).ceil().max(1.0));
    Some(Link {
        ends,
        rate: Some(mbit(rate)?),
        delay: Some(milliseconds(delay)?),
        loss: percent(loss),
        queue: (1.0..=1e9).contains(&queue).then(|| Packets::new(queue as u64)),
        backup: backup != 0.0,
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const MINIEDIT: &str = r#"{"application": {"startCLI": "1"},
 "controllers": [{"opts": {"hostname": "c0"}}],
 "hosts": [{"number": "1", "opts": {"hostname": "h1", "nodeNum": 1}}, {"number": "2", "opts": {"hostname": "h2"}}],
 "links": [{"src": "h1", "dest": "s1", "opts": {"bw": 10, "delay": "5ms", "loss": 1, "max_queue_size": "50"}},
  {"src": "s1", "dest": "h2", "opts": {"bw": "2.5", "delay": "300", "speedup": 3}}],
 "switches": [{"number": "1", "opts": {"hostname": "s1", "switchType": "default"}}], "version": "2"}
"#;

    #[test]
    fn links_of_miniedit_have_the_units_of_tc() {
        let network = read_miniedit(MINIEDIT).expect("it is MiniEdit's");
        assert_eq!(network.nodes.iter().map(|node| node.is_host).collect::<Vec<_>>(), [true, true, false]);
        let first = &network.links[0];
        assert_eq!((first.rate, first.delay), (Some(Rate::from_mbit(10)), Some(Duration::from_millis(5))));
        assert_eq!((first.loss, first.queue), (Probability::nearest(0.01), Some(Packets::new(50))));
        let second = &network.links[1];
        assert_eq!(second.rate, Some(Rate::from_bits_per_second(2_500_000)));
        assert_eq!(second.delay, Some(Duration::from_micros(300)), "tc takes a bare number as microseconds");
        assert_eq!(network.notes.len(), 2, "{:?}", network.notes);
    }

    #[test]
    fn minitopo_has_an_interface_for_each_path() {
        let text = "leftSubnet:10.0.\nrightSubnet:10.1.\npath_c2r_0:10,10,4\npath_c2r_1:40,4\ntopoType:MultiIf\n";
        let network = read_minitopo(text).expect("it is minitopo's");
        assert_eq!(network.title, "MultiIf");
        let [first, second, server] = &network.links[..] else { panic!("{:?}", network.links) };
        assert_eq!((first.rate, first.queue), (Some(Rate::from_mbit(4)), Some(Packets::new(10))));
        // 4 Mbit/s for 80 ms are 40 000 bytes: 26.7 packets.
        assert_eq!((second.delay, second.queue), (Some(Duration::from_millis(40)), Some(Packets::new(27))));
        assert_eq!((server.ends, server.rate), ([2, 1], Some(Rate::from_mbit(80))));
        let backup = read_minitopo("topoType:MultiIf\npath_0:5,10,8,1.5,1\n").expect("it is minitopo's");
        assert_eq!((backup.links[0].loss, backup.links[0].backup), (Probability::nearest(0.015), true));
        let error = read_minitopo("topoType:MultiIf\npath_c2r_0:fast\n").expect_err("no numbers");
        assert_eq!(error.message, "line 2: path_c2r_0: found \"fast\"");
    }
}
