//! `subflow validate`.

use super::on_linux;
use crate::arguments::Validate;
use crate::failure::Failure;
use crate::output::print;

pub(crate) fn validate(arguments: &Validate) -> Result<(), Failure> {
    print(&on_linux::validate(arguments)?)
}
