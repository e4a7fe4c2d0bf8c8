//! What both ends of an MPTCP connection have sent: keys, and positions in the data.

use subflow_transport::mptcp::keys::Key;
use subflow_wire::TcpSegment;
use subflow_wire::tcp::mptcp::{Join, MptcpOption};

use super::Wiretap;

/// By side: the one that opened the connection, and the other.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Keys {
    /// The keys, once they are known.
    pub(crate) keys: [Option<u64>; 2],
    /// The data sequence number behind the last that each side has sent.
    pub(crate) next: [u64; 2],
    /// The data sequence number that each side expects.
    pub(crate) acknowledged: [u64; 2],
}

impl Keys {
    pub(super) fn swapped(self) -> Self {
        let swap = |[one, other]: [u64; 2]| [other, one];
        Self { keys: [self.keys[1], self.keys[0]], next: swap(self.next), acknowledged: swap(self.acknowledged) }
    }

    /// The token of a side: names the connection in an MP_JOIN to it.
    pub(crate) fn token(&self, side: usize) -> u32 {
        self.keys[side].map_or(0, |key| Key::new(key).token)
    }

    /// Notes the key of a side; returns its token, where it is new.
    fn learn(&mut self, side: usize, key: u64) -> Option<u32> {
        if self.keys[side].is_some() {
            return None;
        }
        let key = Key::new(key);
        self.keys[side] = Some(key.key);
        self.next[side] = key.data_sequence(0);
        self.acknowledged[1 - side] = self.next[side];
        Some(key.token)
    }
}

impl Wiretap {
    pub(super) fn hear_mptcp(&mut self, flow: usize, from: usize, segment: &TcpSegment) {
        for option in &segment.options.mptcp {
            match option {
                MptcpOption::Capable(capable) => {
                    let index = match self.flows[flow].mptcp {
                        Some((index, _)) => index,
                        None => self.begin(flow),
                    };
                    for (side, key) in [(from, capable.sender_key), (1 - from, capable.receiver_key)] {
                        let token = key.and_then(|key| self.keys[index].learn(side, key));
                        self.tokens.extend(token.map(|token| (token, (index, side))));
                    }
                }
                MptcpOption::Join(Join::Syn { token, .. }) => self.join(flow, from, *token),
                _ => {}
            }
        }
        let (Some(dss), Some((index, swapped))) = (&segment.options.dss, self.flows[flow].mptcp) else { return };
        let (keys, side) = (&mut self.keys[index], from ^ usize::from(swapped));
        if let Some(ack) = dss.data_ack {
            keys.acknowledged[side] = widen(ack.value, ack.wide, keys.acknowledged[side]);
        }
        if let Some(mapping) = dss.mapping {
            let end = widen(mapping.data_sequence, mapping.wide, keys.next[side]).wrapping_add(mapping.length.into());
            if end.wrapping_sub(keys.next[side]) as i64 > 0 {
                keys.next[side] = end;
            }
        }
    }

    fn begin(&mut self, flow: usize) -> usize {
        self.keys.push(Keys::default());
        self.firsts.push(flow);
        let index = self.keys.len() - 1;
        self.flows[flow].mptcp = Some((index, false));
        index
    }

    /// The token is that of the side which did not send it.
    fn join(&mut self, flow: usize, from: usize, token: u32) {
        self.flows[flow].mptcp = self.tokens.get(&token).map(|&(index, side)| (index, side != 1 - from));
    }
}

/// The 64-bit number nearest to `near` with these low 32 bits.
fn widen(number: u64, wide: bool, near: u64) -> u64 {
    if wide {
        return number;
    }
    let delta = (number as u32).wrapping_sub(near as u32) as i32;
    near.wrapping_add_signed(delta.into())
}
