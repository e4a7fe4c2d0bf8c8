//! The numbers and tags that one end of an SCTP association has sent.

use subflow_wire::SctpPacket;
use subflow_wire::sctp::{Chunk, InitChunk, Parameter};

#[derive(Clone, Debug, Default)]
pub(crate) struct SctpSaid {
    /// The tag that packets to it carry.
    pub(crate) tag: u32,
    /// The TSN behind the last that it has sent.
    pub(crate) next: u32,
    /// The TSN that it expects, once it has acknowledged any.
    pub(crate) expected: Option<u32>,
    /// The cookie that it has given.
    pub(crate) cookie: Box<[u8]>,
    /// What it asked back with its last HEARTBEAT.
    pub(crate) heartbeat: Box<[u8]>,
}

impl SctpSaid {
    pub(crate) fn hear(&mut self, packet: &SctpPacket) {
        for chunk in &packet.chunks {
            match chunk {
                Chunk::Init(init) => self.hear_init(init),
                Chunk::InitAck(init) => {
                    // An INIT that comes again is answered with tags that are good for nothing but its cookie.
                    if self.tag == 0 {
                        self.hear_init(init);
                    }
                    let cookie = init.parameters.iter().find_map(|parameter| match parameter {
                        Parameter::StateCookie(cookie) => Some(cookie.clone()),
                        _ => None,
                    });
                    self.cookie = cookie.unwrap_or_default();
                }
                Chunk::Data(data) if data.tsn.wrapping_sub(self.next) as i32 >= 0 => {
                    self.next = data.tsn.wrapping_add(1);
                }
                Chunk::Sack(sack) => self.expected = Some(sack.cumulative_tsn.wrapping_add(1)),
                Chunk::NrSack(nr_sack) => self.expected = Some(nr_sack.sack.cumulative_tsn.wrapping_add(1)),
                Chunk::Heartbeat(info) => self.heartbeat = info.clone(),
                _ => {}
            }
        }
    }

    fn hear_init(&mut self, init: &InitChunk) {
        (self.tag, self.next, self.expected) = (init.initiate_tag, init.initial_tsn, None);
    }
}
