//! The energy of interfaces.

use std::sync::LazyLock;

use subflow_network::RadioPower;
use subflow_policy::catalogue::Choice;

use crate::table::{Default, FieldSchema, TableSchema, named, optional};

/// `energy = { … }`.
pub(crate) static ENERGY: LazyLock<TableSchema> = LazyLock::new(|| TableSchema {
    path: "energy = { … } of an interface",
    doc: "What the radio of an interface takes. A packet finds it idle or connected; an idle one is promoted first. It \
          receives continuously until it has had no packet for inactivity_time, then listens in short and long cycles of \
          discontinuous reception (DRX), and is idle once it has had no packet for tail_time. The short form is the name \
          of a model.",
    fields: vec![
        named(
            "model",
            "the name of an energy model",
            Choice::descriptions(&RADIOS),
            Default::described("a radio that takes nothing, to which the other keys add"),
            "the published model whose numbers it has where no other key gives them",
        ),
        time("promotion_time", "the time from idle to connected"),
        power("promotion_power", "the power during that time"),
        power("active_power", "the power of continuous reception without data: β of published models"),
        per_bit("up", "what each sent bit costs besides: α of the uplink; 1 nJ/bit is 1 mW per Mbit/s"),
        per_bit("down", "what each received bit costs besides: α of the downlink"),
        time("inactivity_time", "the time without packets after which continuous reception ends"),
        time(
            "tail_time",
            "the time without packets after which the radio is idle; at least inactivity_time and short_drx_time together",
        ),
        power("tail_power", "the power between inactivity_time and tail_time, while it does not listen"),
        power("drx_power", "the power while it listens there"),
        time("drx_time", "the time for which it listens at the beginning of each cycle"),
        time("short_drx_time", "how long the cycles are short"),
        time("short_drx_cycle", "the short cycle; 0 s if it does not listen"),
        time("long_drx_cycle", "the long cycle; 0 s if it does not listen"),
        power("idle_power", "the power of the idle radio, while it does not listen"),
        power("paging_power", "the power while the idle radio listens for pages, or for beacons"),
        time("paging_time", "the time for which it does so at the beginning of each cycle"),
        time("paging_cycle", "that cycle; 0 s if it does not listen"),
    ],
});

fn of_model(key: &'static str, kind: &str, doc: &str) -> FieldSchema {
    optional(key, kind, "that of the model", doc)
}

fn time(key: &'static str, doc: &str) -> FieldSchema {
    of_model(key, "a duration", doc)
}

fn power(key: &'static str, doc: &str) -> FieldSchema {
    of_model(key, "a power", doc)
}

fn per_bit(key: &'static str, doc: &str) -> FieldSchema {
    of_model(key, "an energy per bit", doc)
}

pub(crate) const RADIOS: [Choice<RadioPower>; 2] = [
    Choice::new(
        "lte-huang2012",
        RadioPower::LTE_HUANG2012,
        "LTE in a commercial network: 438.39 and 51.97 nJ/bit, 1288.04 mW, a tail of 11.576 s at 1060 mW",
    )
    .source("Huang, Qian, Gerber, Mao, Sen, Spatscheck, MobiSys 2012"),
    Choice::new(
        "wifi-huang2012",
        RadioPower::WIFI_HUANG2012,
        "WiFi of the same phones: 283.17 and 137.01 nJ/bit, 132.86 mW for 250 ms after each packet, and nothing asleep",
    )
    .source("Huang, Qian, Gerber, Mao, Sen, Spatscheck, MobiSys 2012"),
];
