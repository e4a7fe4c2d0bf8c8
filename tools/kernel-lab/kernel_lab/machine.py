"""The virtual machine, whose clock advances by one nanosecond with each instruction and jumps over idle time."""

from __future__ import annotations

import subprocess
from pathlib import Path

from .image import find

# `-icount shift=0`: an instruction takes 1 ns; `sleep=off`: time that nothing happens in passes at once.
OPTIONS = (
    "-M pc -accel tcg -icount shift=0,sleep=off -cpu max -smp 1 -m 1024 -nodefaults -display none -no-reboot".split()
)
COMMAND_LINE = "console=ttyS0 quiet panic=-1 nokaslr mitigations=off random.trust_cpu=1 tsc=reliable"


class Failure(Exception):
    """The machine did not carry out its runs."""


def _last_of(console: Path) -> str:
    """The last lines of the console, for a message: its file is removed with the folder."""
    lines = console.read_text(errors="replace").splitlines()[-20:] if console.exists() else []
    return "; its console ends with\n" + "\n".join(lines) if lines else ""


def boot(kernel: Path, ramdisk: Path, folder: Path, limit: float) -> list[str]:
    """Boots the machine. Returns what it printed on its second serial port. `limit` is in seconds of this machine."""
    console, output = folder / "console.txt", folder / "output.txt"
    command: list[str | Path] = [
        find("qemu-system-x86_64"), *OPTIONS, "-kernel", kernel, "-initrd", ramdisk, "-append", COMMAND_LINE,
        "-serial", f"file:{console}", "-serial", f"file:{output}",
    ]  # fmt: skip
    try:
        subprocess.run(command, check=True, timeout=limit, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired as problem:
        raise Failure(f"the machine took over {limit:g} s (--limit){_last_of(console)}") from problem
    except subprocess.CalledProcessError as problem:
        raise Failure(f"QEMU ended with exit code {problem.returncode}{_last_of(console)}") from problem
    lines = output.read_text(errors="replace").replace("\r", "").splitlines()
    if not lines or lines[-1] != "complete":
        raise Failure(f"the machine ended before its runs were complete{_last_of(console)}")
    return lines
