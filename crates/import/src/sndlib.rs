//! SNDlib, the library of test instances for the design of telecommunication networks (Orlowski and others, 2010): nodes
//! with coordinates, links with capacities, demands. It comes in XML and in a format of its own; others have converted
//! it to JSON.

use roxmltree::{Document, Node as Element};
use serde::Deserialize;
use subflow_quantity::Rate;

use crate::graphml::is;
use crate::{Demand, ImportError, Link, Network, Node, Position};

/// What the file says of numbers: of coordinates and of capacities.
struct Units {
    is_geographical: bool,
    /// The bits per second of a unit of capacity and demand.
    bits_per_second: f64,
}

impl Units {
    /// `unit` is that of `<meta>`; without one, megabits per second are assumed, and a note says so.
    fn new(unit: Option<&str>, is_geographical: bool, network: &mut Network) -> Self {
        let bits_per_second = match unit.map(str::trim) {
            Some("BITSPERSEC" | "BITPERSEC") => 1.0,
            Some("KBITPERSEC") => 1e3,
            Some("GBITPERSEC") => 1e9,
            Some("MBITPERSEC") => 1e6,
            _ => {
                network.notes.push("the file names no unit of capacities and demands: taken as Mbit/s".to_owned());
                1e6
            }
        };
        if !is_geographical {
            network.notes.push("coordinates are those of a drawing: no delay follows from them".to_owned());
        }
        Self { is_geographical, bits_per_second }
    }

    fn rate(&self, value: f64) -> Option<Rate> {
        let bits = value * self.bits_per_second;
        (1.0..=1e15).contains(&bits).then(|| Rate::from_bits_per_second(bits.round() as u64))
    }

    fn node(&self, id: &str, place: Option<(f64, f64)>) -> Node {
        let on_earth = |(longitude, latitude): &(f64, f64)| longitude.abs() <= 180.0 && latitude.abs() <= 90.0;
        let place = place.filter(|place| self.is_geographical && on_earth(place));
        let position = place.map(|(longitude, latitude)| Position { latitude, longitude });
        Node { id: id.to_owned(), label: id.to_owned(), is_host: false, position }
    }

    /// The capacity that is installed, else the smallest that can be.
    fn link(&self, ends: [usize; 2], installed: f64, modules: impl Iterator<Item = f64>) -> Link {
        let smallest = modules.filter(|capacity| *capacity > 0.0).min_by(f64::total_cmp);
        let rate = self.rate(installed).or_else(|| self.rate(smallest?));
        Link { ends, rate, ..Link::default() }
    }
}

pub(crate) fn read_xml(text: &str) -> Result<Network, ImportError> {
    let document = Document::parse(text).map_err(|error| ImportError::damaged(format!("not valid XML: {error}")))?;
    let all = |name: &'static str| document.descendants().filter(move |element| is(element, name));
    let mut network = Network::default();
    let unit = all("unit").next().and_then(|unit| unit.text());
    let is_geographical =
        all("nodes").next().and_then(|nodes| nodes.attribute("coordinatesType")) == Some("geographical");
    let units = Units::new(unit, is_geographical, &mut network);
    for element in all("node") {
        let id = element.attribute("id").ok_or_else(|| ImportError::damaged("a node has no id"))?;
        network.nodes.push(units.node(id, number(&element, "x").zip(number(&element, "y"))));
    }
    for element in all("link") {
        let ends = ends_of(&network, &element)?;
        let modules = element.descendants().filter(|child| is(child, "capacity"));
        let installed = element.children().find(|child| is(child, "preInstalledModule"));
        let installed = installed.and_then(|module| number(&module, "capacity")).unwrap_or(0.0);
        let modules = modules.filter_map(|capacity| capacity.text()?.trim().parse().ok());
        network.links.push(units.link(ends, installed, modules));
    }
    for element in all("demand") {
        let ends = ends_of(&network, &element)?;
        if let Some(rate) = number(&element, "demandValue").and_then(|value| units.rate(value)) {
            network.demands.push(Demand { ends, rate });
        }
    }
    Ok(network)
}

fn text_of<'a>(element: &Element<'a, '_>, name: &str) -> Option<&'a str> {
    element.descendants().find(|child| is(child, name))?.text().map(str::trim)
}

fn number(element: &Element<'_, '_>, name: &str) -> Option<f64> {
    text_of(element, name)?.parse().ok()
}

fn ends_of(network: &Network, element: &Element<'_, '_>) -> Result<[usize; 2], ImportError> {
    let place = |name| {
        let what = element.tag_name().name();
        let id = text_of(element, name).ok_or_else(|| ImportError::damaged(format!("a {what} has no {name}")))?;
        network.place(id)
    };
    Ok([place("source")?, place("target")?])
}

