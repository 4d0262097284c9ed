# SPDX-License-Identifier: Apache-2.0
"""The runs of a sweep: each point with each seed, its command line, and its key, which is also the name of its folder: a hash of the
resolved configuration, the workload by content, the build of the program, and the seed."""

import concurrent.futures
import dataclasses
import functools
import hashlib
import json
import os
import pathlib
import subprocess

from ..binary import find_binary
from ..errors import Problem, UserError
from ..simulate import assignment
from . import mistakes, worker
from .build_id import build_identifier
from .points import label, points
from .spec import FILES
from .workloads import Generated, Workload

KEY_DIGITS = 24
# Parameters that do not change the results. The seed does, but is a part of the key by itself.
NOT_IN_KEY = ("name", "description", "run.seed")
MOST_PROBLEMS = 20
# Configurations for each process: starting a process takes as long as this many.
LEAST_OF_PROCESS = 100
# Planning so many points takes seconds, so that progress is shown.
MANY_POINTS = 1000
PLAYED = "precondition.workload"


@dataclasses.dataclass
class Run:
    key: str
    seed: int
    task: dict


@dataclasses.dataclass
class Point:
    """A point of a sweep. values: {key: value} of axes and derived keys. runs: a Run for each seed, in their order. refused: why the
    program refuses the point, which has no runs then; else ""."""

    number: int
    values: dict
    runs: list
    refused: str = ""


