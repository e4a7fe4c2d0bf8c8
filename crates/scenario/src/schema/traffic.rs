//! What flows send, how it is written and how it is read: `on_off`, `requests`, `streams`, `video`, `exchanges`, `write`,
//! `read`, sizes and periods.

use std::sync::LazyLock;

use subflow_policy::adaptation::Adaptation;
use subflow_policy::catalogue::Choice;

use crate::table::{Default, FieldSchema, TableSchema, optional, required, value, word};

/// `on_off = { … }`.
pub(crate) static ON_OFF: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "flows.NAME.on_off = { … }",
    doc: "UDP packets of one size at a constant rate while on, and no packets while off, starting with on. A period \
          is a duration, or `{ exponential = \"1 s\" }`: drawn at random each time, with this mean.",
    fields: vec![
        required("rate", "a rate above zero", "the payload rate while on"),
        value("packet", "a size from 1 to 65507 bytes, over IPv6 to 65487", "'1400 bytes'", "the payload of a packet"),
        value("on", "a period", "'1 s'", "the period of sending"),
        value("off", "a period", "'0 s'", "the period of silence; 0 s gives a constant bit rate"),
    ],
});

/// `requests = { … }`.
pub(crate) static REQUESTS: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "flows.NAME.requests = { … }",
    doc: "Requests, each followed by a response, all over one connection: one after the other with pauses, or with `every` \
          at times of their own.",
    fields: vec![
        value("request", "a size above zero, or a table", "'1 kB'", "the size of a request; a table is a distribution"),
        required("response", "a size above zero, or a table", "the size of a response; a table is a distribution"),
        optional("count", "a whole number, 1 or more", "as many as there is time for", "the number of exchanges"),
        value("think", "a period", "'0 s'", "the pause between a response and the next request"),
        optional(
            "every",
            "a period",
            "after the response and the pause",
            "the time from one request to the next, instead of think: requests wait for no response, and responses come \
             in their order. The first one goes when the connection is established",
        ),
        optional(
            "deadline",
            "a duration above zero",
            "no deadline",
            "the time from a request to the end of its response after which an exchange is late; results have the share \
             in time",
        ),
        word("streams", &REQUEST_STREAMS, Default::of("'one'"), "over which streams of the connection exchanges go"),
        urgency(),
        incremental(),
    ],
});

/// An element of `streams`.
pub(crate) static STREAM: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "an element of flows.NAME.streams",
    doc: "Data on a stream of its own, or on `count` of them, of a connection of QUIC. Each stream is read in its own order, \
          so that what is missing of one holds up no other. Results have each as an exchange, numbered in the order of \
          the list.",
    fields: vec![
        required("send", "a size above zero", "the amount to send on the stream"),
        value("count", "a whole number from 1 to 10000", "1", "the number of streams of this kind"),
        value("at", "a duration", "'0 s'", "when it is written, from the beginning of the flow's data"),
        urgency(),
        incremental(),
    ],
});

fn urgency() -> FieldSchema {
    value(
        "urgency",
        "a whole number from 0 to 7",
        "3",
        "which data goes first where all cannot, the smaller the earlier (RFC 9218, section 4.1); on streams alone",
    )
}

fn incremental() -> FieldSchema {
    value(
        "incremental",
        "true or false",
        "false",
        "whether streams with the same urgency take turns, packet by packet (RFC 9218, section 4.2); otherwise they are sent \
         one after the other, before those that take turns",
    )
}

/// Over which streams of a connection requests go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestStreams {
    One,
    Each,
}

pub(crate) const REQUEST_STREAMS: [Choice<RequestStreams>; 2] = [
    Choice::new("one", RequestStreams::One, "all over one, so that responses come in the order of their requests"),
    Choice::new("each", RequestStreams::Each, "each over its own, as in HTTP/3 (QUIC, MPQUIC)").source("RFC 9114"),
];

/// `video = { … }`.
pub(crate) static VIDEO: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "flows.NAME.video = { … }",
    doc: "A video of constant bit rates. Its player requests a chunk when the one before has arrived and its buffer has \
          room for one more. Playback begins when the buffer holds `startup`, stalls when it is empty, and goes on with the \
          next chunk. Chunks are exchanges, and results have startup, stalls, quality and switches.",
    fields: vec![
        required("ladder", "a list of rates", "the bit rates of the qualities, from the lowest to the highest"),
        value("chunk", "a duration above zero", "'4 s'", "the length of a chunk"),
        value("buffer", "a duration", "'30 s'", "the content that the player's buffer holds, at least two chunks"),
        word("abr", &Adaptation::ALL, Default::of("'buffer'"), "how the player chooses the quality of each chunk"),
        optional("startup", "a duration", "one chunk", "the content in the buffer at which playback begins"),
        optional("length", "a duration above zero", "as long as there is time", "the length of the video"),
        value("request", "a size above zero", "'500 B'", "the size of a request"),
        optional(
            "sizes",
            "a list of sizes for each quality",
            "constant bit rates",
            "the sizes of all chunks, one list for each rate of the ladder; the video is as long as the lists. Players go by \
             the ladder",
        ),
    ],
});

