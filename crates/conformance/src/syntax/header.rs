//! Lines without a time: what is tested, with what, and over which paths.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use subflow_quantity::Duration;
use subflow_scenario::file::{Place, Problem, Source, did_you_mean, list};
use subflow_transport::Change;

use super::line::Line;
use super::token::TokenKind;
use crate::expression::{Expression, Kind};
use crate::script::{Document, Path, Requirement, Script, Step, What, When};
use crate::settings::Settings;
use crate::value::Value;
use crate::vocabulary::Protocol;

/// What has been read so far.
#[derive(Default)]
pub(super) struct Header {
    protocol: Option<Protocol>,
    requirement: Option<Requirement>,
    claim: Option<String>,
    settings: Option<Settings>,
    host: Vec<IpAddr>,
    paths: Vec<Path>,
    tolerance: Option<Duration>,
}

const WORDS: [&str; 8] = ["protocol", "requirement", "claim", "set", "host", "path", "tolerance", "let"];
/// By how much a packet may be early or late, unless the script says otherwise.
const TOLERANCE: Duration = Duration::from_millis(1);

impl Header {
    /// `claim TEXT` or `requirement RFC NUMBER section SECTION [LABEL]`.
    pub(super) fn read_text(&mut self, word: &str, text: String, place: &Place) -> Result<(), Problem> {
        if text.is_empty() {
            return Err(Problem::at(place, format!("{word} is empty")).help("the text stands behind the word"));
        }
        if word == "claim" {
            return match self.claim.replace(text) {
                None => Ok(()),
                Some(_) => Err(Problem::at(place, "a second claim").help("a script shows one thing")),
            };
        }
        let mut words = text.split_whitespace();
        let document = match words.next() {
            Some("RFC") => words.next().and_then(|number| number.parse().ok()).map(Document::Rfc),
            Some(name) if name.starts_with("draft-") => Some(Document::Draft(name.to_owned())),
            _ => None,
        };
        let found = (document, words.next(), words.next());
        let (Some(document), Some("section"), Some(section)) = found else {
            let problem = Problem::at(place, "the requirement is not of the form RFC NUMBER section SECTION");
            let help = "such as: requirement RFC 9293 section 3.10.7.4 MUST-23; drafts are named draft-NAME-VERSION";
            return Err(problem.help(help));
        };
        let label = words.collect::<Vec<_>>().join(" ");
        match self.requirement.replace(Requirement { document, section: section.to_owned(), label }) {
            None => Ok(()),
            Some(_) => Err(Problem::at(place, "a second requirement").help("a script shows one thing")),
        }
    }

    pub(super) fn is_let(&self, line: &Line<'_>) -> bool {
        matches!(line.peek(), Some(TokenKind::Word(word)) if word == "let")
    }

    /// A line without a time. `let` becomes a step, at the time of the one before.
    pub(super) fn read(&mut self, line: &mut Line<'_>, steps: &mut Vec<Step>) -> Result<(), Problem> {
        let (start, place) = (line.position(), line.place());
        match line.word("a time, or a word of the header")? {
            "protocol" => {
                self.protocol =
                    Some(one_of(line, &Protocol::ALL.map(|(name, _, protocol)| (name, protocol)), "protocol")?)
            }
            "set" => self.set(line, &place)?,
            "host" => {
                while !line.is_at_end() {
                    self.host.push(address(line)?);
                }
            }
            "path" => self.add_path(line)?,
            "tolerance" => self.tolerance = Some(line.time()?),
            "let" => steps.push(assignment(line, start)?),
            word => {
                let help = did_you_mean(word, WORDS, &format!("the words are {}", list(WORDS)));
                return Err(Problem::at(&place, format!("{word:?} begins no line")).help(help));
            }
        }
        line.end()
    }

    fn set(&mut self, line: &mut Line<'_>, place: &Place) -> Result<(), Problem> {
        let protocol = self.protocol(place)?;
        let settings = self.settings.get_or_insert_with(|| Settings::new(protocol));
        set_in(settings, line).map(|_| ())
    }

    /// `set NAME VALUE` at a time.
    pub(super) fn change(&mut self, line: &mut Line<'_>) -> Result<Change, Problem> {
        let place = line.place();
        let protocol = self.protocol(&place)?;
        let mut settings = self.settings.clone().unwrap_or_else(|| Settings::new(protocol));
        let name = set_in(&mut settings, line)?;
        settings.change(name).ok_or_else(|| {
            let names = list(settings.changing());
            Problem::at(&place, format!("{name} does not change later")).help(format!("the names are {names}"))
        })
    }

