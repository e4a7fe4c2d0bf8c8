//! The paths between the hosts: delays, failures, and an attacker on the path who modifies packets.

use std::collections::VecDeque;

use subflow_quantity::{Duration, Instant};
use subflow_wire::checksum::ones_complement_sum;
use subflow_wire::{Body, Packet, TcpSegment};

use crate::action::{Interference, Strip};

/// The paths between the addresses of client and server, and what happens to their packets.
#[derive(Debug)]
pub(crate) struct Paths {
    /// By address of the client and of the server, whether the path works.
    up: [[bool; 4]; 4],
    /// When a path went down that is still down, and for how long paths were down before.
    down_since: Option<Instant>,
    pub(crate) down_for: Duration,
    /// What happens to the next packets of client and server, and to how many.
    interferences: [VecDeque<(u8, Interference)>; 2],
}

impl Default for Paths {
    fn default() -> Self {
        let interferences = [VecDeque::new(), VecDeque::new()];
        Self { up: [[true; 4]; 4], down_since: None, down_for: Duration::ZERO, interferences }
    }
}

impl Paths {
    pub(crate) fn set(&mut self, client: usize, server: usize, up: bool, now: Instant) {
        self.up[client][server] = up;
        let any_down = self.up.iter().flatten().any(|&up| !up);
        match self.down_since {
            None if any_down => self.down_since = Some(now),
            Some(since) if !any_down => {
                self.down_for += now.since(since);
                self.down_since = None;
            }
            _ => {}
        }
    }

    /// All paths work again, and no attacker is on them.
    pub(crate) fn heal(&mut self, now: Instant) {
        for client in 0..4 {
            for server in 0..4 {
                self.set(client, server, true, now);
            }
        }
        self.interferences.iter_mut().for_each(VecDeque::clear);
    }

    pub(crate) fn is_up(&self, client: usize, server: usize) -> bool {
        self.up.get(client).and_then(|row| row.get(server)).copied().unwrap_or(false)
    }

    /// The next `packets` packets of `from`, after those that are spoken for, are handled so.
    pub(crate) fn interfere(&mut self, from: usize, packets: u8, how: Interference) {
        self.interferences[from].push_back((packets, how));
    }

    /// What happens to the next packet of `from`.
    pub(crate) fn next_interference(&mut self, from: usize) -> Option<Interference> {
        let queue = &mut self.interferences[from];
        while queue.front().is_some_and(|&(left, _)| left == 0) {
            queue.pop_front();
        }
        let (left, how) = queue.front_mut()?;
        *left -= 1;
        Some(how.clone())
    }
}

/// A packet with the bytes of its payload.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    pub(crate) packet: Packet,
    pub(crate) bytes: Vec<u8>,
}

impl Loaded {
    /// The packet in its wire format.
    pub(crate) fn to_wire(&self) -> Vec<u8> {
        let mut wire = Vec::new();
        let payload = subflow_wire::PayloadBytes::Bytes(&self.bytes);
        self.packet.emit(payload, 0, &mut wire).expect("a host's packet can be written");
        wire
    }

    /// Changes a byte of the payload; false where there is none.
    pub(crate) fn rewrite(&mut self, at: u16) -> bool {
        let length = self.bytes.len();
        if let Some(byte) = self.bytes.get_mut(usize::from(at) % length.max(1)) {
            *byte ^= 0x55;
        }
        length > 0
    }

    /// Cuts a TCP segment in two, as segmentation hardware does: both have the options, the second has FIN and PSH.
    pub(crate) fn split(&self, at: u16) -> Vec<Self> {
        let Body::Tcp(segment) = &self.packet.body else { return vec![self.clone()] };
        let at = usize::from(at) % self.bytes.len().max(1);
        if at == 0 {
            return vec![self.clone()];
        }
        let part = |segment: TcpSegment, bytes: &[u8]| {
            let mut packet = Packet { body: Body::Tcp(segment), ..self.packet.clone() };
            if let Body::Tcp(segment) = &mut packet.body {
                segment.payload.length = bytes.len() as u32;
                segment.payload.sum = ones_complement_sum(bytes);
            }
            Self { packet, bytes: bytes.to_vec() }
        };
        let mut first = segment.clone();
        first.flags.0 &= !(subflow_wire::tcp::TcpFlags::FIN.0 | subflow_wire::tcp::TcpFlags::PSH.0);
        let mut second = segment.clone();
        second.sequence = second.sequence.wrapping_add(at as u32);
        vec![part(first, &self.bytes[..at]), part(second, &self.bytes[at..])]
    }

    /// Takes options off a TCP segment; returns whether there were any.
    pub(crate) fn strip(&mut self, what: Strip) -> bool {
        let Body::Tcp(segment) = &mut self.packet.body else { return false };
        let options = &mut segment.options;
        let before = options.wire_length();
        if matches!(what, Strip::MptcpOptions | Strip::All) {
            options.dss = None;
            options.mptcp.clear();
        }
        if matches!(what, Strip::Timestamps | Strip::All) {
            options.timestamps = None;
        }
        if matches!(what, Strip::Sack | Strip::All) {
            options.sack.clear();
            options.syn.sack_permitted = false;
        }
        if what == Strip::All {
            options.syn = Default::default();
        }
        options.wire_length() < before
    }
}
