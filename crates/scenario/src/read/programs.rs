//! `[programs.NAME]`: the hosts of programs, what they run and what they wait for.

use subflow_policy::path_manager::{MAX_SUBFLOWS, PathManagement};

use super::topology::Topology;
use super::{RunLength, algorithms};
use crate::file::{Collector, Document, Field, Problem, Section, Value, did_you_mean, list};
use crate::{After, CustomAlgorithms, HostStack, Program, ProgramCommand, schema};

/// All programs, without those that have problems.
pub(super) fn read(
    section: &Section<'_>,
    document: &Document,
    topology: &Topology,
    run: &RunLength,
    problems: &mut Collector,
) -> Vec<Program> {
    let Some(field) = section.given("programs") else { return Vec::new() };
    let Some(entries) = problems.keep(field.named_entries("program")) else { return Vec::new() };
    let names: Vec<&str> = entries.iter().map(|(name, _)| *name).collect();
    let reader = ProgramReader { document, topology, run, names: &names };
    let programs: Vec<Program> =
        entries.iter().filter_map(|(name, entry)| problems.keep(reader.read(name, entry))).collect();
    // Indices are those of the file, which hold only if all programs are good.
    if programs.len() == entries.len() {
        for (index, (_, entry)) in entries.iter().enumerate() {
            if waits_for_itself(&programs, index) {
                problems.add(entry.problem("the program waits for itself, so that it never starts"));
            }
        }
    }
    programs
}

/// Whether a program waits, perhaps by way of others, for itself.
fn waits_for_itself(programs: &[Program], index: usize) -> bool {
    let mut at = index;
    for _ in 0..programs.len() {
        match programs[at].after.and_then(After::program) {
            Some(next) if next == index => return true,
            Some(next) => at = next,
            None => return false,
        }
    }
    false
}

struct ProgramReader<'a> {
    document: &'a Document,
    topology: &'a Topology,
    run: &'a RunLength,
    names: &'a [&'a str],
}

