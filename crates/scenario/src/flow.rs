//! Traffic: the ends of each flow, its protocol, and the data that it sends.

use std::net::IpAddr;
use std::sync::Arc;

use rand_pcg::Pcg64Mcg;
use subflow_network::stream;
use subflow_policy::congestion::Algorithm;
use subflow_policy::path_manager::PathManagement;
use subflow_policy::scheduler::Scheduling;
use subflow_quantity::{Duration, Rate};
use subflow_transport::quic::Priority;
use subflow_transport::sctp::config::Reliability;
use subflow_transport::tcp::TcpOptions;
use subflow_transport::{mptcp, quic, sctp, tcp};
use subflow_wire::Dscp;

use crate::{InterfaceIndex, Period, PlannedExchange, PlannedStream, Reading, SizeDistribution, Video, Writing};

/// One connection (or stream of datagrams) from a host to another.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Its name in the scenario; with `count`, the name, a dot and a number counted from 1.
    pub name: String,
    /// The name in the scenario of a flow that is one of `count`.
    pub group: Option<String>,
    /// Interface of the host that opens the connection and sends; the initial subflow leaves here.
    pub from: InterfaceIndex,
    /// Whether the scenario names this interface: the connection then leaves from its address, whatever happens.
    /// Otherwise it leaves from another one if the host does not have that address when the connection is opened.
    pub fixed_source: bool,
    /// Interface whose address the connection is opened to.
    pub to: InterfaceIndex,
    /// The addresses that it goes from and to: the first ones of the same family that the two interfaces have.
    pub addresses: [IpAddr; 2],
    /// Port at `to`; no two flows share one on the same host.
    pub port: u16,
    /// Port at `from`; chosen by the stack where absent.
    pub source_port: Option<u16>,
    /// The differentiated services codepoint of its packets, of both ends.
    pub dscp: Dscp,
    /// TCP, MPTCP, SCTP, QUIC or UDP, and the algorithms.
    pub protocol: Protocol,
    /// What is sent.
    pub traffic: Traffic,
    /// How the application that sends the data of a transfer writes it; at once where absent.
    pub write: Option<Writing>,
    /// How the application that receives the data reads it; at once where absent.
    pub read: Option<Reading>,
    /// When the flow opens its connection.
    pub start: Duration,
    /// The time from there to the first data.
    pub send_after: Duration,
    /// When it stops to send, where it does before the run ends; after `start`.
    pub stop: Option<Duration>,
}

impl Flow {
    /// Its name in the scenario file, which all flows of a group have in common.
    pub fn key(&self) -> &str {
        self.group.as_deref().unwrap_or(&self.name)
    }

    /// When it begins to send.
    pub fn sends_from(&self) -> Duration {
        self.start.saturating_add(self.send_after)
    }

    /// The index of the host that sends the flow's data: the one that responds, of requests and responses.
    pub fn data_sender(&self) -> usize {
        if self.is_answered() { self.to.host } else { self.from.host }
    }

    /// Whether the data are responses, so that the end that was connected to sends them.
    pub fn is_answered(&self) -> bool {
        matches!(self.traffic, Traffic::RequestResponse { .. } | Traffic::Video(_) | Traffic::Exchanges(_))
    }

    /// Its exchanges, if they are listed and wait for each other.
    pub fn planned_exchanges(&self) -> Option<&Arc<[PlannedExchange]>> {
        if let Traffic::Exchanges(exchanges) = &self.traffic { Some(exchanges) } else { None }
    }

    /// What its player plays, if it streams.
    pub fn video(&self) -> Option<&Video> {
        if let Traffic::Video(video) = &self.traffic { Some(video) } else { None }
    }

    /// The time after which its exchanges are late.
    pub fn deadline(&self) -> Option<Duration> {
        match self.traffic {
            Traffic::RequestResponse { deadline, .. } => deadline,
            _ => None,
        }
    }

    /// The host at its other end, if `host` is at one of them.
    pub fn peer_of(&self, host: usize) -> Option<usize> {
        match host {
            host if host == self.from.host => Some(self.to.host),
            host if host == self.to.host => Some(self.from.host),
            _ => None,
        }
    }

    /// The sizes of its exchanges in the run with `seed`, in order; `None` if it has no exchanges, or lists them. Both
    /// ends draw the same.
    pub fn exchange_sizes(&self, seed: u64) -> Option<ExchangeSizes> {
        let rng = || stream(seed, &format!("exchanges of {}", self.name));
        match &self.traffic {
            Traffic::RequestResponse { request, response, .. } => {
                Some(ExchangeSizes { request: request.clone(), response: response.clone(), rng: rng() })
            }
            // The player chooses the sizes of responses.
            Traffic::Video(video) => {
                let [request, response] = [video.request, video.largest()].map(SizeDistribution::Constant);
                Some(ExchangeSizes { request, response, rng: rng() })
            }
            Traffic::Bulk { .. } | Traffic::OnOff { .. } | Traffic::Exchanges(_) | Traffic::Streams(_) => None,
        }
    }