#[derive(Deserialize)]
struct Json {
    nodes: Vec<JsonNode>,
    links: Vec<JsonLink>,
    #[serde(default)]
    demands: Vec<JsonDemand>,
}

#[derive(Deserialize)]
struct JsonNode {
    id: String,
    #[serde(alias = "x")]
    longitude: Option<f64>,
    #[serde(alias = "y")]
    latitude: Option<f64>,
}

#[derive(Deserialize)]
struct JsonLink {
    source: String,
    target: String,
    #[serde(default, alias = "preInstalledCapacity")]
    pre_installed_capacity: f64,
    #[serde(default)]
    modules: Vec<JsonModule>,
}

#[derive(Deserialize)]
struct JsonModule {
    #[serde(alias = "capacity")]
    module_capacity: f64,
}

#[derive(Deserialize)]
struct JsonDemand {
    source: String,
    target: String,
    #[serde(alias = "demandValue")]
    demand_value: f64,
}

pub(crate) fn read_json(text: &str) -> Result<Network, ImportError> {
    let json: Json =
        serde_json::from_str(text).map_err(|error| ImportError::damaged(format!("not SNDlib's JSON: {error}")))?;
    let mut network = Network::default();
    let places = json.nodes.iter().map(|node| node.longitude.zip(node.latitude));
    let units = Units::new(None, are_degrees(places), &mut network);
    network.nodes = json.nodes.iter().map(|node| units.node(&node.id, node.longitude.zip(node.latitude))).collect();
    for link in &json.links {
        let ends = [network.place(&link.source)?, network.place(&link.target)?];
        let modules = link.modules.iter().map(|module| module.module_capacity);
        network.links.push(units.link(ends, link.pre_installed_capacity, modules));
    }
    for demand in &json.demands {
        let ends = [network.place(&demand.source)?, network.place(&demand.target)?];
        network.demands.extend(units.rate(demand.demand_value).map(|rate| Demand { ends, rate }));
    }
    Ok(network)
}

/// Whether numbers can be degrees: JSON and the native format do not say what coordinates are.
fn are_degrees(mut places: impl Iterator<Item = Option<(f64, f64)>>) -> bool {
    places.all(|place| place.is_none_or(|(longitude, latitude)| longitude.abs() <= 180.0 && latitude.abs() <= 90.0))
}

pub(crate) fn read_native(text: &str) -> Result<Network, ImportError> {
    let mut network = Network::default();
    let places: Vec<_> = section(text, "NODES").map(|(_, words)| (words[0], pair(&words[1..]))).collect();
    let unit = section(text, "META").find(|(_, words)| words[0] == "unit").and_then(|(_, words)| words.get(1).copied());
    let units = Units::new(unit, are_degrees(places.iter().map(|(_, place)| *place)), &mut network);
    network.nodes = places.into_iter().map(|(id, place)| units.node(id, place)).collect();
    for (line, words) in section(text, "LINKS") {
        let [_, source, target, installed, _, _, _, modules @ ..] = &words[..] else {
            return Err(ImportError::damaged(format!("line {line}: a link has too few values")));
        };
        let ends = [network.place(source)?, network.place(target)?];
        // Modules are pairs of a capacity and a cost.
        let modules = modules.iter().step_by(2).filter_map(|capacity| capacity.parse().ok());
        network.links.push(units.link(ends, installed.parse().unwrap_or(0.0), modules));
    }
    for (line, words) in section(text, "DEMANDS") {
        let [_, source, target, _, value, ..] = &words[..] else {
            return Err(ImportError::damaged(format!("line {line}: a demand has too few values")));
        };
        let ends = [network.place(source)?, network.place(target)?];
        network
            .demands
            .extend(value.parse().ok().and_then(|value| units.rate(value)).map(|rate| Demand { ends, rate }));
    }
    Ok(network)
}

fn pair(words: &[&str]) -> Option<(f64, f64)> {
    Some((words.first()?.parse().ok()?, words.get(1)?.parse().ok()?))
}

