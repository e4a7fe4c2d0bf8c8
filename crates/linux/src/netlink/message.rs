//! Netlink messages: a header, a fixed part, attributes (Linux `include/uapi/linux/netlink.h`).

const HEADER: usize = 16;
const ATTRIBUTE_HEADER: usize = 4;
const NESTED: u16 = 1 << 15;
/// The bits of an attribute's type without the flags for its encoding.
const TYPE_MASK: u16 = 0x3fff;

const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
const NLM_F_DUMP_INTR: u16 = 0x10;
const NLM_F_ACK_TLVS: u16 = 0x200;

const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const NLMSGERR_ATTR_MSG: u16 = 1;

/// Creates an object that must not exist yet.
pub(super) const CREATE: u16 = 0x400 | 0x200;
/// Creates an object, in the place of one that exists.
pub(super) const REPLACE: u16 = 0x400 | 0x100;
/// Lists all objects.
pub(super) const DUMP: u16 = 0x300;

/// A request under construction.
#[derive(Clone, Debug)]
pub struct Request(Vec<u8>);

impl Request {
    /// Creates a request of type `kind` with additional `flags` and the fixed part of this type.
    pub(super) fn new(kind: u16, flags: u16, fixed: &[u8]) -> Self {
        let mut bytes = vec![0; HEADER];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&(NLM_F_REQUEST | NLM_F_ACK | flags).to_ne_bytes());
        bytes.extend_from_slice(fixed);
        Self(bytes)
    }

    /// Appends an attribute.
    pub(super) fn attribute(mut self, kind: u16, value: &[u8]) -> Self {
        let length = (ATTRIBUTE_HEADER + value.len()) as u16;
        self.0.extend_from_slice(&length.to_ne_bytes());
        self.0.extend_from_slice(&kind.to_ne_bytes());
        self.0.extend_from_slice(value);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self
    }

    /// Appends bytes outside of attributes: the fixed part at the start of some nested attributes.
    pub(super) fn fixed(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self
    }

    /// Appends an attribute that contains the attributes appended by `fill`.
    pub(super) fn nested(mut self, kind: u16, fill: impl FnOnce(Self) -> Self) -> Self {
        let start = self.0.len();
        self = fill(self.attribute(kind | NESTED, &[]));
        let length = (self.0.len() - start) as u16;
        self.0[start..start + 2].copy_from_slice(&length.to_ne_bytes());
        self
    }

    /// The bytes to send.
    pub(super) fn finish(&self, sequence: u32) -> Vec<u8> {
        let mut bytes = self.0.clone();
        bytes[..4].copy_from_slice(&(self.0.len() as u32).to_ne_bytes());
        bytes[8..12].copy_from_slice(&sequence.to_ne_bytes());
        bytes
    }
}

/// A message from the kernel: its type, and its body, which is a fixed part and then attributes.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) kind: u16,
    body: Vec<u8>,
}

impl Message {
    /// The fixed part and the attributes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.body
    }

    /// The value of the attribute `kind`, after a fixed part of `fixed` bytes.
    pub(super) fn attribute(&self, fixed: usize, kind: u16) -> Option<&[u8]> {
        attribute(self.body.get(fixed..)?, kind)
    }
}

/// The value of the attribute `kind` in `bytes`.
pub(super) fn attribute(bytes: &[u8], kind: u16) -> Option<&[u8]> {
    attributes(bytes).find(|(found, _)| *found == kind).map(|(_, value)| value)
}

/// A message from the kernel.
pub(super) enum Answer {
    /// `torn`: what the list is of changed while the kernel gave it, so that something may be missing.
    Message {
        sequence: u32,
        message: Message,
        torn: bool,
    },
    Done {
        sequence: u32,
        torn: bool,
    },
    Refused {
        sequence: u32,
        errno: i32,
        explanation: String,
    },
}

/// The messages in a datagram. Invalid bytes end it.
pub(super) fn answers(mut bytes: &[u8]) -> Vec<Answer> {
    let mut answers = Vec::new();
    while let Some(length) = u32_at(bytes, 0).map(|length| length as usize)
        && length >= HEADER
        && length <= bytes.len()
    {
        let (message, rest) = (&bytes[..length], &bytes[length.next_multiple_of(4).min(bytes.len())..]);
        answers.push(answer(message));
        bytes = rest;
    }
    answers
}

