//! `subflow cleanup`.

use super::{on_linux, paths, proxy};
use crate::failure::Failure;
use crate::output::print;

pub(crate) fn cleanup() -> Result<(), Failure> {
    let (mut text, mut outcome) = (String::new(), Ok(()));
    // What one of them cannot do must not keep the others from it, nor what they did from being told.
    for part in [on_linux::cleanup, proxy::cleanup, paths::cleanup] {
        outcome = outcome.and(part(&mut |line| text += &format!("{line}\n")));
    }
    match (text.is_empty(), outcome) {
        (true, Ok(())) => print("nothing was left behind\n"),
        (true, failed) => failed,
        (false, outcome) => print(&text).and(outcome),
    }
}
