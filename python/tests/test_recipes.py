"""Every recipe of the cookbook, the tutorial and the study run and print what the book shows."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from recipes import BOOK, Recipe, agrees, blocks, recipes, run, whole

PAGES = [whole("tutorial.md"), whole("study.md")]
# Those with programs take root and Linux: crates/cli/tests/on_linux/programs.rs runs them.
PAGES_OF_RECIPES = sorted(set(BOOK.glob("cookbook/*.md")) - {BOOK / "cookbook" / "programs.md"})
COOKBOOK = [recipe for page in PAGES_OF_RECIPES for recipe in recipes(f"cookbook/{page.name}")]
# With this variable the pages are given what is printed; the difference is then read before it is kept.
UPDATE = "SUBFLOW_UPDATE_RECIPES"


@pytest.mark.parametrize("recipe", [*PAGES, *COOKBOOK], ids=str)
def test_a_recipe_prints_what_the_book_shows(recipe: Recipe, tmp_path: Path) -> None:
    printed = run(recipe, tmp_path)
    assert printed, "it runs something"
    for found, shown in printed:
        if shown is None or agrees(shown, found):
            continue
        assert UPDATE in os.environ, f"{recipe} shows\n{shown}\nbut prints\n{found}"
        update(recipe, shown, found)


def update(recipe: Recipe, shown: str, found: str) -> None:
    page = BOOK / recipe.page
    text = page.read_text()
    before, heading, after = text.partition("## " + recipe.heading + "\n") if recipe not in PAGES else ("", "", text)
    page.write_text(before + heading + after.replace(f"```text\n{shown}```", f"```text\n{found}```", 1))


def test_the_cluster_of_the_cookbook_prints_the_table_of_one_machine() -> None:
    """Each recipe is held to what it prints by the test above."""
    tables = [
        content
        for recipe in COOKBOOK
        if recipe.heading in ("A sweep of 100 runs, with intervals and a figure", "The same on a cluster")
        for language, content in blocks(recipe.text)
        if language == "text"
    ]
    assert len(tables) == 2 and tables[0] == tables[1] and tables[0].count("\n") == 6