    /// The streams that it sends data on, if they are listed.
    pub fn planned_streams(&self) -> Option<&Arc<[PlannedStream]>> {
        if let Traffic::Streams(streams) = &self.traffic { Some(streams) } else { None }
    }

    /// Whether its data is on several streams, each of which is read in its own order.
    pub fn has_streams(&self) -> bool {
        matches!(self.traffic, Traffic::Streams(_) | Traffic::RequestResponse { streams: Some(_), .. })
    }

    /// Whether data may be delivered before earlier data, or earlier data never (SCTP's unordered messages and partial
    /// reliability, several streams of QUIC).
    pub fn may_deliver_out_of_order(&self) -> bool {
        let is_unordered = self.protocol.sctp().is_some_and(|sctp| sctp.ends.from.message.unordered);
        is_unordered || self.may_give_up() || self.has_streams()
    }

    /// Its congestion control, which both ends have; `None` for UDP.
    pub fn congestion(&self) -> Option<&Algorithm> {
        match &self.protocol {
            Protocol::Tcp(ends) => Some(&ends.from.congestion),
            Protocol::Mptcp(mptcp) => Some(&mptcp.ends.from.congestion),
            Protocol::Sctp(sctp) => Some(&sctp.ends.from.congestion),
            Protocol::Quic(quic) => Some(&quic.ends.from.congestion),
            Protocol::Udp => None,
        }
    }

    /// Whether what it sends may be given up instead of sent again (partial reliability of SCTP).
    pub fn may_give_up(&self) -> bool {
        self.protocol.sctp().is_some_and(|sctp| sctp.ends.from.message.reliability != Reliability::Full)
    }
}

/// The protocol of a flow, with the configuration of each end. The algorithms in it are prototypes: each connection
/// takes a clone.
#[derive(Clone, Debug)]
pub enum Protocol {
    /// Plain TCP.
    Tcp(PerEnd<TcpOptions>),
    /// Multipath TCP, version 1.
    Mptcp(Mptcp),
    /// SCTP, with or without concurrent multipath transfer.
    Sctp(Sctp),
    /// QUIC, over one path or several.
    Quic(Quic),
    /// Datagrams, no control.
    Udp,
}

impl Protocol {
    /// Its name in a scenario.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Tcp(_) => "tcp",
            Self::Mptcp(_) => "mptcp",
            Self::Sctp(_) => "sctp",
            Self::Quic(quic) if quic.is_multipath() => "mpquic",
            Self::Quic(_) => "quic",
            Self::Udp => "udp",
        }
    }

    /// The flow, if it is an MPTCP flow.
    pub fn mptcp(&self) -> Option<&Mptcp> {
        if let Self::Mptcp(mptcp) = self { Some(mptcp) } else { None }
    }

    /// The flow, if it is an SCTP flow.
    pub fn sctp(&self) -> Option<&Sctp> {
        if let Self::Sctp(sctp) = self { Some(sctp) } else { None }
    }

    /// The flow, if it is a QUIC flow.
    pub fn quic(&self) -> Option<&Quic> {
        if let Self::Quic(quic) = self { Some(quic) } else { None }
    }

    /// What several paths of QUIC have in addition.
    fn multipath_quic(&self) -> Option<&quic::MultipathConfig> {
        self.quic()?.ends.from.multipath.as_ref()
    }

    /// Subflows or paths that the opening end makes by itself, next to those of the path manager.
    pub fn subflows(&self) -> &[SubflowPlan] {
        match self {
            Self::Mptcp(mptcp) => &mptcp.subflows,
            Self::Quic(quic) => &quic.subflows,
            Self::Tcp(_) | Self::Sctp(_) | Self::Udp => &[],
        }
    }

    /// Whether it sends datagrams, without a connection.
    pub fn is_udp(&self) -> bool {
        matches!(self, Self::Udp)
    }

    /// The TCP configuration of each end, if its connections are those of TCP, with MPTCP or without.
    pub fn tcp(&self) -> Option<PerEnd<&tcp::Config>> {
        match self {
            Self::Tcp(PerEnd { from, to }) => Some(PerEnd { from: &from.config, to: &to.config }),
            Self::Mptcp(Mptcp { ends: PerEnd { from, to }, .. }) => Some(PerEnd { from: &from.tcp, to: &to.tcp }),
            Self::Sctp(_) | Self::Quic(_) | Self::Udp => None,
        }
    }

    /// The packet scheduler that the scenario names, of both ends.
    pub fn scheduler(&self) -> Option<&Scheduling> {
        match self {
            Self::Mptcp(mptcp) => Some(&mptcp.ends.from.scheduler),
            Self::Sctp(sctp) => sctp.scheduler.as_ref(),
            Self::Quic(_) => self.multipath_quic().map(|multipath| &multipath.scheduler),
            Self::Tcp(_) | Self::Udp => None,
        }
    }

    /// The path manager of both ends.
    pub fn path_manager(&self) -> Option<&PathManagement> {
        let of_mptcp = self.mptcp().map(|mptcp| &mptcp.ends.from.path_manager);
        of_mptcp.or_else(|| self.multipath_quic().map(|multipath| &multipath.path_manager))
    }

    /// Whether a connection may use all interfaces of its hosts, not only those that the flow names.
    pub fn is_multipath(&self) -> bool {
        matches!(self, Self::Mptcp(_) | Self::Sctp(_)) || self.multipath_quic().is_some()
    }

    /// The largest IP packet of a connection at [`Flow::from`], in bytes; `None` for datagrams.
    pub fn mtu(&self) -> Option<u32> {
        match self {
            Self::Tcp(ends) => Some(ends.from.config.mtu.into()),
            Self::Mptcp(mptcp) => Some(mptcp.ends.from.tcp.mtu.into()),
            Self::Sctp(sctp) => Some(sctp.ends.from.mtu),
            Self::Quic(quic) => Some(quic.ends.from.mtu),
            Self::Udp => None,
        }
    }
}

