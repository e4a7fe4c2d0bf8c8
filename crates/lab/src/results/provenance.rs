//! What made results.

use serde::{Deserialize, Serialize};

/// The number of the form of results: fields may be added with the same number, and a change of the meaning of one
/// raises it.
pub const SCHEMA: u32 = 1;

/// The program that made results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Its version.
    pub version: String,
    /// The commit that it was built from, where the build was told: by the environment variable `SUBFLOW_COMMIT`.
    pub commit: Option<String>,
    /// The number of the form of the results ([`SCHEMA`]).
    pub schema: u32,
}

impl Provenance {
    /// This program.
    pub fn of_this_program() -> Self {
        // No build script asks Git: sources in a package have no repository, or that of something else.
        let commit = option_env!("SUBFLOW_COMMIT").filter(|commit| !commit.is_empty());
        Self { version: env!("CARGO_PKG_VERSION").to_owned(), commit: commit.map(str::to_owned), schema: SCHEMA }
    }
}
