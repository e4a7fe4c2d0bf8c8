//! `subflow run`.

use std::path::PathBuf;

use subflow_lab::execute::execute;
use subflow_lab::results::{Experiment, to_csv, to_text};
use subflow_lab::simulate::RunOptions;
use subflow_report::output::{Folder, to_json};

use super::check::read;
use super::on_linux;
use crate::arguments::{Format, Platform, Run};
use crate::failure::Failure;
use crate::output::{figure_format, print};
use crate::progress::Bar;

pub(crate) fn run(arguments: &Run) -> Result<(), Failure> {
    let in_real_time = arguments.on == Platform::Linux;
    if arguments.device.is_some() && !in_real_time {
        return Err(Failure::bad_input(
            "--device: found without --on linux, expected it with that only",
            "the simulator has no devices: add --on linux, or drop it",
        ));
    }
    let seed = arguments.seed.map(|seed| ("--seed", format!("seed={seed}")));
    let repeat = arguments.repeat.map(|repeat| ("--repeat", format!("repeat={repeat}")));
    let options: Vec<(&str, String)> = seed.into_iter().chain(repeat).collect();
    let plan = read(&arguments.scenario, &arguments.set, &options)?;

    let suffix = if in_real_time { "-linux" } else { "" };
    let default_folder = || PathBuf::from("results").join(format!("{}{suffix}", plan.document.name));
    let out = match (&arguments.out, arguments.format) {
        (Some(out), _) => Some(out.clone()),
        (None, Format::Text) => Some(default_folder()),
        (None, Format::Json | Format::Csv) => None,
    };
    let folder = out.map(Folder::new).transpose()?;
    let figures = figure_format(arguments.figures, folder.as_ref())?;
    if let Some(pcap) = &arguments.pcap {
        std::fs::create_dir_all(pcap).map_err(|error| {
            Failure::bad_input(format!("{}: cannot make the folder for captures: {error}", pcap.display()), "")
        })?;
    }

    let bar = Bar::new();
    let jobs = arguments.jobs.map_or(0, usize::from);
    let options =
        RunOptions { pcap: arguments.pcap.clone(), run: 0, series: folder.is_some(), ..RunOptions::default() };
    let progress = |progress| bar.show(progress);
    let experiment = match arguments.on {
        Platform::Simulator => execute(&plan, jobs, &options, &progress).map_err(Failure::from),
        Platform::Linux => on_linux::execute(&plan, arguments.device, &options, &progress),
    };
    bar.finish();
    let experiment = experiment?;
    let invalid = tell_of_invalid_runs(&experiment);

    // What took long to find out is shown even where it cannot be written.
    let written = folder.as_ref().map(|folder| folder.write_experiment(&plan, &experiment, figures)).transpose();
    match arguments.format {
        Format::Json => print(&to_json(&experiment))?,
        Format::Csv => print(&to_csv(&experiment))?,
        Format::Text => print(&to_text(&experiment))?,
    }
    written?;
    if let (Some(folder), Format::Text) = (folder, arguments.format) {
        print(&format!("\nResults are in {}\n", folder.path().display()))?;
    }
    match invalid {
        0 => Ok(()),
        _ => Err(Failure::RunFailed(format!(
            "{invalid} of {} runs not valid; they are in the results all the same, and marked there",
            experiment.runs.len()
        ))),
    }
}

/// A run that the machine was too slow for is kept, but never silently. How many there are of them.
fn tell_of_invalid_runs(experiment: &Experiment) -> usize {
    for run in &experiment.runs {
        for objection in run.result.objections() {
            eprintln!("warning: run {} is not valid: {objection}", run.run);
        }
    }
    experiment.runs.iter().filter(|run| !run.result.objections().is_empty()).count()
}
