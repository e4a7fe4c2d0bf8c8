//! Any bytes as a case of hostile traffic against TCP hosts (see the crate `subflow-hostile`).
#![no_main]

use libfuzzer_sys::fuzz_target;
use subflow_hostile::{Case, Stack, run};

fuzz_target!(|bytes: &[u8]| {
    run(&Case::from_bytes(Stack::Tcp, bytes));
});
