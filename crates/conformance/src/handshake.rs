//! The verb `handshake` of QUIC: the peer completes the handshake that the host has begun, or begins one, without loss.

use std::collections::BTreeSet;

use subflow_quantity::Instant;
use subflow_scenario::file::Problem;

use crate::packet;
use crate::peer::{PEER_ID, part, part_number, space_of};
use crate::run::Run;
use crate::script::Step;
use crate::value::{Field, Value};

/// Round trips that a handshake may take.
const MOST_ROUNDS: usize = 20;

/// What the peer has received, and how far it is.
#[derive(Default)]
struct Handshake {
    /// Whether the host is the server.
    host_listens: bool,
    /// Packet numbers received in each space, and whether an acknowledgment is owed.
    received: [BTreeSet<u64>; 3],
    owes_ack: [bool; 3],
    /// Bytes of messages received in Handshake packets.
    handshake_bytes: u64,
    has_hello: bool,
    has_finished: bool,
    has_sent_hello: bool,
    has_sent_finished: bool,
    /// The host's connection identifiers: path, sequence number and identifier.
    ids: Vec<(u64, u64, Vec<u8>)>,
}

impl Run<'_> {
    /// Completes a handshake from `start` on, and binds the variables that later steps use.
    pub(crate) fn handshake(&mut self, step: &Step, start: Instant) -> Result<(), Problem> {
        self.target.advance(start);
        let rtt = self.script.settings.peer_rtt;
        let mut handshake = Handshake::default();
        self.collect(step, start, &mut handshake)?;
        handshake.host_listens = !handshake.has_hello;
        let mut was_quiet = false;
        for _ in 0..MOST_ROUNDS {
            let reply = self.reply(&mut handshake);
            let is_over = reply.is_empty();
            // What the host sends with a delay is waited for.
            if is_over && was_quiet && handshake.is_complete() {
                self.bind(&handshake);
                return Ok(());
            }
            was_quiet = is_over;
            // The first packet of a client does not wait for anything.
            let is_first = handshake.host_listens && handshake.received[0].is_empty();
            if !is_first {
                let until = self.target.now().saturating_add(rtt);
                self.collect(step, until, &mut handshake)?;
            }
            if !is_over {
                self.deliver(step, reply)?;
                let now = self.target.now();
                self.collect(step, now, &mut handshake)?;
            }
        }
        Err(Problem::at(&step.place, "the handshake does not complete").help("listen, or connect, before it"))
    }

    /// Takes what leaves until `until`.
    fn collect(&mut self, step: &Step, until: Instant, handshake: &mut Handshake) -> Result<(), Problem> {
        loop {
            self.target.advance(until);
            self.check_defect(&step.place)?;
            let Some((_, left)) = self.target.next_left() else { break };
            let fields = packet::describe(&left);
            self.peer.hear(0, &fields);
            handshake.hear(&fields);
        }
        self.last = self.target.now();
        Ok(())
    }

    fn deliver(&mut self, step: &Step, mut datagram: Vec<Field>) -> Result<(), Problem> {
        let unfit = |error: String| Problem::at(&step.place, error).help("the handshake cannot go on");
        self.peer.complete(0, &mut datagram);
        let path = self.paths[0].clone();
        let arrival = packet::build(self.script.protocol, &path, &datagram).map_err(unfit)?;
        let arriving = arrival.on_the_wire().map_err(unfit)?;
        self.target.arrive(&path, &arriving).map_err(unfit)
    }

    /// What the peer has to say; nothing, if that is all.
    fn reply(&mut self, handshake: &mut Handshake) -> Vec<Field> {
        let original = self.peer.original().filter(|_| !handshake.host_listens);
        let parameters = packet::peer_parameters(&self.script.settings.peer, &PEER_ID, original);
        let mut frames = handshake.acknowledgments();
        let crypto = |messages| Field::group("CRYPTO", messages);
        if handshake.host_listens {
            let lengths = self.script.settings.quic.handshake;
            if !core::mem::replace(&mut handshake.has_sent_hello, true) {
                frames[0].push(crypto(vec![Field::group("CLIENT_HELLO", parameters)]));
            } else if handshake.handshake_bytes >= u64::from(lengths.certificate + lengths.finished)
                && !core::mem::replace(&mut handshake.has_sent_finished, true)
            {
                frames[1].push(crypto(vec![Field::flag("FINISHED")]));
            }
        } else if handshake.has_hello && !core::mem::replace(&mut handshake.has_sent_hello, true) {
            frames[0].push(crypto(vec![Field::flag("SERVER_HELLO")]));
            let extensions = Field::group("ENCRYPTED_EXTENSIONS", parameters);
            frames[1].push(crypto(vec![extensions, Field::flag("FINISHED")]));
        } else if handshake.has_finished && !core::mem::replace(&mut handshake.has_sent_finished, true) {
            frames[2].push(Field::flag("HANDSHAKE_DONE"));
        }
        let names = ["INITIAL", "HANDSHAKE", "ONE_RTT"];
        let packets = names.into_iter().zip(frames).filter(|(_, frames)| !frames.is_empty());
        let mut datagram: Vec<Field> = packets.map(|(name, frames)| Field::group(name, frames)).collect();
        if datagram.iter().any(|packet| packet.name == "INITIAL") {
            datagram.push(Field::number("length", 1200_u64));
        }
        datagram
    }

    /// Binds `$id_PATH_SEQUENCE`, `$peer`, and the numbers of the next packets: `$next` of the peer, `$sent` of the host.
    fn bind(&mut self, handshake: &Handshake) {
        for (path, sequence, id) in &handshake.ids {
            self.variables.insert(format!("id_{path}_{sequence}"), Value::Bytes(id.clone()));
        }
        let (next, sent) = self.peer.next_numbers(0);
        self.variables.insert("peer".to_owned(), Value::Bytes(PEER_ID.to_vec()));
        self.variables.insert("next".to_owned(), Value::Number(next));
        self.variables.insert("sent".to_owned(), Value::Number(sent));
    }
}