impl ProgramReader<'_> {
    fn read(&self, name: &str, field: &Field<'_>) -> Result<Program, Problem> {
        let section = field.section(&schema::PROGRAM)?;
        let on = section.required("on")?;
        let host = self.host(&on)?;
        if self.topology.hosts[host].stack != HostStack::Kernel {
            return Err(on
                .problem("this host has `stack = \"subflow\"`, expected one with the kernel's stack")
                .label("programs use the sockets of a kernel"));
        }
        let start_field = section.value("start");
        let start = start_field.duration()?;
        self.run.check_before_end(&start_field, start)?;
        let stop = match section.given("stop") {
            None => None,
            Some(field) => {
                let stop = field.duration()?;
                self.run.check_before_end(&field, stop)?;
                if stop <= start {
                    return Err(field.expected(&format!("a time after the program's start, {start}")));
                }
                Some(stop)
            }
        };
        let text = |key| section.given(key).map(|field| printable(&field)).transpose();
        let directory = text("directory")?.map(|path| self.document.directory().join(path));
        Ok(Program {
            name: name.to_owned(),
            host,
            command: self.command(&section.required("run")?)?,
            start,
            stop,
            after: section.given("after").map(|field| self.after(&field, host)).transpose()?,
            environment: section
                .given("environment")
                .map(|field| self.environment(&field))
                .transpose()?
                .unwrap_or_default(),
            user: text("user")?,
            directory,
            mptcp: section.value("mptcp").boolean()?,
            congestion: text("congestion")?,
            path_manager: path_manager(&section)?,
        })
    }

    fn command(&self, field: &Field<'_>) -> Result<ProgramCommand, Problem> {
        const EXPECTED: &str = "a list of words such as [\"iperf3\", \"-s\"], or a line for the shell";
        // A shell ends a blank line with success: the run would look as if the program had done its work.
        let named = |field: &Field<'_>, text: String| match text.trim().is_empty() {
            true => Err(field.expected("the name of a program")),
            false => Ok(text),
        };
        match field.value() {
            Value::Array(_) => {
                let words = field.list(EXPECTED)?;
                let Some((program, arguments)) = words.split_first() else {
                    return Err(field.expected("the name of a program, and its arguments"));
                };
                let program = named(program, self.filled(program)?);
                let arguments = arguments.iter().map(|word| self.filled(word));
                std::iter::once(program).chain(arguments).collect::<Result<_, _>>().map(ProgramCommand::Words)
            }
            Value::String(_) => named(field, self.filled(field)?).map(ProgramCommand::Shell),
            _ => Err(field.expected(EXPECTED)),
        }
    }

    fn environment(&self, field: &Field<'_>) -> Result<Vec<(String, String)>, Problem> {
        let entries = field.named_entries("variable")?;
        entries.iter().map(|(name, value)| Ok(((*name).to_owned(), self.filled(value)?))).collect()
    }

    fn after(&self, field: &Field<'_>, own_host: usize) -> Result<After, Problem> {
        if matches!(field.value(), Value::String(_)) {
            return self.program(field).map(After::Start);
        }
        let section = field.section(&schema::AFTER)?;
        let on = section.given("on");
        let given = ["start", "exit", "port"].map(|key| section.given(key));
        match (given, on) {
            ([Some(start), None, None], None) => self.program(&start).map(After::Start),
            ([None, Some(exit), None], None) => self.program(&exit).map(After::Exit),
            ([None, None, Some(port)], on) => {
                let host = on.map_or(Ok(own_host), |on| self.host(&on))?;
                Ok(After::Listens { host, port: port.integer(1..=65_535)? as u16 })
            }
            (_, Some(on)) => Err(on.problem("only a port has a host, expected it with `port`").label("not used")),
            _ => Err(field.problem("expected exactly one of start, exit and port")),
        }
    }

    fn program(&self, field: &Field<'_>) -> Result<usize, Problem> {
        let name = field.string("the name of a program")?;
        let found = self.names.iter().position(|known| *known == name);
        found.ok_or_else(|| field.unknown_name(name, "the name of a program", self.names.iter().copied()))
    }

    fn host(&self, field: &Field<'_>) -> Result<usize, Problem> {
        let name = field.string("the name of a host")?;
        let names = self.topology.hosts.iter().map(|host| host.name.as_str());
        self.topology.hosts.number(name).ok_or_else(|| field.unknown_name(name, "the name of a host", names))
    }

    /// A text in which `{address:HOST}` and `{address:HOST.INTERFACE}` are replaced.
    fn filled(&self, field: &Field<'_>) -> Result<String, Problem> {
        const BEGIN: &str = "{address:";
        let text = printable(field)?;
        let (mut filled, mut rest) = (String::new(), text.as_str());
        while let Some((before, after)) = rest.split_once(BEGIN) {
            let Some((name, after)) = after.split_once('}') else {
                return Err(field.problem(format!("{BEGIN} has no end, expected {{address:HOST.INTERFACE}}")));
            };
            filled += before;
            filled += &self.address(field, name)?;
            rest = after;
        }
        Ok(filled + rest)
    }

    fn address(&self, field: &Field<'_>, name: &str) -> Result<String, Problem> {
        let (host, interface) = name.split_once('.').map_or((name, None), |(host, rest)| (host, Some(rest)));
        let hosts = || self.topology.hosts.iter().map(|host| host.name.as_str());
        let Some(number) = self.topology.hosts.number(host) else {
            return Err(field
                .problem(format!("there is no host {host:?}"))
                .label(did_you_mean(host, hosts(), "no such host"))
                .help(format!("the hosts are {}", list(hosts()))));
        };
        let known = &self.topology.hosts[number].interfaces;
        let found = match interface {
            None => known.first(),
            Some(interface) => known.iter().find(|known| known.name == interface),
        };
        let Some(found) = found else {
            let interfaces = || known.iter().map(|known| known.name.as_str());
            return Err(field
                .problem(format!("{host} has no interface {:?}", interface.unwrap_or_default()))
                .label(did_you_mean(interface.unwrap_or_default(), interfaces(), "no such interface"))
                .help(format!("its interfaces are {}", list(interfaces()))));
        };
        Ok(found.addresses[0].to_string())
    }
}

/// The path manager of its host, if it names one. Algorithms in Python are for the simulator.
fn path_manager(section: &Section<'_>) -> Result<Option<PathManagement>, Problem> {
    if section.given("path_manager").is_none() {
        return Ok(None);
    }
    // How many disjoint paths there are depends on the peer, which a scenario does not know of a program.
    let (custom, paths) = (CustomAlgorithms::default(), || MAX_SUBFLOWS);
    algorithms::path_manager(section, &PathManagement::default(), &custom, MAX_SUBFLOWS, &paths).map(Some)
}

/// A text that a program, a path or a user can have.
fn printable(field: &Field<'_>) -> Result<String, Problem> {
    let text = field.string("text")?;
    match text.contains('\0') {
        true => Err(field.expected("text without zero bytes, which arguments of programs cannot contain")),
        false => Ok(text.to_owned()),
    }
}
