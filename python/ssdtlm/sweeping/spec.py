# SPDX-License-Identifier: Apache-2.0
"""A sweep's specification (spec.toml), read and checked. docs/sweeps.md describes it."""

import dataclasses
import functools
import pathlib
import re
import tomllib

from ..errors import Problem, UserError, did_you_mean
from .expressions import UNITS, Expression, split_quantity
from .settings import FILES, flatten, with_settings

# Options of `ssdtlm run` that a specification may set under [option]. The sweep sets all others itself.
RUN_OPTIONS = ("section", "stop-after-time", "stop-after-commands", "trace-format", "trace-columns", "trace-volume", "trace-overlay",
               "trace-spread", "trace-skip-broken", "blkparse-action", "trace-beyond", "replay", "replay-depth", "time-scale", "replay-gap", "replay-jobs")
TOP = ("device", "workload", "output", "seed", "seeds", "where", "set", "fio", "option", "grid", "zip", "list", "random", "derive", "limits",
       "replicate", "cluster", "search", "load", "sensitivity")
# Those of them that do not change which points there are.
NOT_OF_POINTS = ("output", "seed", "seeds", "limits", "replicate", "cluster", "search", "load", "sensitivity")


@dataclasses.dataclass(frozen=True)
class Range:
    """Where random values come from: between `low` and `high` of `unit`, evenly or (`log`) evenly in the logarithm. Whole numbers when both
    ends are whole and have no unit."""

    low: object
    high: object
    unit: str
    log: bool

    @property
    def whole(self):
        return not self.unit and self.low.denominator == 1 and self.high.denominator == 1


@dataclasses.dataclass(frozen=True)
class Replicate:
    """The rule of [replicate]: further seeds are run until half the 95 % interval of `metric` is below `half_width` of its mean."""

    metric: str
    half_width: float
    at_least: int
    at_most: int


@dataclasses.dataclass
class Spec:
    """A specification that was read and has no mistakes.

    fixed: {key: value} that all points have. grid: {key: list of values}. zipped, listed: lists of points as dicts, one list for each
    [[zip]] and all of [[list]].
    ranges: {key: Range or list of choices}, from which `random_points` points are drawn. derived: {key: Expression}. where: list of
    Expression.
    time_limit_s: of one run, 0 for none. memory_limit: bytes of one run, 0 for none.
    """

    path: pathlib.Path
    output: pathlib.Path
    fixed: dict
    seeds: list
    grid: dict
    zipped: list
    listed: list
    ranges: dict
    random_points: int
    random_seed: int
    derived: dict
    where: list
    time_limit_s: float
    memory_limit: int
    replicate: Replicate
    cluster: dict
    tables: dict  # [search], [load], [sensitivity], which their commands read

    @functools.cached_property
    def folder(self):
        return self.path.resolve().parent

    @property
    def axes(self):
        """The keys whose values differ between points, in the order of the file."""
        return list(dict.fromkeys([*self.grid, *(key for rows in self.zipped for key in rows[0]), *(key for row in self.listed for key in row), *self.ranges]))


