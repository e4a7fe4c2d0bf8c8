//! Congestion control without a network: laws that hold round by round, and properties that hold in every state.

mod coupled;
mod properties;
mod rounds;
mod uncoupled;
