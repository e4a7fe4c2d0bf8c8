//! Tests of the crate, in one program.

mod hosts;
mod rfc9001;
mod stateless;
mod support;
