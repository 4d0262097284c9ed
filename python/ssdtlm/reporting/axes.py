# SPDX-License-Identifier: Apache-2.0
"""Axes for times and shares."""

import math

import altair as alt

from .scales import MOST_NINES, log_ticks, unit_of

# {place in nines: label in percent}: 0, 50 and 90 %, and from there on one nine more each.
SHARES = {0: "0", math.log10(2): "50", 1: "90", 2: "99", 3: "99.9", 4: "99.99", 5: "99.999"}

# A Vega expression for the number at a tick: from a thousand on it has a prefix, below it has none (0.2, not 200m).
NUMBER = "abs(datum.value) >= 1000 ? format(datum.value, '~s') : format(datum.value, '.4~g')"


def time(title, largest, in_us=1.0, **axis):
    """The arguments title= and axis= for an axis of times. `in_us`: the unit of the data in us; the data of the page keep it. largest: the
    largest value, in that unit. axis: further properties of the axis."""
    name, size = unit_of(largest * in_us)
    return {"title": f"{title} ({name})", "axis": alt.Axis(labelExpr=f"format(datum.value * {in_us / size:g}, ',~g')", **axis)}


def log_time(title, values):
    """The arguments title=, axis= and scale= for a logarithmic axis of times from the smallest to the largest of `values`, in us. Each tick
    has its unit."""
    low, high = min(values), max(values)
    number = "format(datum.value / {}, ',~g') + ' {}'"
    text = f"datum.value >= 1e6 ? {number.format('1e6', 's')} : datum.value >= 1e3 ? {number.format('1e3', 'ms')} : {number.format('1', 'us')}"
    return {"title": title, "axis": alt.Axis(values=log_ticks(low, high), labelExpr=text), "scale": alt.Scale(type="log", domain=[low, high], nice=False)}


def shares(title):
    """The arguments title=, axis= and scale= for an axis of shares, whose data are of scales.nines()."""
    text = "".join(f"abs(datum.value - {place:.6g}) < 0.01 ? '{name}' : " for place, name in SHARES.items())
    return {"title": title, "axis": alt.Axis(values=list(SHARES), labelExpr=text + "''", labelOverlap=False), "scale": alt.Scale(domain=[0, MOST_NINES], nice=False)}
