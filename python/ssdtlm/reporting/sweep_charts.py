# SPDX-License-Identifier: Apache-2.0
"""The charts of a sweep's report."""

import altair as alt

from . import scales
from .axes import NUMBER
from .charts import INK, INK_OF_CELL, LABEL_WIDTH, LINES, cells, make, shortened, view

CELL = 30
# The mark of sweep_data.MARK as a shape, because shapes at the same place may overlap, and texts may not.
CROSS = "M-.7,-.7L.7,.7M.7,-.7L-.7,.7"


def _named(metric):
    """A metric with its unit, for the title of an axis."""
    last = metric.rsplit(".", 1)[-1]
    timed = metric.split(".")[0] in ("read", "write", "trim", "flush") and (last in ("mean", "max") or last.startswith("p"))
    return f"{metric} (us)" if timed else f"{metric} (MB/s)" if last == "MB_per_s" else metric


def _rows(rows):
    return [{key: shortened(value) for key, value in row.items()} for row in rows]


def heat_map(name, title, x, y, metric, found, x_names, y_names):
    """A map of a metric by two keys. found: cells of sweep_data.Sweep.cells(). x_names, y_names: places along the axes, by rising value."""
    shown = cells("x:N", "y:N", "value", len(x_names), scales.span([cell["value"] for cell in found], from_zero=False), dy=5, x_sort=x_names, y_sort=y_names[::-1])
    rects = shown.rects.encode(
        x=alt.X("x:N", title=x, sort=x_names, axis=alt.Axis(labelAngle=-40, labelOverlap="greedy")),
        y=alt.Y("y:N", title=y, sort=y_names[::-1], axis=alt.Axis(labelLimit=LABEL_WIDTH)),
        color=shown.colour(_named(metric), tickCount=3), tooltip=["x:N", "y:N", "value:Q", "points:Q"])
    marks = view().mark_text(fontSize=11, dy=-8).encode(x=alt.X("x:N", sort=x_names), y=alt.Y("y:N", sort=y_names[::-1]), text="mark:N", color=INK_OF_CELL)
    rows = [{**row, **shown.text_of(row["value"])} for row in _rows(found)]
    return make(name, title, rows, [rects, marks, shown.numbers], CELL * len(y_names))


def lines(name, title, x, by, metric, rows, x_names, by_names):
    """Lines of a metric over key x, one for each value of key `by`. rows: of sweep_data.Sweep.lines(). by_names: the lines by rising value;
    [""] for a single line without a legend."""
    axis = alt.X("x:N", title=x, sort=x_names, axis=alt.Axis(labelAngle=-40, labelOverlap="greedy"))
    values = [row["value"] for row in rows]
    span = scales.span(values, from_zero=False)
    kind = alt.Scale(domain=span, nice=True, **({"type": "log"} if scales.is_wide(span) else {}))
    value = alt.Y("value:Q", title=_named(metric), scale=kind, axis=alt.Axis(labelExpr=NUMBER))
    # Few lines have the colours that differ most. Many have those of viridis in their order, without its ends, which are hard to see on paper.
    of_lines = {"range": LINES[:len(by_names)]} if len(by_names) <= len(LINES) else {"scheme": alt.SchemeParams("viridis", extent=[0.2, 0.95])}
    colour = alt.Color("by:N", sort=by_names, scale=alt.Scale(domain=by_names, **of_lines), legend=alt.Legend(title=by, symbolOpacity=1, columns=4) if by else None)
    drawn = view().mark_line(strokeWidth=1.5).encode(x=axis, y=value, color=colour)
    shown = ["x:N", *(["by:N"] if by else []), "value:Q", "points:Q"]
    dots = view().mark_point(filled=True, size=35).encode(x=axis, y=value, color=colour, tooltip=shown).transform_filter("datum.mark == ''")
    marks = view().mark_point(shape=CROSS, size=60, strokeWidth=1.5).encode(x=axis, y=value, color=colour, tooltip=shown).transform_filter("datum.mark != ''")
    return make(name, title, _rows(rows), [drawn, dots, marks], 220)


def front(name, title, first, second, points):
    """Points of two metrics, those of the Pareto front marked. points: of sweep_data.Sweep.front()."""
    rows = [{"label": p["label"], "first": shortened(p[first]), "second": shortened(p[second]), "front": p["front"]} for p in points]
    dots = view().mark_point(filled=True, size=45).encode(
        x=alt.X("first:Q", title=_named(first), scale=alt.Scale(zero=False, nice=True)), y=alt.Y("second:Q", title=_named(second), scale=alt.Scale(zero=False, nice=True)),
        color=alt.Color("front:N", scale=alt.Scale(domain=["yes", "no"], range=[LINES[4], LINES[0]]), legend=alt.Legend(title="on the front")),
        opacity=alt.condition("datum.front == 'yes'", alt.value(1), alt.value(0.35)),
        shape=alt.Shape("front:N", scale=alt.Scale(domain=["yes", "no"], range=["diamond", "circle"]), legend=alt.Legend(title="on the front")),
        tooltip=["label:N", "first:Q", "second:Q"])
    return make(name, title, rows, [dots], 260)


# Which part of the distance between two keys the band with a name takes; lines are drawn between these bands.
BAND = 0.38


def parallel(name, title, metric, ways, names, row_height):
    """Parallel coordinates. ways and names: of sweep_data.Sweep.parallel(). Keys stand below each other, so that their names have room on a
    telephone. A line that ends above a name goes on below it at the same place."""
    after = {(r["line"], r["row"]): r["at"] for r in ways}
    rows = [{"line": r["line"], "row": r["row"], "at": shortened(float(r["at"])), "next": shortened(float(after.get((r["line"], r["row"] + 1), r["at"]))),
             "until": r["row"] + 1 - BAND if (r["line"], r["row"] + 1) in after else r["row"], "colour": shortened(r["colour"]), "name": ""} for r in ways]
    rows += [{"line": -1, "row": n["row"], "at": 0.0, "next": 1.0, "until": n["row"] - BAND, "colour": 0, "name": n["name"]} for n in names]
    y = alt.Y("row:Q", axis=None, scale=alt.Scale(domain=[-BAND - 0.03, len(names) - 0.97], reverse=True, nice=False))
    x = alt.X("at:Q", axis=None, scale=alt.Scale(domain=[0, 1], nice=False))
    bands = view().mark_rect(color=INK, opacity=0.1).encode(x=x, x2="next:Q", y=y, y2="until:Q").transform_filter("datum.line < 0")
    drawn = view().mark_rule(strokeWidth=1, opacity=0.6).encode(
        x=x, x2="next:Q", y=y, y2="until:Q",
        # Thin lines lack the ends of the scheme too, which are hard to see on black or on white.
        color=alt.Color("colour:Q", scale=alt.Scale(scheme=alt.SchemeParams("viridis", extent=[0.3, 0.85])), legend=alt.Legend(title=_named(metric), orient="bottom", gradientLength=180, tickCount=3)),
    ).transform_filter("datum.line >= 0 && datum.until > datum.row")
    texts = view().mark_text(align="left", baseline="bottom", dx=4, dy=-3, color=INK, fontSize=11).encode(x=x, y=y, text="name:N").transform_filter("datum.line < 0")
    chart = make(name, title, rows, [bands, drawn, texts], row_height * len(names))
    # The first number of the legend stands half to the left of it.
    chart.spec["padding"] = {"left": 24, "top": 5, "right": 8, "bottom": 5}
    return chart
