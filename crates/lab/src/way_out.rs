//! What a user can do about a file that cannot be written.

use std::io::{Error, ErrorKind};

/// What a user can do about an error of the operating system, as the end of a message; empty where it says enough.
pub fn way_out(error: &Error) -> &'static str {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "; make room on this disk, or choose a folder on another one"
        }
        _ => "",
    }
}
