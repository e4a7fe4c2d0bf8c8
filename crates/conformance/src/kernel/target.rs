//! The kernel as the target of a script: TUN devices instead of wires, and a socket as the application.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::net::IpAddr;

use subflow_linux::{Device, KernelHost, KernelInterface, SteppedEvent, SteppedSocket, StreamOptions, WallClock};
use subflow_quantity::{Duration, Instant};
use subflow_scenario::file::Problem;
use subflow_transport::Change;
use subflow_wire::{Body, Packet};

use super::setup::Setup;
use crate::act::{Act, MOST_WRITTEN};
use crate::packet::Arriving;
use crate::script::{Path, Script};
use crate::target::Target;

/// By how much packets, events and our process may be late.
const SLACK: Duration = Duration::from_millis(100);
/// A timer of the kernel is late by up to this part of its delay (the timer wheel, `kernel/time/timer.c`).
const WHEEL: u64 = 8;
/// How long devices are left alone between two looks at them.
const PAUSE: Duration = Duration::from_millis(1);
/// The largest packet.
const MOST_BYTES: usize = 1 << 16;

pub(super) struct Kernel {
    host: KernelHost,
    /// A device for each address.
    devices: Vec<(IpAddr, Device)>,
    stream: StreamOptions,
    socket: Option<SteppedSocket>,
    clock: WallClock,
    left: VecDeque<(Instant, Packet)>,
    events: Vec<(&'static str, Option<&'static str>)>,
    defect: Option<String>,
    buffer: Vec<u8>,
}

impl Kernel {
    pub(super) fn start(script: &Script, setup: Setup, number: usize) -> Result<Self, subflow_linux::Error> {
        let addresses = script.addresses();
        let interface = |(index, address): (usize, &IpAddr)| KernelInterface {
            name: format!("path{index}"),
            addresses: vec![*address],
        };
        let interfaces: Vec<KernelInterface> = addresses.iter().enumerate().map(interface).collect();
        let (host, devices) = KernelHost::create(&format!("conform{number}"), &interfaces, &setup.kernel)?;
        Ok(Self {
            host,
            devices: addresses.into_iter().zip(devices).collect(),
            stream: setup.stream,
            socket: None,
            clock: WallClock::start(),
            left: VecDeque::new(),
            events: Vec::new(),
            defect: None,
            buffer: vec![0; MOST_BYTES],
        })
    }

    /// Lets the application do what is possible, and takes what the kernel has sent.
    fn look(&mut self) {
        if let Some(socket) = &mut self.socket {
            let events = &mut self.events;
            socket.pump(|event| events.push(name_of(event)));
        }
        for (_, device) in &self.devices {
            loop {
                match device.read(&mut self.buffer) {
                    Ok(Some(length)) => {
                        // Neighbour discovery and the like are not what scripts are about.
                        if let Ok((packet, _)) = Packet::parse(&self.buffer[..length])
                            && matches!(packet.body, Body::Tcp(_))
                        {
                            self.left.push_back((self.clock.now(), packet));
                        }
                    }
                    Ok(None) => break,
                    Err(error) => {
                        self.defect = Some(format!("a device cannot be read: {error}"));
                        break;
                    }
                }
            }
        }
    }

    fn open(&mut self, act: &Act<'_>, listens: bool) -> Result<(), Problem> {
        let Path { local, remote, .. } = act.script.paths[0];
        let options = self.stream.clone();
        let opened = self.host.namespace().run(move || match listens {
            true => SteppedSocket::listen(&options, local),
            false => SteppedSocket::connect(&options, local, remote),
        });
        self.socket = Some(opened.map_err(|error| Problem::at(act.place, error.to_string()))?);
        Ok(())
    }

    /// Waits for a moment until the event has come: the kernel works at its own pace.
    fn wait_for(&mut self, act: &Act<'_>) -> Result<(), Problem> {
        let name = act.word(0)?;
        let how = if act.arguments.len() > 1 { Some(act.word(1)?) } else { None };
        let unseen = matches!(how.as_deref(), Some("gracefully" | "aborted"));
        if unseen || !OBSERVED_EVENTS.contains(&name.as_str()) {
            return Ok(());
        }
        let until = self.clock.now().saturating_add(SLACK);
        loop {
            let is_it =
                |(found, end): &(&str, Option<&str>)| *found == name && (how.is_none() || *end == how.as_deref());
            if let Some(index) = self.events.iter().position(is_it) {
                self.events.drain(..=index);
                return Ok(());
            }
            if self.clock.now() >= until {
                let seen: Vec<&str> = self.events.iter().map(|(name, _)| *name).collect();
                let help = format!("events: {}", if seen.is_empty() { "none".to_owned() } else { seen.join(", ") });
                return Err(Problem::at(act.place, format!("no event {name}")).help(help));
            }
            self.pause(until);
            self.look();
        }
    }