class Reader:
    """Reads the parts of a specification and collects all problems in `problems`."""

    def __init__(self, path, table):
        self.path = path
        self.table = table
        self.problems = []
        self.points_are_known = True  # False: a problem concerns the points themselves

    def problem(self, where, found, allowed="", repair=""):
        self.problems.append(Problem(f"{self.path}: {where}" if where else str(self.path), found, allowed, repair))
        top = re.split(r"[.\[]", where)[0]
        self.points_are_known = self.points_are_known and (top in NOT_OF_POINTS or top in self.table and top not in TOP)

    def take(self, name, kind, default=None, table=None, where=""):
        """A value of the table, or `default` when it is missing. A value of another kind is a problem, and gives the default too."""
        value = (self.table if table is None else table).get(name, default)
        if value is default:
            return default
        right = isinstance(value, kind) and not (isinstance(value, bool) and kind in (int, (int, float)))
        if not right:
            names = {int: "a whole number", dict: "a table", list: "a list", str: "a text", (int, float): "a number"}
            self.problem(where + name, f"is {value!r}", names.get(kind, ""))
            return default
        return value

    def unknown(self, table, known, where=""):
        for name in table:
            if name not in known:
                self.problem(where + name, "is not known", f"one of {', '.join(known)}", did_you_mean(name, known))

    def quantity(self, name, table, units, where):
        """A time in s or a size in B; 0 when it is not given or wrong."""
        if name not in table:
            return 0
        found = split_quantity(table[name])
        if found is None or found[1] not in units or found[0] <= 0:
            self.problem(where + name, f"is {table[name]!r}", f"a number with a unit ({', '.join(units)}), above 0", f'{name} = "10{units[-1]}"')
            return 0
        return float(found[0] * UNITS[found[1]])

    def values(self, where, key, value):
        """The list of values of an axis. What is no list is a problem."""
        self.check_key(where, key)
        if not isinstance(value, list) or not value:
            self.problem(f"{where}.{key}", f"is {value!r}", "a list of at least one value", "")
            return [value]
        return value

    def check_key(self, where, key):
        group, _, name = key.partition(".")
        if group == "option" and name not in RUN_OPTIONS:
            self.problem(f"{where}.{key}", f"'--{name}' is no option that a sweep may set", f"option.NAME with one of {', '.join(RUN_OPTIONS)}",
                         did_you_mean(name, RUN_OPTIONS))
        elif key == "run.seed":
            self.problem(f"{where}.{key}", "is of the sweep", "", "give seed or seeds at the top of the file")
        elif not name and key not in FILES:
            self.problem(f"{where}.{key}", "is no key", "device, workload, a parameter (nand.t_read), fio.NAME or option.NAME", did_you_mean(key, FILES))

    def axes(self):
        grid = {key: self.values("grid", key, value) for key, value in flatten(self.take("grid", dict, {})).items()}
        zipped, listed = [], []
        tables = self.table.get("zip", [])
        for number, table in enumerate(tables if isinstance(tables, list) else [tables]):
            where = f"zip[{number}]"
            if not isinstance(table, dict) or not table:
                self.problem(where, f"is {table!r}", "a table of lists", "[[zip]]")
                continue
            columns = {key: self.values(where, key, value) for key, value in flatten(table).items()}
            lengths = {key: len(column) for key, column in columns.items()}
            if len(set(lengths.values())) > 1:
                self.problem(where, "has lists of " + ", ".join(f"{n} ({key})" for key, n in lengths.items()) + " values", "lists of equal length")
                continue
            zipped.append([dict(zip(columns, row)) for row in zip(*columns.values())])
        for number, table in enumerate(self.take("list", list, [])):
            flat = flatten(table) if isinstance(table, dict) else {}
            if not flat:
                self.problem(f"list[{number}]", f"is {table!r}", "a table of keys and values", "[[list]]")
            for key in flat:
                self.check_key(f"list[{number}]", key)
            listed.append(flat)
        return grid, zipped, listed

    def random(self):
        table = self.take("random", dict, {})
        self.unknown(table, ("points", "seed", "values"), "random.")
        points = self.take("points", int, 0, table, "random.")
        ranges = {}
        for key, value in flatten(self.take("values", dict, {}, table, "random.")).items():
            self.check_key("random.values", key)
            ranges[key] = self.range(f"random.values.{key}", value)
        # [search] needs no number of points, because it chooses them itself.
        if (bool(points) != bool(ranges) and not (ranges and "search" in self.table)) or points < 0:
            self.problem("random", f"has {points} points and {len(ranges)} keys", "points = N and [random.values] with keys", "")
        return ranges, points, self.take("seed", int, 1, table, "random.")

    def range(self, where, value):
        """A list of choices, or a Range. Anything else is a problem."""
        if isinstance(value, list) and value:
            return value
        if isinstance(value, dict):
            self.unknown(value, ("from", "to", "log"), where + ".")
            ends = [split_quantity(value.get(end)) for end in ("from", "to")]
            if all(ends) and ends[0][1] == ends[1][1] and ends[0][0] < ends[1][0] and (ends[0][0] > 0 or not value.get("log")):
                return Range(ends[0][0], ends[1][0], ends[0][1], value.get("log") is True)
        self.problem(where, f"is {value!r}", 'a list of choices, or { from = "40us", to = "80us", log = true } with the smaller end first and equal units '
                     "(log: above 0)")
        return [value]

    def expressions(self, where, texts):
        found = {}
        for name, text in texts.items():
            try:
                found[name] = Expression(text) if isinstance(text, str) else Expression(repr(text))
            except ValueError as error:
                self.problem(f"{where}.{name}" if isinstance(name, str) else f"{where}[{name}]", str(error))
        return found

    def replicate(self):
        table = self.take("replicate", dict)
        if table is None:
            return None
        self.unknown(table, ("metric", "half_width", "at_least", "at_most"), "replicate.")
        metric = self.take("metric", str, "", table, "replicate.")
        width = re.fullmatch(r"(\d+(?:\.\d+)?)\s*%", str(table.get("half_width", "")))
        least, most = self.take("at_least", int, 3, table, "replicate."), self.take("at_most", int, 10, table, "replicate.")
        if not metric:
            self.problem("replicate.metric", "is missing", "a metric, for example read.total.p99")
        if not width or not float(width[1]):
            self.problem("replicate.half_width", f"is {table.get('half_width')!r}", "a part of the mean in percent, above 0", 'half_width = "2%"')
        if not 2 <= least <= most:
            self.problem("replicate", f"at_least is {least}, at_most {most}", "2 or more seeds, at_most not below at_least")
        return Replicate(metric, float(width[1]) / 100 if width else 0.0, least, most)

    def seeds(self, replicate):
        seeds = self.take("seeds", list)
        first = self.take("seed", int, 1)
        if seeds is None:
            return [first + i for i in range(replicate.at_most)] if replicate else [first]
        if replicate or "seed" in self.table:
            self.problem("seeds", "beside " + ("[replicate]" if replicate else "seed"), "one of them", "[replicate] counts from seed on")
        if not seeds or len(set(map(str, seeds))) != len(seeds) or not all(isinstance(s, int) and not isinstance(s, bool) for s in seeds):
            self.problem("seeds", f"is {seeds!r}", "a list of different whole numbers")
        return seeds

    def fixed(self):
        """{key: value} of what all points have: device, workload, [set], [fio], [option]."""
        values = {name: self.table[name] for name in FILES if name in self.table}
        for group, prefix in (("set", ""), ("fio", "fio."), ("option", "option.")):
            for key, value in flatten(self.take(group, dict, {})).items():
                self.check_key(group, prefix + key)
                values[prefix + key] = value
        return values


