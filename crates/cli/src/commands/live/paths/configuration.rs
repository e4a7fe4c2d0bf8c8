//! The configuration of `subflow paths`, a TOML file:
//!
//! ```toml
//! policy = "full-mesh"                  # or { name = "ndiffports", n = 4 }
//!
//! [interfaces."wwan*"]                  # the first table that matches holds
//! backup   = true                       # default: false
//! priority = 200                        # the lowest first; default: 100
//!
//! [interfaces.docker0]
//! use = false                           # default: true
//! ```

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use subflow_linux::paths::{InterfaceRule, InterfaceRules};
use subflow_policy::catalogue::{Catalogue, Value};
use subflow_policy::path_manager::PathManagement;
use subflow_scenario::file::{Origin, Place, Problem, Source, did_you_mean, list, syntax_problem};
use subflow_scenario::input;
use toml_edit::{Document, Item, TableLike};

use crate::arguments::Paths;

/// A larger file is assumed to be a mistake.
const LARGEST_FILE_MIB: u64 = 1;
const KEYS: [&str; 2] = ["policy", "interfaces"];
const INTERFACE_KEYS: [&str; 3] = ["use", "backup", "priority"];
const LARGEST_PRIORITY: i64 = 65_535;

/// What the daemon goes by.
#[derive(Clone, Debug)]
pub(super) struct Configuration {
    policy: PathManagement,
    pub(super) interfaces: InterfaceRules,
}

impl Configuration {
    /// Reads the file, if there is one; the policy of the command line goes before that of the file.
    pub(super) fn read(arguments: &Paths) -> Result<Self, Problem> {
        let from_file = arguments.config.as_deref().map(File::read).transpose()?.unwrap_or_default();
        let asked = match &arguments.policy {
            Some(name) => Some(
                named(name).map_err(|(message, help)| Problem::nowhere(format!("--policy: {message}")).help(help))?,
            ),
            None => None,
        };
        let policy = match (asked, from_file.policy) {
            (Some(asked), Some(policy)) if policy.name() == asked.name() => policy,
            (Some(asked), _) => asked,
            (None, Some(policy)) => policy,
            (None, None) => {
                let file = arguments.config.as_deref().unwrap_or(Path::new("")).display();
                return Err(Problem::nowhere(format!("{file}: the policy is missing, such as policy = \"full-mesh\""))
                    .help("or name it on the command line: --policy full-mesh"));
            }
        };
        Ok(Self { policy, interfaces: from_file.interfaces })
    }

    /// A new path manager.
    pub(super) fn path_manager(&self) -> PathManagement {
        self.policy.clone()
    }

    /// The path manager and its options, as text.
    pub(super) fn description(&self) -> String {
        let options = self.policy.options();
        let options: Vec<String> = options.iter().map(|option| format!("{} = {}", option.key, option.value)).collect();
        match options.is_empty() {
            true => self.policy.name().to_owned(),
            false => format!("{} ({})", self.policy.name(), options.join(", ")),
        }
    }
}

/// The path manager with this name; else what was found and expected, and a remedy.
fn named(name: &str) -> Result<PathManagement, (String, String)> {
    let names = || PathManagement::NAMES.iter().copied();
    PathManagement::from_name(name).ok_or_else(|| {
        let message = format!("found {name:?}, expected a path manager: {}", list(names()));
        (message, did_you_mean(name, names(), "`subflow list path-managers` describes them"))
    })
}

/// What a file says.
#[derive(Debug, Default)]
struct Contents {
    policy: Option<PathManagement>,
    interfaces: InterfaceRules,
}

/// The text of a file, to refer to in errors.
struct File(Arc<Source>);

impl File {
    fn read(path: &Path) -> Result<Contents, Problem> {
        let shown = path.display();
        let bytes = input::read(path, LARGEST_FILE_MIB).map_err(|error| {
            Problem::nowhere(format!("{shown}: cannot read the configuration: {error}"))
                .help("check the path; it is relative to the current directory")
        })?;
        let text = String::from_utf8(bytes)
            .map_err(|_| Problem::nowhere(format!("{shown}: not UTF-8 text, expected a TOML file")))?;
        Self::parse(path, text)
    }

    fn parse(path: &Path, text: String) -> Result<Contents, Problem> {
        let source = Arc::new(Source { origin: Origin::User, name: path.display().to_string(), text });
        let document = Document::parse(source.text.clone()).map_err(|error| {
            syntax_problem(&source, &error).help("text values stand in quotes: policy = \"full-mesh\"")
        })?;
        let (file, root) = (Self(source), document.as_table());
        file.check_keys("", root, &KEYS)?;
        let policy = root.get("policy").map(|item| file.policy(item)).transpose()?;
        let mut interfaces = InterfaceRules::default();
        if let Some(item) = root.get("interfaces") {
            let table = item.as_table_like().ok_or_else(|| {
                file.problem(item.span(), "interfaces: expected tables by the names of interfaces")
                    .help("[interfaces.eth0]")
            })?;
            for (name, item) in table.iter() {
                interfaces.add(name, file.interface(name, item)?);
            }
        }
        Ok(Contents { policy, interfaces })
    }

