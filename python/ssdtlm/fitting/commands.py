# SPDX-License-Identifier: Apache-2.0
"""`ssdtlm fit`."""

import json
import math
import os
import pathlib
import random
import re
import subprocess

from ..binary import find_binary
from ..errors import Problem, UserError
from ..extras import need
from ..reporting import pictures as picture_files
from ..reporting.page import write
from ..simulate import assignment
from ..sweeping.driver import locked, sweep_away
from ..sweeping.grains import grains_of
from ..sweeping.options import Interrupted, interrupted, interruptible
from ..studying.runs import progress
from . import measured
from .free import read_free
from .runs import FitRuns


# Number of seeds that show how much each figure varies by chance.
SEEDS = 4


def add_arguments(parser):
    parser.add_argument("device", nargs="+")
    parser.add_argument("--measured", nargs="+", action="extend", default=[])
    parser.add_argument("--free", nargs="+", action="extend", default=[])
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--held-out", default="25%")
    parser.add_argument("--trials", default="60")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--runtime", default="50ms")
    parser.add_argument("--ramp", default="10ms")
    parser.add_argument("-j", "--workers", default=str(os.cpu_count()))
    parser.add_argument("-o", "--output")
    parser.add_argument("--json", action="store_true")
    picture_files.add_arguments(parser)


class Options:
    """The options of the command line as values. Raises UserError with all problems."""

    def __init__(self, arguments):
        self._problems = []
        self.trials, self.seed, self.workers = (self._whole(name, getattr(arguments, name), least) for name, least in (("trials", 1), ("seed", 0), ("workers", 1)))
        self.runtime, self.ramp = self._time("runtime", arguments.runtime, False), self._time("ramp", arguments.ramp, True)
        share = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(%?)", arguments.held_out.strip())
        self.held_out = float(share[1]) / (100 if share[2] else 1) if share else -1.0
        if not 0 <= self.held_out < 1:
            self._problem(f"--held-out {arguments.held_out}", "is no share", "0 % or more, below 100 %", "--held-out 25%")
        for name, values, example in (("measured", arguments.measured, "results of fio (--output-format=json)"), ("free", arguments.free, "KEY=LOW..HIGH, for example nand.t_read=40us..100us")):
            if not values:
                self._problem("ssdtlm fit", f"--{name} is missing", example)
        if self._problems:
            raise UserError(*self._problems)

    def _problem(self, where, found, allowed="", repair=""):
        self._problems.append(Problem(where, found, allowed, repair))

    def _whole(self, name, text, least):
        if not re.fullmatch(r"\d+", str(text)) or int(text) < least:
            self._problem("command line", f"--{name} {text}", f"{least} or more")
            return least
        return int(text)

    def _time(self, name, text, zero):
        found = measured.seconds(text)
        if found is None or found < 0 or (found == 0 and not zero):
            self._problem("command line", f"--{name} {text}", "a time above 0" if not zero else "a time", f"--{name} 50ms")
            return ""
        return text if found else ""


class Device:
    """The device that is fitted: device files, merged by the program, with the settings of the command line. Raises UserError."""

    def __init__(self, files, settings):
        self._binary, self._words = find_binary(), [*files, *(word for text in settings for word in ("--set", text))]
        self.toml = self._ask("show")
        self.known = {key: row["value"] for key, row in json.loads(self._ask("show", "--json"))["parameters"].items()}
        self.name = re.sub(r"[^\w.-]", "_", str(self.known["name"])) or "device"

    def _ask(self, what, *more):
        done = subprocess.run([self._binary, "config", what, *self._words, *more], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise UserError(*[Problem(*line.split(": ", 1)) if ": " in line else Problem("ssdtlm fit", line) for line in (done.stderr or done.stdout).splitlines()])
        return done.stdout

    def against(self, key, value):
        """What the program says against a value; "" for nothing."""
        try:
            self._ask("show", "--set", assignment(key, value))
            return ""
        except UserError as error:
            return "; ".join(str(problem) for problem in error.problems)

    def with_values(self, values):
        return self._ask("show", *(word for key, value in values.items() for word in ("--set", assignment(key, value))))


def command(arguments):
    """Returns (text for standard output, exit code)."""
    pictures = picture_files.options(arguments)
    need("search")
    need("report")
    options = Options(arguments)
    device = Device(arguments.device, arguments.set)
    groups = measured.read(arguments.measured, options.runtime, options.ramp)
    frees = read_free(arguments.free, device.known, grains_of(find_binary()), device.against)
    folder = pathlib.Path(arguments.output or pathlib.Path("fits") / device.name)
    interruptible()
    say, end = progress()
    searches = []  # the last of them has what was found when the fit is interrupted
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder, "a fit"):
            sweep_away(folder)
            try:
                outcome = fit(device, frees, groups, folder, options, say, searches)
                text = finish(outcome, device, folder, pictures)
            except Interrupted:
                return so_far(searches, device, folder, arguments.json)
    except Interrupted:
        return interrupted(folder)
    except OSError as error:
        raise UserError(Problem(str(folder), f"cannot be written: {error.strerror}", "a folder that can be written", "choose another one with -o")) from None
    finally:
        end()
    if arguments.json:
        return json.dumps(outcome.summary(), indent=1, ensure_ascii=False) + "\n", 0
    return text, 0


