//! The text of scenario files: documents, places of values, and errors.

mod document;
mod dotted_path;
mod foreign;
mod node;
mod problem;
mod section;
mod suggestion;
mod swept;
mod values;

pub use document::{Document, Leaf, Reach, syntax_problem};
pub(crate) use dotted_path::DottedPath;
pub use foreign::{FileKind, Foreign};
pub(crate) use node::{Entry, Node, Value};
pub(crate) use problem::Collector;
pub use problem::{Origin, Place, Problem, Problems, Source};
pub(crate) use section::{Field, Layers, Section, check_name, name_value};
pub use suggestion::{did_you_mean, list};
pub use values::FASTEST_RATE;
