//! Stories of one MPTCP connection.
