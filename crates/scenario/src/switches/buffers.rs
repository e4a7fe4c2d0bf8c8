//! `receive_buffer` and `send_buffer`: fixed, or growing between bounds.

use std::sync::LazyLock;

use subflow_quantity::Size;
use subflow_transport::tcp::config::{Autotuning, ReceiveBuffer, SendBuffer};

use super::notation::{BUFFER, Notation, size};
use super::{Switch, below, switch, table};
use crate::file::{Field, Problem, Section, Value};
use crate::table::TableSchema;

pub(super) fn receive_buffer() -> Notation<ReceiveBuffer> {
    let parse = |field: &Field<'_>| match field.value() {
        Value::Table(_) => {
            autotuning(&field.section(&RECEIVE_BUFFER)?, Autotuning::LINUX_RECEIVE).map(ReceiveBuffer::Automatic)
        }
        _ => field.size(BUFFER).map(ReceiveBuffer::Fixed),
    };
    let literal = |buffer: &ReceiveBuffer| match buffer {
        ReceiveBuffer::Fixed(bytes) => bytes_literal(*bytes),
        ReceiveBuffer::Automatic(bounds) => bounds_literal(*bounds),
    };
    Notation::new("a size, or a table { initial, maximum }", parse, literal)
}

pub(super) fn send_buffer() -> Notation<SendBuffer> {
    let parse = |field: &Field<'_>| match field.value() {
        Value::String(text) if text == "unlimited" => Ok(SendBuffer::Unlimited),
        Value::Table(_) => autotuning(&field.section(&SEND_BUFFER)?, Autotuning::LINUX_SEND).map(SendBuffer::Automatic),
        _ => field.size(BUFFER).map(SendBuffer::Fixed),
    };
    let literal = |buffer: &SendBuffer| match buffer {
        SendBuffer::Unlimited => "'unlimited'".to_owned(),
        SendBuffer::Fixed(bytes) => bytes_literal(*bytes),
        SendBuffer::Automatic(bounds) => bounds_literal(*bounds),
    };
    Notation::new("a size, \"unlimited\", or a table { initial, maximum }", parse, literal)
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
