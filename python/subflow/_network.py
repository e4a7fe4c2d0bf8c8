"""Networks that stay: what ``Scenario.network`` returns. Linux and the command ``subflow`` build and run them."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any

from subflow._native import Results, RunError

# The files of networks, in crates/lab/src/emulate/persistent/registry.rs.
_SOCKETS = Path("/run/subflow")
_LONGEST_NAME = 64
_numbers = count(1)


def command() -> str:
    """The command that builds networks: ``SUBFLOW_COMMAND``, or ``subflow`` in the PATH."""
    found = os.environ.get("SUBFLOW_COMMAND") or shutil.which("subflow")
    if found is None:
        raise RunError(
            "there is no command subflow in the PATH, which builds networks: install it with the feature linux "
            "(cargo install --locked --path crates/cli --features full), or name it in SUBFLOW_COMMAND"
        )
    return found


def build(text: str, folder: str | os.PathLike[str], scenario: str, name: str | None, programs: bool) -> Network:
    """Build the network of a scenario with this text, whose paths are relative to ``folder``."""
    if name is None:
        suffix = f"-{os.getpid()}-{next(_numbers)}"
        name = re.sub("[^A-Za-z0-9_]", "-", scenario)[: _LONGEST_NAME - len(suffix)] + suffix
    arguments = [command(), "up", "-", "--name", name, *([] if programs else ["--without-programs"])]
    built = subprocess.run(arguments, input=text.encode(), cwd=folder, capture_output=True, check=False)
    if built.returncode != 0:
        raise RunError(built.stderr.decode(errors="replace").strip() or f"exit code {built.returncode}")
    return Network(name)


class Network:
    """A network that stays until ``down``, or until the ``with`` block that it is used in ends.

    ``network[HOST]`` is a host, ``network.link(LINK)`` a link. The network is a process of its own, which
    ``subflow ps`` lists and ``subflow down`` ends, also when the process of Python has ended without doing it.

    Attributes
    ----------
    name : str
        Its name, for ``subflow exec --network``.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._ended_with: Results | RunError | None = None

    def __getitem__(self, host: str) -> NetworkHost:
        hosts = {found["name"]: found["addresses"] for found in self.status()["hosts"]}
        if host not in hosts:
            raise KeyError(f"there is no host {host!r}, expected one of {', '.join(hosts)}")
        return NetworkHost(self.name, host, hosts[host])

    def link(self, name: str) -> NetworkLink:
        """Return a link.

        Parameters
        ----------
        name : str
            Its name in the scenario.

        Raises
        ------
        KeyError
            There is no such link.
        """
        links = self.status()["links"]
        if name not in links:
            raise KeyError(f"there is no link {name!r}, expected one of {', '.join(links)}")
        return NetworkLink(self, name)

    def set(self, path: str, value: str) -> None:
        """Change a value of the scenario while the network stays.

        Parameters
        ----------
        path : str
            ``links.LINK.rate``, ``links.LINK.delay`` or ``links.LINK.loss``.
        value : str
            The value as in a scenario, such as ``"5 Mbit/s"``.

        Raises
        ------
        TypeError
            The path or the value is not a str.
        ValueError
            The path or the value is not valid; nothing was changed.
        """
        if not isinstance(path, str):
            raise TypeError(f"path: found {path!r}, expected a str such as 'links.LINK.rate'")
        if not isinstance(value, str):
            raise TypeError(f"{path}: found {value!r}, expected a str as in a scenario, such as '5 Mbit/s'")
        self._ask({"request": "set", "path": path, "value": value})

    def status(self) -> dict[str, Any]:
        """Return what the network is and what runs in it, as ``subflow ps --format json`` shows it."""
        return self._ask({"request": "status"})

    def results(self) -> Results:
        """Return what the network has measured until now, or until it ended.

        The flows are the TCP and MPTCP connections of what ran in its hosts, by the names of programs: ``curl:1``. The
        duration of the one run is the time for which the network has stood.

        Raises
        ------
        RunError
            The network has ended otherwise than by ``down`` or the ``with`` block.
        """
        if isinstance(self._ended_with, RunError):
            raise self._ended_with
        if self._ended_with is not None:
            return self._ended_with
        return Results._of_network(json.dumps(self._ask({"request": "results"})))

    def down(self) -> None:
        """End the network with everything that runs in it. Nothing happens if it has ended."""
        if self._socket.exists():
            try:
                self._ended_with = self.results()
            except RunError as error:
                self._ended_with = error
            self._ask({"request": "down"})

    def __enter__(self) -> Network:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.down()

    def __repr__(self) -> str:
        return f"<subflow.Network {self.name}>"

    @property
    def _socket(self) -> Path:
        return _SOCKETS / f"network-{self.name}"

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stream:
                stream.connect(str(self._socket))
                stream.sendall(json.dumps(request).encode() + b"\n")
                line = stream.makefile().readline()
        except OSError as error:
            raise RunError(f"the network {self.name} does not run: {error}") from error
        if not line:
            raise RunError(f"the network {self.name} has ended")
        answer: dict[str, Any] = json.loads(line)
        match answer["answer"]:
            case "refused":
                raise ValueError(answer["message"])
            case "failed":
                raise RunError(answer["message"])
        return answer


class NetworkHost:
    """A host of a network, in which programs run.

    Attributes
    ----------
    name : str
        Its name.
    addresses : dict
        The addresses of each of its interfaces.
    """

    def __init__(self, network: str, name: str, addresses: dict[str, list[str]]) -> None:
        self._network = network
        self.name = name
        self.addresses = addresses

    def popen(self, arguments: Sequence[str], **options: Any) -> subprocess.Popen[Any]:
        """Start a program, and go on.

        Parameters
        ----------
        arguments : sequence of str
            The program and its arguments.
        **options
            Those of ``subprocess.Popen``, such as ``stdout``, ``text`` and ``cwd``.

        Returns
        -------
        subprocess.Popen
            The program; its ``returncode`` is the exit code. ``terminate`` and ``kill`` end it.
        """
        return subprocess.Popen(self._command(arguments), **options)

    def run(self, arguments: Sequence[str], **options: Any) -> subprocess.CompletedProcess[Any]:
        """Run a program to its end.

        Parameters
        ----------
        arguments : sequence of str
            The program and its arguments.
        **options
            Those of ``subprocess.run``, such as ``capture_output``, ``text``, ``check`` and ``timeout``.

        Returns
        -------
        subprocess.CompletedProcess
            With the exit code, and what it printed if that was captured.
        """
        return subprocess.run(self._command(arguments), **options)

    def __repr__(self) -> str:
        return f"<subflow.NetworkHost {self.name} of {self._network}>"

    def _command(self, arguments: Sequence[str]) -> list[str]:
        if isinstance(arguments, str):
            raise TypeError(f"found {arguments!r}, expected a list of words; for a line of the shell: ['sh', '-c', LINE]")
        return [command(), "exec", "--network", self._network, self.name, "--", *arguments]


class NetworkLink:
    """A link of a network.

    Attributes
    ----------
    name : str
        Its name.
    """

    def __init__(self, network: Network, name: str) -> None:
        self._network = network
        self.name = name

    def down(self) -> None:
        """Interrupt it: it drops all packets, in both directions."""
        self._switch(False)

    def up(self) -> None:
        """Restore it."""
        self._switch(True)

    def __repr__(self) -> str:
        return f"<subflow.NetworkLink {self.name} of {self._network.name}>"

    def _switch(self, up: bool) -> None:
        self._network._ask({"request": "link", "link": self.name, "up": up})