/// The lines of `NAME ( … )` with their numbers, without parentheses and `=`; each has a word at least.
fn section<'a>(text: &'a str, name: &str) -> impl Iterator<Item = (usize, Vec<&'a str>)> {
    let start =
        text.lines().position(|line| line.split_whitespace().eq([name, "("])).map_or(usize::MAX, |line| line + 1);
    let lines = text.lines().enumerate().skip(start).take_while(|(_, line)| line.trim() != ")");
    lines.filter_map(|(number, line)| {
        let words: Vec<&str> = line
            .split(|c: char| c.is_whitespace() || c == '(' || c == ')')
            .filter(|word| !word.is_empty() && *word != "=")
            .collect();
        let is_comment = words.first().is_none_or(|word| word.starts_with('#'));
        (!is_comment).then_some((number + 1, words))
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const XML: &str = r#"<?xml version="1.0" encoding="ISO-8859-1"?>
<network xmlns="http://sndlib.zib.de/network" version="1.0">
 <meta><unit>MBITPERSEC</unit></meta>
 <networkStructure>
  <nodes coordinatesType="geographical">
   <node id="A"><coordinates><x>-84.38</x><y>33.75</y></coordinates></node>
   <node id="B"><coordinates><x>-87.61</x><y>41.83</y></coordinates></node>
   <node id="C"><coordinates><x>-105.0</x><y>40.75</y></coordinates></node>
  </nodes>
  <links>
   <link id="L1"><source>A</source><target>B</target>
    <preInstalledModule><capacity>9920.0</capacity><cost>0.0</cost></preInstalledModule>
    <additionalModules><addModule><capacity>40000.0</capacity><cost>1</cost></addModule></additionalModules></link>
   <link id="L2"><source>B</source><target>C</target>
    <additionalModules><addModule><capacity>622.0</capacity><cost>1</cost></addModule>
     <addModule><capacity>155.0</capacity><cost>1</cost></addModule></additionalModules></link>
  </links>
 </networkStructure>
 <demands><demand id="D"><source>A</source><target>C</target><demandValue>12.5</demandValue></demand></demands>
</network>
"#;

    pub(crate) const JSON: &str = r#"{"nodes": [{"id": "A", "longitude": -84.38, "latitude": 33.75},
 {"id": "B", "longitude": -87.61, "latitude": 41.83}, {"id": "C", "longitude": -105.0, "latitude": 40.75}],
 "links": [{"id": "L1", "source": "A", "target": "B", "pre_installed_capacity": 9920.0,
   "modules": [{"module_capacity": 40000.0, "module_cost": 1}]},
  {"id": "L2", "source": "B", "target": "C",
   "modules": [{"module_capacity": 622.0, "module_cost": 1}, {"module_capacity": 155.0, "module_cost": 1}]}],
 "demands": [{"id": "D", "source": "A", "target": "C", "demand_value": 12.5}], "admissible_paths": []}
"#;

    pub(crate) const NATIVE: &str = "?SNDlib native format; type: network; version: 1.0
META (
  unit = MBITPERSEC
)
# <node_id> [(<longitude>, <latitude>)]
NODES (
  A ( -84.38 33.75 )
  B ( -87.61 41.83 )
  C ( -105.0 40.75 )
)
LINKS (
  L1 ( A B ) 9920.00 0.00 0.00 0.00 ( 40000.00 133.00 )
  # in two sizes
  L2 ( B C ) 0.00 0.00 0.00 0.00 ( 622.00 900.00 155.00 100.00 )
)
DEMANDS (
  D ( A C ) 1 12.50 UNLIMITED
)
";

    #[test]
    fn the_three_notations_of_an_instance_are_the_same_network() {
        let xml = read_xml(XML).expect("it is SNDlib's XML");
        assert_eq!(
            xml.links.iter().map(|link| (link.ends, link.rate)).collect::<Vec<_>>(),
            [([0, 1], Some(Rate::from_mbit(9920))), ([1, 2], Some(Rate::from_mbit(155))),]
        );
        assert_eq!(xml.demands, [Demand { ends: [0, 2], rate: Rate::from_bits_per_second(12_500_000) }]);
        assert_eq!(xml.nodes[0].position, Some(Position { latitude: 33.75, longitude: -84.38 }));
        assert_eq!(read_native(NATIVE), Ok(xml.clone()));
        let json = read_json(JSON).expect("it is SNDlib's JSON");
        assert_eq!(json.notes, ["the file names no unit of capacities and demands: taken as Mbit/s"]);
        assert_eq!(Network { notes: Vec::new(), ..json }, xml);
    }

    #[test]
    fn coordinates_of_a_drawing_are_no_positions() {
        let drawn = XML.replace("geographical", "pixel");
        let network = read_xml(&drawn).expect("it is SNDlib's XML");
        assert!(network.nodes.iter().all(|node| node.position.is_none()));
        assert!(network.notes[0].contains("drawing"));
        let large = NATIVE.replace("-105.0", "905.0");
        assert!(read_native(&large).expect("it is SNDlib").nodes.iter().all(|node| node.position.is_none()));
    }
}
