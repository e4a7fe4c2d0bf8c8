"""The book: it is built without a warning, its links lead somewhere, and it names what there is."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from recipes import BOOK, ROOT, command


class Page(HTMLParser):
    """The links of a page, and what can be linked to in it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.ids: set[str] = set()
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.add(value)
            elif name == "id" and value:
                self.ids.add(value)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("book")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    build = ["mdbook", "build", str(ROOT / "docs"), "--dest-dir", str(folder)]
    env = os.environ | {"PATH": path, "SUBFLOW_BOOK_FIGURES": "1"}
    done = subprocess.run(build, env=env, capture_output=True, text=True)
    said = done.stdout + done.stderr
    assert done.returncode == 0 and not re.search(r"\b(WARN|ERROR)", said), said
    return folder


def preprocessed(page: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """What the preprocessor makes of a page."""
    chapter = {"Chapter": {"path": "page.md", "content": page, "sub_items": []}}
    env = {name: value for name, value in os.environ.items() if name != "SUBFLOW_BOOK_FIGURES"} | settings
    program = [sys.executable, str(ROOT / "docs" / "preprocess.py")]
    book = json.dumps([{}, {"items": [chapter]}])
    return subprocess.run(program, input=book, env=env, capture_output=True, text=True)


FIGURE = "# Page\n\n```sh\nfalse\n```\n\n```figure\nmade.svg\n```\n"


def test_a_book_runs_no_simulations_unless_asked() -> None:
    done = preprocessed(FIGURE, SUBFLOW_COMMAND="absent")
    assert done.returncode == 0, done.stderr
    assert "SUBFLOW_BOOK_FIGURES=1 mdbook build docs" in done.stdout


def test_figures_without_a_command_are_an_error_in_a_line(tmp_path: Path) -> None:
    done = preprocessed(FIGURE, SUBFLOW_BOOK_FIGURES="1", SUBFLOW_COMMAND=str(tmp_path / "absent"))
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    assert "cargo build" in done.stderr and "page.md" in done.stderr, done.stderr


def test_every_page_is_in_the_summary() -> None:
    named = set(re.findall(r"\]\(([^)]+)\)", (BOOK / "SUMMARY.md").read_text()))
    assert named == {str(page.relative_to(BOOK)) for page in BOOK.rglob("*.md")} - {"SUMMARY.md"}


def test_every_link_within_the_book_leads_somewhere(built: Path) -> None:
    frames = ("toc.html", "404.html")
    pages = {path.resolve(): Page(path) for path in built.rglob("*.html") if path.name not in frames}
    assert len(pages) > 20
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            known = target in pages and (not parts.fragment or unquote(parts.fragment) in pages[target].ids)
            if not (known or (target.is_file() and not parts.fragment)):
                broken.append(f"{path.name}: {link}")
    assert broken == []


def test_links_to_the_repository_lead_to_files(built: Path) -> None:
    seen, link = 0, re.compile(r'href="https://github.com/subflow/subflow/(blob|tree)/main/([^"#]+)')
    for path in built.rglob("*.html"):
        for kind, file in link.findall(path.read_text()):
            seen += 1
            assert ((ROOT / file).is_dir() if kind == "tree" else (ROOT / file).is_file()), f"{path.name}: {file}"
    assert seen > 10


def test_formulas_are_drawn_without_a_script_and_without_a_font() -> None:
    done = preprocessed("A $`w_i`$ of\n\n```math\n\\frac{w_i}{\\tau}\n```\n\nand $`\\max x < 1\\ \\mathrm{ms}`$.\n")
    assert done.returncode == 0, done.stderr
    page = json.loads(done.stdout)["items"][0]["Chapter"]["content"]
    labels = re.findall(r'role="img" aria-label="([^"]+)"', page)
    assert labels == ["w_i", r"\frac{w_i}{\tau}", r"\max x &lt; 1\ \mathrm{ms}"]
    # Outlines, each of them once: no letter is drawn by a font.
    drawn, outlines = re.findall(r'href="#([^"]+)"', page), re.findall(r'<symbol id="([^"]+)"', page)
    assert set(drawn) <= set(outlines) and len(outlines) == len(set(outlines)) < len(drawn)
    # w, i, w, i, τ and nine of the last one; the bar of the fraction is none.
    assert len(drawn) == 14
    assert 'fill="black"' not in page and page.count('fill="currentColor"') > len(drawn), "and the bar of the fraction"
    assert "<text" not in page and "<math" not in page and "$`" not in page


def test_every_formula_of_the_book_is_drawn(built: Path) -> None:
    text = (BOOK / "formulas.md").read_text()
    formulas = len(re.findall(r"^```math$", text, re.MULTILINE)) + text.count("$`")
    page = (built / "formulas.html").read_text()
    assert page.count('role="img" aria-label=') == formulas > 80
    assert "$`" not in page and "mathjax" not in page.lower()
    heights = [float(height) for height in re.findall(r'style="width: [\d.]+em; height: ([\d.]+)em', page)]
    assert len(heights) == formulas and max(heights) < 7


def test_a_formula_with_an_unknown_command_is_an_error_that_shows_it() -> None:
    done = preprocessed("A $`\\nosuchthing x`$.\n")
    assert done.returncode == 1 and r"\nosuchthing x" in done.stderr and "Traceback" not in done.stderr, done.stderr


def names(kind: str) -> list[str]:
    """What `subflow list` knows of a kind. Names begin at the margin; what is said of them is indented."""
    listed = subprocess.run([command(), "list", kind], check=True, capture_output=True, text=True).stdout
    found = re.findall(r"^([a-z][\w.-]*)", listed, re.MULTILINE)
    assert found, kind
    return found


def test_the_algorithms_that_the_command_lists_are_described() -> None:
    text = (BOOK / "algorithms.md").read_text()
    for kind in ("congestion", "schedulers", "path-managers", "detectors", "routing", "queues", "losses", "topologies"):
        assert [name for name in names(kind) if name != "none" and f"`{name}`" not in text] == [], kind


def test_every_congestion_control_has_its_formula() -> None:
    headings = re.findall(r"^### (.*)$", (BOOK / "formulas.md").read_text(), re.MULTILINE)
    described = {name.replace("/", "-").lower() for heading in headings for name in heading.split(" and ")}
    assert set(names("congestion")) <= described


def test_the_page_of_the_python_api_is_that_of_the_sources() -> None:
    printed = subprocess.run(
        [sys.executable, ROOT / "docs" / "api_page.py"], check=True, capture_output=True, text=True
    ).stdout
    kept = (BOOK / "python-api.md").read_text()
    assert printed == kept, "print it again: python docs/api_page.py > docs/src/python-api.md"


@pytest.mark.parametrize("path", sorted((ROOT / "python" / "notebooks").glob("*.ipynb")), ids=lambda path: path.name)
def test_notebooks_are_kept_without_outputs(path: Path) -> None:
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    assert cells and all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)
    assert path.name in (BOOK / "notebooks.md").read_text()
