# SPDX-License-Identifier: Apache-2.0
"""`ssdtlm sweep load`: latency against offered load. First the workload as fast as it can go, then with I/Os that arrive at random at
parts of that rate, whatever the device has outstanding; then more of them around the knee: the load with the most throughput
for its latency (Kleinrock, "Power and deterministic rules of thumb", ICC 1979)."""

import dataclasses
import json

from ..errors import Problem, UserError
from ..result import OPERATIONS, Result
from . import worker
from .driver import run_plan, workers_for
from .options import Interrupted, interrupted, interruptible, pool_options
from .plan import Plan
from .spec import read_table, spec_of
from .table import text_table

# assumed: so deep that below the knee no arrival waits for a place in the queue.
DEFAULTS = {"levels": 10, "refine": 4, "iodepth": 1024}
# As a part of the largest rate. With more the queue would grow for as long as the run lasts.
HIGHEST = 1.0
# Without offload fio waits for what is under way before it sleeps until the next I/O, so that arrivals come in bunches.
ARRIVALS = {"fio.rate_process": "poisson", "fio.io_submit_mode": "offload"}


@dataclasses.dataclass
class Level:
    """A level of the load: `offered` and `achieved` rates in I/Os a second; `mean`: latency in us of all operations together;
    `percentiles`: {"read.p99": us, ...}."""

    offered: float
    achieved: float
    mean: float
    percentiles: dict

    @property
    def power(self):
        return self.achieved / self.mean


def all_operations(result):
    """(I/Os a second, mean latency in us) of all operations of a Result together."""
    metrics = result.metrics
    ops = [op for op in OPERATIONS if metrics.get(f"{op}.ios") and f"{op}.total.mean" in metrics]
    ios = sum(metrics[f"{op}.ios"] for op in ops)
    return sum(metrics[f"{op}.iops"] for op in ops), sum(metrics[f"{op}.ios"] * metrics[f"{op}.total.mean"] for op in ops) / ios


def shares(result):
    """[part of reads, of writes, of trims] in the I/Os of a Result."""
    counts = [result.metrics.get(f"{op}.ios", 0) for op in ("read", "write", "trim")]
    return [count / sum(counts) for count in counts]


