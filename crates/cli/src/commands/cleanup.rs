//! `subflow cleanup`.

#[cfg(feature = "live")]
use super::live::{paths, proxy};
use super::on_linux;
use crate::failure::Failure;
use crate::output::print;

/// Removes what one part left behind, and reports what it did, a line each.
type Part = fn(&mut dyn FnMut(&str)) -> Result<(), Failure>;

pub(crate) fn cleanup() -> Result<(), Failure> {
    let (mut text, mut outcome) = (String::new(), Ok(()));
    // What one of them cannot do must not keep the others from it, nor what they did from being told.
    let parts: &[Part] = &[
        on_linux::cleanup,
        #[cfg(feature = "live")]
        proxy::cleanup,
        #[cfg(feature = "live")]
        paths::cleanup,
    ];
    for part in parts {
        outcome = outcome.and(part(&mut |line| text += &format!("{line}\n")));
    }
    match (text.is_empty(), outcome) {
        (true, Ok(())) => print("nothing was left behind\n"),
        (true, failed) => failed,
        (false, outcome) => print(&text).and(outcome),
    }
}
