"""Code blocks of the book, run as a reader would.

A block of Python or of the shell is run as it stands. A block whose first line is a comment with the name of a file is
written to it before. A block of text after one that was run is what that prints; a line `…` stands for any lines. A
block `figure` names a file that was made: the book shows the figure in its place.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BOOK = ROOT / "docs" / "src"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# What a recipe may take, in seconds: more than any does on a machine that is busy.
LIMIT = 300


def command() -> Path:
    """The command: that of SUBFLOW_COMMAND, or the newest one that was built here."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    named = os.environ.get("SUBFLOW_COMMAND")
    places = [Path(named)] if named else [target / kind / "subflow" for kind in ("release", "debug")]
    built = [path for path in places if path.exists()]
    if not built:
        message = "the command is not built; run cargo build --release --features full, or set SUBFLOW_COMMAND to it"
        raise FileNotFoundError(message)
    return max(built, key=lambda path: path.stat().st_mtime)


@dataclass
class Recipe:
    """A part of a page: all of it up to the next heading of the second level, or the whole page."""

    page: str
    heading: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}: {self.heading}"


def whole(page: str) -> Recipe:
    """A page that is one recipe."""
    return Recipe(page, "all of it", (BOOK / page).read_text())


def recipes(page: str) -> Iterator[Recipe]:
    """The recipes of a page, one for each heading."""
    for part in re.split(r"^## ", (BOOK / page).read_text(), flags=re.MULTILINE)[1:]:
        heading, _, text = part.partition("\n")
        yield Recipe(page, heading, text)


def blocks(text: str) -> list[tuple[str, str]]:
    """Language and content of each block of code."""
    return BLOCK.findall(text)


def run(recipe: Recipe, folder: Path) -> list[tuple[str, str | None]]:
    """Run the blocks one after the other. Returns what each printed, and what the page says, if it does."""
    (folder / "scenarios").symlink_to(ROOT / "scenarios")
    printed: list[tuple[str, str | None]] = []
    for language, content in blocks(recipe.text):
        name = re.match(r"# (\S+\.\w+)\n", content)
        if name:
            (folder / name[1]).write_text(content)
        if language == "python":
            assert name, f"{recipe}: a block of Python begins with a comment that names its file"
            printed.append((output([sys.executable, name[1]], folder), None))
        elif language == "sh":
            printed.append((output(["bash", "-euc", content], folder), None))
        elif language == "figure":
            assert (folder / content.strip()).is_file(), f"{recipe}: no block has made {content.strip()}"
        elif language == "text":
            assert printed and printed[-1][1] is None, f"{recipe}: no block has printed this"
            printed[-1] = (printed[-1][0], content)
    return printed


def output(arguments: list[str], folder: Path) -> str:
    path = os.pathsep.join([str(command().parent), str(Path(sys.executable).parent), os.environ["PATH"]])
    settings = {"PATH": path, "MPLBACKEND": "agg", "COLUMNS": "100", "NO_COLOR": "1"}
    env = os.environ | settings
    done = subprocess.run(arguments, cwd=folder, env=env, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, f"{arguments} ends with {done.returncode}:\n{done.stdout}\n{done.stderr}"
    return "".join(line.rstrip() + "\n" for line in done.stdout.splitlines())


def agrees(shown: str, printed: str) -> bool:
    """Whether the page shows what was printed."""
    parts = [re.escape(part) for part in re.split(r"^…\n", shown, flags=re.MULTILINE)]
    return re.fullmatch(r"(?:.*\n)*?".join(parts), printed) is not None
