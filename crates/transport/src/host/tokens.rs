//! The MPTCP connection of a token (RFC 8684, section 3.2).

use std::collections::BTreeMap;

use rand_core::RngCore;

use super::EndpointId;
use crate::mptcp::keys::Key;

/// The tokens of a host's own keys, and their connections.
#[derive(Clone, Debug, Default)]
pub(super) struct Tokens(BTreeMap<u32, EndpointId>);

impl Tokens {
    /// A key whose token no connection of the host has. Keys are drawn until the token is not in use (RFC 8684, section
    /// 3.1).
    pub(super) fn fresh_key(&self, random: &mut impl RngCore) -> Key {
        loop {
            let key = Key::new(random.next_u64());
            if self.is_free(key.token) {
                return key;
            }
        }
    }

    /// Whether no connection has this token.
    pub(super) fn is_free(&self, token: u32) -> bool {
        !self.0.contains_key(&token)
    }

    /// The connection to which an MP_JOIN with this token belongs.
    pub(super) fn find(&self, token: u32) -> Option<EndpointId> {
        self.0.get(&token).copied()
    }

    pub(super) fn insert(&mut self, token: u32, id: EndpointId) {
        self.0.insert(token, id);
    }

    /// Removes the token of a connection that is removed.
    pub(super) fn remove(&mut self, token: u32, id: EndpointId) {
        if self.find(token) == Some(id) {
            self.0.remove(&token);
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    use super::*;

    #[test]
    fn a_key_whose_token_is_in_use_is_drawn_again() {
        let seed = || Pcg64Mcg::seed_from_u64(1);
        let first = Tokens::default().fresh_key(&mut seed());
        let mut tokens = Tokens::default();
        tokens.insert(first.token, EndpointId(0));
        let mut generator = seed();
        let numbers = [generator.next_u64(), generator.next_u64()];
        assert_eq!(Key::new(numbers[0]), first);
        assert_eq!(tokens.fresh_key(&mut seed()), Key::new(numbers[1]));
    }

    #[test]
    fn a_token_that_another_connection_has_by_now_is_not_removed() {
        let mut tokens = Tokens::default();
        tokens.insert(7, EndpointId(1));
        tokens.remove(7, EndpointId(0));
        assert_eq!(tokens.find(7), Some(EndpointId(1)));
        tokens.remove(7, EndpointId(1));
        assert!(tokens.is_free(7));
    }
}
