//! `subflow import` and `subflow export --to`: files of other tools as scenarios, and the reverse.

use std::path::{Component, Path};

use subflow_export::{ExportError, Target, export};
use subflow_import::{Choices, ImportError, import as read};
use subflow_scenario::input;
use subflow_scenario::sweep::Plan;

use super::check::load;
use super::new::write_new;
use crate::arguments::{ExportNetwork, Import};
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
    let between = arguments.between.as_deref().and_then(|nodes| <[String; 2]>::try_from(nodes.to_vec()).ok());
    let choices = Choices {
        rate: arguments.rate,
        delay: arguments.delay,
        km_per_second: arguments.km_per_second,
        scale: arguments.scale,
        queue: arguments.queue,
        between,
        demands: !arguments.without_demands,
    };
    let folder = file.parent().unwrap_or(Path::new(""));
    let imported = read(&bytes, &file_name(file), &choices, &|name| beside(folder, name)).map_err(refused)?;
    let Some(out) = &arguments.out else { return print(&imported.text) };
    write_new(out, &imported.text)?;
    for note in &imported.notes {
        say(&format!("{}: {note}", file.display()));
    }
    let shown = out.display();
    print(&format!("{shown} is written. Check it, then run it:\n  subflow check {shown}\n  subflow run {shown}\n"))
}

/// The bytes of a file that another one names, in its folder or below; what is on a server is not fetched.
fn beside(folder: &Path, name: &str) -> Option<Vec<u8>> {
    let is_below = Path::new(name).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if is_below { input::read(&folder.join(name), LARGEST_FILE_MIB).ok() } else { None }
}

/// The file's name without its folder and its ending.
fn file_name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Writes the network of a scenario for another tool.
pub(crate) fn export_network(scenario: &Path, target: Target, choices: &ExportNetwork) -> Result<(), Failure> {
    let mut document = load(scenario)?;
    for assignment in &choices.set {
        document.set("--set", assignment)?;
    }
    let plan = Plan::read(document)?;
    let shown = scenario.display();
    if plan.points.len() > 1 {
        say(&format!(
            "{shown}: a sweep of {} points: the first one is exported; --set chooses values",
            plan.points.len()
        ));
    }
    let refused = |ExportError { message, help }| Failure::bad_input(format!("{shown}: {message}"), help);
    let exported = export(&plan.points[0].scenario, target).map_err(refused)?;
    let Some(out) = &choices.out else { return print(&exported.text) };
    write_new(out, &exported.text)?;
    for note in &exported.notes {
        say(&format!("{shown}: {note}"));
    }
    print(&format!("{} is written; its first lines say how it is run\n", out.display()))
}
