# SPDX-License-Identifier: Apache-2.0
"""Gives the runs of a plan to workers until all have ended. All state is in the sweep's folder, so that it may be killed at any
time: what is started again finds what is done."""

import collections
import contextlib
import dataclasses
import fcntl
import math
import os
import pathlib
import queue
import shutil
import statistics
import time

from ..comparison.statistics import CONFIDENCE, t_quantile
from ..errors import Problem, UserError, did_you_mean
from ..result import Result
from . import worker
from .cluster import LazyWorkers
from .progress import Progress

# A run that a signal has ended so often is given up. It was most likely killed for lack of memory.
MOST_ATTEMPTS = 5
# How many runs wait for each worker, so that it never waits for this process.
AHEAD = 3
TICK_S = 0.5


@contextlib.contextmanager
def locked(output, what="a sweep"):
    """A context manager that holds the lock of a sweep's folder, because two drivers would start the same runs. Raises UserError when
    another one has it."""
    handle = os.open(output / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(Problem(str(output), f"{what} is running in it", "one at a time", "wait for its end, or choose another folder with -o")) from None
        yield
    finally:
        os.close(handle)


def sweep_away(output):
    """Removes the folders of attempts whose worker or driver was killed."""
    for folder in pathlib.Path(output, "runs").glob(".*"):
        shutil.rmtree(folder, ignore_errors=True)


def metric_of(folder, name):
    """The value of a metric in the results in `folder`. Raises UserError when the run does not measure it."""
    result = Result(folder)
    metrics = {**result.metrics, **result.job_metrics}
    if result.measured_nothing and name not in metrics:
        raise UserError(Problem(f"metric '{name}'", f"the run in {folder} measured nothing", "a workload that outlasts its ramp_time",
                                "shorten ramp_time, or give the jobs more to do"))
    if name not in metrics:
        raise UserError(Problem(f"metric '{name}'", f"is not in the results of {folder}", "for example read.iops, read.total.p99, ftl.waf",
                                did_you_mean(name, metrics)))
    return metrics[name]


def half_width(values):
    """Half the 95 % confidence interval of the mean of the values, as a part of the mean; None with fewer than two values."""
    if len(values) < 2:
        return None
    mean, deviation = statistics.fmean(values), statistics.stdev(values)
    if deviation == 0:
        return 0.0
    return t_quantile(CONFIDENCE, len(values) - 1) * deviation / math.sqrt(len(values)) / abs(mean) if mean else math.inf


@dataclasses.dataclass
class Outcome:
    """How a sweep ended. total: runs of the plan. done, failed: those that have ended. before: how many of these had ended earlier.
    started: runs of this time. busy_s: seconds in simulators this time. wall_s: seconds of the whole."""

    total: int = 0
    done: int = 0
    failed: int = 0
    before: int = 0
    started: int = 0
    busy_s: float = 0.0
    wall_s: float = 0.0

    @property
    def ended(self):
        return self.done + self.failed


class Replication:
    """Decides how many seeds of a point are run: all of them, or as many as the rule of [replicate] needs for its interval."""

    def __init__(self, plan, rule):
        self._plan, self._rule = plan, rule

    def wanted(self, point, states):
        """The runs of a point that are wanted, given what has ended. states: {key of a run: "done" or "failed"}."""
        if self._rule is None:
            return point.runs
        count = self._rule.at_least
        while count < len(point.runs):
            first = point.runs[:count]
            if any(states.get(run.key) != "done" for run in first):
                break  # still running; or failed, and more seeds tell nothing
            width = half_width([metric_of(worker.run_folder(self._plan.output, run.key), self._rule.metric) for run in first])
            if width <= self._rule.half_width:
                break
            count += 1
        return point.runs[:count]


class Driver:
    """Gives the runs of a plan to workers until all have ended.

    retry_failed: run again what has failed before.
    source: gives further points while there is room, as a search does. Its next() returns a plan.Point or None, ended(point, states) is
    called when all runs of
    such a point have ended, and progress() returns (points that have ended, points that there will be).
    """

    def __init__(self, plan, progress=None, retry_failed=False, source=None):
        self._plan = plan
        self._source = source
        self._open = {}  # number -> point of the source whose runs have not all ended
        self._progress = progress or Progress(quiet=True)
        self._retry_failed = retry_failed
        self._replication = Replication(plan, plan.spec.replicate)
        self._states = {}
        self._wanted = {}  # key -> Run
        self._points = collections.defaultdict(list)  # key -> points that it is a run of
        self._waiting = collections.deque()
        self._flying = {}  # future -> Run
        self._kills = collections.Counter()
        self._answers = queue.SimpleQueue()
        self._peak = 0
        self._trials_before, self._trials = source.progress() if source else (0, 0)
        self._trials_ended = self._trials_failed = 0
        self.outcome = Outcome()

    def run(self, pool):
        """`pool`: cluster.Workers. Returns the Outcome. Raises UserError when no run can go well."""
        self._begin()
        simulate = _sendable(pool) if pool else None
        self._progress.begin()
        self._show()
        while True:
            self._refill(pool)
            if not self._waiting and not self._flying:
                break
            self._submit(pool, simulate)
            try:
                future = self._answers.get(timeout=TICK_S)
            except queue.Empty:
                future = None
            if future is not None:
                self._take(future)
            self._show()
        self._show(force=True)
        return self.outcome

    def _begin(self):
        for key, record in self._plan.ended().items():
            self._peak = max(self._peak, record["peak_memory"])
            if record["state"] == "failed" and self._retry_failed and key in self._plan.runs:
                shutil.rmtree(worker.run_folder(self._plan.output, key))
                continue
            self._states[key] = record["state"]
        for point in self._plan.points:
            for run in point.runs:
                self._points[run.key].append(point)
            self._want(point)
        self.outcome.before = self.outcome.ended

    def _want(self, point):
        for run in self._replication.wanted(point, self._states):
            if run.key in self._wanted:
                continue
            self._wanted[run.key] = run
            self.outcome.total += 1
            if run.key in self._states:
                self._count(run.key)
            else:
                self._waiting.append(run)

    def _refill(self, pool):
        """Asks the source for points, but for no more than there are workers: a search chooses better when more points have ended."""
        while pool and self._source and len(self._open) < max(1, pool.count, len(pool.client.nthreads())):
            point = self._source.next()
            if point is None:
                break
            self._open[point.number] = point
            for run in point.runs:
                self._points[run.key].append(point)
            self._want(point)
            self._close(point)

    def _close(self, point):
        wanted = self._replication.wanted(point, self._states)
        if point.number in self._open and all(run.key in self._states for run in wanted):
            del self._open[point.number]
            states = [self._states[run.key] for run in wanted]
            self._source.ended(point, states)
            self._trials_ended += 1
            self._trials_failed += "failed" in states

    def _count(self, key):
        if self._states[key] == "done":
            self.outcome.done += 1
        else:
            self.outcome.failed += 1

    def _capacity(self, pool):
        """How many runs may be under way or wait at the scheduler."""
        if not pool.memory:
            return max(AHEAD * max(pool.count, len(pool.client.nthreads())), 2)
        need = self._plan.spec.memory_limit or self._peak
        if not need:
            return 1  # the first run shows how much memory one takes
        room = max(1, pool.memory // need)
        return AHEAD * pool.count if room >= pool.count else room

    def _submit(self, pool, simulate):
        if not self._waiting:
            return
        capacity = self._capacity(pool)
        while self._waiting and len(self._flying) < capacity:
            run = self._waiting.popleft()
            # With pure=True Dask would take the answer to an earlier call for this one.
            future = pool.client.submit(simulate, run.task, pure=False, key=f"{run.key}-{self._kills[run.key]}")
            self._flying[future] = run
            future.add_done_callback(self._answers.put)

    def _take(self, future):
        run = self._flying.pop(future)
        answer = self._answer(future, run)
        future.release()
        self._peak = max(self._peak, answer["peak"])
        self.outcome.busy_s += answer["seconds"]
        self.outcome.started += 1
        if answer["state"] == "stop":
            raise UserError(Problem(str(self._plan.output), answer["message"], "", "repair it, and start the sweep again: it goes on where it was"))
        if answer["state"] == "killed":
            self._kills[run.key] += 1
            if self._kills[run.key] < MOST_ATTEMPTS:
                self._waiting.append(run)
                return
            message = f"was killed {MOST_ATTEMPTS} times ({answer['message']}); give it more memory, or fewer workers"
            worker.give_up(run.task, message)
            answer["state"] = "failed"
        self._states[run.key] = answer["state"]
        self._count(run.key)
        for point in self._points[run.key]:
            if self._plan.spec.replicate:
                self._want(point)
            self._close(point)

    def _answer(self, future, run):
        # What has ended says so in its folder, which is read sooner than Dask brings the answer.
        record = self._plan.record(run) if future.status == "finished" else None
        if record:
            return {"state": record["state"], "message": record["message"], "seconds": record["seconds"], "peak": record["peak_memory"]}
        try:
            return future.result()
        except Exception as error:  # pylint: disable=broad-exception-caught
            if type(error).__name__ not in ("KilledWorker", "CancelledError", "FutureCancelledError"):
                raise
            return {"state": "killed", "message": "the worker was lost", "seconds": 0.0, "peak": 0}

    def _show(self, force=False):
        o = self.outcome
        run_s = o.busy_s / o.started if o.started else None
        if self._source:  # its runs are not known before they are chosen
            self._progress.show(self._trials_before + self._trials_ended, self._trials, self._trials_failed, self._trials_before, force, run_s)
            return
        self._progress.show(o.ended, o.total, o.failed, o.before, force, run_s)


def workers_for(plan, *, workers=0, scheduler=None, cluster=None):
    """LazyWorkers for the runs of a plan. workers: their number, 0 for one a core. Others: as of Sweep.run()."""
    return LazyWorkers(plan.output, count=workers, scheduler=scheduler, cluster=cluster, settings=plan.spec.cluster, memory_limit=plan.spec.memory_limit)


def run_plan(plan, pool, *, quiet=True, retry_failed=False, open_source=None):
    """Runs by the LazyWorkers `pool` all of a plan that has not ended, and returns the Outcome. open_source: returns a source of further
    points (see Driver); it is called when the lock of the folder is held. Raises UserError."""
    began = time.monotonic()
    plan.prepare()
    with locked(plan.output):
        sweep_away(plan.output)
        progress = Progress(quiet, what="trials" if open_source else "runs")
        source = open_source() if open_source else None
        driver = Driver(plan, progress, retry_failed, source)
        try:
            # Workers take seconds to start.
            needed = (source and source.wants_more()) or needs_workers(plan, retry_failed)
            if needed and not source:
                progress.note(f"{len(plan.points)} points, {len(plan.runs)} runs: starting workers")
            driver.run(pool.get() if needed else None)
        finally:
            progress.clear()
    driver.outcome.wall_s = time.monotonic() - began
    return driver.outcome


def needs_workers(plan, retry_failed):
    """Whether there is anything to do."""
    states = {key: record["state"] for key, record in plan.ended().items()}
    if retry_failed and "failed" in states.values():
        return True
    replication = Replication(plan, plan.spec.replicate)
    return any(run.key not in states for point in plan.points for run in replication.wanted(point, states))


def _sendable(pool):
    """The function that workers run. Its source is sent along with it, because workers on other machines need not have this package."""
    simulate = worker.simulate
    if pool.memory:
        return simulate
    import cloudpickle  # pylint: disable=import-outside-toplevel
    from . import build_id  # pylint: disable=import-outside-toplevel
    cloudpickle.register_pickle_by_value(worker)
    cloudpickle.register_pickle_by_value(build_id)
    # Dask sends what can be imported by its name, which a local function cannot.
    return lambda task: simulate(task)  # pylint: disable=unnecessary-lambda
