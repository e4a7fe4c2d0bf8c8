//! The item `sensitivity`: a paper's verdicts where a choice, which its text leaves open, is made otherwise.

use crate::Request;

/// The name of the item.
const SENSITIVITY: &str = "sensitivity";

impl Request {
    /// Whether nothing but `sensitivity` is requested. A verdict needs the experiments that it is about, so that a
    /// paper repeats all of its published ones then.
    pub(crate) fn is_only_sensitivity(&self) -> bool {
        !self.items.is_empty() && self.items.iter().all(|item| item == SENSITIVITY)
    }

    /// Whether verdicts under other choices are requested: by the item's name, or with everything if the reproduction
    /// is not a quick one.
    pub(crate) fn wants_alternatives(&self) -> bool {
        if self.items.is_empty() { !self.quick } else { self.wants(SENSITIVITY) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(items: &[&str], quick: bool) -> Request {
        Request { items: items.iter().map(|&item| item.to_owned()).collect(), quick, ..Request::default() }
    }

    #[test]
    fn alternatives_belong_to_whole_reproductions_and_to_their_own_item() {
        let wants = |items: &[&str], quick| request(items, quick).wants_alternatives();
        assert!(wants(&[], false) && wants(&[SENSITIVITY], true) && wants(&["ring", SENSITIVITY], false));
        assert!(!wants(&[], true) && !wants(&["ring"], false));
        assert!(request(&[SENSITIVITY], true).is_only_sensitivity() && !request(&[], true).is_only_sensitivity());
    }
}
