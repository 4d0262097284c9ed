# SPDX-License-Identifier: Apache-2.0
"""`ssdtlm sweep sensitivity`: each named key a tenth lower and a tenth higher, all else equal; ranked by the effect on p99."""

import json
import re
import statistics

from ..binary import find_binary
from ..comparison.statistics import interval
from ..errors import Problem, UserError
from ..result import OPERATIONS, Result
from . import worker
from .driver import metric_of, run_plan, workers_for
from .expressions import FIO_UNITS, UNITS, join_quantity, split_quantity
from .grains import grains_of
from .options import Interrupted, interrupted, interruptible, pool_options
from .plan import Plan
from .points import shown
from .spec import read_spec
from .table import text_table

DEFAULT_CHANGE = "10%"


def varied(key, value, share, grain=None):
    """(lower, higher) value of a parameter. Whole numbers stay whole and change by 1 at least; a parameter with a grain (grains.py) takes
    possible values only. Raises UserError for a value that is no number."""
    found = split_quantity(value, {**UNITS, **FIO_UNITS} if key.startswith("fio.") else UNITS)
    if found is None or found[0] == 0:
        raise UserError(Problem(f"sensitivity.keys: {key}", f"is {shown(value)!r}", "a number other than 0", "give other values of it in a grid"))
    number, unit = found
    if unit and grain:
        return grain.around(number, unit, share)
    # A whole number without a unit is a count and stays whole.
    if unit or number.denominator != 1:
        return join_quantity(number * (1 - share), unit), join_quantity(number * (1 + share), unit)
    step = max(1, round(abs(number) * share))
    return int(number - step), int(number + step)


class Sensitivity:
    """The sweep of a specification with the table [sensitivity]: each key a little lower and a little higher. Raises UserError."""

    def __init__(self, spec):
        table = spec.tables["sensitivity"]
        problems = [Problem(f"{spec.path}: sensitivity.{name}", "is not known", "keys, change, metric") for name in table if name not in ("keys", "change", "metric")]
        keys = table.get("keys")
        change = re.fullmatch(r"(\d+(?:\.\d+)?)\s*%", str(table.get("change", DEFAULT_CHANGE)))
        if not isinstance(keys, list) or not keys or not all(isinstance(key, str) for key in keys):
            problems.append(Problem(f"{spec.path}: sensitivity.keys", f"is {keys!r}", "a list of keys", 'keys = ["nand.t_read", "fio.iodepth"]'))
        if not change or not 0 < float(change[1]) < 100:
            problems.append(Problem(f"{spec.path}: sensitivity.change", f"is {table.get('change')!r}", "above 0 % and below 100 %", 'change = "10%"'))
        if spec.axes or spec.derived or spec.where:
            problems.append(Problem(str(spec.path), "has axes, derived keys or constraints, but `sweep sensitivity` needs one point", "", "move the values to [set] and [fio]"))
        if problems:
            raise UserError(*problems)
        self._spec, self._keys, self._share = spec, list(dict.fromkeys(keys)), float(change[1]) / 100
        self.metric = table.get("metric")
        known = {**Plan(spec).device_values(spec.fixed["device"]), **spec.fixed}
        points, problems, grains = [{}], [], grains_of(find_binary())
        for key in self._keys:
            if key not in known:
                problems.append(Problem(f"sensitivity.keys: {key}", "has no value", "a parameter, or an option given in [fio]"))
                continue
            try:
                points += [{key: value} for value in varied(key, known[key], self._share, grains.get(key))]
            except UserError as error:
                problems += error.problems
        if problems:
            raise UserError(*problems)
        self._base = {key: known[key] for key in self._keys}
        # Each point is its own list entry: the first is the device as it is.
        spec.listed = points
        self.plan = Plan(spec, keep_refused=True)

    def _values(self, point):
        """{seed: metric} of the runs of a point that are done."""
        found = {}
        for run in point.runs:
            record = self.plan.record(run)
            if record and record["state"] == "done":
                found[run.seed] = metric_of(worker.run_folder(self.plan.output, run.key), self.metric)
        return found

    def rows(self):
        """A dict for each key, that with the largest effect first: {"key", "value", "lower", "higher", "effect_lower", "effect_higher",
        "largest"}. Effects are parts of the metric of the unchanged device (0.05 is 5 % more). With several seeds there are
        "interval_lower" and "interval_higher" too; a value that could not be run has "why_lower" or "why_higher". Raises UserError when the
        unchanged device has no result."""
        base_point, *others = self.plan.points
        if self.metric is None:
            self.metric = self._default_metric(base_point)
        base = self._values(base_point)
        if not base or not statistics.fmean(base.values()):
            raise UserError(Problem("sweep sensitivity", f"the device as it is has no result, or {self.metric} is 0 in it", "", "see `ssdtlm sweep status`"))
        rows = []
        for key, pair in zip(self._keys, zip(others[::2], others[1::2])):
            row = {"key": key, "value": shown(self._base[key])}
            for name, point in zip(("lower", "higher"), pair):
                row[name] = shown(point.values[key])
                row.update(self._effect(name, point, base))
            rows.append({**row, "largest": max(abs(row.get(f"effect_{name}") or 0) for name in ("lower", "higher"))})
        return sorted(rows, key=lambda row: -row["largest"])

    def _effect(self, name, point, base):
        values = self._values(point)
        common = [seed for seed in base if seed in values]
        if not common:
            return {f"effect_{name}": None, f"why_{name}": point.refused or "its runs failed"}
        before, after = [base[seed] for seed in common], [values[seed] for seed in common]
        mean = statistics.fmean(before)
        found = {f"effect_{name}": statistics.fmean(after) / mean - 1}
        both = interval(before, after, paired=True)
        if both:
            found[f"interval_{name}"] = [end / mean for end in both]
        return found

    def _default_metric(self, point):
        for run in point.runs:
            record = self.plan.record(run)
            if record and record["state"] == "done":
                metrics = Result(worker.run_folder(self.plan.output, run.key)).metrics
                counts = {op: metrics.get(f"{op}.ios", 0) for op in OPERATIONS}
                return f"{max(counts, key=counts.get)}.total.p99"
        return "read.total.p99"


def _percent(row, name):
    value = row[f"effect_{name}"]
    if value is None:
        return "–"
    text = f"{100 * value:+.2f} %"
    both = row.get(f"interval_{name}")
    return text + (f" [{100 * both[0]:+.2f}, {100 * both[1]:+.2f}]" if both else "")


def command(arguments):
    """Returns (text for standard output, exit code)."""
    study = Sensitivity(read_spec(arguments.spec, arguments.output, arguments.set))
    interruptible()
    try:
        with workers_for(study.plan, **pool_options(arguments)) as pool:
            run_plan(study.plan, pool, quiet=arguments.quiet)
    except Interrupted:
        return interrupted(study.plan.output)
    rows = study.rows()
    if arguments.json:
        return json.dumps({"metric": study.metric, "keys": rows}, indent=1, ensure_ascii=False) + "\n", 0
    names = ["key", "value", "lower", "effect", "higher", "effect"]
    text = f"Effect on {study.metric}, largest first\n\n"
    text += text_table(names, [[row["key"], row["value"], row["lower"], _percent(row, "lower"), row["higher"], _percent(row, "higher")] for row in rows])
    for row in rows:
        for name in ("lower", "higher"):
            if f"why_{name}" in row:
                text += f"{row['key']}={row[name]}: {row[f'why_{name}']}\n"
    return text, 0
