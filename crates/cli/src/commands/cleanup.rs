//! `subflow cleanup`.

use super::{on_linux, paths, proxy};
use crate::failure::Failure;
use crate::output::print;

pub(crate) fn cleanup() -> Result<(), Failure> {
    let mut lines: Vec<String> = on_linux::cleanup()?.into_iter().map(|name| format!("removed {name}")).collect();
    let mut failed = None;
    // What one of them cannot do must not keep the other from it.
    for part in [proxy::cleanup, paths::cleanup] {
        match part() {
            Ok(more) => lines.extend(more),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    match (lines.is_empty(), failed) {
        (true, None) => print("nothing was left behind\n"),
        (true, Some(error)) => Err(error),
        (false, failed) => print(&(lines.join("\n") + "\n")).and(failed.map_or(Ok(()), Err)),
    }
}