class Plan:
    """The points of a Spec and their runs. Raises UserError with the mistakes of all points.

    keep_refused: points that the program refuses stay, without runs, and are no mistake.
    given: the points as dicts, in place of those of the specification.
    progress: a Progress that is told when planning will take long.
    """

    def __init__(self, spec, keep_refused=False, given=None, progress=None):
        self.spec = spec
        self._keep_refused = keep_refused
        self.output = spec.output.resolve()
        self.binary = find_binary()
        self.build = build_identifier(self.binary)
        self._workloads = {}
        # The caches belong to this plan, because a later one may find other files. Thousands of points share few devices and files.
        self._files_of = functools.lru_cache(maxsize=None)(self._device_files)
        self._as_it_is, self._is_file = functools.lru_cache(maxsize=None)(_as_it_is), functools.lru_cache(maxsize=None)(os.path.isfile)
        found, self.excluded = points(spec, self.device_values) if given is None else (given, 0)
        if progress and len(found) >= MANY_POINTS:
            progress.note(f"planning {len(found)} points")
        self.points = self._keyed(found)

    @property
    def runs(self):
        """{key: Run} of all points; equal runs of several points are one."""
        return {run.key: run for point in self.points for run in point.runs}

    def device_files(self, device):
        """Words for the command line from the name or names of a device: files beside the specification by their path, all others as
        presets."""
        return self._files_of((device,) if isinstance(device, str) else tuple(device))

    def _device_files(self, names):
        return tuple(str(self.spec.folder / name) if (self.spec.folder / name).is_file() else str(name) for name in names)

    def device_values(self, device):
        """{key: value} of all parameters of a device, with the values of [set]."""
        return self._parameters(self.device_files(device), tuple(self._settings({})))

    def _settings(self, point):
        values = {**self.spec.fixed, **point}
        if values.get(PLAYED):
            values[PLAYED] = str(self._played(values[PLAYED]).file(self.output / "workloads"))
        return [assignment(key, value) for key, value in values.items() if key not in FILES and not key.startswith(("fio.", "option."))]

    def _played(self, path):
        """The Workload that preconditioning plays. It is looked for as that of the run is: beside the specification, then by name."""
        return self.workload({"workload": path})

    @functools.lru_cache(maxsize=None)
    def _parameters(self, devices, settings):
        answer, = self._resolved(devices, [settings])
        if "problems" in answer:
            raise UserError(*[Problem(**p) for p in answer["problems"]])
        return {key: row["value"] for key, row in answer["parameters"].items()}

    def _resolved(self, devices, variants):
        """What the program says about a device with each list of assignments in `variants`, in their order: dicts with "parameters" or
        "problems". Few processes answer for all."""
        variants = list(variants)
        size = max(LEAST_OF_PROCESS, -(-len(variants) // (os.cpu_count() or 1)))
        parts = [variants[begin:begin + size] for begin in range(0, len(variants), size)]
        with concurrent.futures.ThreadPoolExecutor(max_workers=len(parts)) as threads:
            # An answer is a line of 15 KB, so they are parsed one by one.
            for part, done in zip(parts, threads.map(lambda part: self._shown(devices, part), parts)):
                lines = done.stdout.splitlines()
                if done.stderr or len(lines) != len(part):
                    raise UserError(Problem(str(self.spec.path), done.stderr.strip() or f"the program ended with exit code {done.returncode}"))
                yield from map(json.loads, lines)

    def _shown(self, devices, variants):
        lines = "".join(json.dumps(list(v)) + "\n" for v in variants)
        return subprocess.run([self.binary, "config", "show", *devices, "--variants", "-"], input=lines, capture_output=True, text=True, check=False)

    def _keyed(self, found):
        by_device, problems = {}, []
        for point in found:
            devices = self.device_files({**self.spec.fixed, **point}["device"])
            try:
                by_device.setdefault(devices, {})[tuple(self._settings(point))] = None
            except UserError as error:  # of the workload of a preconditioning
                problems += error.problems
        configurations, refused, good = {}, {}, None
        for devices, variants in by_device.items():
            try:
                for settings, answer in zip(variants, self._resolved(devices, variants)):
                    if "problems" in answer:
                        refused[devices, settings] = answer["problems"]
                    else:
                        good = good or devices
                        values = {key: row["value"] for key, row in answer["parameters"].items() if key not in NOT_IN_KEY}
                        values[PLAYED] = self._content_of(values[PLAYED])
                        configurations[devices, settings] = hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
            except UserError as error:
                problems += error.problems
        if not self._keep_refused:
            problems += [Problem(**p) for of_point in refused.values() for p in of_point]
        made = []
        if not problems:
            try:
                made = [self._point(number, point, configurations, refused) for number, point in enumerate(found)]
            except UserError as error:
                problems += error.problems
        if problems:
            lines = dict.fromkeys([*problems, *mistakes.of_workloads(self, found, good)])
            more = [Problem(str(self.spec.path), f"and {len(lines) - MOST_PROBLEMS} more problems")] if len(lines) > MOST_PROBLEMS else []
            raise UserError(*list(lines)[:MOST_PROBLEMS], *more)
        return made

    def _content_of(self, played):
        """The digest of the workload that preconditioning plays; "" for none. The name may be of the specification or of a device file,
        where it is a path."""
        if not played:
            return played
        workloads = {str(w.file(self.output / "workloads")): w for w in self._workloads.values()}
        return (workloads.get(played) or self._played(str(pathlib.Path(played).absolute()) if os.path.isfile(played) else played)).digest

    def workload(self, values):
        """The Workload, or Generated, of a point. values: all keys of the point. Equal ones are one object. Raises UserError."""
        path = values.get("workload")
        if path is not None and not isinstance(path, (str, os.PathLike)):
            raise UserError(Problem("workload", f"is {path!r}", "the path or the name of one workload", "sections of one job file are flows, with host.tenants = \"by_job\" in [set]"))
        file = None if path is None else self.spec.folder / path
        options = {key.removeprefix("fio."): value for key, value in values.items() if key.startswith("fio.")}
        identity = (file, tuple((key, repr(value)) for key, value in options.items()))
        if identity not in self._workloads:
            shipped = None if file is None or file.is_file() else self._shipped.get(str(path))
            if shipped is not None and not shipped["path"]:
                self._workloads[identity] = Generated(path, options)
            else:
                self._workloads[identity] = Workload(pathlib.Path(shipped["path"]) if shipped else file, options)
        return self._workloads[identity]

    @functools.cached_property
    def _shipped(self):
        """{name: row of `config workloads`} of the workloads that come with the program."""
        done = subprocess.run([self.binary, "config", "workloads", "--json"], capture_output=True, text=True, check=True)
        return {row["name"]: row for row in json.loads(done.stdout)}

    def _point(self, number, point, configurations, refused):
        values = {**self.spec.fixed, **point}
        devices, settings = self.device_files(values["device"]), self._settings(point)
        if (devices, tuple(settings)) in refused:
            return Point(number, point, [], "; ".join(f"{p['found']}; {p['allowed']}" if p["allowed"] else p["found"] for p in refused[devices, tuple(settings)]))
        workload = self.workload(values)
        options = [f"--{key.removeprefix('option.')}" if value is True else f"--{key.removeprefix('option.')}={value}"
                   for key, value in values.items() if key.startswith("option.") and value is not False]
        command = [self.binary, "run", *devices, "-q", *(word for one in settings for word in ("--set", one)),
                   "-w", str(workload.file(self.output / "workloads")), *options]
        played = self._played(values[PLAYED]).files if values.get(PLAYED) else ()
        files = [self._as_it_is(path) for path in dict.fromkeys([*(d for d in devices if self._is_file(d)), *workload.files, *played])]
        identity = [configurations[devices, tuple(settings)], workload.digest, sorted(options), self.build]
        runs = []
        for seed in self.spec.seeds:
            key = hashlib.sha256(json.dumps([*identity, seed]).encode()).hexdigest()[:KEY_DIGITS]
            task = {"key": key, "seed": seed, "point": point, "command": [*command, "--seed", str(seed)], "files": files, "build": self.build,
                    "output": str(self.output), "time_limit_s": self.spec.time_limit_s, "memory_limit": self.spec.memory_limit}
            runs.append(Run(key, seed, task))
        return Point(number, point, runs)

    def prepare(self):
        """Makes the folders of the sweep and writes the job files. Raises UserError when that cannot be done."""
        try:
            for name in ("runs", "attempts", "workloads"):
                (self.output / name).mkdir(parents=True, exist_ok=True)
            for workload in self._workloads.values():
                workload.write(self.output / "workloads")
        except OSError as error:
            raise UserError(Problem(str(self.output), f"cannot be written: {error.strerror}", "a folder that can be written", "choose another one with -o")) from None

    def record(self, run):
        """The content of point.json of a run that has ended; None for another."""
        return worker.recorded(self.output, run.key)

    def ended(self):
        """{key: content of point.json} of all runs in the folder that have ended. Some may be outside of this plan."""
        found = {}
        folder = self.output / "runs"
        for entry in os.scandir(folder) if folder.is_dir() else ():
            if not entry.name.startswith("."):
                record = worker.recorded(self.output, entry.name)
                if record:
                    found[entry.name] = record
        return found

    def title(self, point):
        return label(point.values)


def _as_it_is(path):
    found = os.stat(path)
    return [str(pathlib.Path(path).resolve()), found.st_size, found.st_mtime_ns]