    fn policy(&self, item: &Item) -> Result<PathManagement, Problem> {
        let by_name = |item: &Item| {
            let name = item.as_str().ok_or_else(|| {
                self.problem(item.span(), format!("policy: found {}, expected a name", item.type_name()))
                    .help("policy = \"full-mesh\", or policy = { name = \"ndiffports\", n = 4 }")
            })?;
            named(name).map_err(|(message, help)| self.problem(item.span(), format!("policy: {message}")).help(help))
        };
        let Some(table) = item.as_table_like() else { return by_name(item) };
        let name = table
            .get("name")
            .ok_or_else(|| self.problem(item.span(), "policy: the name is missing: { name = \"…\", … }"))?;
        let mut policy = by_name(name)?;
        let options = policy.options();
        let keys: Vec<&str> = ["name"].into_iter().chain(options.iter().map(|option| option.key)).collect();
        self.check_keys("policy.", table, &keys)?;
        for option in &options {
            let Some(item) = table.get(option.key) else { continue };
            let number = item.as_integer().and_then(|number| u64::try_from(number).ok());
            let set = number.and_then(|number| policy.clone().with(option.key, Value::Integer(number)).ok());
            policy = set.ok_or_else(|| {
                self.problem(item.span(), format!("policy.{}: expected {}", option.key, option.domain))
            })?;
        }
        Ok(policy)
    }

    fn interface(&self, name: &str, item: &Item) -> Result<InterfaceRule, Problem> {
        let path = format!("interfaces.{name}");
        let table = item.as_table_like().ok_or_else(|| {
            self.problem(item.span(), format!("{path}: found {}, expected a table", item.type_name()))
                .help(format!("[interfaces.{name}], then use, backup and priority"))
        })?;
        self.check_keys(&format!("{path}."), table, &INTERFACE_KEYS)?;
        if name.matches('*').count() > 1 || name.is_empty() {
            return Err(
                self.problem(item.span(), format!("{path}: expected the name of an interface, with one * at most"))
            );
        }
        let default = InterfaceRule::default();
        let flag = |key: &str, otherwise: bool| match table.get(key) {
            None => Ok(otherwise),
            Some(item) => item.as_bool().ok_or_else(|| {
                self.problem(item.span(), format!("{path}.{key}: found {}, expected true or false", item.type_name()))
            }),
        };
        let priority = match table.get("priority") {
            None => default.priority,
            Some(item) => match item.as_integer().filter(|number| (0..=LARGEST_PRIORITY).contains(number)) {
                Some(number) => number as u32,
                None => {
                    let message = format!("{path}.priority: expected a number from 0 to {LARGEST_PRIORITY}");
                    return Err(self.problem(item.span(), message));
                }
            },
        };
        Ok(InterfaceRule { used: flag("use", default.used)?, backup: flag("backup", default.backup)?, priority })
    }

    fn check_keys(&self, path: &str, table: &dyn TableLike, known: &[&str]) -> Result<(), Problem> {
        let Some((key, item)) = table.iter().find(|(key, _)| !known.contains(key)) else { return Ok(()) };
        let span = table.key(key).and_then(|key| key.span()).or_else(|| item.span());
        Err(self
            .problem(span, format!("{path}{key}: unknown key, expected {}", list(known.iter().copied())))
            .help(did_you_mean(key, known.iter().copied(), "")))
    }

    fn problem(&self, span: Option<Range<usize>>, message: impl Into<String>) -> Problem {
        Problem::at(&Place { source: Arc::clone(&self.0), span: span.unwrap_or(0..0) }, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Contents, String> {
        File::parse(Path::new("paths.toml"), text.to_owned()).map_err(|problem| format!("{problem:?}"))
    }

    #[test]
    fn a_file_says_policy_options_and_interfaces() {
        let contents = parse(
            "policy = { name = \"ndiffports\", n = 4 }\n[interfaces.wwan0]\nbackup = true\n\
             [interfaces.\"w*\"]\npriority = 7\nuse = false\n",
        )
        .expect("valid");
        let policy = contents.policy.expect("a policy");
        assert_eq!((policy.name(), &policy.options()[0].value), ("ndiffports", &Value::Integer(4)));
        let rule = |name| contents.interfaces.of(name);
        assert_eq!(rule("wwan0"), InterfaceRule { backup: true, ..InterfaceRule::default() });
        assert_eq!(rule("wlan0"), InterfaceRule { used: false, backup: false, priority: 7 });
        assert_eq!(rule("eth0"), InterfaceRule::default());
    }

    #[test]
    fn a_mistake_is_shown_with_its_line() {
        let cases = [
            ("policy = full-mesh\n", 1, "not valid TOML"),
            ("\npolicy = \"fullmash\"\n", 2, "did you mean \"full-mesh\"?"),
            ("policy = 3\n", 1, "found integer, expected a name"),
            ("policy = { n = 3 }\n", 1, "the name is missing"),
            ("policy = { name = \"ndiffports\", n = 0 }\n", 1, "policy.n: expected a whole number from 1 to 64"),
            ("policy = { name = \"default\", n = 2 }\n", 1, "policy.n: unknown key"),
            ("polcy = \"default\"\n", 1, "did you mean \"policy\"?"),
            ("interfaces = 3\n", 1, "expected tables"),
            ("[interfaces]\nwlan0 = 3\n", 2, "expected a table"),
            ("[interfaces.wlan0]\nuse = true\nbackup = 1\n", 3, "backup: found integer, expected true or false"),
            ("[interfaces.wlan0]\npriority = -1\n", 2, "expected a number from 0 to 65535"),
            ("[interfaces.wlan0]\nmetric = 1\n", 2, "unknown key, expected use, backup and priority"),
            ("[interfaces.\"*a*\"]\nuse = true\n", 1, "with one * at most"),
        ];
        for (text, line, words) in cases {
            let problem = parse(text).expect_err(text);
            assert!(problem.contains(&format!("paths.toml:{line}:")) && problem.contains(words), "{text}: {problem}");
        }
    }
}
