//! Random early detection.

/// What RED's average and thresholds count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RedUnit {
    /// Packets.
    #[default]
    Packets,
    /// Bytes; a packet's drop probability is then proportional to its size over `max_packet`.
    Bytes {
        /// The size of a packet with the full drop probability, usually 1500.
        max_packet: u32,
    },
}

/// How RED spreads its drops between two of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RedDrop {
    /// Floyd and Jacobson 1993, section 4: each packet is dropped with p_a = p_b / (1 − count · p_b).
    #[default]
    PerPacket,
    /// Their section 11 ("efficient implementation") as in dummynet: one number R in \[0, 1) is drawn after each drop, and
    /// the first packet with count · p_b > R is dropped.
    PerInterval,
}

/// How the average ages while the queue is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleAgeing {
    /// Floyd and Jacobson 1993: as if m = idle time / s small packets had come to an empty queue, s the time to send
    /// one of `packet` bytes.
    Packets {
        /// The size of that packet.
        packet: u32,
    },
    /// FreeBSD dummynet as coded: one factor (1 − w_q) per clock tick.
    Dummynet {
        /// Clock ticks per second (`kern.hz`, 1000 by default).
        hz: u32,
    },
}

/// RED's parameters.
#[derive(Clone, Debug)]
pub struct RedConfig {
    /// w_q: weight of a new sample in the average.
    pub weight: f64,
    /// min_th: below this average nothing is dropped, in `unit`s.
    pub min_threshold: f64,
    /// max_th: from this average on everything is dropped (or more and more, with `gentle`), in `unit`s.
    pub max_threshold: f64,
    /// max_p: drop probability as the average reaches max_th.
    pub max_probability: f64,
    /// Between max_th and 2 max_th the drop probability climbs from max_p to 1, instead of jumping there.
    pub gentle: bool,
    /// What is counted.
    pub unit: RedUnit,
    /// How drops are spread.
    pub drop: RedDrop,
    /// How the average ages.
    pub idle: IdleAgeing,
}