def split(groups, share, seed):
    """(groups to fit to, groups to judge by). Jobs that ran together stay together. Raises UserError when there would be none to fit to."""
    count = round(share * len(groups)) if share * len(groups) >= 0.5 else math.ceil(share)
    if not 0 <= count < len(groups):
        raise UserError(Problem("command line", f"--held-out leaves none of {len(groups)} runs of fio to fit to", "a smaller share, or more cells", "--held-out 0% judges by nothing"))
    chosen = set(random.Random(seed).sample(range(len(groups)), count))
    return [g for i, g in enumerate(groups) if i not in chosen], [g for i, g in enumerate(groups) if i in chosen]


def so_far(searches, device, folder, as_json):
    """(text, exit code) of an interrupted fit: the best trial so far. Nothing more is run for it."""
    from .outcome import Interim, save_interim  # pylint: disable=import-outside-toplevel
    said, code = interrupted(folder)
    if not searches or searches[-1].best() is None:
        return said, code
    interim = Interim(device.name, searches[-1])
    save_interim(interim, folder, device.with_values({**interim.best.values, "name": f"{device.name}-fitted"}))
    if as_json:
        return json.dumps(interim.summary(), indent=1, ensure_ascii=False) + "\n", code
    return interim.text() + f"the best so far in {folder / 'fitted.toml'}\n" + said, code


def fit(device, frees, groups, folder, options, say, searches):
    """Fits, and returns the Outcome. frees: list of Free. groups: list of measured.Group. say: takes a text about progress. searches: a
    list to which each search is appended as it begins, so that an interrupt finds it. Raises UserError."""
    from . import certainty, optimum, residuals  # pylint: disable=import-outside-toplevel
    from .outcome import Outcome  # pylint: disable=import-outside-toplevel
    write(folder / "device.toml", device.toml)
    fitted, held_out = split(groups, options.held_out, options.seed)
    runs = FitRuns(folder, options.workers, folder / "device.toml", options.seed)

    def answers(values):
        return {group.name: answer for group, (_, answer) in zip(groups, runs.run([runs.point(group, values) for group in groups]))}
    before = answers({})
    refused = [Problem(f"jobs {name} of --measured", answer["refused"], "", f"look at the job file that was made of it: {place_job(folder, groups, name)}") for name, answer in before.items() if "refused" in answer]
    if refused:
        raise UserError(*refused)
    seeds = range(options.seed, options.seed + SEEDS)
    many = [answer for _, answer in runs.run([runs.point(group, {}, seed) for seed in seeds for group in fitted])]
    weights = residuals.steady_weights(fitted, [many[i * len(fitted):(i + 1) * len(fitted)] for i in range(SEEDS)])
    search = optimum.Search(frees, fitted, weights, runs, say)
    searches.append(search)
    hidden = search.unseen()
    if len(hidden) == len(frees):
        raise UserError(*[Problem(f"--free {free.key}={free.range}", "no figure of the fitted cells changes between the ends of this range", "a parameter that these workloads depend on",
                                  "measure a workload that needs it, or leave it out") for free in hidden])
    seen = [free for free in frees if free not in hidden]
    if hidden:
        search = optimum.Search(seen, fitted, weights, runs, say)
        searches.append(search)
    search.explore(options.trials, options.seed)
    if search.best() is None:
        raise UserError(Problem("ssdtlm fit", f"all {len(search.trials)} trials were refused by the program", "", f"narrower ranges; {folder / 'runs'} has what it said"))
    slopes = search.polish()
    best = search.best()
    certain = certainty.certainties(best, search.trials, slopes, weights, sum(len(group.cells) for group in fitted), [free.key for free in seen])
    return Outcome(device.name, seen, hidden, search, best, fitted, held_out, before, answers(best.values), certain)


def place_job(folder, groups, name):
    path = folder / f"{name.replace(' ', '_')[:100]}.fio"
    write(path, next(group.job for group in groups if group.name == name))
    return path


def finish(outcome, device, folder, pictures):
    from .outcome import save  # pylint: disable=import-outside-toplevel
    from .page import page  # pylint: disable=import-outside-toplevel
    save(outcome, folder, device.with_values({**outcome.best.values, "name": f"{device.name}-fitted"}))
    made = page(outcome, folder)
    picture_files.draw(made, pictures["pictures"], pictures["picture_format"])
    return outcome.text() + f"device in {folder / 'fitted.toml'}, page in {folder / 'fit.html'}\n" + picture_files.said(*pictures.values(), len(made.shown))
