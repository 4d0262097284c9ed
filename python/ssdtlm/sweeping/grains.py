# SPDX-License-Identifier: Apache-2.0
"""Which values of a parameter are possible, by the program's schema: multiples of a step, or some values only."""

import dataclasses
import fractions
import json
import math
import subprocess

from .expressions import UNITS, join_quantity, split_quantity


def _base(text):
    number, unit = split_quantity(text)
    return number * UNITS[unit]


@dataclasses.dataclass(frozen=True)
class Grain:
    """The possible values of a parameter with a unit, in the base unit (s, B, ...): multiples of `step`, or those in `allowed` if that is
    not empty."""

    step: fractions.Fraction
    allowed: tuple = ()

    def around(self, number, unit, share):
        """(lower, higher): the possible values nearest to a `share` below and above `number`, as texts. Both differ from `number`, unless
        no such value exists."""
        value = number * UNITS[unit]
        if self.allowed:
            below, above = [a for a in self.allowed if a < value], [a for a in self.allowed if a > value]
            low, high = below[-1] if below else value, above[0] if above else value
        else:
            low = min(round(value * (1 - share) / self.step), math.ceil(value / self.step) - 1) * self.step
            high = max(round(value * (1 + share) / self.step), math.floor(value / self.step) + 1) * self.step
        return tuple(_text(v, unit) for v in (low, high))

    def nearest(self, number, unit, per_unit):
        """The possible value nearest to `number` of the unit, as text. It is rounded to 1/per_unit of the unit, or to the step if that is
        larger."""
        value = number * UNITS[unit]
        if self.allowed:
            return _text(min(self.allowed, key=lambda a: abs(a - value)), unit)
        # A power of ten that is fine enough keeps the text short.
        digit = fractions.Fraction(10) ** math.floor(math.log10(UNITS[unit] / per_unit))
        step = max(1, round(digit / self.step)) * self.step
        return _text(round(value / step) * step, unit)


def _text(value, unit):
    """A value with the unit, or with a smaller unit of the same kind that needs fewer decimals."""
    for name in (unit, *_SMALLER.get(unit, ())):
        if (value / UNITS[name] * 10**6).denominator == 1:
            return join_quantity(value / UNITS[name], name)
    return join_quantity(value / UNITS[unit], unit)


_SMALLER = {"TiB": ("GiB", "MiB", "KiB", "B"), "GiB": ("MiB", "KiB", "B"), "MiB": ("KiB", "B"), "KiB": ("B",), "TB": ("GB", "MB", "kB", "B"), "GB": ("MB", "kB", "B"),
            "MB": ("kB", "B"), "kB": ("B",), "y": ("d", "h", "min", "s"), "d": ("h", "min", "s"), "h": ("min", "s"), "min": ("s",), "s": ("ms", "us", "ns", "ps"), "ms": ("us", "ns", "ps"), "us": ("ns", "ps"), "ns": ("ps",)}


def _of_leaf(leaf):
    for one in (leaf, *leaf.get("oneOf", ())):
        if "x-step" in one and split_quantity(one["x-step"]):  # units that sweeps do not know are left out
            return Grain(_base(one["x-step"]), tuple(sorted(_base(text) for text in one.get("x-allowed", ()))))
    return None


def _leaves(node, prefix):
    for name, below in node.get("properties", {}).items():
        if "properties" in below:
            yield from _leaves(below, f"{prefix}{name}.")
        else:
            yield prefix + name, below


def grains_of(binary):
    """{key: Grain} of the parameters that have units."""
    schema = json.loads(subprocess.run([binary, "config", "schema"], capture_output=True, text=True, check=True).stdout)
    return {key: grain for key, leaf in _leaves(schema, "") if (grain := _of_leaf(leaf))}
