//! A network as the text of a scenario.

use subflow_quantity::{Duration, Packets, Rate};
use subflow_scenario::builder::{LinkBuilder, Options, ScenarioBuilder};
use subflow_scenario::file::FASTEST_RATE;

use crate::names::Names;
use crate::network::counted;
use crate::{ImportError, Network, distance};

/// What the user chooses.
#[derive(Clone, Debug, PartialEq)]
pub struct Choices {
    /// The rate of links of which the file says nothing.
    pub rate: Rate,
    /// The delay of links of which the file says nothing, neither as a delay nor by places.
    pub delay: Duration,
    /// The speed of light in the fibre, in km/s; the default is 200 000, a refractive index of 1.5.
    pub km_per_second: f64,
    /// All rates are multiplied by this, links' and demands'.
    pub scale: f64,
    /// The queue of links of which the file says nothing; by default that of every link of a scenario.
    pub queue: Option<Packets>,
    /// The nodes that the connection joins. Default: the two that are farthest apart.
    pub between: Option<[String; 2]>,
    /// Whether the file's demands become flows.
    pub demands: bool,
}

impl Default for Choices {
    fn default() -> Self {
        Self {
            rate: Rate::from_mbit(1000),
            delay: Duration::from_millis(1),
            km_per_second: 200_000.0,
            scale: 1.0,
            queue: None,
            between: None,
            demands: true,
        }
    }
}

/// A scenario that was made of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The text of the scenario; its first lines, comments, are the notes.
    pub text: String,
    /// What was assumed and what was left out, a line each.
    pub notes: Vec<String>,
}

/// Writes the scenario. `subflow check` accepts what it returns.
pub fn scenario(network: &Network, choices: &Choices) -> Result<Imported, ImportError> {
    let writer = Writer::new(network, choices);
    writer.require_rates()?;
    let Writer { builder, notes, .. } = writer.with_nodes_and_links().with_traffic()?;
    checked(&builder, notes)
}

/// The text of a scenario with its notes as comments. Fails if the reader of scenarios does not accept it.
pub(crate) fn checked(builder: &ScenarioBuilder, notes: Vec<String>) -> Result<Imported, ImportError> {
    match builder.text_with_notes("Written by `subflow import`.", &notes) {
        Ok(text) => Ok(Imported { text, notes }),
        Err(problem) => Err(ImportError::new(
            format!("no scenario can be made of the file: {problem}"),
            "--scale makes all rates smaller; --rate and --delay are for what the file lacks",
        )),
    }
}

/// A scenario in the making.
pub(crate) struct Writer<'a> {
    pub(crate) network: &'a Network,
    pub(crate) choices: &'a Choices,
    /// The rate and the delay of each link.
    pub(crate) rates: Vec<Rate>,
    pub(crate) delays: Vec<Duration>,
    pub(crate) names: Names,
    /// The name of each node.
    pub(crate) nodes: Vec<String>,
    pub(crate) builder: ScenarioBuilder,
    pub(crate) notes: Vec<String>,
}

impl<'a> Writer<'a> {
    fn new(network: &'a Network, choices: &'a Choices) -> Self {
        let mut notes = network.notes.clone();
        let (rates, delays) = (rates(network, choices, &mut notes), delays(network, choices, &mut notes));
        let mut names = Names::default();
        let nodes = network.nodes.iter().map(|node| names.of(&node.label)).collect();
        let builder = ScenarioBuilder::new("imported").set("title", network.title.as_str());
        Self { network, choices, rates, delays, names, nodes, builder, notes }
    }

    /// No link is faster than those of a scenario can be.
    fn require_rates(&self) -> Result<(), ImportError> {
        let Some((place, rate)) = self.rates.iter().enumerate().max_by_key(|(_, rate)| **rate) else { return Ok(()) };
        if *rate <= FASTEST_RATE {
            return Ok(());
        }
        let [first, second] = self.network.links[place].ends.map(|end| self.network.nodes[end].label.as_str());
        let fit = self.choices.scale * FASTEST_RATE.bits_per_second() as f64 / rate.bits_per_second() as f64;
        // Rounded down to one digit, so that it fits.
        let digit = 10_f64.powf(fit.log10().floor());
        let (scale, decimals) = ((fit / digit).floor() * digit, (-digit.log10()).max(0.0).round() as usize);
        Err(ImportError::new(
            format!("the link between {first} and {second} has {rate}, expected at most {FASTEST_RATE}"),
            format!("--scale {scale:.decimals$} makes all rates smaller, also those of demands"),
        ))
    }

    /// The interfaces of a host: one for each of its links, with whether it is a backup.
    fn interfaces(&self, host: usize) -> Vec<(String, bool)> {
        let links: Vec<_> = self.network.links.iter().filter(|link| link.ends.contains(&host)).collect();
        match &links[..] {
            [only] => vec![("eth".to_owned(), only.backup)],
            several => several.iter().enumerate().map(|(n, link)| (format!("eth{n}"), link.backup)).collect(),
        }
    }

