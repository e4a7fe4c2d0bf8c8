//! Ethernet frames that switches send to a controller.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use subflow_network::{flow_key, signal};
use subflow_policy::routing::{FlowKey, Signal, token_of};
use subflow_wire::tcp::TcpFlags;
use subflow_wire::{Body, Packet};

const ETHERNET_HEADER: usize = 14;
const ETHERTYPE_IPV4: [u8; 2] = [0x08, 0x00];

/// The 5-tuple of a flow: one direction of a connection, over IPv4.
#[pyclass(module = "subflow", frozen, eq, hash, ord, from_py_object)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Flow(pub(super) FlowKey);

#[pymethods]
impl Flow {
    #[new]
    #[pyo3(signature = (source, source_port, destination, destination_port, protocol=6))]
    fn new(source: &str, source_port: u16, destination: &str, destination_port: u16, protocol: u8) -> PyResult<Self> {
        let end = |address: &str, port| match address.parse::<Ipv4Addr>() {
            Ok(address) => Ok(SocketAddr::from((address, port))),
            Err(_) => Err(PyValueError::new_err(format!("found {address:?}, expected an IPv4 address"))),
        };
        let (source, destination) = (end(source, source_port)?, end(destination, destination_port)?);
        Ok(Self(FlowKey { source, destination, protocol }))
    }

    #[getter]
    fn source(&self) -> String {
        self.0.source.ip().to_string()
    }

    #[getter]
    fn source_port(&self) -> u16 {
        self.0.source.port()
    }

    #[getter]
    fn destination(&self) -> String {
        self.0.destination.ip().to_string()
    }

    #[getter]
    fn destination_port(&self) -> u16 {
        self.0.destination.port()
    }

    #[getter]
    fn protocol(&self) -> u8 {
        self.0.protocol
    }

    /// The other direction.
    fn reversed(&self) -> Self {
        Self(self.0.reversed())
    }

    fn __str__(&self) -> String {
        format!("{} > {}", self.0.source, self.0.destination)
    }

    fn __repr__(&self) -> String {
        format!("<subflow.Flow {}>", self.__str__())
    }
}

/// A TCP segment, as far as it matters to a controller.
#[pyclass(module = "subflow", frozen)]
pub(crate) struct FirstPacket {
    pub(super) flow: FlowKey,
    pub(super) signal: Signal,
    flags: TcpFlags,
}

#[pymethods]
impl FirstPacket {
    #[getter]
    fn flow(&self) -> Flow {
        Flow(self.flow)
    }

    /// ``capable``, ``capable-reply``, ``join`` or ``none``.
    #[getter]
    fn signal(&self) -> &'static str {
        match self.signal {
            Signal::None => "none",
            Signal::Capable => "capable",
            Signal::CapableReply { .. } => "capable-reply",
            Signal::Join { .. } => "join",
        }
    }

    /// The token of the connection: that of a join, or of the key in an answer.
    #[getter]
    fn token(&self) -> Option<u32> {
        match self.signal {
            Signal::Join { token } => Some(token),
            Signal::CapableReply { key } => Some(token_of(key)),
            Signal::None | Signal::Capable => None,
        }
    }

    /// Whether it is a SYN without ACK.
    #[getter]
    fn opens(&self) -> bool {
        self.flags.contains(TcpFlags::SYN) && !self.flags.contains(TcpFlags::ACK)
    }

    /// Whether it is a SYN with ACK.
    #[getter]
    fn answers(&self) -> bool {
        self.flags.contains(TcpFlags::SYN | TcpFlags::ACK)
    }
}

/// The TCP segment over IPv4 in an Ethernet frame; `None` for every other frame, and if it is malformed.
#[pyfunction]
pub(crate) fn read_frame(frame: &[u8]) -> Option<FirstPacket> {
    let (header, bytes) = frame.split_at_checked(ETHERNET_HEADER)?;
    if header[12..] != ETHERTYPE_IPV4 {
        return None;
    }
    let (packet, _) = Packet::parse_without_checksum(bytes).ok()?;
    let Body::Tcp(segment) = &packet.body else { return None };
    let IpAddr::V4(_) = packet.ip.source else { return None };
    Some(FirstPacket { flow: flow_key(&packet), signal: signal(&packet), flags: segment.flags })
}
