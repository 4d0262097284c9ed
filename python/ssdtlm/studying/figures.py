# SPDX-License-Identifier: Apache-2.0
"""A study's Figure as a chart of a page."""

import altair as alt

from ..reporting import axes, charts, scales
from .time_figures import time_chart

HEIGHT, CELL_HEIGHT = 220, 26
# In pixels: the width of a drawing where two stand beside each other, and of a character of a label (10 px high).
NARROW, CHARACTER = 380, 6.5
NAMED = ("bars", "stacked", "map")  # their x are names, not numbers


def chart_of(figure):
    if figure.kind == "time":
        return time_chart(figure)
    rows = [{"x": str(row[figure.x]) if figure.kind in NAMED else row[figure.x], "y": charts.shortened(row[figure.y]),
             "by": str(row[figure.by]) if figure.by else figure.y} for row in figure.rows]  # CSV reads an empty text as no value
    layers, height = KINDS[figure.kind](figure, rows)
    return charts.make(figure.name, figure.title, rows, layers, height)


def _bars(figure, rows):
    """(layers, height) of groups of bars: those of a group stand beside each other."""
    x, lines = _x(figure, rows, "N"), _different(rows, "by")
    return [charts.view().mark_bar().encode(x=x, xOffset=alt.XOffset("by:N", sort=lines), y=_y(figure, rows), color=_colour(lines, charts.LINES), tooltip=TOOLTIP)], HEIGHT


def _stacked(figure, rows):
    """(layers, height) of bars whose parts stand on top of each other, in the order in which they come first."""
    parts, tops = _different(rows, "by"), {}
    for row in rows:
        row["order"] = parts.index(row["by"])
        tops[row["x"]] = tops.get(row["x"], 0) + row["y"]
    y = alt.Y("y:Q", title=_title(figure), stack="zero", scale=alt.Scale(domain=[0, max([figure.top, *tops.values()])], nice=True))
    return [charts.view().mark_bar(stroke=charts.INK, strokeWidth=0.3).encode(
        x=_x(figure, rows, "N"), y=y, color=_colour(parts, charts.AREAS), order=alt.Order("order:Q"), tooltip=TOOLTIP)], HEIGHT


def _lines(figure, rows):
    """(layers, height) of lines over names or numbers, which are equally far from each other."""
    return _drawn(figure, rows, charts.view().mark_line(point=True, strokeWidth=1.5), _x(figure, rows, "O"))


def _curves(figure, rows):
    """(layers, height) of lines over numbers to scale."""
    axis = _powers(rows, "x") if "x" in figure.log else {"scale": alt.Scale(zero=False, nice=False)}
    return _drawn(figure, rows, charts.view().mark_line(strokeWidth=1.5), alt.X("x:Q", title=figure.x, **axis))


def _drawn(figure, rows, mark, x):
    lines, y = _different(rows, "by"), _y(figure, rows)
    line = mark.encode(x=x, y=y, color=_colour(lines, charts.LINES), tooltip=TOOLTIP)
    if figure.dashed:
        line = line.encode(strokeDash=alt.StrokeDash("by:N", scale=alt.Scale(domain=lines, range=[[5, 4] if name in figure.dashed else [1, 0] for name in lines]), legend=None))
    return [line, *(_extremes(rows, x, y, lines) if figure.extremes else [])], HEIGHT


def _extremes(rows, x, y, lines):
    """Layers that mark the largest and the smallest value of each line, with their numbers. Of equal values the first is marked."""
    for row in rows:
        row.update(mark="", text="")
    for line in lines:
        mine = [row for row in rows if row["by"] == line]
        for name, pick in (("Max", max), ("Min", min)):
            row = pick(mine, key=lambda row: row["y"])
            row.update(mark=name, text=f"{name} : {row['y']:g}")
    shown = charts.view().transform_filter("datum.mark")
    colour = alt.Color("by:N", legend=None)
    return [shown.mark_point(filled=True, size=60).encode(x=x, y=y, color=colour, tooltip=TOOLTIP),
            shown.mark_text(dy=-10, fontSize=10, color=charts.INK).encode(x=x, y=y, text="text:N")]


def _map(figure, rows):
    """(layers, height) of cells in rows `by` and columns `x`, coloured by `y`."""
    columns, values = _different(rows, "x"), [row["y"] for row in rows]
    names = _different(rows, "by")
    shown = charts.cells("x:N", "by:N", "y", len(columns), scales.span(values), x_sort=columns, y_sort=names)
    shown.rects = shown.rects.encode(x=alt.X("x:N", title=figure.x, sort=columns, axis=alt.Axis(labelAngle=_label_angle(rows))), y=alt.Y("by:N", title=figure.by, sort=names),
                                     color=shown.colour(_title(figure)), tooltip=TOOLTIP)
    for row in rows:
        row.update(shown.text_of(row["y"]))
    return [shown.rects, shown.numbers], CELL_HEIGHT * len(names)


TIMES = ("s", "ms", "us", "ns")
QUANTITIES = {"RT": "response time", "max_us": "longest latency"}  # of times, by column
TOOLTIP = ["x:N", "by:N", "y:Q"]
KINDS = {"bars": _bars, "stacked": _stacked, "lines": _lines, "curves": _curves, "map": _map}


def _different(rows, column):
    return list(dict.fromkeys(row[column] for row in rows))


def _title(figure):
    """The title of the y axis. A rate is known by its unit; a time has its quantity in front."""
    if figure.unit not in TIMES:
        return figure.unit or figure.y
    return f"{QUANTITIES.get(figure.y, 'latency')} ({figure.unit})"


def _colour(names, colours):
    more = colours if len(names) <= len(colours) else list(dict.fromkeys(charts.LINES + charts.MORE_LINES + charts.AREAS))
    return alt.Color("by:N", sort=names, scale=alt.Scale(domain=names, range=[more[i % len(more)] for i in range(len(names))]),
                     legend=alt.Legend() if len(names) > 1 else None)


def _x(figure, rows, kind):
    return alt.X(f"x:{kind}", title=figure.x, sort=_different(rows, "x"), axis=alt.Axis(labelAngle=_label_angle(rows)))


def _label_angle(rows):
    """The angle of the names along x: 0 where all have room, else -90 degrees."""
    names = _different(rows, "x")
    return 0 if max(len(str(name)) for name in names) * CHARACTER <= NARROW / len(names) else -90


def _y(figure, rows):
    if "y" in figure.log:
        return alt.Y("y:Q", title=_title(figure), **_powers(rows, "y"))
    values = [row["y"] for row in rows]
    return alt.Y("y:Q", title=_title(figure), scale=alt.Scale(domain=[min(0, *values), max([figure.top, *values])], nice=True))


def _powers(rows, column):
    """The arguments scale= and axis= of a logarithmic axis. All values of the column must be above 0."""
    low, high = (pick(row[column] for row in rows) for pick in (min, max))
    return {"scale": alt.Scale(type="log", domain=[low, high], nice=False), "axis": alt.Axis(values=scales.log_ticks(low, high), labelExpr=axes.NUMBER)}
