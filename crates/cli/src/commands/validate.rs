//! `subflow validate`.

use super::on_linux;
use crate::arguments::Validate;
use crate::failure::Failure;
use crate::output::print;

pub(crate) fn validate(arguments: &Validate) -> Result<(), Failure> {
    let (text, objections) = on_linux::validate(arguments)?;
    print(&text)?;
    match objections.is_empty() {
        true => Ok(()),
        false => Err(Failure::RunFailed(objections.join("; "))),
    }
}