class Load:
    """Latency against offered load. After run(), `levels` is a list of Level by rising offered load, and `knee` is the level with the
    largest quotient of rate and latency (`power`). Raises UserError."""

    def __init__(self, path, output=None, settings=()):
        table = read_table(path, settings)
        self._path, self._table, self._output = path, table, output
        spec = spec_of(path, table, output)
        given = spec.tables["load"]
        problems = [Problem(f"{path}: load.{name}", f"is {value!r}", f"{', '.join(DEFAULTS)}, whole numbers above 0") for name, value in given.items()
                    if name not in DEFAULTS or not isinstance(value, int) or value < 1]
        if spec.axes or spec.derived or spec.where or len(spec.seeds) > 1:
            problems.append(Problem(str(path), "has axes, derived keys, constraints or several seeds, but `sweep load` needs one point and one seed", "", "move the values to [set] and [fio]"))
        if any(key.startswith("fio.rate") for key in spec.fixed):
            problems.append(Problem(str(path), "sets a rate in [fio]", "", "leave it out: the load is what this command varies"))
        if problems:
            raise UserError(*problems)
        self._settings = {**DEFAULTS, **given}
        self.plan = Plan(self._variant([{}]))
        workload = self.plan.workload(spec.fixed)
        if workload.text is None:
            raise UserError(Problem(str(workload.path), "is no job file", "a job file", "of a trace vary --time-scale instead: option.time-scale in a grid"))
        self.levels, self.capacity, self.limiting = [], 0.0, ""

    def _variant(self, points):
        spec = spec_of(self._path, self._table, self._output)
        spec.fixed["fio.iodepth"] = self._settings["iodepth"]
        spec.listed = points
        return spec

    def _results(self, points, pool, quiet):
        """A Result for each point. Raises UserError when a run fails or measures nothing."""
        plan = Plan(self._variant(points))
        run_plan(plan, pool, quiet=quiet)
        found = []
        for point in plan.points:
            record = plan.record(point.runs[0])
            if record["state"] != "done":
                raise UserError(Problem(plan.title(point), record["message"].splitlines()[-1]))
            found.append(Result(worker.run_folder(plan.output, point.runs[0].key)))
            if found[-1].measured_nothing:
                raise UserError(Problem(plan.title(point), f"measured nothing (results in {found[-1].path})", "a workload that outlasts its ramp_time",
                                        "shorten ramp_time, or give the jobs more to do"))
        return found

    def run(self, pool, quiet=True):
        """Measures the largest rate, then the levels below it, by the LazyWorkers `pool`. Raises UserError when a run fails or measures
        nothing."""
        saturated, = self._results([{}], pool, quiet)
        jobs = saturated.fio["jobs"]
        sections = {job["jobname"] for job in jobs}
        if len(sections) > 1:
            raise UserError(Problem(str(self._path), f"its workload has {len(sections)} jobs ({', '.join(sorted(sections))})", "one, with any numjobs",
                                    "choose one with option.section"))
        copies = int(jobs[0]["job options"].get("numjobs", 1))
        self.capacity, _ = all_operations(saturated)
        self.limiting = saturated.json["limiting"]
        parts = shares(saturated)
        count = self._settings["levels"]
        self._measure([HIGHEST * (i + 1) / count for i in range(count)], parts, copies, pool, quiet)
        at = self.levels.index(self.knee)
        low = self.levels[at - 1].offered if at else 0.0
        high = self.levels[min(at + 1, len(self.levels) - 1)].offered
        more = self._settings["refine"]
        self._measure([(low + (high - low) * (i + 1) / (more + 1)) / self.capacity for i in range(more)], parts, copies, pool, quiet)

    def _measure(self, fractions, parts, copies, pool, quiet):
        known = {level.offered for level in self.levels}
        rates = {}
        for fraction in fractions:
            # fio takes whole numbers, of each direction and each copy of the job.
            each = [round(self.capacity * fraction * part / copies) for part in parts]
            if sum(each) * copies not in known and all(rate > 0 or part == 0 for rate, part in zip(each, parts)):
                rates[sum(each) * copies] = ",".join(str(rate) if rate else "" for rate in each)
        points = [{"fio.rate_iops": text.rstrip(","), **ARRIVALS} for text in rates.values()]
        if not points:
            return
        for offered, result in zip(rates, self._results(points, pool, quiet)):
            achieved, mean = all_operations(result)
            percentiles = {f"{op}.{p}": result.metrics[f"{op}.total.{p}"] for op in OPERATIONS if f"{op}.total.p99" in result.metrics for p in ("p50", "p99", "p99.9")}
            self.levels.append(Level(offered, achieved, mean, percentiles))
        self.levels.sort(key=lambda level: level.offered)

    @property
    def knee(self):
        return max(self.levels, key=lambda level: level.power)

    def as_dict(self):
        return {"capacity_iops": self.capacity, "limiting": self.limiting, "knee_iops": self.knee.offered,
                "levels": [{"offered_iops": l.offered, "achieved_iops": l.achieved, "mean_us": l.mean, **{f"{k}_us": v for k, v in l.percentiles.items()}}
                           for l in self.levels]}


def command(arguments):
    """Returns (text for standard output, exit code)."""
    study = Load(arguments.spec, arguments.output, arguments.set)
    interruptible()
    try:
        with workers_for(study.plan, **pool_options(arguments)) as pool:
            study.run(pool, arguments.quiet)
    except Interrupted:
        return interrupted(study.plan.output)
    if arguments.json:
        return json.dumps(study.as_dict(), indent=1) + "\n", 0
    names = list(study.levels[0].percentiles)
    rows = [[round(l.offered), round(l.achieved), l.mean, *(l.percentiles.get(name) for name in names), "knee" if l is study.knee else ""] for l in study.levels]
    text = text_table(["offered IOPS", "achieved", "mean us", *(f"{name} us" for name in names), ""], rows)
    return text + f"\nas fast as it can go: {study.capacity:,.0f} IOPS; knee at {study.knee.offered:,.0f} ({100 * study.knee.offered / study.capacity:.0f} %)\nthere: {study.limiting}\n", 0