/// An element of `exchanges`.
pub(crate) static EXCHANGE: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "an element of flows.NAME.exchanges",
    doc: "A request and its response, which may wait for the responses of others, of this flow and of others: the \
          requests of a page. Several may be under way on a connection; responses come in the order in which the far end \
          has them. The connection is opened when its first request is due.",
    fields: vec![
        value("request", "a size above zero", "'500 B'", "the size of the request"),
        required("response", "a size above zero", "the size of the response"),
        value("wait", "a duration", "'0 s'", "the time that the far end takes from the request to the response"),
        optional(
            "after",
            "\"FLOW.N\", or a list of them",
            "the exchange before it in the list; for the first one, the start of the flow",
            "what has to be complete before the request goes: exchange N, counted from 1, of a flow. An empty list is the \
             start of the flow",
        ),
        value("pause", "a duration", "'0 s'", "the time from there to the request"),
    ],
});

/// `write = { … }`.
pub(crate) static WRITE: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "flows.NAME.write = { … }",
    doc: "How the application writes what `send` says: a burst when the flow begins to send, and one after each period. \
          What the send buffer does not take waits, and joins the next burst.",
    fields: vec![
        required("burst", "a size above zero", "the bytes of a burst"),
        required("every", "a period", "the time from one burst to the next, at least 1 us"),
    ],
});

/// `read = { … }`.
pub(crate) static READ: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "flows.NAME.read = { … }",
    doc: "How the application reads that receives the data: of requests, the one that reads the responses. Goodput, \
          completion and exchanges count what it has read.",
    fields: vec![
        optional(
            "rate",
            "a rate above zero",
            "as fast as data arrives",
            "the rate of reading: after each read the application waits as long as the bytes take at this rate",
        ),
        value("buffer", "a size from 1 byte to 1 GiB", "'16 KiB'", "the most bytes that one read takes"),
        optional("pause", "a table, or a list of tables", "none", "when the application does not read"),
    ],
});

/// `pause = { … }` of `read`.
pub(crate) static PAUSE: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "flows.NAME.read.pause = { … }",
    doc: "A time at which the application does not read. It begins at a time, or after an amount that was read.",
    fields: vec![
        optional("at", "a duration", "another beginning", "the beginning, from the start of the run"),
        optional("after", "a size", "another beginning", "the number of bytes read at which it begins"),
        required("for", "a duration above zero", "the length"),
    ],
});

/// `send = { … }`, and `request` and `response` of `requests`.
pub(crate) static SIZES: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "send, request or response = { … }",
    doc: "Sizes that are drawn from the seed of each run: of transfers (`send`; each flow has its own), of requests and \
          of responses (each has its own). A table has one of `exponential`, `pareto`, `lognormal`, `uniform` and \
          `empirical`.",
    fields: vec![
        optional("exponential", "a size above zero", "another distribution", "exponential, with this mean"),
        optional("pareto", "a size above zero", "another distribution", "Pareto, with this mean and a heavy tail"),
        value("shape", "a ratio from 1.01 to 100", "1.5", "the tail index (pareto); the smaller, the heavier the tail"),
        optional(
            "most",
            "a size above zero",
            "no limit",
            "the size to which larger draws are cut (pareto), which lowers the mean",
        ),
        optional("lognormal", "a size above zero", "another distribution", "log-normal, with this mean"),
        value("sigma", "a ratio from 0 to 10", "1", "the standard deviation of the natural logarithm (lognormal)"),
        optional(
            "uniform",
            "a list of two sizes",
            "another distribution",
            "any size from the first to the second, all equally probable",
        ),
        optional(
            "empirical",
            "a path",
            "another distribution",
            "measured sizes: lines of bytes and the probability of at most so many, as a fraction or per cent, the last \
             one 1 or 100; between two lines sizes are uniform, and below the first line there are none unless it is 0 0",
        ),
    ],
});

/// `{ exponential = … }`.
pub(crate) static PERIOD: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "a period = { … }",
    doc: "A duration that is drawn at random each time.",
    fields: vec![required("exponential", "a duration above zero", "the mean of an exponential distribution")],
});
