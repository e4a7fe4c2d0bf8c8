"""Figures of the report on axes of matplotlib, which is imported only here."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Of the space of a group, bars and boxes take this much.
FILLED = 0.8

# The colours of the report on paper (crates/report/src/ink.rs): of curves and bars, and of heat maps.
PALETTE = ("#0072b2", "#d55e00", "#00875f", "#b3589a", "#a67c00", "#2a95d5", "#5c3a8e", "#666666")
NOTHING, MORE, WORSE = "#eef2f6", "#08457e", "#8f3d00"


def draw(figure: dict[str, Any], ax: Axes | None) -> Axes:
    """Draw `figure`, as `Results.figure` returns it, on `ax` or on the axes of a new figure."""
    if ax is None:
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise ImportError("plot takes matplotlib: pip install matplotlib") from error
        ax = pyplot.subplots()[1]
    kinds = {"curves": draw_curves, "bars": draw_bars, "boxes": draw_boxes, "heat map": draw_heat_map}
    kinds[figure["kind"]](figure, ax)
    for reference in figure.get("references", []):
        mark(reference, ax, across=figure["kind"] == "curves")
    ax.set_title(figure["title"])
    if ax.get_legend_handles_labels()[1]:
        ax.legend()
    return ax


def draw_curves(figure: dict[str, Any], ax: Axes) -> None:
    """Draw lines, steps or points."""
    for place, curve in enumerate(figure["curves"]):
        shape = curve["shape"]
        colour = place if curve["colour"] is None else curve["colour"]
        style: dict[str, Any] = {
            "label": curve["name"],
            "color": PALETTE[colour % len(PALETTE)],
            "linestyle": "none" if shape == "points" else "--" if is_dashed(curve, colour) else "-",
            "marker": "o" if "points" in shape else None,
            "drawstyle": "steps-post" if shape == "steps" else "default",
        }
        points = list(zip(curve["x"], curve["y"], curve["interval"], strict=True))
        if shape == "line and band":
            ends = [interval or (math.nan, math.nan) for _, _, interval in points]
            lows, highs = ([end[side] for end in ends] for side in (0, 1))
            ax.fill_between(curve["x"], lows, highs, color=style["color"], alpha=0.2, linewidth=0)
            ax.plot(curve["x"], curve["y"], **style)
        elif any(interval is not None for _, _, interval in points):
            style["yerr"] = whiskers([(y, interval) for _, y, interval in points])
            style["capsize"] = 3
            ax.errorbar(curve["x"], curve["y"], **style)
        else:
            ax.plot(curve["x"], curve["y"], **style)
    scale(ax, "x", figure["x"])
    scale(ax, "y", figure["y"])


def draw_bars(figure: dict[str, Any], ax: Axes) -> None:
    """Draw bars in groups, with their intervals."""
    places, width = arrange(figure["bars"], ax)
    labelled: set[str] = set()
    for bar, (at, of_series) in zip(figure["bars"], places, strict=True):
        colour = of_series if bar["colour"] is None else PALETTE[bar["colour"] % len(PALETTE)]
        error = None if bar["interval"] is None else whiskers([(bar["value"], bar["interval"])])
        label = "_nolegend_" if bar["series"] in labelled else bar["series"]
        labelled.add(bar["series"])
        ax.bar(at, bar["value"], width, yerr=error, capsize=3, color=colour, label=label)
    scale(ax, "y", figure["value"])


def draw_boxes(figure: dict[str, Any], ax: Axes) -> None:
    """Draw box plots in groups, from their numbers."""
    boxes = figure["boxes"]
    places, width = arrange(boxes, ax)
    for box, (at, colour) in zip(boxes, places, strict=True):
        style = {"color": colour}
        ax.bxp(
            [box],
            positions=[at],
            widths=width * FILLED,
            boxprops=style,
            whiskerprops=style,
            capprops=style,
            medianprops=style,
            manage_ticks=False,
        )
    series = unique(box["series"] for box in boxes)
    if len(series) > 1:
        for index, name in enumerate(series):
            ax.plot([], [], color=PALETTE[index % len(PALETTE)], label=name)
    scale(ax, "y", figure["value"])


def draw_heat_map(figure: dict[str, Any], ax: Axes) -> None:
    """Draw coloured cells with their numbers."""
    rows, columns = figure["rows"], figure["columns"]
    values = [[math.nan] * len(columns["names"]) for _ in rows["names"]]
    for cell in figure["cells"]:
        values[cell["row"]][cell["column"]] = cell["value"]
    low, high = figure["value"]["between"]
    norm = "log" if figure["value"]["logarithmic"] else "linear"
    image = ax.imshow(values, cmap=shades(figure), norm=norm, vmin=low, vmax=high, aspect="auto")
    for cell in figure["cells"]:
        place = (cell["column"], cell["row"])
        style: dict[str, Any] = {"ha": "center", "va": "center", "size": "small"}
        if not math.isnan(cell["value"]):
            red, green, blue, _ = image.cmap(image.norm(cell["value"]))
            is_dark = 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.5
            ax.text(*place, f"{cell['value']:.3g}", color="white" if is_dark else "black", **style)
    ax.set_xticks(range(len(columns["names"])), columns["names"], rotation=90)
    ax.set_yticks(range(len(rows["names"])), rows["names"])
    ax.set(xlabel=columns["title"], ylabel=rows["title"])
    ax.figure.colorbar(image, ax=ax, label=figure["value"]["label"])


def shades(figure: dict[str, Any]) -> Any:
    """The colours of a heat map: of differences, blue where the value is better and orange where it is worse."""
    from matplotlib.colors import LinearSegmentedColormap

    ends = [NOTHING, MORE]
    if figure["signed"]:
        ends = [MORE, NOTHING, WORSE] if figure["value"]["lower_is_better"] else [WORSE, NOTHING, MORE]
    return LinearSegmentedColormap.from_list("subflow", ends)


def is_dashed(curve: dict[str, Any], colour: int) -> bool:
    """Whether a curve is dashed: as the report has it, or because its colour is that of another curve, too."""
    return bool(curve["dashed"]) or colour // len(PALETTE) % 2 == 1


def arrange(entries: list[dict[str, Any]], ax: Axes) -> tuple[list[tuple[float, str]], float]:
    """Name the groups along x. Return each entry's place and colour, and the width of one."""
    groups = unique(entry["group"] for entry in entries)
    series = unique(entry["series"] for entry in entries)
    width = FILLED / max(len(series), 1)
    ax.set_xticks(range(len(groups)), groups)

    def place(entry: dict[str, Any]) -> tuple[float, str]:
        index = series.index(entry["series"])
        return groups.index(entry["group"]) + (index - (len(series) - 1) / 2) * width, PALETTE[index % len(PALETTE)]

    return [place(entry) for entry in entries], width


