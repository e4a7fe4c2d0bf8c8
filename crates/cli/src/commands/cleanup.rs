//! `subflow cleanup`.

use super::{on_linux, proxy};
use crate::failure::Failure;
use crate::output::print;

pub(crate) fn cleanup() -> Result<(), Failure> {
    let mut removed = on_linux::cleanup()?;
    removed.extend(proxy::cleanup()?);
    if removed.is_empty() {
        return print("nothing was left behind\n");
    }
    print(&removed.iter().map(|name| format!("removed {name}\n")).collect::<String>())
}
