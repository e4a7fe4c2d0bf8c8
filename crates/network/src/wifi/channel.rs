//! The WiFi channels of a network: which links are on them, and which of those are one station.

use rand_pcg::Pcg64Mcg;
use subflow_quantity::Instant;

use super::WifiConfig;
use super::contention::Contention;
use crate::routing::Node;

/// The channels of a network.
#[derive(Debug, Default)]
pub(crate) struct Channels {
    pub(super) all: Vec<Channel>,
    /// By link: its station. Empty without channels.
    seats: Vec<Option<Seat>>,
}

/// A link's place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seat {
    pub(super) channel: usize,
    pub(super) station: usize,
}

#[derive(Debug)]
pub(super) struct Channel {
    name: String,
    pub(super) contention: Contention,
    pub(super) stations: Vec<Station>,
    /// The event of the next access that counts.
    pub(super) scheduled: Option<Access>,
}

/// The links of a station.
#[derive(Debug)]
pub(super) struct Station {
    sender: Node,
    pub(super) links: Vec<u32>,
    /// Where the next search for a link with frames begins.
    pub(super) turn: usize,
}

/// A scheduled access to a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(super) channel: u32,
    pub(super) at: Instant,
}

impl Channels {
    /// Whether the network has any.
    pub(crate) const fn are_any(&self) -> bool {
        !self.all.is_empty()
    }

    /// The place of link `index`, if it is over a channel.
    pub(super) fn seat(&self, index: u32) -> Option<Seat> {
        self.seats.get(index as usize).copied().flatten()
    }

    /// Adds link `index` to the channel of `config`, and to the station of `sender` there.
    pub(super) fn join(&mut self, config: &WifiConfig, index: u32, sender: Node, random: Pcg64Mcg) {
        let number = self.all.iter().position(|channel| *channel.name == *config.channel).unwrap_or_else(|| {
            let contention = Contention::new(config.standard.slot_time(), config.standard.sifs());
            let name = config.channel.to_string();
            self.all.push(Channel { name, contention, stations: Vec::new(), scheduled: None });
            self.all.len() - 1
        });
        let channel = &mut self.all[number];
        let known = channel.stations.iter().position(|station| station.sender == sender);
        let station = known.unwrap_or_else(|| {
            channel.stations.push(Station { sender, links: Vec::new(), turn: 0 });
            channel.contention.add(config.contention, random)
        });
        channel.stations[station].links.push(index);
        self.seats.resize(self.seats.len().max(index as usize + 1), None);
        self.seats[index as usize] = Some(Seat { channel: number, station });
    }
}
