//! The store, and the tables that are made of results.

mod exchanges;
mod kept;
mod planned;
