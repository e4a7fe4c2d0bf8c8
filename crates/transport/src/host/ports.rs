//! Local ports for connections without a requested port.

/// The first dynamic port (RFC 6335, section 6).
const FIRST: u16 = 49_152;
/// Number of dynamic ports.
pub(super) const COUNT: u16 = 16_384;

/// Selection of ports by a keyed hash (RFC 6056, section 3.3.3, algorithm 3).
#[derive(Clone, Debug, Default)]
pub(super) struct Ports {
    /// Number of ports tried so far, modulo [`COUNT`] (`next_ephemeral`).
    next: u16,
}

impl Ports {
    /// A free port. The search starts at `offset` plus the number of ports tried before; `None` if no port is free.
    pub(super) fn choose(&mut self, offset: u32, is_free: impl Fn(u16) -> bool) -> Option<u16> {
        let offset = (offset % u32::from(COUNT)) as u16;
        for _ in 0..COUNT {
            let port = FIRST + (offset + self.next) % COUNT;
            self.next = (self.next + 1) % COUNT;
            if is_free(port) {
                return Some(port);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn ports_follow_each_other_from_the_offset_on() {
        let mut ports = Ports::default();
        let three: Vec<_> = (0..3).map(|_| ports.choose(0, |_| true)).collect();
        assert_eq!(three, [Some(49_152), Some(49_153), Some(49_154)]);
        assert_eq!(ports.choose(16_384 + 100, |_| true), Some(49_152 + 103));
    }

    #[test]
    fn the_last_free_port_is_found_and_a_search_without_one_ends() {
        let mut ports = Ports::default();
        assert_eq!(ports.choose(0, |port| port == 65_535), Some(65_535));
        assert_eq!(ports.choose(u32::MAX, |port| port == 50_000), Some(50_000));
        let looked_at = Cell::new(0);
        let none = ports.choose(7, |_| {
            looked_at.set(looked_at.get() + 1);
            false
        });
        assert_eq!((none, looked_at.get()), (None, 16_384));
    }
}
