//! Address identifiers for the addresses of this host (RFC 8684, section 3.2).

/// Assigns identifiers in turn, from 1 to 255. Identifier 0 is that of the initial subflow's address.
///
/// An address that was lost and returns gets another identifier than before, and no identifier is used again before all
/// others were: the REMOVE_ADDR of the lost address may still be on its way, and closes all subflows of its identifier
/// when it arrives, those included that were opened after the return. Linux assigns them in turn, too, but begins the
/// search with the last one, which it may give again (`next_id` in `mptcp_pm_nl_append_new_local_addr`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identifiers {
    last: u8,
}

impl Identifiers {
    /// The next identifier that is not in use, or `None` if all are.
    pub fn next(&mut self, is_used: impl Fn(u8) -> bool) -> Option<u8> {
        let next = (1..=u8::MAX).map(|step| following(self.last, step)).find(|&id| !is_used(id))?;
        self.last = next;
        Some(next)
    }
}

/// The identifier that is `step` places behind `last`, in the circle from 1 to 255.
fn following(last: u8, step: u8) -> u8 {
    let place = u16::from(last) + u16::from(step) - 1;
    (place % u16::from(u8::MAX)) as u8 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_identifier_but_zero_has_its_turn_before_one_is_used_again() {
        let mut identifiers = Identifiers::default();
        let turns: Vec<_> = (0..256).map(|_| identifiers.next(|_| false)).collect();
        let expected = (1..=255).chain([1]).map(Some).collect::<Vec<Option<u8>>>();
        assert_eq!(turns, expected);
    }

    #[test]
    fn identifiers_in_use_are_passed_over() {
        let mut identifiers = Identifiers::default();
        assert_eq!([(); 2].map(|()| identifiers.next(|id| id < 4 || id == 5)), [Some(4), Some(6)]);
        assert_eq!(identifiers.next(|id| id != 6), Some(6));
        assert_eq!(identifiers.next(|_| true), None);
    }
}
