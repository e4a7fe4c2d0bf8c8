//! `subflow export`: the runs of a store as a table.

use subflow_store::Store;

use crate::arguments::Export;
use crate::failure::Failure;
use crate::output::print;

pub(crate) fn export(arguments: &Export) -> Result<(), Failure> {
    print(&subflow_store::export(&Store::existing(&arguments.store)?)?.to_csv())
}
