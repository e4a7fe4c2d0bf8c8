//! `subflow import`: the network of another tool's file as a scenario.

use std::path::Path;

use subflow_import::{Choices, ImportError, read, scenario};
use subflow_scenario::input;

use super::new::write_new;
use crate::arguments::Import;
use crate::failure::Failure;
use crate::output::{print, say};

/// A larger file is assumed to be a mistake.
const LARGEST_FILE_MIB: u64 = 64;

pub(crate) fn import(arguments: &Import) -> Result<(), Failure> {
    let file = &arguments.file;
    let refused = |error: ImportError| Failure::bad_input(format!("{}: {}", file.display(), error.message), error.help);
    let bytes = match file.as_os_str() == "-" {
        true => input::read_from(std::io::stdin().lock(), LARGEST_FILE_MIB),
        false => input::read(file, LARGEST_FILE_MIB),
    };
    let bytes = bytes.map_err(|error| Failure::bad_input(format!("{}: {error}", file.display()), ""))?;
    let network = read(&bytes, &file_name(file)).map_err(refused)?;
    let between = arguments.between.as_deref().and_then(|nodes| <[String; 2]>::try_from(nodes.to_vec()).ok());
    let choices = Choices {
        rate: arguments.rate,
        delay: arguments.delay,
        km_per_second: arguments.km_per_second,
        scale: arguments.scale,
        between,
        demands: !arguments.without_demands,
    };
    let imported = scenario(&network, &choices).map_err(refused)?;
    let Some(out) = &arguments.out else { return print(&imported.text) };
    write_new(out, &imported.text)?;
    for note in &imported.notes {
        say(&format!("{}: {note}", file.display()));
    }
    let shown = out.display();
    print(&format!("{shown} is written. Check it, then run it:\n  subflow check {shown}\n  subflow run {shown}\n"))
}

/// The file's name without its folder and its ending.
fn file_name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