/// One value for each end of a flow.
#[derive(Clone, Debug)]
pub struct PerEnd<T> {
    /// That of [`Flow::from`].
    pub from: T,
    /// That of [`Flow::to`].
    pub to: T,
}

/// An MPTCP flow.
#[derive(Clone, Debug)]
pub struct Mptcp {
    /// The configuration of each end.
    pub ends: PerEnd<Arc<mptcp::Config>>,
    /// Subflows that the opening end makes by itself, next to those of the path manager.
    pub subflows: Vec<SubflowPlan>,
}

/// An SCTP flow.
#[derive(Clone, Debug)]
pub struct Sctp {
    /// The configuration of each end.
    pub ends: PerEnd<Arc<sctp::Config>>,
    /// The scheduler that the scenario names. Ends with concurrent multipath transfer distribute data by it.
    pub scheduler: Option<Scheduling>,
}

/// A QUIC flow.
#[derive(Clone, Debug)]
pub struct Quic {
    /// The configuration of each end.
    pub ends: PerEnd<Arc<quic::Config>>,
    /// Paths that the opening end opens by itself, next to those of the path manager; none with one path.
    pub subflows: Vec<SubflowPlan>,
}

impl Quic {
    /// Whether its connections have several paths.
    pub fn is_multipath(&self) -> bool {
        self.ends.from.multipath.is_some()
    }
}

/// A subflow named in the scenario, opened as soon as the connection is established.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubflowPlan {
    /// Interface of the opening host.
    pub from: InterfaceIndex,
    /// Interface of the other host.
    pub to: InterfaceIndex,
    /// The addresses of both ends, as [`Flow::addresses`].
    pub addresses: [IpAddr; 2],
    /// Local port; chosen by the stack where absent.
    pub source_port: Option<u16>,
    /// Whether it is a backup.
    pub backup: bool,
}

/// What a flow sends.
#[derive(Clone, Debug, PartialEq)]
pub enum Traffic {
    /// One piece of data, as fast as the transport lets it, from [`Flow::from`] to [`Flow::to`].
    Bulk {
        /// How many bytes; `None` for as much as goes until the flow stops.
        bytes: Option<u64>,
    },
    /// Packets of one size at a constant rate while on, nothing while off, beginning with on. UDP only.
    OnOff {
        /// Payload rate while on.
        rate: Rate,
        /// Payload bytes of a packet.
        packet: u32,
        /// How long an on period lasts.
        on: Period,
        /// How long an off period lasts; a constant zero makes a constant bit rate.
        off: Period,
    },
    /// A request goes to [`Flow::to`], a response comes back, and after a pause the next request goes, all over one
    /// connection. Not for UDP.
    RequestResponse {
        /// Bytes of each request.
        request: SizeDistribution,
        /// Bytes of each response.
        response: SizeDistribution,
        /// How many exchanges; `None` for as many as there is time for.
        count: Option<u64>,
        /// Pause between the end of a response and the next request, unless there is `every`.
        think: Period,
        /// Time from one request to the next, which then waits for no response; the first one goes when the connection is
        /// established.
        every: Option<Period>,
        /// An exchange that takes longer is late.
        deadline: Option<Duration>,
        /// If each exchange has a stream of its own (QUIC): the priority of its messages.
        streams: Option<Priority>,
    },
    /// Pieces of data, each on a stream of its own, from [`Flow::from`] to [`Flow::to`]. Of QUIC.
    Streams(Arc<[PlannedStream]>),
    /// Chunks of a video, which a player at [`Flow::from`] requests one after the other over one connection. Not for UDP.
    Video(Video),
    /// The exchanges of a list, each as soon as those have ended that it waits for, of this flow or of others. Responses
    /// come in the order in which the far end has them. Not for UDP.
    Exchanges(Arc<[PlannedExchange]>),
}

/// The sizes of a flow's exchanges in one run, one after the other. They do not end.
#[derive(Clone, Debug)]
pub struct ExchangeSizes {
    request: SizeDistribution,
    response: SizeDistribution,
    rng: Pcg64Mcg,
}

/// One request and its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Bytes of the request.
    pub request: u64,
    /// Bytes of the response.
    pub response: u64,
}

impl ExchangeSizes {
    /// The next exchange.
    pub fn draw(&mut self) -> Exchange {
        Exchange { request: self.request.draw(&mut self.rng), response: self.response.draw(&mut self.rng) }
    }
}
