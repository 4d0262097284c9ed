# SPDX-License-Identifier: Apache-2.0
"""From a specification to its points: for each, key -> value of everything that differs from the device as it comes."""

import itertools
import math
import random

from ..errors import Problem, UserError


def as_value(number, given):
    """A number between the ends of a Range as a value of its key, with four digits."""
    if given.whole:
        return round(number)
    short = float(f"{number:.4g}")
    return f"{short:.12g}{given.unit}" if given.unit else short


def draw(name, value, count, seed):
    """A list of `count` values of one random axis. Each axis has its own random sequence, so that a new axis does not change the others."""
    source = random.Random(f"{seed} {name}")
    if isinstance(value, list):
        return [source.choice(value) for _ in range(count)]
    low, high = float(value.low), float(value.high)
    drawn = []
    for _ in range(count):
        if value.whole and not value.log:
            drawn.append(source.randint(int(value.low), int(value.high)))
            continue
        x = math.exp(source.uniform(math.log(low), math.log(high))) if value.log else source.uniform(low, high)
        drawn.append(as_value(x, value))
    return drawn


def combinations(spec):
    """Yields all combinations of the axes as dicts {key: value}. The last axis of the file changes fastest."""
    parts = [[{key: value} for value in values] for key, values in spec.grid.items()]
    parts += spec.zipped
    if spec.listed:
        parts.append(spec.listed)
    if spec.random_points:
        columns = {key: draw(key, value, spec.random_points, spec.random_seed) for key, value in spec.ranges.items()}
        parts.append([dict(zip(columns, row)) for row in zip(*columns.values())])
    for combination in itertools.product(*parts):
        yield {key: value for part in combination for key, value in part.items()}


def complete(spec, point, device_values):
    """The point with its derived keys, or None when a constraint excludes it. `device_values(device)`: key -> value of a
    device as it comes. Raises ValueError."""
    everything = {**spec.fixed, **point}
    wanted = {key for e in [*spec.derived.values(), *spec.where] for key in e.keys} - everything.keys() - spec.derived.keys()
    if wanted:
        known = device_values(everything["device"])
        missing = sorted(key for key in wanted if key not in known)
        if missing:
            raise ValueError(f"{', '.join(missing)} is neither a key of the point nor a parameter")
        everything.update({key: known[key] for key in wanted})
    result = dict(point)
    for key, expression in spec.derived.items():
        unknown = expression.keys - everything.keys()
        if unknown:
            raise ValueError(f"derive.{key} needs {', '.join(sorted(unknown))}, which is derived after it")
        result[key] = everything[key] = expression.value(everything)
    return result if all(expression.value(everything) for expression in spec.where) else None


def points(spec, device_values):
    """(list of points as dicts, number of points that a constraint excluded). Raises UserError for expressions that cannot be computed,
    with ten examples at most."""
    if spec.ranges and not spec.random_points:
        raise UserError(Problem(str(spec.path), "has [random.values], but no number of points", "", "random.points = N; or start `ssdtlm search`"))
    found, excluded, problems = [], 0, {}
    for point in combinations(spec):
        try:
            whole = complete(spec, point, device_values)
        except ValueError as error:
            problems.setdefault(str(error), point)
            continue
        if whole is None:
            excluded += 1
        else:
            found.append(whole)
    if problems:
        raise UserError(*[Problem(str(spec.path), f"{text}, at {label(point)}") for text, point in list(problems.items())[:10]])
    if not found:
        raise UserError(Problem(str(spec.path), f"all {excluded} points are excluded", "", "look at where"))
    return found, excluded


def label(point):
    """A point as text: "nand.t_read=40us, fio.iodepth=8"."""
    return ", ".join(f"{key}={shown(value)}" for key, value in point.items()) or "the only point"


def shown(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return "+".join(map(str, value))
    return str(value)
