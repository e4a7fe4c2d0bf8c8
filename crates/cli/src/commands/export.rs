//! `subflow export`: the runs of a store as a table.

use subflow_store::{Store, to_csv};

use crate::arguments::Export;
use crate::failure::Failure;
use crate::output::print;

pub(crate) fn export(arguments: &Export) -> Result<(), Failure> {
    print(&to_csv(&subflow_store::export(&Store::existing(&arguments.store)?)?))
}
