//! All keys of a scenario file: values, meanings and defaults, and the names that they accept.
//!
//! This schema is the only place that defines them, with `crate::switches` for the keys of stacks. The
//! parser rejects keys that are not in it and takes defaults and names from it; the reference
//! (`scenarios/REFERENCE.md`) and the JSON Schema for editors are printed from it.

mod energy;
mod flows;
mod form;
mod general;
mod json;
mod network;
mod programs;
mod reference;
mod topology;
mod traffic;
mod wifi;

use std::sync::LazyLock;

pub(crate) use crate::axes::AXIS_UNITS;
use crate::switches::{acknowledgments, buffers, mptcp, quic, sctp, tcp};
pub use crate::table::{Default, FieldSchema, Kind, TableSchema};
pub(crate) use energy::{ENERGY, RADIOS};
pub(crate) use flows::{
    BOTTLENECK, CONGESTION, COUPLINGS, Coupling, FAMILIES, FLOW, PATH_MANAGER, PATTERNS, Pattern, SCHEDULER, SUBFLOW,
};
pub use general::Sampling;
pub(crate) use general::{
    AXIS, DESIGN, DESIGNS, EVENT, EVENT_DIRECTIONS, HANDOVERS, LOSS_UNITS, RATE_UNITS, ROOT, TIME_UNITS, TRACE,
};
pub use json::json_schema;
pub(crate) use network::{
    INITIAL_SUBFLOWS, RETURN_PATHS, ROUTER, ROUTER_MODES, ROUTING, SHAPES, ShapeKind, TIES, TOPOLOGY, routing_modes,
};
pub(crate) use programs::{AFTER, PROGRAM};
pub use reference::reference;
pub(crate) use topology::{
    DIRECTIONS, DISTRIBUTIONS, HOST, HOST_STACKS, INTERFACE, JITTER, LINK, LOSS, LOSS_POSITIONS, MIDDLEBOX, QUEUE,
    RATE, REORDER,
};

pub(crate) use traffic::{
    EXCHANGE, ON_OFF, PAUSE, PERIOD, READ, REQUEST_STREAMS, REQUESTS, RequestStreams, SIZES, STREAM, VIDEO, WRITE,
};
pub(crate) use wifi::WIFI_STANDARDS;

/// All kinds of tables, in the order of the reference.
pub static TABLES: LazyLock<Vec<&'static TableSchema>> = LazyLock::new(|| {
    vec![
        &ROOT,
        &DESIGN,
        &TOPOLOGY,
        &HOST,
        &INTERFACE,
        &ENERGY,
        &ROUTING,
        &ROUTER,
        &LINK,
        &DIRECTIONS,
        &RATE,
        &QUEUE,
        &LOSS,
        &JITTER,
        &REORDER,
        &MIDDLEBOX,
        &FLOW,
        &CONGESTION,
        &SCHEDULER,
        &PATH_MANAGER,
        &BOTTLENECK,
        &SUBFLOW,
        &ON_OFF,
        &REQUESTS,
        &STREAM,
        &VIDEO,
        &EXCHANGE,
        &WRITE,
        &READ,
        &PAUSE,
        &SIZES,
        &PERIOD,
        &PROGRAM,
        &AFTER,
        &tcp::TABLE,
        &acknowledgments::DELAYED_ACK,
        &acknowledgments::SACK_COMPRESSION,
        &buffers::RECEIVE_BUFFER,
        &buffers::SEND_BUFFER,
        &mptcp::TABLE,
        &sctp::TABLE,
        &quic::TABLE,
        &EVENT,
        &TRACE,
        &HANDOVERS,
        &AXIS,
    ]
});