    fn assert(&mut self, act: &Act<'_>) -> Result<(), Problem> {
        let until = self.clock.now().saturating_add(SLACK);
        loop {
            let Some(socket) = &self.socket else { return Ok(()) };
            let seen = match act.word(0)?.as_str() {
                "received" => socket.received(),
                "written" => socket.written(),
                "acknowledged" => socket.acknowledged().unwrap_or(0),
                // What only our stack shows is not compared.
                _ => return Ok(()),
            };
            let outcome = act.compare(&subflow_value(seen), &format!("{:.6} s", self.clock.now().as_secs_f64()));
            if outcome.is_ok() || self.clock.now() >= until {
                return outcome;
            }
            self.pause(until);
            self.look();
        }
    }

    fn pause(&self, until: Instant) {
        std::thread::sleep(self.clock.until(until).min(std::time::Duration::from_nanos(PAUSE.as_nanos())));
    }

    fn drive(&mut self, act: &Act<'_>, verb: &str) -> Result<(), Problem> {
        let nothing = || Problem::at(act.place, "there is no connection").help("connect, or listen");
        match verb {
            "listen" | "connect" => return self.open(act, verb == "listen"),
            "event" => return self.wait_for(act),
            "no_event" => {
                let name = act.word(0)?;
                let reported = self.events.iter().any(|(found, _)| *found == name);
                let problem = || Problem::at(act.place, format!("{name} was reported"));
                return if reported { Err(problem()) } else { Ok(()) };
            }
            "assert" => return self.assert(act),
            _ => {}
        }
        let socket = self.socket.as_mut().ok_or_else(nothing)?;
        match verb {
            "write" => socket.write(act.amount(0, MOST_WRITTEN)?),
            "finish" => socket.finish(),
            "abort" => socket.abort().map_err(|error| Problem::at(act.place, error.to_string()))?,
            "reading" => socket.set_reading(act.switch(0)?),
            "read" => socket.read(act.amount(0, MOST_WRITTEN)?),
            _ => socket.stop_listening(),
        }
        Ok(())
    }
}

/// Events that a socket shows; others are passed over.
const OBSERVED_EVENTS: [&str; 3] = ["established", "peer_finished", "closed"];

fn name_of(event: SteppedEvent) -> (&'static str, Option<&'static str>) {
    match event {
        SteppedEvent::Established => ("established", None),
        SteppedEvent::PeerFinished => ("peer_finished", None),
        SteppedEvent::Failed(ErrorKind::ConnectionRefused) => ("closed", Some("refused")),
        SteppedEvent::Failed(ErrorKind::TimedOut) => ("closed", Some("timed_out")),
        SteppedEvent::Failed(_) => ("closed", Some("reset")),
    }
}

fn subflow_value(number: u64) -> crate::value::Value {
    crate::value::Value::Number(number)
}

impl Target for Kernel {
    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn slack(&self, wait: Duration) -> Duration {
        SLACK + wait / WHEEL
    }

    fn advance(&mut self, until: Instant) {
        loop {
            self.look();
            if !self.left.is_empty() || self.defect.is_some() || self.clock.now() >= until {
                return;
            }
            self.pause(until);
        }
    }

    fn next_left(&mut self) -> Option<(Instant, Packet)> {
        self.look();
        self.left.pop_front()
    }

    fn defect(&self) -> Option<Problem> {
        self.defect.as_ref().map(|defect| Problem::nowhere(defect.clone()).help("this is a defect of the machine"))
    }

    fn arrive(&mut self, path: &Path, arriving: &Arriving) -> Result<(), String> {
        let device = self.devices.iter().find(|(address, _)| *address == path.local.ip());
        let (_, device) = device.ok_or("the host does not have the address of this path")?;
        device.write(&arriving.bytes).map_err(|error| error.to_string())?;
        self.look();
        Ok(())
    }

    fn act(&mut self, act: &Act<'_>, verb: &str) -> Result<(), Problem> {
        self.drive(act, verb)?;
        self.look();
        Ok(())
    }

    fn change(&mut self, change: Change) -> bool {
        match (&self.socket, change) {
            (Some(socket), Change::Nagle(on)) => socket.has_connection() && socket.set_nagle(on).is_ok(),
            _ => false,
        }
    }
}
