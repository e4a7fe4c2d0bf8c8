//! Cases of hostile traffic against hosts of QUIC over several paths (see the crate `subflow-hostile`), changed action by action.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use subflow_hostile::{Case, Stack, run};

fuzz_target!(|input: &[u8]| {
    run(&Case::from_input(Stack::Mpquic, input));
});

fuzz_mutator!(|input: &mut [u8], size: usize, most: usize, seed: u32| {
    subflow_fuzz::mutate_case(Stack::Mpquic, input, size, most, seed)
});
