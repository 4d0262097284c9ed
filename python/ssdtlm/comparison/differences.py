# SPDX-License-Identifier: Apache-2.0
"""What differs between a side and the baseline, in numbers: largest first in each table."""

import dataclasses
import math

from ..result import OPERATIONS, OWNERS
from .reasons import nothing_erased, nothing_measured, steadiness, thin_percentiles, why
from .statistics import interval

# (metric, unit) of the first table, for each operation that ran.
HEADLINES = (("iops", "IOPS"), ("MB_per_s", "MB/s"), ("total.mean", "us"), ("total.p50", "us"), ("total.p99", "us"),
             ("total.p99.9", "us"), ("total.p99.99", "us"), ("total.max", "us"))
# Measured windows count as equally long when they differ by less than this part.
SAME_TIME = 0.01


@dataclasses.dataclass(frozen=True)
class Change:
    """The change of one metric, in its unit. `low` and `high`: the 95 % interval of the difference; None with a single seed."""

    metric: str
    unit: str
    before: float
    after: float
    low: float | None
    high: float | None

    @property
    def difference(self):
        return self.after - self.before

    @property
    def relative(self):
        """The difference as a part of the value before: 0.05 is 5 % more. Infinite when the value before is 0."""
        return relative(self.difference, self.before)

    @property
    def certain(self):
        """Whether zero is outside of the interval of the difference; None without an interval."""
        return None if self.low is None else not self.low <= 0 <= self.high

    def as_dict(self):
        d = dataclasses.asdict(self)
        d["difference"] = self.difference
        d["relative"] = self.relative if math.isfinite(self.relative) else None
        return d


def relative(difference, before):
    if difference == 0:
        return 0.0
    return math.copysign(math.inf, difference) if before == 0 else difference / abs(before)


def change_of(metric, unit, baseline, other):
    bounds = interval(baseline.values(metric), other.values(metric), baseline.seeds == other.seeds)
    low, high = bounds or (None, None)
    return Change(metric, unit, baseline.mean(metric), other.mean(metric), low, high)


