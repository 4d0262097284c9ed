# SPDX-License-Identifier: Apache-2.0
"""Axes for times and shares."""

import math

import altair as alt

from .scales import MOST_NINES, log_ticks, unit_of

# Places of shares by their nines: 0, 50 and 90 %, and from there one nine more each.
SHARES = {0: "0", math.log10(2): "50", 1: "90", 2: "99", 3: "99.9", 4: "99.99", 5: "99.999"}

# How a number is written at a tick, whatever the scale: thousands and more by their prefix, smaller ones as they are (0.2, not 200m).
NUMBER = "abs(datum.value) >= 1000 ? format(datum.value, '~s') : format(datum.value, '.4~g')"


def time(title, largest, in_us=1.0, **axis):
    """title= and axis= of an axis of times whose data are in units of `in_us`: they stay so in the data that a page offers."""
    name, size = unit_of(largest * in_us)
    return {"title": f"{title} ({name})", "axis": alt.Axis(labelExpr=f"format(datum.value * {in_us / size:g}, ',~g')", **axis)}


def log_time(title, values):
    """Of values in us, from the smallest to the largest. Each tick says its unit."""
    low, high = min(values), max(values)
    number = "format(datum.value / {}, ',~g') + ' {}'"
    text = f"datum.value >= 1e6 ? {number.format('1e6', 's')} : datum.value >= 1e3 ? {number.format('1e3', 'ms')} : {number.format('1', 'us')}"
    return {"title": title, "axis": alt.Axis(values=log_ticks(low, high), labelExpr=text), "scale": alt.Scale(type="log", domain=[low, high], nice=False)}


def shares(title):
    """Of values in nines()."""
    text = "".join(f"abs(datum.value - {place:.6g}) < 0.01 ? '{name}' : " for place, name in SHARES.items())
    return {"title": title, "axis": alt.Axis(values=list(SHARES), labelExpr=text + "''", labelOverlap=False), "scale": alt.Scale(domain=[0, MOST_NINES], nice=False)}
