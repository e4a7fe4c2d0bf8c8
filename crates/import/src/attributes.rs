//! The attributes of nodes and edges in GraphML and GML, by the names that the Internet Topology Zoo and others use.

use subflow_quantity::{Duration, Probability, Rate};

use crate::{Link, Node, Position};

/// Attributes with their values as text, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Attributes(Vec<(String, String)>);

impl Attributes {
    pub(crate) fn push(&mut self, name: &str, value: &str) {
        self.0.push((name.to_lowercase(), value.trim().to_owned()));
    }

    /// The first value among these names, given in lower case, that is not empty.
    pub(crate) fn get(&self, names: &[&str]) -> Option<&str> {
        let values = names.iter().flat_map(|name| self.0.iter().filter(move |(own, _)| own == name));
        values.map(|(_, value)| &**value).find(|value| !value.is_empty())
    }

    fn number(&self, names: &[&str]) -> Option<f64> {
        self.get(names)?.parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// A node; its label is the id where there is none.
    pub(crate) fn node(&self, id: &str) -> Node {
        let place = (self.number(&["latitude", "lat"]), self.number(&["longitude", "lon", "lng"]));
        let position = match place {
            (Some(latitude), Some(longitude)) if latitude.abs() <= 90.0 && longitude.abs() <= 180.0 => {
                Some(Position { latitude, longitude })
            }
            _ => None,
        };
        let kind = self.get(&["device_type", "kind"]).unwrap_or_default();
        Node {
            id: id.to_owned(),
            label: self.get(&["label", "name"]).unwrap_or(id).to_owned(),
            is_host: matches!(kind, "host" | "server" | "client"),
            position,
        }
    }

    /// A link between two nodes.
    pub(crate) fn link(&self, ends: [usize; 2]) -> Link {
        let loss = self.number(&["loss", "error_rate"]).and_then(Probability::nearest);
        Link { ends, rate: self.rate(), delay: self.delay(), loss, ..Link::default() }
    }

    /// The Zoo's speed in bit/s, or in parts, or in the label; else a rate as text, or in Mbit/s.
    fn rate(&self) -> Option<Rate> {
        let raw = self.number(&["linkspeedraw"]).and_then(bits);
        let parts = || {
            let speed = self.get(&["linkspeed"])?;
            rate_in(&format!("{speed} {}bit/s", self.get(&["linkspeedunits"])?))
        };
        let text = || self.get(&["linklabel", "bandwidth", "capacity", "rate", "bw"]).and_then(rate_in);
        let number = || self.number(&["bandwidth", "capacity", "rate", "bw"]).and_then(|mbit| bits(mbit * 1e6));
        raw.or_else(parts).or_else(text).or_else(number)
    }

    /// A delay with its unit; a number is taken as milliseconds.
    fn delay(&self) -> Option<Duration> {
        let names = ["delay", "latency", "linkdelay"];
        let text = self.get(&names)?;
        text.parse().ok().or_else(|| milliseconds(self.number(&names)?))
    }
}

/// A rate above zero.
fn bits(bits_per_second: f64) -> Option<Rate> {
    (1.0..=1e15).contains(&bits_per_second).then(|| Rate::from_bits_per_second(bits_per_second.round() as u64))
}

/// A delay of up to a minute: more is no delay of a link.
pub(crate) fn milliseconds(value: f64) -> Option<Duration> {
    (0.0..=60_000.0).contains(&value).then(|| Duration::from_nanos((value * 1e6).round() as u64))
}

/// The first rate in a label: `10 Gbps`, `<2.5 Gbit/s`, `2x155Mbps`, `STM-16`, `OC-48`, `T3`.
pub(crate) fn rate_in(label: &str) -> Option<Rate> {
    let label = label.to_lowercase();
    hierarchy(&label).or_else(|| {
        let numbers = label.match_indices(|c: char| c.is_ascii_digit()).map(|(place, _)| place);
        let starts = numbers.filter(|place| !label[..*place].ends_with(|c: char| c.is_ascii_digit() || c == '.'));
        starts.into_iter().find_map(|start| with_unit(&label[start..]))
    })
}

/// Rates of the synchronous and plesiochronous digital hierarchies (ITU-T G.707 and G.702, ANSI T1.105).
fn hierarchy(label: &str) -> Option<Rate> {
    let multiple = |prefix: &str, kbit: u64| {
        let rest = &label[label.find(prefix)? + prefix.len()..];
        let digits: String = rest.trim_start_matches(['-', ' ']).chars().take_while(char::is_ascii_digit).collect();
        Some(Rate::from_bits_per_second(digits.parse::<u32>().ok().filter(|n| *n > 0)?.into()))
            .map(|n| Rate::from_bits_per_second(n.bits_per_second() * kbit * 1000))
    };
    const FIXED: [(&str, u64); 6] =
        [("e1", 2048), ("e3", 34_368), ("t1", 1544), ("t3", 44_736), ("ds1", 1544), ("ds3", 44_736)];
    let words = || label.split(|c: char| !c.is_ascii_alphanumeric());
    let fixed = || FIXED.into_iter().find(|(name, _)| words().any(|word| word == *name));
    let fixed = || fixed().map(|(_, kbit)| Rate::from_bits_per_second(kbit * 1000));
    multiple("stm", 155_520).or_else(|| multiple("oc", 51_840)).or_else(fixed)
}

/// A number and a unit of rate at the start of `text`.
fn with_unit(text: &str) -> Option<Rate> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..end].trim_end_matches('.').parse().ok()?;
    let unit = text[end..].trim_start();
    let scale = match unit.chars().next()? {
        'k' => 1e3,
        'm' => 1e6,
        'g' => 1e9,
        't' => 1e12,
        'b' => return unit.starts_with("bit").then(|| bits(number)).flatten(),
        _ => return None,
    };
    // `10 Ge` and `1 GigE` are Ethernet; `10 Km`, `5 ms` and `3 times` are no rates.
    let rest = &unit[1..];
    let is_rate = ["b", "e", "ig", "eg", "il"].iter().any(|start| rest.starts_with(start));
    (is_rate || rest.is_empty()).then(|| bits(number * scale)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> Attributes {
        let mut attributes = Attributes::default();
        pairs.iter().for_each(|(name, value)| attributes.push(name, value));
        attributes
    }

    #[test]
    fn rates_are_found_in_the_labels_of_the_zoo() {
        let mbit = |label: &str| rate_in(label).map(Rate::as_mbit);
        for (label, expected) in [
            ("10 Gbps", 10_000.0),
            ("<2.5 Gbit/s", 2500.0),
            ("155Mbps", 155.0),
            ("2 Mb/s", 2.0),
            ("STM-16", 2488.32),
            ("OC-48/c", 2488.32),
            ("T3 (45 Mbps)", 44.736),
            ("1 GigE", 1000.0),
            ("64 kbit/s", 0.064),
            ("100 GE", 100_000.0),
        ] {
            assert_eq!(mbit(label), Some(expected), "{label}");
        }
        for label in ["", "Dark fibre", "300 km", "5 ms", "3 times", "Lit Fibre"] {
            assert_eq!(mbit(label), None, "{label}");
        }
    }

    #[test]
    fn the_raw_speed_comes_before_its_parts_and_the_label() {
        let all = of(&[("LinkLabel", "5 Gbps"), ("LinkSpeedUnits", "M"), ("LinkSpeed", "34"), ("LinkSpeedRaw", "2e6")]);
        assert_eq!(all.link([0, 1]).rate, Some(Rate::from_mbit(2)));
        let parts = of(&[("LinkLabel", "5 Gbps"), ("LinkSpeedUnits", "M"), ("LinkSpeed", "34")]);
        assert_eq!(parts.link([0, 1]).rate, Some(Rate::from_mbit(34)));
        let other = of(&[("capacity", "40"), ("latency", "3.5"), ("loss", "0.01")]).link([0, 1]);
        assert_eq!(other.rate, Some(Rate::from_mbit(40)));
        assert_eq!(other.delay, Some(Duration::from_micros(3500)));
        assert_eq!(other.loss, Probability::nearest(0.01));
    }

    #[test]
    fn positions_off_the_earth_are_none() {
        let node = of(&[("Latitude", "12.5"), ("Longitude", "-71"), ("label", "")]).node("n7");
        assert_eq!((node.label.as_str(), node.position), ("n7", Some(Position { latitude: 12.5, longitude: -71.0 })));
        assert_eq!(of(&[("Latitude", "512.5"), ("Longitude", "-71")]).node("n7").position, None);
        assert_eq!(of(&[("Latitude", "NaN"), ("Longitude", "-71")]).node("n7").position, None);
    }
}