    fn with_nodes_and_links(mut self) -> Self {
        let mut unused: Vec<_> = (0..self.nodes.len()).map(|node| self.interfaces(node).into_iter()).collect();
        for (place, (node, name)) in self.network.nodes.iter().zip(&self.nodes).enumerate() {
            let interfaces = self.interfaces(place);
            self.builder = match node.is_host {
                true => {
                    let of_one = |(name, is_backup): (String, bool)| {
                        let interface = Options::new().set("name", name);
                        if is_backup { interface.set("backup", true) } else { interface }
                    };
                    self.builder.host(name, interfaces.into_iter().map(of_one))
                }
                false => self.builder.router(name),
            };
        }
        if self.network.has_equal_paths {
            self.builder = self.builder.set("routing", Options::new().set("mode", "ecmp-flow"));
        }
        for ((link, rate), delay) in self.network.links.iter().zip(&self.rates).zip(&self.delays) {
            let [first, second] = link.ends.map(|end| match unused[end].next() {
                Some((interface, _)) if self.network.nodes[end].is_host => format!("{}.{interface}", self.nodes[end]),
                _ => self.nodes[end].clone(),
            });
            let mut written = LinkBuilder::between(&first, &second).rate(*rate).delay(*delay);
            if let Some(queue) = link.queue.or(self.choices.queue) {
                written = written.queue(queue);
            }
            if let Some(loss) = link.loss {
                written = written.loss(loss);
            }
            let name = self.names.of_link(&self.nodes[link.ends[0]], &self.nodes[link.ends[1]]);
            self.builder = self.builder.link(&name, written);
        }
        self
    }
}

/// The rate of each link, scaled.
fn rates(network: &Network, choices: &Choices, notes: &mut Vec<String>) -> Vec<Rate> {
    let unknown = network.links.iter().filter(|link| link.rate.is_none()).count();
    if unknown > 0 {
        let of = network.links.len();
        notes.push(format!("{unknown} of {} without a rate: {}", counted(of, "link"), choices.rate));
    }
    network.links.iter().map(|link| scaled(link.rate.unwrap_or(choices.rate), choices.scale)).collect()
}

/// A rate multiplied by `scale`, at least 1 bit/s.
pub(crate) fn scaled(rate: Rate, scale: f64) -> Rate {
    let bits = (rate.bits_per_second() as f64 * scale).round();
    Rate::from_bits_per_second((bits as u64).max(1))
}

/// The delay of each link: of the file, else by the distance, else the default.
fn delays(network: &Network, choices: &Choices, notes: &mut Vec<String>) -> Vec<Duration> {
    let (mut by_distance, mut unknown) = (0, 0);
    let delays = network.links.iter().map(|link| {
        link.delay.unwrap_or_else(|| match distance::propagation(network, link.ends, choices.km_per_second) {
            Some(delay) => {
                by_distance += 1;
                delay
            }
            None => {
                unknown += 1;
                choices.delay
            }
        })
    });
    let delays = delays.collect();
    if by_distance > 0 {
        let speed = choices.km_per_second;
        notes.push(format!("the delay of {}: great-circle distance at {speed} km/s", counted(by_distance, "link")));
    }
    if unknown > 0 {
        let of = counted(network.links.len(), "link");
        notes.push(format!("{unknown} of {of} without a delay or the places of both ends: {}", choices.delay));
    }
    delays
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    const LINE: &str = "graph [ node [ id 0 label \"A\" Latitude 0 Longitude 0 ]\n\
        node [ id 1 label \"B\" Latitude 0 Longitude 9 ] node [ id 2 label \"C\" ] node [ id 3 label \"D\" ]\n\
        edge [ source 0 target 1 LinkSpeedRaw 1e7 ] edge [ source 1 target 2 ] ]";

    fn imported(choices: &Choices) -> Imported {
        scenario(&read(LINE.as_bytes(), "line.gml").expect("it is GML"), choices).expect("a scenario")
    }

    #[test]
    fn what_the_file_does_not_say_is_stated_in_the_scenario() {
        let Imported { text, notes } = imported(&Choices::default());
        // Nine degrees of the equator are 1000.8 km.
        assert!(
            text.contains("A-B = { between = [\"A\", \"B\"], rate = \"10 Mbit/s\", delay = \"5004 us\" }"),
            "{text}"
        );
        assert!(text.contains("B-C = { between = [\"B\", \"C\"], rate = \"1 Gbit/s\", delay = \"1 ms\" }"), "{text}");
        assert_eq!(
            notes,
            [
                "1 node without a link: left out (D)",
                "1 of 2 links without a rate: 1 Gbit/s",
                "the delay of 1 link: great-circle distance at 200000 km/s",
                "1 of 2 links without a delay or the places of both ends: 1 ms",
                "a TCP connection between A and C, the nodes that are farthest apart",
            ]
        );
        assert!(notes.iter().all(|note| text.contains(&format!("# - {note}\n"))));
    }

    #[test]
    fn choices_replace_defaults_and_rates_can_be_scaled() {
        let choices = Choices {
            rate: Rate::from_mbit(40),
            scale: 0.5,
            queue: Some(Packets::new(40)),
            between: Some(["B".into(), "C".into()]),
            ..Choices::default()
        };
        let Imported { text, .. } = imported(&choices);
        assert!(text.contains("rate = \"5 Mbit/s\"") && text.contains("rate = \"20 Mbit/s\""), "{text}");
        assert_eq!(
            text.matches("queue = \"40 packets\"").count(),
            2,
            "the links of hosts that are added have none: {text}"
        );
        assert!(text.contains("from = \"B-host\", to = \"C-host\""), "{text}");
        let network = read(LINE.as_bytes(), "line.gml").expect("it is GML");
        let between =
            |first: &str, second: &str| Choices { between: Some([first.into(), second.into()]), ..Choices::default() };
        assert!(scenario(&network, &between("A", "X")).expect_err("no X").help.contains("A, B, C"));
        assert!(scenario(&network, &between("A", "A")).is_err());
    }
}
