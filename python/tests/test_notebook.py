"""What a notebook shows, and figures on axes of matplotlib."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser

import matplotlib.pyplot as plt
import numpy
import pytest

import subflow


class Balance(HTMLParser):
    """Finds tags that are not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("repeat", [1, 3])
def test_a_notebook_shows_tables(scenario: subflow.Scenario, repeat: int) -> None:
    html = scenario.run(repeat=repeat)._repr_html_()
    balance = Balance()
    balance.feed(html)
    assert balance.open == []
    assert "<table" in html and ">file</td>" in html and "<script" not in html


def test_the_report_is_a_page(swept: subflow.Results) -> None:
    page = swept.to_html()
    assert page.startswith("<!doctype html>") and page.rstrip().endswith("</html>")


def test_every_figure_is_drawn_on_the_users_axes(swept: subflow.Results) -> None:
    assert len(set(swept.figures)) == len(swept.figures) > 3
    for title in swept.figures:
        figure, axes = plt.subplots(1, 2)
        assert swept.plot(title, axes[1]) is axes[1]
        assert axes[1].get_title() == title and axes[1].get_ylabel()
        assert axes[1].has_data() and not axes[0].has_data()
        figure.canvas.draw()
        plt.close(figure)


def test_curves_have_the_points_of_the_figure(scenario: subflow.Scenario) -> None:
    results = scenario.run()
    curves = [figure for title in results.figures if (figure := results.figure(title))["kind"] == "curves"]
    assert curves
    for content in curves:
        axes = results.plot(content["title"])
        drawn = {line.get_label(): line for line in axes.get_lines()}
        for curve in content["curves"]:
            assert numpy.asarray(drawn[curve["name"]].get_ydata(), float).tolist() == pytest.approx(curve["y"], nan_ok=True)
        plt.close("all")


def test_runs_with_metrics_over_time_are_drawn_as_a_mean_in_a_band(scenario: subflow.Scenario) -> None:
    results = scenario.run(repeat=3, series="all")
    figure = results.figure("Congestion window")
    assert [curve["shape"] for curve in figure["curves"]] == ["line and band"] * len(figure["curves"])
    axes = results.plot("Congestion window")
    assert len(axes.collections) == len(axes.get_lines()) == len(figure["curves"]) > 0
    plt.close("all")


def test_two_swept_names_are_drawn_as_cells_with_numbers(scenario: subflow.Scenario) -> None:
    over = {"flows.file.scheduler": ["rr", "ll", "ecf"], "flows.file.congestion": ["lia", "cubic"]}
    results = subflow.sweep(scenario, over, repeat=2)
    figure = results.figure("Goodput as a heat map")
    assert (figure["rows"]["names"], figure["columns"]["names"]) == (["rr", "ll", "ecf"], ["lia", "cubic"])
    axes = results.plot("Goodput as a heat map")
    shown = [text.get_text() for text in axes.texts]
    assert shown == [f"{cell['value']:.3g}" for cell in figure["cells"]] and len(shown) == 6
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["rr", "ll", "ecf"]
    plt.close("all")


def test_curves_have_the_colours_of_the_report(scenario: subflow.Scenario) -> None:
    results = scenario.run()
    page = results.to_html()
    content = results.figure("Congestion window")
    lines = results.plot("Congestion window").get_lines()
    for curve, line in zip(content["curves"], lines, strict=False):
        assert f"--c{curve['colour'] % 8}: light-dark({line.get_color()}," in page
    plt.close("all")


def test_an_unknown_figure_is_refused(swept: subflow.Results) -> None:
    with pytest.raises(ValueError, match="no such figure|did you mean"):
        swept.plot("Goodputt")


def test_the_package_does_not_take_matplotlib() -> None:
    code = "import sys; sys.modules['matplotlib'] = None; import subflow; print(subflow.__version__)"
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert shown.stdout.strip() == subflow.__version__