impl Handshake {
    fn is_complete(&self) -> bool {
        self.has_sent_hello && self.has_sent_finished
    }

    fn hear(&mut self, datagram: &[Field]) {
        for packet in datagram {
            let Some(space) = space_of(packet.name) else { continue };
            let acknowledges = |name: &str| matches!(name, "ACK" | "PATH_ACK" | "PADDING");
            let is_frame = |name: &str| name.starts_with(|first: char| first.is_ascii_uppercase());
            self.received[space].extend(part_number(packet, "number"));
            self.owes_ack[space] |= packet.parts.iter().any(|part| is_frame(part.name) && !acknowledges(part.name));
            if let (true, Some(id)) = (space < 2 && self.ids.is_empty(), part(packet, "from")) {
                self.ids.push((0, 0, id));
            }
            packet.parts.iter().for_each(|frame| self.hear_frame(space, frame));
        }
    }

    fn hear_frame(&mut self, space: usize, frame: &Field) {
        match frame.name {
            "CRYPTO" => {
                let has = |name: &str| frame.parts.iter().any(|part| part.name == name);
                self.has_hello |= has("CLIENT_HELLO");
                self.has_finished |= has("FINISHED");
                if space == 1 {
                    self.handshake_bytes += part_number(frame, "len").unwrap_or(0);
                }
            }
            "NEW_CONNECTION_ID" | "PATH_NEW_CONNECTION_ID" => {
                let path = part_number(frame, "path").unwrap_or(0);
                self.ids.extend(part_number(frame, "sequence").zip(part(frame, "id")).map(|(n, id)| (path, n, id)));
            }
            _ => {}
        }
    }

    /// The acknowledgments that are owed, by space.
    fn acknowledgments(&mut self) -> [Vec<Field>; 3] {
        let mut frames: [Vec<Field>; 3] = Default::default();
        for (space, frames) in frames.iter_mut().enumerate() {
            if core::mem::take(&mut self.owes_ack[space]) {
                let mut ranges: Vec<(u64, u64)> = Vec::new();
                for &number in &self.received[space] {
                    match ranges.last_mut() {
                        Some((_, last)) if *last + 1 == number => *last = number,
                        _ => ranges.push((number, number)),
                    }
                }
                let ranges = ranges.into_iter().rev().map(|(first, last)| Value::Range(first, last)).collect();
                frames.push(Field::group("ACK", vec![Field::values("range", ranges)]));
            }
        }
        frames
    }
}
