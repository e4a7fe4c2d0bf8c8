//! Properties of random connections.
