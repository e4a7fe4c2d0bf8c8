//! `receive_buffer` and `send_buffer`: fixed, in bandwidth-delay products of a flow's paths, or growing between bounds.

use std::sync::LazyLock;

use subflow_quantity::{Bdp, Size};
use subflow_transport::tcp::config::{Autotuning, ReceiveBuffer, SendBuffer};

use super::notation::{BUFFER, Notation, size};
use super::{Switch, below, switch, table};
use crate::file::{Field, Problem, Section, Value};
use crate::table::TableSchema;

/// The number of bandwidth-delay products that a buffer has.
pub(crate) fn products(field: &Field<'_>) -> Option<Bdp> {
    match field.value() {
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

pub(super) fn receive_buffer() -> Notation<ReceiveBuffer> {
    let parse = |field: &Field<'_>| match field.value() {
        // The paths of a flow, and with them the bytes, are known later.
        _ if products(field).is_some() => Ok(ReceiveBuffer::Automatic(Autotuning::LINUX_RECEIVE)),
        Value::Table(_) => {
            autotuning(&field.section(&RECEIVE_BUFFER)?, Autotuning::LINUX_RECEIVE).map(ReceiveBuffer::Automatic)
        }
        _ => in_bytes(field).map(ReceiveBuffer::Fixed),
    };
    let literal = |buffer: &ReceiveBuffer| match buffer {
        ReceiveBuffer::Fixed(bytes) => bytes_literal(*bytes),
        ReceiveBuffer::Automatic(bounds) => bounds_literal(*bounds),
    };
    Notation::new("a size such as \"4 MiB\" or \"2 bdp\", or a table { initial, maximum }", parse, literal)
}

pub(super) fn send_buffer() -> Notation<SendBuffer> {
    let parse = |field: &Field<'_>| match field.value() {
        Value::String(text) if text == "unlimited" => Ok(SendBuffer::Unlimited),
        _ if products(field).is_some() => Ok(SendBuffer::Unlimited),
        Value::Table(_) => autotuning(&field.section(&SEND_BUFFER)?, Autotuning::LINUX_SEND).map(SendBuffer::Automatic),
        _ => in_bytes(field).map(SendBuffer::Fixed),
    };
    let literal = |buffer: &SendBuffer| match buffer {
        SendBuffer::Unlimited => "'unlimited'".to_owned(),
        SendBuffer::Fixed(bytes) => bytes_literal(*bytes),
        SendBuffer::Automatic(bounds) => bounds_literal(*bounds),
    };
    Notation::new(
        "a size such as \"4 MiB\" or \"2 bdp\", \"unlimited\", or a table { initial, maximum }",
        parse,
        literal,
    )
}

fn in_bytes(field: &Field<'_>) -> Result<u64, Problem> {
    field.size(BUFFER).map_err(|problem| match field.value() {
        Value::String(_) => {
            problem.help("a size, or a number of bandwidth-delay products of the flow's paths: \"2 bdp\"")
        }
        _ => problem,
    })
}

fn autotuning(section: &Section<'_>, base: Autotuning) -> Result<Autotuning, Problem> {
    let switches = bounds("", "");
    below(section, &switches, base, ["initial", "maximum"], |bounds| bounds.initial <= bounds.maximum)
}

fn bytes_literal(bytes: u64) -> String {
    format!("'{}'", Size::from_bytes(bytes))
}

fn bounds_literal(Autotuning { initial, maximum }: Autotuning) -> String {
    format!("{{ initial = {}, maximum = {} }}", bytes_literal(initial), bytes_literal(maximum))
}

fn bounds(initial: &'static str, maximum: &'static str) -> Vec<Switch<Autotuning>> {
    vec![
        switch("initial", size("a size above zero", BUFFER), |bounds: &mut Autotuning| &mut bounds.initial, initial),
        switch("maximum", size("a size, at least the initial one", BUFFER), |bounds| &mut bounds.maximum, maximum),
    ]
}

/// `receive_buffer = { … }`.
pub(crate) static RECEIVE_BUFFER: LazyLock<TableSchema> = LazyLock::new(|| {
    table(
        "receive_buffer = { … }",
        "A buffer that grows with the connection's throughput.",
        &bounds("its initial size; half of it is advertised", "its upper bound"),
        &Autotuning::LINUX_RECEIVE,
    )
});

/// `send_buffer = { … }`.
pub(crate) static SEND_BUFFER: LazyLock<TableSchema> = LazyLock::new(|| {
    table(
        "send_buffer = { … }",
        "A buffer per subflow that grows with the window, as in Linux. With a scheduler that queues data beyond the \
         window it is accounted for as in Linux: writes fill page fragments of 32 KiB, packets take more than their \
         payload, and a fragment is assigned as a whole. With other schedulers it is never the limit.",
        &bounds("its initial size; with a window of ten packets it becomes 45 KiB", "its upper bound"),
        &Autotuning::LINUX_SEND,
    )
});
