"""The page of the Python API in the book, from the sources: ``python docs/api_page.py > docs/src/python-api.md``.

Signatures come from the type stubs and sources, descriptions from the docstrings.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import subflow
import subflow.algorithms
import subflow.gym

PACKAGE = Path(__file__).resolve().parents[1] / "python" / "subflow"
MODULES = (subflow, subflow.algorithms, subflow.gym)
INTRODUCTION = """# The Python API

Everything public in the package, as `help(subflow)` shows it. [Python](python.md) introduces it. This page is printed
from the sources by `python docs/api_page.py`.
"""


def page() -> str:
    parts = [INTRODUCTION]
    described: set[int] = set()
    for module in MODULES:
        parts.append(f"\n## {module.__name__}\n")
        for name in sorted(module.__all__):
            thing = getattr(module, name)
            if id(thing) in described or name.startswith("__"):
                continue
            described.add(id(thing))
            parts.append(entry(name, thing))
    return "".join(parts)


def entry(name: str, thing: object) -> str:
    """A section for a class, a function or an alias."""
    node = definitions().get(name)
    if isinstance(node, ast.FunctionDef):
        return f"\n### {name}\n\n```text\n{signature(node, False)}\n```\n\n{description(thing)}"
    if not isinstance(node, ast.ClassDef):
        return f"\n### {name}\n\n" + textwrap.fill(f"Any of {shown(thing)}.", 120) + "\n"
    bases = ", ".join(base for base in map(ast.unparse, node.bases) if not base.startswith("_"))
    head = f"class {name}({bases})" if bases else f"class {name}"
    text = f"\n### {name}\n\n```text\n{head}\n```\n\n{description(thing)}"
    for member in node.body:
        if isinstance(member, ast.FunctionDef) and is_described(member):
            text += f"\n#### {name}.{member.name}\n\n```text\n{signature(member, True)}\n```\n\n"
            text += description(inspect.getattr_static(thing, member.name))
    return text


def definitions() -> dict[str, ast.AST]:
    """Each class and function of the package by its name."""
    found: dict[str, ast.AST] = {}
    for source in (*PACKAGE.glob("*.py"), *PACKAGE.glob("*.pyi")):
        for node in ast.parse(source.read_text()).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                found[node.name] = node
    return found


def is_described(member: ast.FunctionDef) -> bool:
    """Methods. Attributes, which the stubs write as properties, are described with their class."""
    decorators = {ast.unparse(decorator) for decorator in member.decorator_list}
    is_attribute = any("property" in decorator or ".setter" in decorator for decorator in decorators)
    return not member.name.startswith("_") and not is_attribute


def signature(node: ast.FunctionDef, is_method: bool) -> str:
    arguments = ast.unparse(node.args)
    if is_method:
        arguments = re.sub(r"^(self|cls)(, )?(/(, )?)?", "", arguments)
    returned = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    line = f"{node.name}({arguments}){returned}"
    if len(line) <= 100:
        return line
    return f"{node.name}(\n    " + ",\n    ".join(split(arguments)) + f",\n){returned}"


def split(arguments: str) -> Iterator[str]:
    """The arguments at commas outside of brackets."""
    depth, begin = 0, 0
    for place, letter in enumerate(arguments):
        depth += (letter in "[(") - (letter in "])")
        if letter == "," and depth == 0:
            yield arguments[begin:place].strip()
            begin = place + 1
    yield arguments[begin:].strip()


def shown(thing: object) -> str:
    names = re.findall(r"\.(\w+)(?=[ |\]]|$)", str(thing))
    return ", ".join(f"`{name}`" for name in names) or f"`{thing}`"


def description(thing: object) -> str:
    """A docstring in numpydoc's format as Markdown."""
    if isinstance(thing, staticmethod | classmethod):
        thing = thing.__func__
    text = inspect.getdoc(thing) or ""
    lines = text.splitlines()
    made: list[str] = []
    section, place = "", 0
    while place < len(lines):
        line = lines[place]
        if place + 1 < len(lines) and line and re.fullmatch(r"-{3,}", lines[place + 1]):
            section, place = line, place + 2
            made += [f"**{section}**", ""]
            continue
        made.append(line)
        place += 1
    return "\n".join(formatted(made)).rstrip() + "\n"


def formatted(lines: list[str]) -> Iterator[str]:
    """Fields as a list, and examples as code."""
    section, in_code, rules = "", False, 0
    for line in lines:
        # A table has three lines of equals signs: above and below its heading, and at its end.
        if re.fullmatch(r"=+( +=+)+", line):
            rules += 1
            if rules == 1:
                yield "```text"
            yield line
            if rules == 3:
                yield "```"
                rules = 0
            continue
        if rules:
            yield line
            continue
        if found := re.fullmatch(r"\*\*(\w+)\*\*", line):
            section = found[1]
        is_code = section == "Examples" and bool(line) and not line.startswith("**")
        if is_code != in_code:
            yield "```" if in_code else "```pycon"
            in_code = is_code
        if is_code or not line or line == f"**{section}**" or not section:
            yield line if is_code else inline(line)
        elif line.startswith(" "):
            yield "  " + inline(line.strip())
        else:
            yield f"- {field(line)}"
    if in_code:
        yield "```"


def field(line: str) -> str:
    names, _, kind = line.partition(" : ")
    return f"`{names}`" + (f": {inline(kind)}  " if kind else "  ")


def inline(line: str) -> str:
    """Code has two backquotes in a docstring."""
    parts = re.split(r"``(.+?)``", line)
    escaped = [part if index % 2 else re.sub(r"([<|])", r"\\\1", part) for index, part in enumerate(parts)]
    return "".join(f"`{part}`" if index % 2 else part for index, part in enumerate(escaped))


if __name__ == "__main__":
    sys.stdout.write(page())