fn answer(message: &[u8]) -> Answer {
    let kind = u16::from_ne_bytes([message[4], message[5]]);
    let flags = u16::from_ne_bytes([message[6], message[7]]);
    let sequence = u32_at(message, 8).unwrap_or(0);
    let torn = flags & NLM_F_DUMP_INTR != 0;
    match kind {
        // The end of a list has the error number, too.
        NLMSG_DONE | NLMSG_ERROR => match u32_at(message, HEADER).unwrap_or(0) as i32 {
            0.. => Answer::Done { sequence, torn },
            negative => {
                let with_text = flags & NLM_F_ACK_TLVS != 0;
                // The error number, then the header of the request, except at the end of a list.
                let header = if kind == NLMSG_ERROR { HEADER } else { 0 };
                let tail = message.get(HEADER + 4 + header..).filter(|_| with_text).unwrap_or(&[]);
                let explanation =
                    attributes(tail).find(|(kind, _)| *kind == NLMSGERR_ATTR_MSG).map(|(_, explanation)| explanation);
                let explanation = String::from_utf8_lossy(explanation.unwrap_or(&[])).trim_end_matches('\0').to_owned();
                Answer::Refused { sequence, errno: -negative, explanation }
            }
        },
        _ => Answer::Message { sequence, message: Message { kind, body: message[HEADER..].to_vec() }, torn },
    }
}

/// The attributes in `bytes`, with their types.
pub(super) fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    core::iter::from_fn(move || {
        let length = usize::from(u16::from_ne_bytes([*bytes.first()?, *bytes.get(1)?]));
        let kind = u16::from_ne_bytes([*bytes.get(2)?, *bytes.get(3)?]) & TYPE_MASK;
        let value = bytes.get(ATTRIBUTE_HEADER..length)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or(&[]);
        Some((kind, value))
    })
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_attributes_parse_to_themselves() {
        let request = Request::new(24, 0, &[1, 2, 3, 4])
            .attribute(7, b"wifi\0")
            .nested(8, |request| request.attribute(1, &[9]).attribute(2, &[8; 6]));
        let bytes = request.finish(5);
        assert_eq!(bytes.len() % 4, 0);
        assert_eq!(u32_at(&bytes, 0), Some(bytes.len() as u32));
        let Some(Answer::Message { sequence: 5, message, torn: false }) = answers(&bytes).into_iter().next() else {
            panic!("one message")
        };
        assert_eq!(message.attribute(4, 7), Some(&b"wifi\0"[..]));
        let nested = message.attribute(4, 8).expect("there");
        assert_eq!(attributes(nested).collect::<Vec<_>>(), [(1, &[9][..]), (2, &[8; 6][..])]);
        assert_eq!(message.attribute(4, 9), None);
    }

    #[test]
    fn truncated_messages_are_ignored() {
        let bytes = Request::new(24, 0, &[0; 12]).attribute(1, &[1; 9]).finish(1);
        for length in 0..bytes.len() {
            assert!(answers(&bytes[..length]).is_empty());
            attributes(&bytes[..length]).for_each(drop);
        }
    }

    #[test]
    fn a_list_that_changed_while_it_was_given_is_told() {
        let list = |flags: u16| {
            let mut bytes = Request::new(24, 0, &[0; 12]).finish(1);
            bytes[6..8].copy_from_slice(&flags.to_ne_bytes());
            let mut end = Request::new(NLMSG_DONE, 0, &[0; 4]).finish(1);
            end[6..8].copy_from_slice(&flags.to_ne_bytes());
            answers(&[bytes, end].concat())
        };
        let torn = |flags| {
            let [Answer::Message { torn: within, .. }, Answer::Done { torn: at_end, .. }] = &list(flags)[..] else {
                panic!("a message and the end")
            };
            [*within, *at_end]
        };
        // NLM_F_MULTI, and with it NLM_F_DUMP_INTR.
        assert_eq!([torn(2), torn(0x12)], [[false; 2], [true; 2]]);
    }
}
