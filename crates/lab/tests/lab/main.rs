//! Runs of whole scenarios, and comparisons of their results.

mod any_scenario;
mod comparison;
mod custom_algorithms;
mod flapping;
mod groups;
mod laws;
mod sctp;
mod threads;
mod unfinished;
