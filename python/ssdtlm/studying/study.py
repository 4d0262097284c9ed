# SPDX-License-Identifier: Apache-2.0
"""What a study is. studies/NAME/study.py has one, in the variable STUDY; README.md beside it says what was published."""

import dataclasses
import importlib.util
import os
import pathlib
import sys

from ..binary import PACKAGE
from ..errors import Problem, UserError, did_you_mean


@dataclasses.dataclass(frozen=True)
class Point:
    """One run. `axes` names it in tables: {"drive": "s4500", "ncq": 8}. `jobs`: (name, text of a job file), a flow each. `settings`: parameters, as
    --set takes them. `options`: further words of `ssdtlm run`. `traces`: files that are flows too. `guest`: a script that a real Linux runs in place of
    jobs (docs/full-system.md); then `options` are of `ssdtlm guest`, and its files are in the folder guest/files beside that of the Result."""

    axes: dict
    device: str
    jobs: tuple
    settings: dict = dataclasses.field(default_factory=dict)
    options: tuple = ()
    traces: tuple = ()
    guest: str = ""


@dataclasses.dataclass(frozen=True)
class Figure:
    """A chart. rows: dicts with the columns that `x`, `y` and `by` name. kind: "bars" (groups of bars: `by` beside each other at each `x`), "stacked" (on
    top of each other), "lines" (a line for each `by`, the values of `x` equally far from each other), "curves" (`x` to scale) or "map" (`x` and `by` are
    columns and rows of cells, `y` is their colour). `top`: where the scale of `y` ends at least. Of lines and curves: `log` has the axes, "x" (of curves),
    "y" or "xy", which go by powers; `dashed` names lines, such as those of a formula; `extremes` marks the largest and the smallest value of each.
    "time": `y` over `x` in seconds as one line in `colour`, with its largest and smallest value marked; `bands`: (from, to, name) of parts of the time that
    are shaded, whose values are not looked at for that; `points`: a dot for each value; `digits` of the numbers."""

    name: str
    title: str
    kind: str
    rows: list
    x: str
    y: str
    by: str = ""
    unit: str = ""
    top: float = 0.0
    bands: tuple = ()
    points: bool = False
    digits: int = 0
    colour: str = ""
    log: str = ""
    dashed: tuple = ()
    extremes: bool = False


@dataclasses.dataclass(frozen=True)
class Trend:
    """A published trend, or a check of our `own`, and what was found. `expected`: whether the model is known to meet it; `why` says what stands behind a
    miss."""

    sentence: str
    met: bool
    found: str
    expected: bool = True
    why: str = ""
    own: bool = False


def check(sentence, met, found, *more, **named):
    """A Trend of our own: it follows from a formula, or explains why a published one is missed."""
    return Trend(sentence, met, found, *more, own=True, **named)


class Study:
    """The contract: points() depends on `quick` alone, and on `traces` (of --trace) where `takes_traces` says so; rows() makes one dict for each line of the table from the runs that have ended, in
    the order of points(); figures() and trends() see these rows only."""

    title = ""
    source = ""
    takes_traces = False
    traces = ()

    def lacks(self):
        """What the study needs and this machine does not have, as a sentence; "" where it can run. `study all` leaves it out then."""
        return ""

    def points(self, quick):
        raise NotImplementedError

    def rows(self, ended):
        """A list of dicts, one for each line of the table. ended: list of (Point, Result)."""
        raise NotImplementedError

    def files(self, ended):
        """{path in the folder of the study: text} of further files. ended: list of (Point, Result)."""
        return {}

    def figures(self, rows):
        raise NotImplementedError

    def trends(self, rows):
        raise NotImplementedError


def folder():
    """The folder of all studies: beside the sources, in the installation beside this package, or in the wheel."""
    named = os.environ.get("SSDTLM_STUDIES")
    places = [pathlib.Path(named)] if named else [PACKAGE.parent.parent / "studies", PACKAGE / "share" / "ssdtlm" / "studies"]
    for place in places:
        if place.is_dir():
            return place
    raise UserError(Problem("ssdtlm study", f"{places[0]} is not there", "a folder with studies", "install again, or name one in SSDTLM_STUDIES"))


def names():
    return sorted(file.parent.name for file in folder().glob("*/study.py"))


def load(name):
    """The Study of that name. Raises UserError when there is none."""
    known = names()
    if name not in known:
        raise UserError(Problem("command line", f"no study '{name}'", f"all, {', '.join(known)}", did_you_mean(name, [*known, "all"])))
    spec = importlib.util.spec_from_file_location(f"ssdtlm_study_{name.replace('-', '_')}", folder() / name / "study.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module.STUDY
