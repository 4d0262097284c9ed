# SPDX-License-Identifier: Apache-2.0
"""A parameter to be found: KEY=LOW..HIGH. A place between 0 and 1 stands for a value between the ends."""

import dataclasses
import fractions
import math

from ..errors import Problem, UserError, did_you_mean
from ..sweeping.expressions import UNITS, join_quantity, split_quantity

# A range whose ends differ by a larger factor is searched logarithmically.
WIDE = 10
SHAPE = "KEY=LOW..HIGH, for example nand.t_read=40us..100us"
# Into so many steps a range of times or sizes is divided.
STEPS = 4096


@dataclasses.dataclass(frozen=True)
class Free:
    key: str
    low: fractions.Fraction
    high: fractions.Fraction
    unit: str
    whole: bool
    grain: object = None

    @property
    def log(self):
        return self.low > 0 and self.high / self.low > WIDE

    def value(self, place):
        """The value for --set at a place of the range, from 0 to 1: the nearest one that is possible."""
        place = min(1.0, max(0.0, place))
        if self.log:
            number = float(self.low) * math.exp(place * math.log(self.high / self.low))
        else:
            number = float(self.low) + place * float(self.high - self.low)
        if self.whole:
            return round(number)
        if self.grain:
            return self.grain.nearest(fractions.Fraction(number), self.unit, STEPS / (self.high - self.low))
        short = float(f"{number:.5g}")
        return f"{short:.12g}{self.unit}" if self.unit else short

    def number(self, value):
        """The number of a value, in the unit of the range."""
        number, unit = split_quantity(value)
        return float(number * UNITS[unit] / UNITS[self.unit]) if unit else float(number)

    def place(self, value):
        number = self.number(value)
        if self.log:
            return math.log(number / float(self.low)) / math.log(self.high / self.low)
        return (number - float(self.low)) / float(self.high - self.low)

    def width(self, place, part):
        """How wide `part` of the range is at this place, in the unit of the range."""
        if self.log:
            return self.number(self.value(place)) * part * math.log(self.high / self.low)
        return part * float(self.high - self.low)

    def shown(self, number):
        return f"{number:.4g}{self.unit}"

    @property
    def range(self):
        return f"{join_quantity(self.low, self.unit)}..{join_quantity(self.high, self.unit)}"

    @property
    def least(self):
        """The smallest step between 0 and 1 that surely changes the value."""
        if self.whole:
            return 1.01 / float(self.high - self.low) if not self.log else math.log1p(1.01 / float(self.low)) / math.log(self.high / self.low)
        return 0.0


def read_free(texts, known, grains, check):
    """A list of Free from texts KEY=LOW..HIGH. known: {key: value} of the device. check(key, value): what the program says against a value,
    "" for nothing. Raises UserError with all problems."""
    problems, found = [], []
    for text in texts:
        where = f"--free {text}"
        key, equals, ends = text.partition("=")
        parts = [split_quantity(part) for part in ends.split("..")]
        if not equals or len(parts) != 2:
            problems.append(Problem(where, "is no range", SHAPE))
        elif key not in known:
            problems.append(Problem(where, f"unknown key '{key}'", "a parameter (docs/parameters.md)", did_you_mean(key, list(known))))
        elif key in (one.key for one in found):
            problems.append(Problem(where, f"'{key}' is free twice", "one range for each key"))
        elif None in parts or not all(parts):
            problems.append(Problem(where, f"'{ends}' has an end that is no number with a known unit", SHAPE))
        else:
            (low, low_unit), (high, unit) = parts
            if low_unit and low_unit != unit:
                if not unit or UNITS[low_unit] == 0:
                    problems.append(Problem(where, "has a unit at one end", SHAPE))
                    continue
                low = low * UNITS[low_unit] / UNITS[unit]
            if not low < high:
                problems.append(Problem(where, "is an empty range", "the smaller end first, and a larger one", f"--free {key}=LOW..HIGH"))
                continue
            one = Free(key, low, high, unit, not unit and low.denominator == 1 and high.denominator == 1, grains.get(key))
            said = [line for place in (0.0, 1.0) if (line := check(key, one.value(place)))]
            problems += [Problem(where, line) for line in dict.fromkeys(said)]
            found.append(one)
    if problems:
        raise UserError(*problems)
    return found