    fn add_path(&mut self, line: &mut Line<'_>) -> Result<(), Problem> {
        let place = line.place();
        let name = line.word("the name of the path")?.to_owned();
        let (local, remote) = (socket(line)?, socket(line)?);
        if local.is_ipv4() != remote.is_ipv4() {
            return Err(Problem::at(&place, "the ends of the path are of two families").help("use IPv4, or IPv6"));
        }
        if self.paths.iter().any(|path| path.name == name) {
            return Err(Problem::at(&place, format!("there is a path {name} already")).help("choose another name"));
        }
        self.paths.push(Path { name, local, remote });
        Ok(())
    }

    pub(super) fn protocol(&self, place: &Place) -> Result<Protocol, Problem> {
        self.protocol.ok_or_else(|| {
            Problem::at(place, "the protocol is not known yet")
                .help("begin with protocol and one of tcp, mptcp, sctp, quic and mpquic")
        })
    }

    /// The index of the named path; without a name, the first.
    pub(super) fn path(&mut self, name: Option<(&str, Place)>) -> Result<usize, Problem> {
        if self.paths.is_empty() {
            self.paths.push(default_path());
        }
        let Some((name, place)) = name else { return Ok(0) };
        self.paths.iter().position(|path| path.name == name).ok_or_else(|| {
            let names = || self.paths.iter().map(|path| path.name.as_str());
            let help = did_you_mean(name, names(), &format!("the paths are {}", list(names())));
            Problem::at(&place, format!("there is no path {name:?}")).help(help)
        })
    }

    pub(super) fn finish(mut self, source: &Arc<Source>, steps: Vec<Step>) -> Result<Script, Problem> {
        let place = Place { source: source.clone(), span: 0..0 };
        let missing = |what: &str| Problem::at(&place, format!("the script has no {what}"));
        if steps.is_empty() {
            return Err(missing("steps").help("a step is a line that begins with a time"));
        }
        let protocol = self.protocol(&place)?;
        self.path(None)?;
        Ok(Script {
            protocol,
            requirement: self.requirement.ok_or_else(|| missing("requirement").help("requirement RFC … section …"))?,
            claim: self.claim.ok_or_else(|| missing("claim").help("claim and a sentence that says what it shows"))?,
            settings: self.settings.unwrap_or_else(|| Settings::new(protocol)),
            host: self.host,
            paths: self.paths,
            tolerance: self.tolerance.unwrap_or(TOLERANCE),
            steps,
        })
    }
}

/// Reads the name of a setting and its value, and sets it. Returns the name.
fn set_in<'a>(settings: &mut Settings, line: &mut Line<'a>) -> Result<&'a str, Problem> {
    let key_place = line.place();
    let key = line.word("the name of a setting")?;
    let value_place = line.place();
    let (value, is_time) = match line.next() {
        Some(TokenKind::Word(word)) => (Value::Word(word.clone()), false),
        Some(TokenKind::Time(time)) => (Value::Number(time.as_nanos()), true),
        Some(TokenKind::Number(number)) => (Value::Number(*number), false),
        _ => return Err(Problem::at(&value_place, "a setting has a word, a number or a time")),
    };
    settings.set(key, (&value, is_time), &key_place, &value_place)?;
    Ok(key)
}

/// `path main 10.0.0.1:80 10.0.1.1:5000`.
fn default_path() -> Path {
    let socket = |third, port| SocketAddr::new(Ipv4Addr::new(10, 0, third, 1).into(), port);
    Path { name: "main".to_owned(), local: socket(0, 80), remote: socket(1, 5000) }
}

/// `let $name = VALUE`.
fn assignment(line: &mut Line<'_>, start: usize) -> Result<Step, Problem> {
    let place = line.place();
    let Some(TokenKind::Variable(name)) = line.peek() else { return Err(line.expected("a $variable")) };
    line.next();
    line.expect("=")?;
    let name = Expression { place, kind: Kind::Value(Value::Word(name.clone())) };
    let what = What::Act { verb: "let".to_owned(), arguments: vec![name, line.expression(0)?] };
    let when = When { relative: true, earliest: Duration::ZERO, latest: None };
    Ok(Step { place: line.place_since(start), when, what })
}

fn one_of<T: Copy>(line: &mut Line<'_>, choices: &[(&str, T)], what: &str) -> Result<T, Problem> {
    let place = line.place();
    let word = line.word(what)?;
    choices.iter().find(|(name, _)| *name == word).map(|(_, value)| *value).ok_or_else(|| {
        let names = list(choices.iter().map(|(name, _)| *name));
        Problem::at(&place, format!("{word:?} is no {what}")).help(format!("one of {names}"))
    })
}

fn address(line: &mut Line<'_>) -> Result<IpAddr, Problem> {
    let Some(TokenKind::Address(address)) = line.peek() else { return Err(line.expected("an address")) };
    line.next();
    Ok(*address)
}

fn socket(line: &mut Line<'_>) -> Result<SocketAddr, Problem> {
    let Some(TokenKind::Socket(socket)) = line.peek() else {
        return Err(line.expected("an address with a port").help("such as 10.0.0.1:80; port 0 for any"));
    };
    line.next();
    Ok(*socket)
}
