//! Captures: what is read of them, what damages them, and how far what they show is from the runs that wrote them.

mod anonymised_files;
mod damaged_files;
mod many_connections;
mod matched;
mod replay;
mod runs;
