"""A preprocessor of mdBook: what GitHub shows of a page, a page of the book shows, too.

- Formulas: blocks of ``math`` and ``$`…`$`` within a line become drawings, which look the same with any fonts.
- Links to files outside of the book lead to the repository.
- A page that is only a link to such a file shows that file.
- Blocks ``figure``, which name a file that the page's other blocks make, become that figure, if ``SUBFLOW_BOOK_FIGURES``
  is set: this takes thousands of simulations. Otherwise a line says how to draw it.
"""

from __future__ import annotations

import html
import json
import os
import posixpath
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recipes import ROOT, Recipe, command, run

try:
    import ziamath
    from latex2mathml.converter import convert
except ImportError as error:
    sys.exit(f"the book takes a package that is missing ({error}): pip install --group python/pyproject.toml:book")

BOOK = "docs/src"
REPOSITORY = "https://github.com/subflow/subflow"


def main() -> None:
    if sys.argv[1:2] == ["supports"]:
        sys.exit(0 if sys.argv[2:] == ["html"] else 1)
    _, book = json.load(sys.stdin)
    pages = list(chapters(book["items"]))
    shown = {only_link(page) or posixpath.join(BOOK, page["path"]): page["path"] for page in pages}
    for page in pages:
        document = only_link(page)
        source = document or posixpath.join(BOOK, page["path"])
        text = (ROOT / document).read_text() if document else page["content"]
        if "\n```figure\n" in text:
            text = with_figures(page["path"], text)
        page["content"] = with_shared_glyphs(rewritten(text, source, page["path"], shown))
    json.dump(book, sys.stdout)


FIGURE = re.compile(r"^```figure\n(.+)\n```$", re.MULTILINE)
DRAW = "SUBFLOW_BOOK_FIGURES"


def with_figures(path: str, text: str) -> str:
    """The text of a page with its figures in place of the blocks that name them."""
    if not os.environ.get(DRAW):
        hint = f"*This figure is drawn if the book is built with* `{DRAW}=1 mdbook build docs`*.*\n"
        return FIGURE.sub(lambda _: hint, text)
    try:
        command()
    except FileNotFoundError as error:
        sys.exit(f"{DRAW} is set, but the figures of {path} cannot be drawn: {error}")
    with tempfile.TemporaryDirectory() as folder:
        run(Recipe(path, "all of it", text), Path(folder))

        def figure(name: re.Match[str]) -> str:
            # A line that begins with an element is taken over as it is, up to an empty line.
            drawing = (Path(folder) / name[1]).read_text().strip()
            drawing = drawing.replace("<svg ", '<svg style="max-width: 100%; height: auto" ', 1)
            return f'<div class="figure">{drawing}</div>\n'

        return FIGURE.sub(figure, text)


def chapters(items: list[Any]) -> Iterator[dict[str, Any]]:
    for item in items:
        if isinstance(item, dict) and "Chapter" in item:
            yield item["Chapter"]
            yield from chapters(item["Chapter"]["sub_items"])


def only_link(page: dict[str, Any]) -> str | None:
    """The file that the page shows, in the repository."""
    found = re.fullmatch(r"\s*\[[^\]]*\]\(([^)]+)\)\s*", page["content"])
    return target(posixpath.join(BOOK, page["path"]), found[1]) if found else None


def target(source: str, link: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(source), link))


def rewritten(text: str, source: str, path: str, shown: dict[str, str]) -> str:
    lines: list[str] = []
    formula: list[str] = []
    fence = ""
    for line in text.splitlines():
        if fence == "```math":
            if line == "```":
                lines += ["", math("\n".join(formula), "block"), ""]
                fence, formula = "", []
            else:
                formula.append(line)
        elif line.startswith("```"):
            fence = "" if fence else line
            if fence != "```math":
                lines.append(line)
        elif fence:
            lines.append(line)
        else:
            line = re.sub(r"\$`([^`]+)`\$", lambda found: math(found[1], "inline"), line)
            lines.append(re.sub(r"\]\(([^)\s]+)\)", lambda found: f"]({led(found[1], source, path, shown)})", line))
    return "\n".join(lines) + "\n"


# Pixels of a formula for each em of the text around it: its letters are as large as those of the text.
PIXELS_PER_EM = 15
ziamath.config.svg2 = True
# A blank has no outline, and an element without content.
GLYPH = re.compile(r'<symbol id="([^"]+)"[^>]*?(?:/>|>.*?</symbol>)')


def math(formula: str, display: str) -> str:
    """The drawing of a formula in the colour and the size of the text, with its source for those who do not see it."""
    made = convert(formula, display=display)
    if "\\" in made:
        raise SystemExit(f"a formula has a command that is not known: {formula}")
    # Otherwise ziamath has no height for brackets around a sum with limits.
    made = made.replace("<mo>&#x02211;", '<mo stretchy="false">&#x02211;')
    inline = display == "inline"
    drawn: str = ziamath.Math(made, size=16).svg()
    drawing = drawn.replace("\n", " ").replace('"black"', '"currentColor"')
    found = re.search(r'width="([\d.]+)" height="([\d.]+)" viewBox="[-\d.]+ ([-\d.]+) ', drawing)
    if found is None:
        raise SystemExit(f"the drawing of a formula has no size: {formula}")
    width, height, top = (float(number) / PIXELS_PER_EM for number in found.groups())
    # The baseline is at 0.
    place = f"vertical-align: {-(top + height):.3f}em" if inline else "max-width: 100%"
    source = html.escape(" ".join(formula.split()))
    size = f"width: {width:.3f}em; height: {height:.3f}em"
    attributes = f'role="img" aria-label="{source}" style="{size}; {place}" viewBox='
    drawing = re.sub(r'width="[^"]*" height="[^"]*" viewBox=', lambda _: attributes, drawing, count=1)
    return drawing if inline else f'<div class="formula" style="text-align: center">{drawing}</div>'


def with_shared_glyphs(text: str) -> str:
    """The text of a page whose drawings share the outlines of letters: each is in the page once."""
    glyphs = {found[1]: found[0] for found in GLYPH.finditer(text)}
    if not glyphs:
        return text
    hidden = 'width="0" height="0" style="position: absolute" aria-hidden="true"'
    shared = f"<div><svg {hidden}>{''.join(glyphs.values())}</svg></div>"
    return f"{GLYPH.sub('', text)}\n{shared}\n"


def led(link: str, source: str, path: str, shown: dict[str, str]) -> str:
    """The link of a document, as one of the page of the book at `path`."""
    name, hash, anchor = link.partition("#")
    if not name or re.match(r"[a-z]+:", name):
        return link
    file = target(source, name)
    page = shown.get(file)
    if page is None:
        kind = "tree" if (ROOT / file).is_dir() else "blob"
        return f"{REPOSITORY}/{kind}/main/{file}{hash}{anchor}"
    return posixpath.relpath(page, posixpath.dirname(path) or ".") + hash + anchor


if __name__ == "__main__":
    main()
