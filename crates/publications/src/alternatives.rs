//! The item `sensitivity`: a paper's verdicts where a choice, which its text leaves open, is made otherwise.

use subflow_report::Finding;

use crate::{Item, ReproduceError, Request};

/// The name of the item.
const SENSITIVITY: &str = "sensitivity";

/// The item, for the list of a paper.
pub(crate) const fn sensitivity(title: &'static str) -> Item {
    Item { name: SENSITIVITY, title }
}

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

/// Adds the verdicts under each of `alternatives`, a name and choices, to `findings`, if `request` includes them.
/// `findings_with` repeats the published experiments with such choices and judges them.
///
/// # Errors
///
/// Those of `findings_with`.
pub(crate) fn compare_alternatives<C: Copy>(
    findings: &mut [Finding],
    request: &Request,
    alternatives: &[(&'static str, C)],
    findings_with: impl Fn(C) -> Result<Vec<Finding>, ReproduceError>,
) -> Result<(), ReproduceError> {
    if !request.wants_alternatives() {
        return Ok(());
    }
    for &(choice, choices) in alternatives {
        let others = findings_with(choices)?;
        findings.iter_mut().for_each(|finding| finding.compare_with(choice, &others));
    }
    Ok(())
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
