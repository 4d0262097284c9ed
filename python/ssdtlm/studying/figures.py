# SPDX-License-Identifier: Apache-2.0
"""A study's Figure as a chart of a page."""

import altair as alt

from ..reporting import charts
from .time_figures import time_chart

HEIGHT = 220


def chart_of(figure):
    if figure.kind == "time":
        return time_chart(figure)
    rows = [{"x": str(row[figure.x]) if figure.kind == "bars" else row[figure.x], "y": charts.shortened(row[figure.y]),
             "by": str(row[figure.by]) if figure.by else ""} for row in figure.rows]
    lines = list(dict.fromkeys(row["by"] for row in rows))
    groups = list(dict.fromkeys(row["x"] for row in rows))
    colour = alt.Color("by:N", sort=lines, scale=alt.Scale(domain=lines, range=[charts.LINES[i % len(charts.LINES)] for i in range(len(lines))]),
                       legend=alt.Legend() if len(lines) > 1 else None)
    most = max([figure.top, *(row["y"] for row in rows)])
    y = alt.Y("y:Q", title=figure.unit or figure.y, scale=alt.Scale(domain=[0, most], nice=True))
    tooltip = ["x:N", "by:N", "y:Q"]
    if figure.kind == "bars":
        bars = charts.view().mark_bar().encode(x=alt.X("x:N", title=figure.x, sort=groups), xOffset=alt.XOffset("by:N", sort=lines), y=y, color=colour,
                                               tooltip=tooltip)
        return charts.make(figure.name, figure.title, rows, [bars], HEIGHT)
    line = charts.view().mark_line(point=True, strokeWidth=1.5).encode(x=alt.X("x:O", title=figure.x, sort=groups), y=y, color=colour, tooltip=tooltip)
    return charts.make(figure.name, figure.title, rows, [line], HEIGHT)
