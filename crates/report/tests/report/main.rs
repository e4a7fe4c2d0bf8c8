//! Results in every form that is written.

mod axes;
mod experiments;
mod json_page;
mod made;
mod many_senders;
mod metrics;
