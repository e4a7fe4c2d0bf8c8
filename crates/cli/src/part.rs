//! Parts of the command that a build may lack, for a short first build. Each is a feature of the crate; `full` has all.

use core::fmt::Write;

use clap::CommandFactory;

use crate::arguments::Arguments;
use crate::failure::Failure;

/// A part of the command that is a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Runs in real time: `--on linux` and what is like it.
    Linux,
    /// Tools for this machine's connections.
    Live,
    /// `reproduce`.
    Publications,
    /// `conform`.
    Conformance,
    /// `import`.
    Import,
    /// `analyze`.
    Analyze,
    /// `serve`.
    Serve,
}

/// The commands that are a part, or of one, with what a build without it lacks.
const COMMANDS: [(&str, Part, &str); 19] = [
    ("analyze", Part::Analyze, "reader of captures"),
    ("reproduce", Part::Publications, "publications"),
    ("conform", Part::Conformance, "protocol tests"),
    ("serve", Part::Serve, "page to work in"),
    ("import", Part::Import, "readers of other tools' networks"),
    ("validate", Part::Linux, "runs in real time"),
    ("up", Part::Linux, "networks on Linux"),
    ("exec", Part::Linux, "networks on Linux"),
    ("shell", Part::Linux, "networks on Linux"),
    ("ps", Part::Linux, "networks on Linux"),
    ("link", Part::Linux, "networks on Linux"),
    ("set", Part::Linux, "networks on Linux"),
    ("down", Part::Linux, "networks on Linux"),
    ("cleanup", Part::Linux, "runs in real time, proxy or path manager"),
    ("cc", Part::Live, "congestion controls for the kernel"),
    ("paths", Part::Live, "path manager for the kernel"),
    ("watch", Part::Live, "view of the kernel's connections"),
    ("proxy", Part::Live, "proxy"),
    ("status", Part::Live, "proxy or path manager"),
];

impl Part {
    fn feature(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::Live => "live",
            Self::Publications => "publications",
            Self::Conformance => "conformance",
            Self::Import => "import",
            Self::Analyze => "analyze",
            Self::Serve => "serve",
        }
    }

    /// Whether this build has it.
    fn is_built(self) -> bool {
        match self {
            Self::Linux => cfg!(feature = "linux"),
            Self::Live => cfg!(feature = "live"),
            Self::Publications => cfg!(feature = "publications"),
            Self::Conformance => cfg!(feature = "conformance"),
            Self::Import => cfg!(feature = "import"),
            Self::Analyze => cfg!(feature = "analyze"),
            Self::Serve => cfg!(feature = "serve"),
        }
    }

    /// The error of a build that lacks it; `what` completes "this build has no".
    #[allow(dead_code, reason = "a build with all parts lacks none")]
    pub(crate) fn is_missing(self, what: &str) -> Failure {
        if matches!(self, Self::Linux | Self::Live) && cfg!(not(target_os = "linux")) {
            let message = "this system is not Linux: runs in real time need its network namespaces and MPTCP";
            return Failure::bad_input(message, "run the command on Linux");
        }
        let feature = self.feature();
        Failure::bad_input(
            format!("this build has no {what}"),
            format!("build it with `cargo build --release --features {feature}` (`full` has all parts)"),
        )
    }
}

/// The error of a command whose part this build lacks.
#[allow(dead_code, reason = "a build with all parts lacks none")]
pub(crate) fn missing(command: &str) -> Failure {
    let (_, part, what) =
        COMMANDS.into_iter().find(|(name, ..)| *name == command).expect("it is the command of a part");
    part.is_missing(what)
}

/// The command with its subcommands. Those that this build lacks say so in help texts, completions and manual pages.
pub(crate) fn command() -> clap::Command {
    let lacking = COMMANDS.into_iter().filter(|(_, part, _)| !part.is_built());
    lacking.fold(Arguments::command(), |command, (name, part, _)| {
        command.mut_subcommand(name, |subcommand| {
            let mut about = subcommand.get_about().cloned().unwrap_or_default();
            _ = write!(about, " [not in this build; needs --features {}]", part.feature());
            subcommand.about(about)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(failure: &Failure) -> String {
        let Failure::BadInput(problems) = failure else { panic!("it is bad input") };
        crate::failure::rendered(problems, false).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn every_part_is_a_command_and_its_error_names_the_feature() {
        let command = Arguments::command();
        for (name, part, what) in COMMANDS {
            assert!(command.find_subcommand(name).is_some(), "{name}");
            let said = said(&missing(name));
            match part {
                Part::Linux | Part::Live if cfg!(not(target_os = "linux")) => assert!(said.contains("not Linux")),
                _ => {
                    assert!(said.contains(&format!("this build has no {what}")), "{said}");
                    assert!(said.contains(&format!("--features {}", part.feature())), "{said}");
                }
            }
        }
    }

    #[test]
    fn help_names_the_features_of_what_is_not_built() {
        for (name, part, _) in COMMANDS {
            let about = command().find_subcommand(name).and_then(|found| found.get_about()).map(ToString::to_string);
            let is_marked = about.expect("each command has a summary").contains("not in this build");
            assert_eq!(is_marked, !part.is_built(), "{name}");
        }
    }
}
