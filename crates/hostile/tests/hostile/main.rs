//! The engine of hostile traffic, and the cases that it once found.

mod counterexamples;
mod engine;
