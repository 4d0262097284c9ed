# SPDX-License-Identifier: Apache-2.0
"""--fail-if: METRIC > BOUND or METRIC < BOUND. The bound is a relative change (+5%), a change in the metric's unit (+10, -10) or,
without sign and percent, a value."""

import dataclasses
import math
import re

from ..errors import Problem, UserError
from .differences import change_of, relative
from .sides import check_metric
from .statistics import CONFIDENCE, t_quantile

_CONDITION = re.compile(r"\s*(?P<metric>[^<>=]+?)\s*(?P<order>[<>])\s*(?P<sign>[+-]?)(?P<number>\d+(\.\d*)?([eE][+-]?\d+)?)\s*(?P<percent>%?)\s*")


@dataclasses.dataclass(frozen=True)
class Condition:
    text: str
    metric: str
    above: bool
    bound: float  # 0.05 for 5 % when `kind` is "relative", else in the unit of the metric
    kind: str  # what is compared with the bound: "relative" or absolute "change", or the "value" of the other side


def parse_conditions(texts):
    """A list of Condition from texts. Raises UserError with a problem for each text that is no condition."""
    conditions, problems = [], []
    for text in texts:
        found = _CONDITION.fullmatch(text)
        if not found:
            problems.append(Problem(f"--fail-if '{text}'", "is no condition",
                                    "METRIC > BOUND or METRIC < BOUND, for example 'read.total.p99 > +5%', 'read.iops < -1000', 'ftl.waf > 3'"))
            continue
        bound = float(found["sign"] + found["number"]) / (100 if found["percent"] else 1)
        kind = "relative" if found["percent"] else "change" if found["sign"] else "value"
        conditions.append(Condition(text, found["metric"], found["order"] == ">", bound, kind))
    if problems:
        raise UserError(*problems)
    return conditions


def check_conditions(conditions, sides):
    """The conditions again, with jobs in their metrics by name (jobs.py). Raises UserError with a problem for each metric that a side does
    not have."""
    problems, checked = [], []
    for condition in conditions:
        try:
            checked.append(dataclasses.replace(condition, metric=check_metric(condition.metric, sides)))
        except UserError as error:
            problems += [dataclasses.replace(p, where=f"--fail-if '{condition.text}': {p.where}") for p in error.problems]
    if problems:
        raise UserError(*problems)
    return checked


@dataclasses.dataclass(frozen=True)
class Verdict:
    condition: str
    run: str
    failed: bool
    found: float  # what was compared with the bound; a share when `relative`
    low: float | None
    high: float | None
    relative: bool

    def as_dict(self):
        finite = lambda x: x if x is None or math.isfinite(x) else None
        return {"condition": self.condition, "run": self.run, "failed": self.failed, "found": finite(self.found),
                "low": finite(self.low), "high": finite(self.high), "relative": self.relative}


def judge(condition, baseline, other):
    """The Verdict on a condition. With several seeds it holds only when the whole 95 % interval lies beyond the bound."""
    change = change_of(condition.metric, "", baseline, other)
    if condition.kind == "value":
        found, (low, high) = change.after, _interval_of_mean(other.values(condition.metric))
    else:
        scale = (lambda x: relative(x, change.before)) if condition.kind == "relative" else (lambda x: x)
        found = scale(change.difference)
        low, high = (None, None) if change.low is None else (scale(change.low), scale(change.high))
    nearest = found if low is None else low if condition.above else high
    failed = nearest > condition.bound if condition.above else nearest < condition.bound
    return Verdict(condition.text, other.name, failed, found, low, high, condition.kind == "relative")


def _interval_of_mean(values):
    if len(values) < 2:
        return None, None
    mean = sum(values) / len(values)
    variance = sum((v - mean) ** 2 for v in values) / (len(values) - 1)
    half = t_quantile(CONFIDENCE, len(values) - 1) * math.sqrt(variance / len(values))
    return mean - half, mean + half
