//! Sans-IO endpoints: TCP, MPTCP and UDP as state machines that are told the time and never touch bytes.

pub mod tcp;
