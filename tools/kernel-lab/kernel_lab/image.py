"""The guest: a kernel from its Debian package, and an initial RAM file system with modules, tools and runs."""

from __future__ import annotations

import gzip
import lzma
import re
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

from .cases import Case
from .topology import Topology

GUEST = Path(__file__).parent.parent / "guest"
MODULES = (
    "veth sctp sch_netem sch_fq sch_codel sch_fq_codel sch_red sch_tbf sch_pie tcp_bbr inet_diag tcp_diag mptcp_diag"
).split()
TOOLS = ("ip", "tc", "ethtool")
APPLETS = "sh mount mkdir cat echo sleep insmod grep uname tr chrt".split()


class MissingTool(Exception):
    """A program or file that the host needs."""


def find(program: str) -> Path:
    """A program of the host, also where administrators' programs are."""
    found = shutil.which(program) or shutil.which(program, path="/usr/sbin:/sbin")
    if not found:
        raise MissingTool(f"there is no {program} on this machine (see docs/src/kernel-lab.md for its package)")
    return Path(found)


def unpack(package: Path, folder: Path) -> Path:
    """Unpacks a kernel's package. Returns the path of its kernel."""
    subprocess.run([find("dpkg-deb"), "-x", package, folder], check=True)
    kernels = sorted((folder / "boot").glob("vmlinuz-*"))
    if len(kernels) != 1:
        raise MissingTool(f"{package} has {len(kernels)} kernels, expected one: a linux-image package of Debian")
    return kernels[0]


def _module(folder: Path, name: str) -> bytes | None:
    """The module `name`, or None where it is built in."""
    for file in folder.rglob(f"{name}.ko*"):
        content = file.read_bytes()
        return lzma.decompress(content) if file.suffix == ".xz" else content
    return None


def modules(folder: Path) -> dict[str, bytes]:
    """The modules that the guest loads, in the order of their dependencies."""
    found: dict[str, bytes] = {}

    def add(name: str) -> None:
        if name in found or (content := _module(folder, name)) is None:
            return
        depends = re.search(rb"\0depends=([^\0]*)\0", content)
        for other in (depends[1].decode().split(",") if depends else []):
            if other:
                add(other)
        found[name] = content

    # Needed, and named by no module: it is asked for by the name of its algorithm.
    for name in ("crc32c_generic", *MODULES):
        add(name)
    return found


def _libraries(program: Path) -> list[Path]:
    output = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return [Path(path) for path in re.findall(r"(/\S+)", output)]


def compile_traffic(out: Path) -> None:
    """Compiles the traffic generator."""
    sources = sorted(GUEST.glob("*.c"))
    subprocess.run([find("cc"), "-std=gnu11", "-O2", "-static", "-Wall", "-Wextra", "-Werror", "-o", out, *sources], check=True)


Entry = tuple[str, int, bytes]
EXECUTABLE, FILE = stat.S_IFREG | 0o755, stat.S_IFREG | 0o644


def _tools() -> Iterator[Entry]:
    yield "bin/busybox", EXECUTABLE, find("busybox").read_bytes()
    for applet in APPLETS:
        yield f"bin/{applet}", stat.S_IFLNK | 0o777, b"busybox"
    libraries: set[Path] = set()
    for tool in TOOLS:
        program = find(tool)
        yield f"tools/{tool}", EXECUTABLE, program.read_bytes()
        libraries.update(_libraries(program))
    for library in sorted(libraries):
        yield str(library).lstrip("/"), EXECUTABLE, library.read_bytes()


def _runs(cases: list[Case]) -> Iterator[Entry]:
    for index, case in enumerate(cases):
        network = Topology(case)
        parts = {"build": network.build(), "plan": network.plan(), "statistics": network.statistics(), "remove": network.remove()}
        for name, text in parts.items():
            yield f"runs/{index:04}/{name}", FILE, text.encode()


def archive(entries: list[Entry]) -> bytes:
    """The entries, with the folders that they need, as a cpio archive in the format "newc" (cpio(5))."""
    folders = {str(parent) for name, _, _ in entries for parent in Path(name).parents if str(parent) != "."}
    folders |= {"proc", "sys", "dev", "run", "tmp", "etc"}
    made: list[Entry] = [(folder, stat.S_IFDIR | 0o755, b"") for folder in sorted(folders)]
    archive = bytearray()
    for inode, (name, mode, content) in enumerate([*made, *entries, ("TRAILER!!!", 0, b"")], start=1):
        path = name.encode() + b"\0"
        numbers = (inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(path), 0)
        archive += b"070701" + b"".join(b"%08X" % number for number in numbers) + path
        archive += b"\0" * (-len(archive) % 4) + content
        archive += b"\0" * (-len(archive) % 4)
    return bytes(archive)


def write(out: Path, unpacked: Path, traffic: Path, cases: list[Case]) -> None:
    """Writes the initial RAM file system of a machine that carries out `cases`."""
    loaded = modules(unpacked)
    entries: list[Entry] = [("init", EXECUTABLE, (GUEST / "init").read_bytes())]
    entries += _tools()
    entries.append(("bin/traffic", EXECUTABLE, traffic.read_bytes()))
    entries += [(f"modules/{name}.ko", FILE, content) for name, content in loaded.items()]
    entries.append(("modules/list", FILE, "".join(f"{name}\n" for name in loaded).encode()))
    entries += _runs(cases)
    out.write_bytes(gzip.compress(archive(entries), compresslevel=1))