def read_spec(path, output=None, settings=()):
    """The Spec of a file. output: folder of the results; default the one that the file names, else sweeps/<name of the file>. settings:
    texts KEY=VALUE as of --set. Raises UserError with all problems."""
    return spec_of(pathlib.Path(path), read_table(path, settings), output)


def read_table(path, settings=()):
    """The content of a specification as a dict, with the assignments of --set put in. Raises UserError."""
    path = pathlib.Path(path)
    try:
        return with_settings(path, tomllib.loads(path.read_text(encoding="utf-8")), settings)
    except OSError as error:
        raise UserError(Problem(str(path), f"cannot be read: {error.strerror}", "a sweep's specification (docs/sweeps.md)")) from None
    except ValueError as error:
        raise UserError(Problem(str(path), f"is no TOML: {error}")) from None


def spec_of(path, table, output=None):
    """The Spec of a table. path: what messages name; relative files are looked for beside it. Raises UserError with all problems."""
    path = pathlib.Path(path)
    reader = Reader(path, table)
    reader.unknown(table, TOP)
    grid, zipped, listed = reader.axes()
    ranges, points, random_seed = reader.random()
    limits = reader.take("limits", dict, {})
    reader.unknown(limits, ("time", "memory"), "limits.")
    replicate = reader.replicate()
    where = reader.take("where", list, [])
    named = reader.take("output", str)
    spec = Spec(path=path, output=pathlib.Path(output) if output else path.resolve().parent / named if named else pathlib.Path("sweeps") / path.stem,
                fixed=reader.fixed(), seeds=reader.seeds(replicate), grid=grid, zipped=zipped, listed=listed, ranges=ranges, random_points=points,
                random_seed=random_seed, derived=reader.expressions("derive", flatten(reader.take("derive", dict, {}))),
                where=list(reader.expressions("where", dict(enumerate(where))).values()),
                time_limit_s=reader.quantity("time", limits, ("ms", "s"), "limits."),
                memory_limit=int(reader.quantity("memory", limits, ("MB", "MiB", "GB", "GiB"), "limits.")), replicate=replicate,
                cluster=reader.take("cluster", dict, {}), tables={name: reader.take(name, dict, {}) for name in ("search", "load", "sensitivity")})
    keys = [*grid, *(key for rows in zipped for key in rows[0]), *dict.fromkeys(key for row in listed for key in row), *ranges, *spec.derived]
    for key in dict.fromkeys(key for key in keys if keys.count(key) > 1):
        reader.problem(key, "has two sources", "one of grid, zip, list, random and derive")
    for key in spec.derived:
        reader.check_key("derive", key)
    if "device" not in spec.fixed and "device" not in keys:
        reader.problem("", "names no device", "", 'device = "hexa-16g", or a list of them in [grid]')
    if "workload" not in spec.fixed and "workload" not in keys and not any(k.startswith("fio.") for k in [*spec.fixed, *keys]):
        reader.problem("", "names no workload", "", 'workload = "job.fio", or options of fio in [fio]')
    if reader.problems:
        raise UserError(*reader.problems, *(_of_plan(spec) if reader.points_are_known else ()))
    return spec


def _of_plan(spec):
    """What planning says of a specification with mistakes that do not touch its points."""
    from .plan import Plan  # pylint: disable=import-outside-toplevel,cyclic-import
    try:
        Plan(spec)
    except UserError as error:
        return error.problems
    return []
