//! Path managers in Python. They are called a few times per connection; events and commands are plain classes of
//! `subflow.algorithms`.

use std::net::{IpAddr, SocketAddr};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use subflow_policy::custom::FlowEnd;
use subflow_policy::path_manager::{Address, Command, Event, FourTuple, PathManager};
use subflow_quantity::Instant;

use super::instance::{Instance, Kind, shown};

static KIND: Kind = Kind { base: "PathManager", argument: "path_managers", method: "on_event" };

#[derive(Clone, Debug)]
pub(super) struct PythonPathManager(Instance);

impl PythonPathManager {
    pub(super) fn new(name: &str, class: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self(Instance::new(&KIND, name, class)?.0))
    }
}

impl PathManager for PythonPathManager {
    fn on_event(&mut self, event: &Event, _now: Instant, commands: &mut Vec<Command>) {
        // They name no time, and runs in Python have no routes that change.
        if matches!(event, Event::Woken | Event::RoutesChanged) {
            return;
        }
        Python::attach(|py| {
            let event = to_python(py, event).unwrap_or_else(|error| self.0.fail(error));
            commands.extend(self.0.call(py, (event,), |returned| read_commands(&returned)));
        });
    }

    fn begin(&mut self, end: FlowEnd) {
        self.0.begin(end);
    }
}

fn to_python<'py>(py: Python<'py>, event: &Event) -> PyResult<Bound<'py, PyAny>> {
    let module = py.import("subflow.algorithms")?;
    let address = |of: &Address| module.getattr("Address")?.call1((of.id, of.address.to_string(), of.port));
    let end = |end: SocketAddr| (end.ip().to_string(), end.port());
    let tuple = |of: &FourTuple| module.getattr("FourTuple")?.call1((end(of.local), end(of.remote)));
    match event {
        Event::Established { initial, client, initial_address_closed } => {
            module.getattr("Established")?.call1((tuple(initial)?, *client, *initial_address_closed))
        }
        Event::LocalAddressAdded(of) => module.getattr("LocalAddressAdded")?.call1((address(of)?,)),
        Event::LocalAddressRemoved(of) => module.getattr("LocalAddressRemoved")?.call1((address(of)?,)),
        Event::RemoteAddressAdded(of) => module.getattr("RemoteAddressAdded")?.call1((address(of)?,)),
        Event::RemoteAddressRemoved { id } => module.getattr("RemoteAddressRemoved")?.call1((*id,)),
        Event::SubflowEstablished(of) => module.getattr("SubflowEstablished")?.call1((tuple(of)?,)),
        Event::SubflowClosed(of) | Event::NotOpened(of) => module.getattr("SubflowClosed")?.call1((tuple(of)?,)),
        Event::PathRefused(of) => module.getattr("PathRefused")?.call1((tuple(of)?,)),
        Event::Woken | Event::RoutesChanged => Ok(py.None().into_bound(py)),
    }
}

fn read_commands(returned: &Bound<'_, PyAny>) -> PyResult<Vec<Command>> {
    if returned.is_none() {
        return Ok(Vec::new());
    }
    let Ok(commands) = returned.try_iter() else {
        return Err(PyTypeError::new_err(format!(
            "on_event returned {}, expected a list of commands, or None for none",
            shown(returned)?
        )));
    };
    commands.map(|command| read_command(&command?)).collect()
}

fn read_command(command: &Bound<'_, PyAny>) -> PyResult<Command> {
    let module = command.py().import("subflow.algorithms")?;
    let is = |name| command.is_instance(&module.getattr(name)?);
    let field = |name| command.getattr(name);
    Ok(if is("Open")? {
        Command::Open {
            local: address(&field("local")?)?,
            remote: address(&field("remote")?)?,
            port: field("port")?.extract()?,
            backup: field("backup")?.extract()?,
        }
    } else if is("Announce")? {
        Command::Announce(address(&field("address")?)?)
    } else if is("Withdraw")? {
        Command::Withdraw { id: field("id")?.extract()? }
    } else if is("Close")? {
        Command::Close(four_tuple(&field("subflow")?)?)
    } else if is("SetBackup")? {
        Command::SetBackup { subflow: four_tuple(&field("subflow")?)?, backup: field("backup")?.extract()? }
    } else {
        return Err(PyTypeError::new_err(format!(
            "on_event returned a list with {}, expected commands: Open, Announce, Withdraw, Close or SetBackup",
            shown(command)?
        )));
    })
}

fn address(of: &Bound<'_, PyAny>) -> PyResult<Address> {
    let address = ip(&of.getattr("address")?)?;
    Ok(Address { id: of.getattr("id")?.extract()?, address, port: of.getattr("port")?.extract()? })
}

fn ip(text: &Bound<'_, PyAny>) -> PyResult<IpAddr> {
    let text: String = text.extract()?;
    text.parse().map_err(|_| {
        PyValueError::new_err(format!("found {text:?} as an address, expected one such as \"10.0.0.1\" or \"fd00::1\""))
    })
}

fn four_tuple(of: &Bound<'_, PyAny>) -> PyResult<FourTuple> {
    let end = |name| {
        let (address, port): (Bound<'_, PyAny>, u16) = of.getattr(name)?.extract()?;
        Ok::<_, PyErr>(SocketAddr::from((ip(&address)?, port)))
    };
    Ok(FourTuple { local: end("local")?, remote: end("remote")? })
}
