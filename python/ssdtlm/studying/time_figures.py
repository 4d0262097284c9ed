# SPDX-License-Identifier: Apache-2.0
"""A study's figure over time: one line, its largest and smallest value marked, layout and ramp shaded."""

import altair as alt

from ..reporting import charts, phases

HEIGHT = 200
# Colours of the two marks. Place and word tell them apart as well.
MOST, LEAST = "#D55E00", "#3B8BC8"


def extremes(figure):
    """(row with the largest value, row with the smallest value) outside of the shaded bands; of equal ones the first."""
    inside = lambda x: any(begin <= x < end for begin, end, _ in figure.bands)
    rows = [row for row in figure.rows if not inside(row[figure.x])] or figure.rows
    return max(rows, key=lambda row: row[figure.y]), min(rows, key=lambda row: row[figure.y])


def time_chart(figure):
    most, least = extremes(figure)
    rows = [{"x": row[figure.x], "y": charts.shortened(row[figure.y], 6), "mark": "line", "text": ""} for row in figure.rows]
    for row, mark, word in ((most, "most", "Max"), (least, "least", "Min")):
        rows.append({"x": row[figure.x], "y": charts.shortened(row[figure.y], 6), "mark": mark, "text": f"{word}: {row[figure.y]:,.{figure.digits}f}"})
    begin, end = min(row["x"] for row in rows), max(row["x"] for row in rows)
    scale = alt.Scale(domain=[begin, end], nice=False)
    top = max([figure.top, *(row["y"] for row in rows)]) or 1
    x = alt.X("x:Q", title=figure.x, scale=scale)
    # Room above the line for the mark of the largest.
    y = alt.Y("y:Q", title=figure.unit or figure.y, scale=alt.Scale(domain=[0, top * 1.12], nice=True))
    line = charts.view().transform_filter("datum.mark === 'line'").mark_line(
        strokeWidth=1.3, color=figure.colour or charts.LINES[0], point=bool(figure.points) and {"color": figure.colour or charts.LINES[0], "size": 18}).encode(
            x=x, y=y, tooltip=["x:Q", "y:Q"])
    layers = [*phases.layers(figure.bands, scale), line]
    for row, mark, colour, dy in ((most, "most", MOST, -9), (least, "least", LEAST, 11)):
        marked = charts.view().transform_filter(f"datum.mark === '{mark}'")
        left = row[figure.x] > begin + 0.7 * (end - begin)
        layers.append(marked.mark_circle(color=colour, size=55, opacity=1).encode(x=x, y=y, tooltip=["x:Q", "y:Q"]))
        layers.append(marked.mark_text(color=charts.INK, fontSize=11, align="right" if left else "left", dx=-4 if left else 4, dy=dy).encode(x=x, y=y, text="text:N"))
    return charts.make(figure.name, figure.title, rows, layers, HEIGHT)
