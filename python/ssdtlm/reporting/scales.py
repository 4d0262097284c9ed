# SPDX-License-Identifier: Apache-2.0
"""Which scale fits what a chart shows: the unit of times, shares by their nines, powers where values differ widely. Standard library only."""

import itertools
import math

# (name, us). An axis takes the largest unit of which its values reach LEAST_OF_UNIT.
UNITS = (("s", 1e6), ("ms", 1e3), ("us", 1.0))
LEAST_OF_UNIT = 2
# A scale is logarithmic when its values are above 0 and the largest is more than this times the smallest.
WIDE = 30
LEAST_TICKS = 3
MOST_WHOLE_TICKS = 6
# The last share that an axis shows, as a number of nines: 99.999 %.
MOST_NINES = 5


def unit_of(largest_us):
    """(name, size in us) of the unit for an axis whose largest value is `largest_us`."""
    return next((unit for unit in UNITS if largest_us >= LEAST_OF_UNIT * unit[1]), UNITS[-1])


def log_ticks(low, high):
    """Ticks of a logarithmic axis between `low` and `high`: powers of ten, and where these are fewer than LEAST_TICKS also parts of them."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1,), (1, 2, 5), range(1, 10), [n / 2 for n in range(2, 20)]):
        ticks = [tick for power in powers for step in steps if low <= (tick := float(f"{step}e{power}")) <= high]
        if len(ticks) >= LEAST_TICKS:
            break
    return ticks


def whole_ticks(low, high):
    """Whole numbers from `low` to `high`, at most MOST_WHOLE_TICKS: multiples of 1, 2 or 5 times a power of ten."""
    for step in (digit * 10 ** power for power in itertools.count() for digit in (1, 2, 5)):
        ticks = list(range(math.ceil(low / step) * step, math.floor(high) + 1, step))
        if len(ticks) <= MOST_WHOLE_TICKS:
            return ticks


def nines(count, of):
    """A share `count` / `of` as a number of nines: 0.9 is 1, 0.99 is 2. One command more than there are is assumed, because nothing is
    known above the slowest, and 100 % would be infinite."""
    return min(MOST_NINES, -math.log10(1 - count / (of + 1)))


def is_wide(values):
    """Whether values need a logarithmic scale."""
    values = list(values)
    return bool(values) and min(values) > 0 and max(values) / min(values) > WIDE


def span(values, from_zero=True):
    """[smallest, largest] of a scale for the values. It begins with 0, unless it is logarithmic or needs no zero (`from_zero` False)."""
    low, high = min(values), max(values)
    if is_wide((low, high)) or not from_zero and low < high:
        return [low, high]
    return [min(0, low), max(0, high) or 1]


def brief(value):
    """A number in at most five characters, for a cell of a map."""
    for size, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= 0.9995 * size:
            return f"{_digits(value / size)}{name}"
    return _digits(value)


def _digits(value):
    places = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    text = f"{value:.{min(places, 3)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def share_of_scale(value, domain, wide):
    """Where a value stands between the ends of a domain, from 0 to 1. wide: the scale is logarithmic."""
    low, high = domain
    if high == low:
        return 0.5
    return math.log(value / low) / math.log(high / low) if wide else (value - low) / (high - low)
