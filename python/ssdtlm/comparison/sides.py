# SPDX-License-Identifier: Apache-2.0
"""The sides of a comparison: a run, or runs of the same configuration and workload with different seeds."""

import functools
import pathlib
import re
import statistics

from ..errors import Problem, UserError, did_you_mean
from ..result import Result
from .jobs import by_name, named

SEED = "run.seed"
_OF_COMMANDS = re.compile(r"\.(iops|MB_per_s|total\.[^.]+(\.\d+)?)$")


class Side:
    def __init__(self, name, runs):
        self.name = name
        self.runs = sorted(runs, key=lambda run: run.seed)
        self.seeds = [run.seed for run in self.runs]
        self._check()

    @property
    def first(self):
        return self.runs[0]

    @functools.cached_property
    def config(self):
        """{key: value} without the seed, which is told by itself."""
        return {key: value for key, value in self.first.config.items() if key != SEED}

    def values(self, metric):
        """The metric of each run, by ascending seed. A run without it, because it never entered that stage, has 0."""
        return [metrics.get(metric, 0) for metrics in self._metrics]

    def mean(self, metric):
        values = self.values(metric)
        return values[0] if len(values) == 1 else statistics.fmean(values)

    @functools.cached_property
    def metrics(self):
        """The names of all metrics, in the order of the results."""
        return list(dict.fromkeys(name for metrics in self._metrics for name in metrics))

    @functools.cached_property
    def _metrics(self):
        return [by_name(run) for run in self.runs]

    def _check(self):
        problems = []
        if len(set(self.seeds)) != len(self.seeds):
            problems.append(Problem(self.name, f"holds two runs with one seed ({', '.join(map(str, self.seeds))})",
                                    "runs that differ in the seed only"))
        for run in self.runs[1:]:
            others = [key for key in self.first.config if key != SEED and self.first.config[key] != run.config.get(key)]
            others += ["workload"] * (not self.first.same_workload(run)) + ["ssdtlm"] * (self.first.json["ssdtlm"] != run.json["ssdtlm"])
            if others:
                problems.append(Problem(self.name, f"{run.path.name} and {self.first.path.name} differ in {', '.join(others)}",
                                        "runs that differ in the seed only", "compare them with each other"))
        if problems:
            raise UserError(*problems)


def read_side(path):
    """The Side of a folder, which is that of a run or has such folders in it. Raises UserError."""
    folder = pathlib.Path(path)
    below = [] if (folder / "result.json").exists() or not folder.is_dir() else sorted(p.parent for p in folder.glob("*/result.json"))
    return Side(str(path), [Result(p) for p in below] if below else [Result(folder)])


def read_sides(paths):
    sides, problems = [], []
    for path in paths:
        try:
            sides.append(read_side(path))
        except UserError as error:
            problems += error.problems
    if len(paths) < 2:
        problems.append(Problem("command line", "only one run is given", "two or more", "name the run to compare with first"))
    if problems:
        raise UserError(*problems)
    return sides


def check_metric(name, sides):
    """The metric under the name that the sides have for it (jobs.py). Raises UserError when no run has it, or when one side lacks a metric
    of commands."""
    name = named(name, sides)
    known = [metric for side in sides for metric in side.metrics]
    if name not in known:
        raise UserError(Problem(f"metric '{name}'", "no run has it", "for example read.iops, read.total.p99, ftl.waf",
                                did_you_mean(name, known)))
    # A stage that one run never entered took no time in it. A rate or a latency of commands is not known without commands.
    without = [side for side in sides if name not in side.metrics] if _OF_COMMANDS.search(name) else []
    if without:
        raise UserError(*[Problem(f"metric '{name}'", f"{side.name} has none", "metrics of commands that all runs have") for side in without])
    return name