class Differences:
    """All differences of the Side `other` from the Side `baseline`. `asked`: metrics of conditions, for which warnings say how far they can
    be trusted."""

    def __init__(self, baseline, other, asked=()):
        self.baseline, self.other = baseline, other
        self.config = self._config()
        operations = [op for op in OPERATIONS if any(f"{op}.ios" in side.metrics for side in (baseline, other))]
        self.headlines = self._changed([(f"{op}.{name}", unit) for op in operations for name, unit in HEADLINES] + [("ftl.waf", "")],
                                       lambda change: abs(change.relative))
        self.stages = {op: self._changed([(f"{op}.{stage}.mean", "us") for stage in self._stages(op)], _size) for op in operations}
        self.by = {owner: self._by(names) for owner in OWNERS if (names := self._names(owner + ".")) and self._several(owner)}
        self.resources = self._changed([(name, "share") for name in self._names("resources.") if name.endswith(".busy_mean")], _size)
        self.counters = self._changed([(name, "") for name in [*self._names("ftl."), *self._names("counters.")] if name != "ftl.waf"],
                                      lambda change: abs(change.relative))
        self.equal = [_comparable(run) for run in baseline.runs] == [_comparable(run) for run in other.runs]
        self.why = why(self)
        self.warnings = self._warnings(asked)
        self.steadiness = [sentence for side in (baseline, other) for sentence in steadiness(side)]

    def as_dict(self):
        changes = lambda list_: [change.as_dict() for change in list_]
        return {"run": self.other.name, "seeds": self.other.seeds, "equal": self.equal, "warnings": self.warnings, "why": self.why, "steadiness": self.steadiness,
                "configuration": [{"key": key, "before": before, "after": after} for key, before, after in self.config],
                "headlines": changes(self.headlines), "stages": {op: changes(list_) for op, list_ in self.stages.items()},
                "by": {owner: {name: changes(list_) for name, list_ in lists.items()} for owner, lists in self.by.items()},
                "resources": changes(self.resources), "counters": changes(self.counters)}

    def _config(self):
        """(key, value before, value after) in the order of the configuration; None where one side has no such key."""
        a, b = self.baseline.config, self.other.config
        return [(key, a.get(key), b.get(key)) for key in dict.fromkeys([*a, *b]) if a.get(key) != b.get(key)]

    def _names(self, prefix):
        return [n for n in dict.fromkeys([*self.baseline.metrics, *self.other.metrics]) if n.startswith(prefix)]

    def _several(self, owner):
        """Whether a table by jobs, tenants or streams says more than the whole. A single job or tenant has all commands. Tenants are known
        by numbers only, so both sides must have equally many."""
        sides = (self.baseline.first, self.other.first)
        if owner == "job":
            return any(len(side.job_labels) > 1 for side in sides)
        return owner != "tenant" or len({len({row["tenant"] for row in side.latency_of("tenant")}) for side in sides}) == 1

    def _stages(self, op):
        stages = (name.split(".")[1] for name in self._names(op + ".") if name.endswith(".mean"))
        return [stage for stage in stages if stage != "total"]

    def _by(self, names):
        """Changes of the metrics of jobs, tenants or streams, such as "job.0.read.total.p99": {"headlines": [Change], "stages": [Change]}."""
        of_stage = {name: name.split(".")[3] not in ("total", "ios") for name in names}
        others = [(name, "" if name.endswith(".ios") else "us") for name in names if not of_stage[name]]
        return {"headlines": self._changed(others, lambda change: abs(change.relative)),
                "stages": self._changed([(name, "us") for name in names if of_stage[name]], _size)}

    def _changed(self, metrics, key):
        known = set(self.baseline.metrics) | set(self.other.metrics)
        changes = [change_of(name, unit, self.baseline, self.other) for name, unit in metrics if name in known]
        changed = [c for c in changes if c.difference != 0 or (c.low, c.high) not in ((None, None), (0, 0))]
        return sorted(changed, key=key, reverse=True)  # stable: equal ones keep the order of the results

    def _warnings(self, asked):
        a, b = self.baseline.first.json, self.other.first.json
        warnings = []
        if not self.baseline.first.same_workload(self.other.first):
            names = f"{a['workload']} and {b['workload']}" if a["workload"] != b["workload"] else f"both are called {a['workload']}, with other content"
            warnings.append(f"the workloads differ: {names}")
        if a["ssdtlm"] != b["ssdtlm"]:
            warnings.append(f"the versions differ: {a['ssdtlm']} and {b['ssdtlm']}")
        times = [self.baseline.mean("measured_window_s"), self.other.mean("measured_window_s")]
        counts = [self.baseline.mean("commands"), self.other.mean("commands")]
        if counts[0] != counts[1] and abs(relative(times[1] - times[0], times[0])) > SAME_TIME:
            warnings.append(f"the measured windows differ: {counts[0]:.0f} commands in {times[0]:.6g} s and {counts[1]:.0f} in {times[1]:.6g} s")
        for side in (self.baseline, self.other):
            ends = sorted({run.json["ended_by"] for run in side.runs} - {"workload"})
            if ends:
                warnings.append(f"{side.name} was ended by {', '.join(ends)}, not by its workload")
        for side in (self.baseline, self.other):
            warnings += nothing_measured(side)
        shown = [c.metric for c in self.headlines] + list(asked)
        for side in (self.baseline, self.other) if not self.equal else ():
            warnings += thin_percentiles(side, dict.fromkeys(shown)) + nothing_erased(side)
        if self.baseline.seeds != self.other.seeds:
            text = [", ".join(map(str, side.seeds)) for side in (self.baseline, self.other)]
            warnings.append(f"the seeds differ ({text[0]} and {text[1]}): runs are not paired")
        return warnings


def _size(change):
    return abs(change.difference)


def _comparable(run):
    """The results of a run, without the entries that say what was run and by which version."""
    return {key: value for key, value in run.json.items() if key not in ("ssdtlm", "device", "notes", "config_toml")}
