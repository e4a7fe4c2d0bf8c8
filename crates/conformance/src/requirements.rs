//! The page that maps requirements to scripts, and the lists of requirements that it shows.

use core::fmt::Write;
use std::collections::BTreeMap;
use std::sync::Arc;

use subflow_scenario::file::{Origin, Place, Problem, Source};

use crate::script::{Document, Requirement, Script};
use crate::vocabulary::Protocol;

/// The extension of the files of lists of requirements.
pub const LIST_EXTENSION: &str = "requirements";

/// What an RFC requires with MUST and MUST NOT, and what holds the stack to it.
#[derive(Clone, Debug)]
pub struct RequirementList {
    rfc: u32,
    /// The folder of the scripts.
    folder: String,
    statements: Vec<Statement>,
}

/// One requirement of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Section, such as `3.10.7.4`.
    pub section: String,
    /// Whether it is a MUST NOT.
    pub forbids: bool,
    /// The requirement, in other words than the RFC's.
    pub text: String,
    /// What holds the stack to it.
    pub held: Held,
}

/// What holds the stack to a requirement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    /// Scripts, by their names without folder and extension.
    Scripts(Vec<String>),
    /// A test in a file of the repository.
    Elsewhere {
        /// The file.
        file: String,
        /// The name of the test.
        test: String,
    },
    /// Nothing, for this reason.
    Not(String),
}

impl RequirementList {
    /// Reads a list: `rfc NUMBER FOLDER`, then two lines for each requirement: `SECTION MUST TEXT` or
    /// `SECTION MUST NOT TEXT`, and, indented, names of scripts, `elsewhere FILE TEST` or `not REASON`. `name` is that
    /// of the file, for messages.
    ///
    /// # Errors
    ///
    /// The first mistake, with its place.
    pub fn parse(name: &str, text: &str) -> Result<Self, Problem> {
        let source = Arc::new(Source { origin: Origin::User, name: name.to_owned(), text: text.to_owned() });
        let mut lines = text.split_inclusive('\n').scan(0, |at, line| {
            let start = *at;
            *at += line.len();
            Some((start, line.trim_end()))
        });
        let mut lines = lines.by_ref().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let wrong = |(start, line): (usize, &str), message: &str| {
            let place = Place { source: source.clone(), span: start..start + line.len() };
            Problem::at(&place, message).help(
                "rfc NUMBER FOLDER; then SECTION MUST [NOT] TEXT, and below it, indented, \
                scripts, elsewhere FILE TEST or not REASON",
            )
        };
        let first = lines.next().unwrap_or((0, ""));
        let words: Vec<&str> = first.1.split_whitespace().collect();
        let ["rfc", number, folder] = words[..] else { return Err(wrong(first, "the list has no RFC")) };
        let rfc = number.parse().map_err(|_| wrong(first, "the number of the RFC is none"))?;
        let mut statements = Vec::new();
        while let Some(line) = lines.next() {
            let held = lines.next().filter(|(_, held)| held.starts_with(' '));
            let held = held.ok_or_else(|| wrong(line, "nothing below this says what holds the stack to it"))?;
            let (section, rest) = line.1.split_once(" MUST ").ok_or_else(|| wrong(line, "this is no requirement"))?;
            let (forbids, text) = rest.strip_prefix("NOT ").map_or((false, rest), |rest| (true, rest));
            let held = Held::parse(held.1).ok_or_else(|| wrong(held, "a file and a test stand behind elsewhere"))?;
            statements.push(Statement { section: section.to_owned(), forbids, text: text.to_owned(), held });
        }
        Ok(Self { rfc, folder: folder.to_owned(), statements })
    }

    /// The folder of the scripts that the list names.
    pub fn folder(&self) -> &str {
        &self.folder
    }

    /// The requirements, in the order of the file.
    pub fn statements(&self) -> &[Statement] {
        &self.statements
    }

    fn write(&self, page: &mut String) {
        let count = |is: fn(&Held) -> bool| self.statements.iter().filter(|statement| is(&statement.held)).count();
        let by_scripts = count(|held| matches!(held, Held::Scripts(_)));
        let elsewhere = count(|held| matches!(held, Held::Elsewhere { .. }));
        let (all, not) = (self.statements.len(), count(|held| matches!(held, Held::Not(_))));
        let _ = writeln!(page, "\n## MUST and MUST NOT of RFC {}\n", self.rfc);
        let _ = writeln!(
            page,
            "{all} requirements: {by_scripts} are held by scripts, {elsewhere} by other tests, and {not} are not \
             tested.\n"
        );
        *page += "| section | | requirement | held by |\n|---|---|---|---|\n";
        for Statement { section, forbids, text, held } in &self.statements {
            let must = if *forbids { "MUST NOT" } else { "MUST" };
            let held = match held {
                Held::Scripts(names) => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
                Held::Elsewhere { file, test } => format!("`{test}` in `{file}`"),
                Held::Not(reason) => format!("not tested: {reason}"),
            };
            let _ = writeln!(page, "| {section} | {must} | {text} | {held} |");
        }
    }
}

impl Held {
    fn parse(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["elsewhere", file, test] => Some(Self::Elsewhere { file: file.to_owned(), test: test.to_owned() }),
            ["elsewhere", ..] => None,
            ["not", ..] => Some(Self::Not(words[1..].join(" "))),
            _ => Some(Self::Scripts(words.iter().map(|&word| word.to_owned()).collect())),
        }
    }
}

/// The page, as Markdown: the requirements of the `lists`, and for each protocol and RFC every requirement that a
/// script states. `scripts` are scripts with the names of their files, in any order.
pub fn requirements_page(scripts: &[(String, Script)], lists: &[RequirementList]) -> String {
    let mut page = String::from(INTRODUCTION);
    for (_, name, protocol) in Protocol::ALL {
        let mut by_document: BTreeMap<&Document, Vec<(&Requirement, &str, &str)>> = BTreeMap::new();
        for (file, script) in scripts.iter().filter(|(_, script)| script.protocol == protocol) {
            by_document.entry(&script.requirement.document).or_default().push((
                &script.requirement,
                file,
                &script.claim,
            ));
        }
        let count: usize = by_document.values().map(Vec::len).sum();
        let _ = writeln!(page, "\n## Scripts for {name}\n\n{count} scripts.");
        for (document, mut rows) in by_document {
            rows.sort_by_key(|(requirement, file, _)| (section_key(&requirement.section), *file));
            let _ = writeln!(page, "\n### {document}\n\n| section | requirement | what the script shows | script |");
            page += "|---|---|---|---|\n";
            for (Requirement { section, label, .. }, file, claim) in rows {
                let _ = writeln!(page, "| {section} | {label} | {claim} | `{file}` |");
            }
        }
    }
    lists.iter().for_each(|list| list.write(&mut page));
    page
}

const INTRODUCTION: &str = "# Requirements and their scripts

Each script of [`conformance/`](https://github.com/subflow/subflow/tree/main/conformance) states one requirement and
shows that the stack meets it. This page lists them by RFC and section. Then it lists what RFC 8684 and RFC 9260 require
with MUST and MUST NOT, in other words than theirs, and what holds the stack to it, or why nothing does; the lists are
the files `conformance/*.requirements`. A test compares the page with scripts and lists, and each name in them with what
is there.
";

/// Sections in the order of their numbers; letters of appendices come last.
fn section_key(section: &str) -> Vec<(u32, String)> {
    section.split('.').map(|part| (part.parse().unwrap_or(u32::MAX), part.to_owned())).collect()
}
