# SPDX-License-Identifier: Apache-2.0
"""The runs of a study. Each is kept in runs/<key>, so that a study that was interrupted goes on, and one that has ended costs nothing."""

import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import threading
import time
import uuid

from ..binary import find_binary
from ..errors import Problem, UserError
from ..result import Result
from ..simulate import assignment
from ..sweeping.build_id import build_identifier
from ..sweeping.plan import PLAYED

LONGEST_MESSAGE = 2000
SECONDS_OF_SILENCE = 10
# Parameters that do not change the results.
NOT_IN_KEY = ("name", "description", "based_on")


def key(point, build, device):
    """The name of a point's folder: a digest of all that decides its result. Equal points of two studies have the same. device: digest of
    the parameters of the point's device."""
    what = [build, device, list(point.jobs), sorted((k, _content_of(v) if k == PLAYED else assignment(k, v)) for k, v in point.settings.items()), list(point.options)]
    what += [_digest(pathlib.Path(trace).read_bytes()) for trace in point.traces]
    what += [point.guest] if point.guest else []
    return _digest(json.dumps(what).encode())[:20]


def _digest(content):
    return hashlib.sha256(content).hexdigest()


def _content_of(played):
    """The digest of a job file or trace; the name of a workload that comes with the program."""
    return _digest(pathlib.Path(played).read_bytes()) if os.path.isfile(played) else played


def device_digest(binary, device):
    """A digest of all parameters that a device file or preset gives; comments and order do not count. Raises UserError."""
    done = subprocess.run([binary, "config", "show", device, "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UserError(Problem(device, done.stderr.strip()[-LONGEST_MESSAGE:]))
    values = {name: row["value"] for name, row in json.loads(done.stdout)["parameters"].items() if name not in NOT_IN_KEY}
    if values.get(PLAYED):
        values[PLAYED] = _content_of(values[PLAYED])
    return _digest(json.dumps(values, sort_keys=True).encode())


def texts(point):
    """[(name of a file, its text)] of the files that the command of a point reads."""
    return [("guest.sh", point.guest)] if point.guest else [(f"{flow}.fio", text) for flow, text in point.jobs]


def words(point, folder, jobs):
    """The words of the command of a point. jobs: paths of its job files, or of its script for a guest."""
    line = ["guest", point.device, "-o", str(folder), "--script", *map(str, jobs)] if point.guest else ["run", point.device, "-q", "-o", str(folder)]
    for job in () if point.guest else (*jobs, *point.traces):
        line += ["-w", str(job)]
    for name, value in point.settings.items():
        line += ["--set", assignment(name, value)]
    return [*line, *point.options]


class Runs:
    """Runs points, `workers` at a time, and keeps each in folder/runs. say: takes a text about progress. Raises UserError when a run fails,
    because a study has no run that may."""

    def __init__(self, folder, workers, say):
        self.folder = pathlib.Path(folder)
        self._workers, self._say = workers, say
        self._binary = find_binary()
        self._build = build_identifier(self._binary)
        # The cache belongs to these runs, because a later study may find other files. Many points share few devices.
        self._device = functools.lru_cache(maxsize=None)(functools.partial(device_digest, self._binary))
        self._stop = threading.Event()
        self._children = set()

    def run(self, points):
        """[(Point, Result)] in the order of `points`."""
        (self.folder / "runs").mkdir(parents=True, exist_ok=True)
        keys = [self._key(point) for point in points]
        wanted = {k: point for k, point in zip(keys, points) if not self._place(k).exists()}
        began, done = time.monotonic(), 0
        with concurrent.futures.ThreadPoolExecutor(self._workers) as pool:
            futures = [pool.submit(self._one, k, point) for k, point in wanted.items()]
            try:
                for future in concurrent.futures.as_completed(futures):
                    future.result()
                    done += 1
                    left = (time.monotonic() - began) / done * (len(futures) - done)
                    self._say(f"{done} of {len(futures)} runs, {left:.0f} s left")
            except BaseException:
                self._stop.set()
                pool.shutdown(wait=False, cancel_futures=True)
                for child in list(self._children):
                    child.kill()
                raise
        return [(point, self._read(self._place(k))) for k, point in zip(keys, points)]

    # A class with other results overrides the next methods.

    def _key(self, point):
        return key(point, self._build, self._device(point.device))

    def _place(self, name):
        return self.folder / "runs" / name

    def _keep(self, name, attempt):
        if not self._place(name).is_dir():
            os.rename(attempt, self._place(name))

    def _read(self, place):
        return Result(place / "drive" if (place / "drive").is_dir() else place)

    def _failed(self, _, point, code, said):
        self._stop.set()  # a worker that is free now must not begin the next run
        raise UserError(Problem(", ".join(f"{k} {v}" for k, v in point.axes.items()), f"the run ended with exit code {code}: {said.strip()[-LONGEST_MESSAGE:]}",
                                "", f"try it alone: {shlex.join(['ssdtlm', *words(point, 'out', [file for file, _ in texts(point)])])}"))

    def _one(self, name, point):
        if self._stop.is_set():
            return
        attempt = self.folder / "runs" / f".{name}.{uuid.uuid4().hex[:8]}"
        attempt.mkdir()
        try:
            jobs = []
            for name_of_file, text in texts(point):
                jobs.append(attempt / name_of_file)
                jobs[-1].write_text(text, encoding="utf-8")
            child = subprocess.Popen([self._binary, *words(point, attempt, jobs)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.PIPE, text=True, errors="replace", env={**os.environ, "SSDTLM_PARENT": str(os.getpid())})
            self._children.add(child)
            if self._stop.is_set():  # it was started while the others were ended
                child.kill()
            _, said = child.communicate()
            self._children.discard(child)
            if child.returncode != 0:
                if self._stop.is_set():
                    return
                self._failed(name, point, child.returncode, said)
                return
            self._keep(name, attempt)
        finally:
            shutil.rmtree(attempt, ignore_errors=True)


def progress():
    """(say, end), two functions. say(text) shows how far a study is: on a terminal in one line, elsewhere a new line every ten seconds at
    most. end() clears the line."""
    if not sys.stderr.isatty():
        last = [time.monotonic()]

        def say_now_and_then(text):
            if time.monotonic() - last[0] >= SECONDS_OF_SILENCE:
                last[0] = time.monotonic()
                print(text, file=sys.stderr, flush=True)
        return say_now_and_then, lambda: None

    def say(text):
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()
    return say, lambda: say("")