def unique(names: Any) -> list[str]:
    """Each name once, in the order in which they come first."""
    return list(dict.fromkeys(names))


def whiskers(points: list[tuple[float, tuple[float, float] | None]]) -> list[list[float]]:
    """How far intervals reach below and above their values; not at all where there is none."""
    reach = [(0.0, 0.0) if interval is None else (y - interval[0], interval[1] - y) for y, interval in points]
    # A value that is not a number interrupts a curve, and rounding may put the mean a hair outside of its interval.
    return [[0.0 if math.isnan(pair[side]) else max(pair[side], 0.0) for pair in reach] for side in (0, 1)]


def mark(reference: dict[str, Any], ax: Axes, *, across: bool) -> None:
    """Draw a line to compare with."""
    style: dict[str, Any] = {"label": reference["label"], "color": "0.5", "linestyle": ":"}
    if reference["at"] is not None:
        ax.axhline(reference["at"], **style)
    elif reference["moment"] is not None:
        ax.axvline(reference["moment"], **style)
    elif across:
        ax.axline((0, 0), slope=1, **style)


def scale(ax: Axes, name: str, axis: dict[str, Any]) -> None:
    """Label the axis `name` of `ax`, and show of it what the report shows."""
    ax.set(**{f"{name}label": axis["label"]})
    if axis["logarithmic"]:
        ax.set(**{f"{name}scale": "log"})
    if axis["between"] is not None:
        ax.set(**{f"{name}lim": axis["between"]})
    elif axis["with_zero"] and (ax.dataLim.x0 if name == "x" else ax.dataLim.y0) >= 0:
        # The margin that matplotlib adds around the values ends at zero.
        ax.set(**{f"{name}lim": (0.0, None)})
