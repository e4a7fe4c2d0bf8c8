//! `subflow schema`, `subflow completions` and `subflow man`: descriptions of the scenario file and of the command for
//! editors and shells.

use clap::{Arg, Command, ValueHint};
use clap_complete::Shell;
use subflow_scenario::schema::json_schema;

use crate::arguments::names::INTERFACES;
use crate::arguments::{Completions, Man};
use crate::failure::Failure;
use crate::output::print;
use crate::part;

pub(crate) fn schema() -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(&json_schema()).expect("values of JSON can be written");
    print(&(text + "\n"))
}

pub(crate) fn completions(arguments: &Completions) -> Result<(), Failure> {
    let mut script = Vec::new();
    let mut command = without_files(part::command());
    clap_complete::generate(arguments.shell, &mut command, "subflow", &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if arguments.shell == Shell::Fish {
        for subcommand in command.get_subcommands() {
            let name = subcommand.get_name();
            script += &fish_values(subcommand, &format!("__fish_subflow_using_subcommand {name}"));
            for nested in subcommand.get_subcommands() {
                let seen = format!(
                    "__fish_subflow_using_subcommand {name}; and __fish_seen_subcommand_from {}",
                    nested.get_name()
                );
                script += &fish_values(nested, &seen);
            }
        }
    }
    print(&with_interfaces(&script, arguments.shell))
}

/// Offers files only where an argument is a path.
fn without_files(command: Command) -> Command {
    let hinted = |argument: Arg| match argument.get_value_hint() {
        ValueHint::Unknown if argument.get_action().takes_values() => argument.value_hint(ValueHint::Other),
        _ => argument,
    };
    command.mut_args(hinted).mut_subcommands(without_files)
}

/// Has a shell look up the names of interfaces when it completes one.
fn with_interfaces(script: &str, shell: Shell) -> String {
    const LIST: &str = "command ls /sys/class/net 2>/dev/null";
    match shell {
        Shell::Bash => script.replace(INTERFACES, &format!("$({LIST})")),
        Shell::Fish => script.replace(INTERFACES, &format!("({LIST})")),
        // The completion function of zsh for interfaces.
        Shell::Zsh => script.replace(&format!("({INTERFACES})"), "_net_interfaces"),
        _ => script.replace(INTERFACES, ""),
    }
}

/// Completions of positional arguments with a set of values, which clap_complete leaves out for fish, where the command
/// line is as in `condition`.
fn fish_values(command: &Command, condition: &str) -> String {
    let mut script = String::new();
    for value in command.get_positionals().flat_map(Arg::get_possible_values) {
        let quoted = |text: &str| text.replace('\\', r"\\").replace('\'', r"\'");
        let help = value.get_help().map(|help| format!(" -d '{}'", quoted(&help.to_string()))).unwrap_or_default();
        script += &format!("complete -c subflow -n \"{condition}\" -f -a '{}'{help}\n", quoted(value.get_name()));
    }
    script
}

pub(crate) fn man(arguments: &Man) -> Result<(), Failure> {
    if let Some(folder) = &arguments.out {
        // Not built before: it would have `help` and its own commands, which print in short what the other pages say.
        let written = std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(part::command(), folder));
        return written.map_err(|error| Failure::RunFailed(format!("{}: cannot write: {error}", folder.display())));
    }
    let mut command = part::command();
    // Gives subcommands their full names.
    command.build();
    let page = arguments.command.iter().try_fold(command, |command, name| subcommand(&command, name))?;
    let mut text = Vec::new();
    let rendered = clap_mangen::Man::new(page).render(&mut text);
    rendered.map_err(|error| Failure::RunFailed(format!("cannot write the manual page: {error}")))?;
    print(&String::from_utf8_lossy(&text))
}

fn subcommand(command: &Command, name: &str) -> Result<Command, Failure> {
    command.find_subcommand(name).cloned().ok_or_else(|| {
        let names = command.get_subcommands().map(Command::get_name);
        let help = match command.has_subcommands() {
            true => format!("there are {}", subflow_scenario::file::list(names)),
            false => format!("`{}` has no commands of its own", command.get_bin_name().unwrap_or_default()),
        };
        Failure::bad_input(format!("found {name:?}, expected the name of a command"), help)
    })
}
