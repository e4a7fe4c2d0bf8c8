//! A run of a script: one step after another, and what a failure says.

use std::net::SocketAddr;

use subflow_quantity::{Duration, Instant};
use subflow_scenario::file::{Place, Problem};
use subflow_wire::{Body, Packet};

use crate::act::{Act, HANDSHAKE};
use crate::compare::{self, Difference, Mismatch};
use crate::expression::Variables;
use crate::packet;
use crate::peer::Peer;
use crate::script::{Item, Path, Script, Step, What, When};
use crate::target::Target;
use crate::value::{Value, shown};
use crate::world::World;

pub(crate) struct Run<'a> {
    pub(crate) script: &'a Script,
    pub(crate) paths: Vec<Path>,
    pub(crate) target: Box<dyn Target>,
    pub(crate) variables: Variables,
    /// What a peer of QUIC keeps.
    pub(crate) peer: Peer,
    /// The time of the last step.
    pub(crate) last: Instant,
    /// Packets that left as expected, and packets that arrived, as lines.
    history: Vec<String>,
}

/// How many packets before a failure it shows.
const HISTORY: usize = 4;
/// No script lasts longer.
const LONGEST: Duration = Duration::from_secs(1_000_000_000);

impl<'a> Run<'a> {
    /// A run against our stack, in virtual time.
    pub(crate) fn new(script: &'a Script) -> Self {
        Self::on(script, Box::new(World::new(script.addresses(), script.settings.limits)))
    }

    pub(crate) fn on(script: &'a Script, target: Box<dyn Target>) -> Self {
        Self {
            script,
            paths: script.paths.clone(),
            target,
            variables: Variables::new(),
            peer: Peer::default(),
            last: Instant::ZERO,
            history: Vec::new(),
        }
    }

    /// Does all steps.
    pub(crate) fn finish(mut self) -> Result<(), Problem> {
        for step in &self.script.steps {
            self.step(step)?;
        }
        let last = self.script.steps.last().map(|step| &step.place);
        match last {
            Some(place) => self.nothing_left(place),
            None => Ok(()),
        }
    }

    fn step(&mut self, step: &Step) -> Result<(), Problem> {
        if let What::Act { verb, arguments } = &step.what
            && verb == "let"
        {
            if let Value::Word(name) = arguments[0].evaluate(&self.variables)? {
                let value = arguments[1].evaluate(&self.variables)?;
                self.variables.insert(name, value);
            }
            return Ok(());
        }
        let (earliest, latest) = self.times(step)?;
        match &step.what {
            What::Leave { path, items } => return self.leave(step, (earliest, latest), *path, items),
            What::Act { verb, .. } if verb == HANDSHAKE => return self.handshake(step, earliest),
            _ => self.target.advance(earliest),
        }
        self.nothing_left(&step.place)?;
        self.last = self.target.now();
        match &step.what {
            What::Arrive { path, items } => self.arrive(step, *path, items),
            What::Act { verb, arguments } => {
                let act = Act { script: self.script, place: &step.place, arguments, variables: &self.variables };
                self.target.act(&act, verb)
            }
            What::Change(change) => {
                let nothing = || Problem::at(&step.place, "there is no connection").help("connect, or listen");
                self.target.change(*change).then_some(()).ok_or_else(nothing)
            }
            What::Silence | What::Leave { .. } => Ok(()),
        }
    }

    /// The range of times of a step, without tolerance.
    fn times(&self, step: &Step) -> Result<(Instant, Instant), Problem> {
        let When { relative, earliest, latest } = step.when;
        let base = if relative { self.last } else { Instant::ZERO };
        let (first, last) = (base.saturating_add(earliest), base.saturating_add(latest.unwrap_or(earliest)));
        if last > Instant::ZERO.saturating_add(LONGEST) {
            return Err(Problem::at(&step.place, "the script lasts too long").help("it may last 10⁹ s"));
        }
        let tolerance = self.script.tolerance + self.target.slack(Duration::ZERO);
        if last.saturating_add(tolerance) < self.last {
            let message = format!("the step before was at {}", shown_at(self.last));
            return Err(Problem::at(&step.place, message).help("times of steps must not decrease"));
        }
        Ok((first, last))
    }

    fn arrive(&mut self, step: &Step, path: usize, items: &[Item]) -> Result<(), Problem> {
        let protocol = self.script.protocol;
        let mut fields = compare::evaluate(items, protocol.fields(), &self.variables)?;
        if protocol.has_numbered_packets() {
            self.peer.complete(path, &mut fields);
        }
        let unfit = |error: String| Problem::at(&step.place, error).help("such a packet cannot be sent");
        if let Some(icmp) = fields.iter().find(|field| field.name == "ICMP") {
            let error = packet::build_icmp(protocol, &self.paths[path], &icmp.parts).map_err(unfit)?;
            self.remember(format!("{} {}< {}", shown_at(self.target.now()), self.paths[path].name, shown(&fields)));
            return self.target.arrive(&self.paths[path], &error).map_err(unfit);
        }
        let arrival = packet::build(protocol, &self.paths[path], &fields).map_err(unfit)?;
        self.remember(format!("{} {}< {}", shown_at(self.target.now()), self.paths[path].name, shown(&fields)));
        let arriving = arrival.on_the_wire().map_err(unfit)?;
        self.target.arrive(&self.paths[path], &arriving).map_err(unfit)
    }

