# SPDX-License-Identifier: Apache-2.0
"""Parts of a run that are not what it measures, marked in charts over time: files that are laid out, and ramps."""

import altair as alt

from .charts import INK, view

MARKED = ("layout", "ramp")


def of_run(time_series):
    """[(from ms, to ms, "layout" or "ramp")]: rows of timeseries.csv that follow each other with the same phase. Results of a version without phases
    have none."""
    bands = []
    for row in time_series:
        phase, begin, end = row.get("phase"), row["start_ms"], row["start_ms"] + row["interval_ms"]
        if phase not in MARKED:
            continue
        if bands and bands[-1][1:] == (begin, phase):
            bands[-1] = (bands[-1][0], end, phase)
        else:
            bands.append((begin, end, phase))
    return bands


def layers(bands, scale=alt.Undefined):
    """Layers of Altair for bands of of_run(): shaded areas behind the lines, with their names at the top. `scale`: that of the x axis."""
    drawn = []
    for begin, end, name in bands:
        # An aggregate makes one row of the chart's data, so that each shape is drawn once.
        once = view().transform_aggregate(rows="count()")
        drawn.append(once.mark_rect(color=INK, opacity=0.1).encode(x=alt.XDatum(begin, type="quantitative", scale=scale), x2=alt.X2Datum(end)))
        drawn.append(once.mark_text(text=name, color=INK, opacity=0.8, fontSize=10, align="left", baseline="top", dx=2, dy=2).encode(
            x=alt.XDatum(begin, type="quantitative", scale=scale), y=alt.value(0)))
    return drawn
