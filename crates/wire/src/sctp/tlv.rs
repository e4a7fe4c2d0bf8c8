//! What chunks, parameters and error causes have in common: a type, a length that counts itself but not the padding
//! behind, and padding with zeros to a multiple of 4 bytes (RFC 9260, section 3.2).

/// Length of a chunk's type, flags and length.
pub const CHUNK_HEADER_LENGTH: u32 = 4;

/// Length of type and length of a parameter or cause.
pub(super) const HEADER_LENGTH: usize = 4;

/// `length` with the padding behind it.
pub(super) const fn padded(length: u32) -> u32 {
    length.next_multiple_of(4)
}

/// Fills up with zeros to a multiple of 4 bytes from `start`.
pub(super) fn pad(start: usize, out: &mut Vec<u8>) {
    let length = (out.len() - start).next_multiple_of(4);
    out.resize(start + length, 0);
}

/// Appends a parameter or cause, with padding; `value` writes what stands behind type and length.
pub(super) fn emit(kind: u16, out: &mut Vec<u8>, value: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&kind.to_be_bytes());
    out.extend_from_slice(&[0, 0]);
    value(out);
    let length = (out.len() - start) as u16;
    out[start + 2..start + 4].copy_from_slice(&length.to_be_bytes());
    pad(start, out);
}

/// The parameters or causes that fill `bytes`: type and value of each. The padding of the last may be missing. An item
/// whose length cannot be followed ends the walk, and is answered as `Err`.
pub(super) fn walk(bytes: &[u8]) -> impl Iterator<Item = Result<(u16, &[u8]), Broken>> {
    let mut rest = bytes;
    core::iter::from_fn(move || {
        let [kind_high, kind_low, length_high, length_low, ..] = *rest else {
            let broken = !rest.is_empty();
            rest = &[];
            return broken.then_some(Err(Broken));
        };
        let kind = u16::from_be_bytes([kind_high, kind_low]);
        let length = usize::from(u16::from_be_bytes([length_high, length_low]));
        if length < HEADER_LENGTH || length > rest.len() {
            rest = &[];
            return Some(Err(Broken));
        }
        let value = &rest[HEADER_LENGTH..length];
        rest = &rest[length.next_multiple_of(4).min(rest.len())..];
        Some(Ok((kind, value)))
    })
}

/// A length that cannot be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Broken;