    fn leave(
        &mut self,
        step: &Step,
        (earliest, latest): (Instant, Instant),
        path: usize,
        items: &[Item],
    ) -> Result<(), Problem> {
        let own = if step.when.latest.is_some() { Duration::ZERO } else { self.script.tolerance };
        let tolerance = own + self.target.slack(latest.since(self.last));
        self.target.advance(latest.saturating_add(tolerance));
        self.check_defect(&step.place)?;
        let Some((at, packet)) = self.target.next_left() else {
            let message = format!("nothing left by {}", shown_at(latest.saturating_add(tolerance)));
            return Err(self.failure(&step.place, &message, &step.place, "nothing", None));
        };
        let path_seen = path_of(&mut self.paths, &packet);
        let fields = packet::describe(&packet);
        let seen = format!("{} {path_seen}> {}", shown_at(at), shown(&fields));
        if at.saturating_add(tolerance) < earliest || at > latest.saturating_add(tolerance) {
            let when = if at < earliest { "early" } else { "late" };
            let label = format!("seen at {}", shown_at(at));
            return Err(self.failure(
                &step.place,
                &format!("a packet left too {when}"),
                &step.place,
                &seen,
                Some(label),
            ));
        }
        let expected_path = self.paths[path].name.clone();
        if path_seen != expected_path {
            let label = format!("{expected_path} expected, {path_seen} seen");
            return Err(self.failure(&step.place, "a packet left on another path", &step.place, &seen, Some(label)));
        }
        self.peer.hear(path, &fields);
        let (entries, variables) = (self.script.protocol.fields(), &mut self.variables);
        let compared = match self.script.protocol.levels() {
            0 => compare::compare_segment(&step.place, items, &fields, entries, variables),
            levels => compare::compare_ordered(&step.place, items, (&fields, levels), entries, variables),
        };
        match compared {
            Ok(()) => {}
            Err(Mismatch::Script(problem)) => return Err(problem),
            Err(Mismatch::Differs(Difference { place, text })) => {
                return Err(self.failure(&step.place, "another packet left", &place, &seen, Some(text)));
            }
        }
        self.remember(seen);
        self.last = at;
        Ok(())
    }

    /// That every packet that left was expected.
    fn nothing_left(&mut self, place: &Place) -> Result<(), Problem> {
        self.check_defect(place)?;
        let Some((at, packet)) = self.target.next_left() else { return Ok(()) };
        let path = path_of(&mut self.paths, &packet);
        let seen = format!("{} {path}> {}", shown_at(at), shown(&packet::describe(&packet)));
        Err(self.failure(place, "a packet left that the script does not expect", place, &seen, None))
    }

    pub(crate) fn check_defect(&self, place: &Place) -> Result<(), Problem> {
        match self.target.defect() {
            Some(defect) => Err(Problem::at(place, defect.message).help(defect.help)),
            None => Ok(()),
        }
    }

    fn remember(&mut self, line: String) {
        self.history.push(line);
    }

    /// The failure of `step`, with the line of the script and what was seen one below the other.
    fn failure(&self, step: &Place, message: &str, place: &Place, seen: &str, label: Option<String>) -> Problem {
        let line = step.source.text.get(step.span.clone()).unwrap_or_default();
        let line = line.split_whitespace().filter(|word| *word != "\\").collect::<Vec<_>>().join(" ");
        let first = self.history.len().saturating_sub(HISTORY);
        let before: String = self.history[first..].iter().map(|line| format!("before    {line}\n")).collect();
        let label = label.unwrap_or_else(|| message.to_owned());
        Problem::at(place, message).label(label).help(format!("{before}expected  {line}\nseen      {seen}"))
    }
}

fn shown_at(at: Instant) -> String {
    format!("{:.6}", at.as_secs_f64())
}

/// The name of the path of a packet that left. A port 0 of a path becomes that of the first packet that fits.
fn path_of(paths: &mut [Path], packet: &Packet) -> String {
    let (source, destination) = match &packet.body {
        Body::Tcp(segment) => (segment.source_port, segment.destination_port),
        Body::Sctp(packet) => (packet.source_port, packet.destination_port),
        Body::Udp(datagram) => (datagram.source_port, datagram.destination_port),
        Body::Quic(datagram) => (datagram.source_port, datagram.destination_port),
    };
    let local = SocketAddr::new(packet.ip.source, source);
    let remote = SocketAddr::new(packet.ip.destination, destination);
    let fits = |path: &SocketAddr, seen: SocketAddr| path.ip() == seen.ip() && [0, seen.port()].contains(&path.port());
    let exact = paths.iter().position(|path| path.local == local && path.remote == remote);
    let found = exact.or_else(|| paths.iter().position(|path| fits(&path.local, local) && fits(&path.remote, remote)));
    match found {
        Some(index) => {
            (paths[index].local, paths[index].remote) = (local, remote);
            paths[index].name.clone()
        }
        None => format!("from {local} to {remote} "),
    }
}
