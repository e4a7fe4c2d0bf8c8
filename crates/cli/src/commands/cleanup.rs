//! `subflow cleanup`.

use super::{on_linux, paths, proxy};
use crate::failure::Failure;
use crate::output::print;

pub(crate) fn cleanup() -> Result<(), Failure> {
    let mut lines: Vec<String> = on_linux::cleanup()?.into_iter().map(|name| format!("removed {name}")).collect();
    lines.extend(proxy::cleanup()?);
    lines.extend(paths::cleanup()?);
    if lines.is_empty() {
        return print("nothing was left behind\n");
    }
    print(&(lines.join("\n") + "\n"))
}
