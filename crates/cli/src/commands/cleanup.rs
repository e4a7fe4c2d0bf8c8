//! `subflow cleanup`.

use super::{on_linux, paths, proxy};
use crate::failure::Failure;
use crate::output::print;

pub(crate) fn cleanup() -> Result<(), Failure> {
    let removed = on_linux::cleanup()?.into_iter().chain(proxy::cleanup()?);
    let mut lines: Vec<String> = removed.map(|name| format!("removed {name}\n")).collect();
    lines.extend(paths::cleanup()?.map(|done| format!("{done}\n")));
    if lines.is_empty() {
        return print("nothing was left behind\n");
    }
    print(&lines.concat())
}
