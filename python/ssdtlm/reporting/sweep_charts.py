# SPDX-License-Identifier: Apache-2.0
"""The charts of a sweep's report."""

import altair as alt

from .charts import INK, LABEL_WIDTH, LINES, make, shortened, view

CELL = 28


def _named(metric):
    """A metric with its unit."""
    last = metric.rsplit(".", 1)[-1]
    timed = metric.split(".")[0] in ("read", "write", "trim", "flush") and (last in ("mean", "max") or last.startswith("p"))
    return f"{metric} (us)" if timed else f"{metric} (MB/s)" if last == "MB_per_s" else metric


def _rows(rows):
    return [{key: shortened(value) for key, value in row.items()} for row in rows]


def heat_map(name, title, x, y, metric, cells, x_names, y_names):
    """cells of sweep_data.Sweep.cells()."""
    rects = view().mark_rect().encode(
        x=alt.X("x:N", title=x, sort=x_names, axis=alt.Axis(labelAngle=-40, labelOverlap="greedy")),
        y=alt.Y("y:N", title=y, sort=y_names[::-1], axis=alt.Axis(labelLimit=LABEL_WIDTH)),
        color=alt.Color("value:Q", scale=alt.Scale(scheme="viridis"), legend=alt.Legend(title=_named(metric), orient="bottom", gradientLength=180, tickCount=3)),
        tooltip=["x:N", "y:N", "value:Q", "points:Q"])
    marks = view().mark_text(color="white", stroke="black", strokeWidth=0.4, fontSize=15).encode(
        x=alt.X("x:N", sort=x_names), y=alt.Y("y:N", sort=y_names[::-1]), text="mark:N")
    return make(name, title, _rows(cells), [rects, marks], CELL * len(y_names))


def line(name, title, x, metric, rows, x_names):
    axis = alt.X("x:N", title=x, sort=x_names, axis=alt.Axis(labelAngle=-40, labelOverlap="greedy"))
    value = alt.Y("value:Q", title=_named(metric))
    drawn = view().mark_line(color=LINES[0]).encode(x=axis, y=alt.Y("mean(value):Q", title=_named(metric)))
    dots = view().mark_point(color=LINES[0], filled=True).encode(x=axis, y=value, tooltip=["x:N", "value:Q"]).transform_filter("datum.mark == ''")
    marks = view().mark_text(color=LINES[4], fontSize=15).encode(x=axis, y=value, text="mark:N", tooltip=["x:N", "value:Q"])
    return make(name, title, _rows(rows), [drawn, dots, marks], 200)


def front(name, title, first, second, points):
    """points of sweep_data.Sweep.front()."""
    rows = [{"label": p["label"], "first": shortened(p[first]), "second": shortened(p[second]), "front": p["front"]} for p in points]
    dots = view().mark_point(filled=True, size=45).encode(
        x=alt.X("first:Q", title=_named(first), scale=alt.Scale(zero=False, nice=True)), y=alt.Y("second:Q", title=_named(second), scale=alt.Scale(zero=False, nice=True)),
        color=alt.Color("front:N", scale=alt.Scale(domain=["yes", "no"], range=[LINES[4], LINES[0]]), legend=alt.Legend(title="on the front")),
        opacity=alt.condition("datum.front == 'yes'", alt.value(1), alt.value(0.35)),
        shape=alt.Shape("front:N", scale=alt.Scale(domain=["yes", "no"], range=["diamond", "circle"]), legend=alt.Legend(title="on the front")),
        tooltip=["label:N", "first:Q", "second:Q"])
    return make(name, title, rows, [dots], 260)


def parallel(name, title, metric, lines, names, row_height):
    """lines and names of sweep_data.Sweep.parallel(). Keys from top to bottom, so that their names have room on a telephone."""
    rows = [{"line": shortened(r["line"]), "row": r["row"], "at": shortened(float(r["at"])), "colour": shortened(r["colour"]), "name": ""} for r in lines]
    rows += [{"line": -1, "row": n["row"], "at": 0.0, "colour": 0, "name": n["name"]} for n in names]
    y = alt.Y("row:Q", axis=None, scale=alt.Scale(domain=[-0.6, len(names) - 0.7], reverse=True, nice=False))
    x = alt.X("at:Q", axis=None, scale=alt.Scale(domain=[0, 1], nice=False))
    rules = view().mark_rule(color=INK, opacity=0.25).encode(y=y).transform_filter("datum.line < 0")
    drawn = view().mark_line(strokeWidth=1, opacity=0.6).encode(
        x=x, y=y, detail="line:N", order=alt.Order("row:Q"),
        # Thin lines: without the ends of the scheme, which are lost on black paper and on white.
        color=alt.Color("colour:Q", scale=alt.Scale(scheme=alt.SchemeParams("viridis", extent=[0.3, 0.85])), legend=alt.Legend(title=_named(metric), orient="bottom", gradientLength=180, tickCount=3)),
    ).transform_filter("datum.line >= 0")
    texts = view().mark_text(align="left", baseline="bottom", dy=-2, color=INK, fontSize=11).encode(x=x, y=y, text="name:N").transform_filter("datum.line < 0")
    chart = make(name, title, rows, [rules, drawn, texts], row_height * len(names))
    # The first number of the legend stands half to the left of it.
    chart.spec["padding"] = {"left": 24, "top": 5, "right": 8, "bottom": 5}
    return chart
