# SPDX-License-Identifier: Apache-2.0
"""What is done with a case, and what must be so: a refusal can be repaired as it says, an accepted run ends well, and its files are right."""
import collections
import copy
import itertools
import json
import pathlib
import re
import shutil
import signal
import tempfile

import case as cases
from advice import Problem, named_value, problem_of_line, repaired_sections, unknown_keys
from process import CPU_SECONDS, execute
from table import amount
from jobs_results import check_logs, check_trims
from results import check_books, check_latency, faults_of, strict_json

MOST_STEPS = 16        # of repairs
MOST_REFUSALS = 4      # of these, checked against a run
SIGNAL_SECONDS = 0.3   # of CPU, from a signal to the end
BEFORE_HANDLERS_S = 0.03
# Ends that a workload asks for, and a drive that fails as it was told to.
ASKED_FOR = ("rate_min", "rate_iops_min", "max_latency", "latency_target", "below the rate", "took longer", "exit when")
# Complaints about a value that no other value can help.
IN_ITSELF = re.compile(r"multiple of \d|out of range|no unit|: is '")
# Options under which not all I/Os of the run are measured ones of its jobs.
RAMPS = ("ramp_time", "latency_target", "steadystate", "directory", "filename", "nrfiles", "filesize", "create_only", "fill_device")

Outcome = collections.namedtuple("Outcome", "faults case runs accepted")


def without_stops(arguments):
    """Of a run's, what says which workload it is."""
    stops = [i for i, word in enumerate(arguments) if word.startswith("--stop-")]
    return [word for i, word in enumerate(arguments) if i not in stops and i - 1 not in stops]


class Fault(Exception):
    """One line that says what is wrong, and the case as it was then."""


class Trial:
    def __init__(self, program, table, options, seed, checks_jobs):
        self.program, self.table, self.options = program, table, options
        self.seed, self.checks_jobs, self.runs, self.found = seed, checks_jobs, 0, []

    def start(self, words, stop=None):
        self.runs += 1
        return execute([self.program, *words], self.folder, stop)

    def ended(self, done, what):
        """Ends that are wrong whatever was asked for."""
        if done.code == -24:
            raise Fault(f"{what}: no end in {CPU_SECONDS} s of CPU")
        if done.code == -9:
            raise Fault(f"{what}: no end")
        if done.code < 0:
            raise Fault(f"{what}: killed by signal {-done.code}")
        if done.code in (3, 70, 74) or (done.code == 1 and what == "config check"):
            lines = [line for line in done.err.strip().splitlines() if "the results so far are in" not in line] or ["no message"]
            raise Fault(f"{what}: exit {done.code}: {lines[0]}")

    def config_check(self, case):
        """Problems of the device, as the program lists them."""
        job = ["-w", cases.workload(case), *without_stops(case["arguments"])] if self.checks_jobs else []
        done = self.start(["config", "check", *cases.device_words(case), "--json", *job])
        self.ended(done, "config check")
        if done.code not in (0, 2):
            raise Fault(f"config check: exit {done.code}")
        try:
            return [Problem(**p) for p in json.loads(done.out)]
        except (ValueError, TypeError):
            return [problem_of_line(line) for line in done.err.splitlines() if line]

    def check_refusal(self, case, problems):
        """What the check refuses, a run refuses."""
        stop = [] if "--stop-after-time" in case["arguments"] else ["--stop-after-time", "1us"]
        done = self.start(cases.run_words(case, "refused", *stop))
        if done.code not in (2, -24):
            self.found.append(f"run does not refuse what config check does: exit {done.code}: {problems[0].text()}")

    def look_at(self, problem):
        for name in unknown_keys(problem, self.table, self.options):
            self.found.append(f"message names {name}, which does not exist: {problem.text()}")

    def repaired_device(self, case, problems, advised):
        """One step: the first value that a message names, or a drawn value less."""
        for problem in problems:
            self.look_at(problem)
        if advised and advised[-1][0] is not None:
            (key, said), text = advised[-1]
            refused = next((p for p in problems if p.key(self.table) == key and case["device"].get(key) == text and (p.shape() == said or IN_ITSELF.search(p.found))), None)
            if refused is not None:
                self.found.append(f"value that a message names is refused: {key}={text}: {refused.text()}")
                number = amount(text)
                if "multiple of" in refused.found and number is not None and self.table[key].units:  # near it is one, to go on
                    case["device"][key] = f"{number // 4096 * 4096}B"
                    advised.append((None, None))
                    return
        for problem in problems:
            value = named_value(problem, self.table)
            if value is None:
                continue
            key, text = value
            mark = (key, problem.shape())
            if case["device"].get(key) == text or sum(1 for m, _ in advised if m == mark) >= 3:
                continue
            case["device"][key] = text
            advised.append((mark, text))
            return
        advised.append((None, None))
        keys = [k for p in problems for k in (p.key(self.table), *(k for k in case["device"] if k in p.text())) if k in case["device"]]
        keys = [k for k in keys if not k.startswith("nand.geometry.") and k != "ftl.user_capacity"] or [k for k in keys if case["base"]] or list(case["device"])
        if keys:
            del case["device"][keys[0]]

    def repaired_job(self, case, problems):
        """One step for a workload: what a message says to the letter, or without what it names; False when nothing is left to change."""
        for problem in problems:
            self.look_at(problem)
            for sections in ("jobs", "before"):
                if case[sections] and (sections == "before") == ("before.fio" in problem.text()):
                    better = repaired_sections(case[sections], problem)
                    if better is not None:
                        case[sections] = better
                        return problem
        for sections in ("before", "jobs"):
            if not case[sections] or (sections == "before") != any("before.fio" in p.text() for p in problems):
                continue
            named = [(i, j) for i, (_, chosen) in enumerate(case[sections]) for j, (name, _) in enumerate(chosen) if any(f"'{name}=" in p.text() or f" {name} " in p.text() for p in problems)]
            every = [(i, j) for i, (_, chosen) in enumerate(case[sections]) for j in range(len(chosen) - 1, -1, -1)]
            for i, j in (named or every)[:1]:
                del case[sections][i][1][j]
                return None
        if case["before"] is not None and any("precondition" in p.text() for p in problems):
            case["before"] = None
        elif case["trace"] is not None and any("--trace-beyond" in p.text() for p in problems) and "fold" not in case["arguments"]:
            case["arguments"] += ["--trace-beyond", "fold"]
        elif case["arguments"]:
            case["arguments"] = []
        return None

    def accepted(self, case):
        """The case, changed until the program runs it; or None when it takes too many steps. And that run."""
        advised, last = [], None
        for _ in range(MOST_STEPS):
            cases.write_files(case, self.folder, self.table)
            problems = self.config_check(case)
            if problems:
                if len(advised) < MOST_REFUSALS:
                    self.check_refusal(case, problems)
                self.repaired_device(case, problems, advised)
                continue
            shutil.rmtree(self.folder / "out", ignore_errors=True)
            done = self.start(cases.run_words(case, "out"), case.get("signal"))
            self.ended_run(case, done)
            if done.code != 2:
                return done
            if "not enough memory" in done.err:
                return None  # of this machine
            if self.has_run("out"):
                raise Fault(f"refused behind the run: {first_line(done)}")
            problems = [problem_of_line(line) for line in done.err.strip().splitlines()]
            device = [p for p in problems if p.where.startswith("--set ") and "precondition.workload" not in p.where or p.where.startswith("device.toml")]
            if device or self.checks_jobs:
                raise Fault(f"config check accepts what run refuses: {(device or problems)[0].text()}")
            if last is not None and any(p.shape() == last.shape() and p.where == last.where for p in problems):
                self.found.append(f"advice does not help: {last.text()}")
            before = copy.deepcopy(case)
            last = self.repaired_job(case, problems)
            if case == before:
                return None
        return None

    def has_run(self, output):
        """Whether a refused run came to its workload."""
        failed = self.folder / output / "failed.json"
        return failed.exists() and strict_json(failed)["simulated_s"] > 0

    def ended_run(self, case, done):
        if case["scenario"] == "signal" and done.after_s is not None:
            name, instant = case["signal"]
            if done.code == -getattr(signal, name) and done.cpu_s - done.after_s < BEFORE_HANDLERS_S:
                return
            if done.after_s > SIGNAL_SECONDS:
                raise Fault(f"signal: {name} after {instant} s: {done.after_s:.2f} s of CPU until exit {done.code}")
            if done.code in (0, 2):
                return
            if done.code != 130:
                raise Fault(f"signal: exit {done.code}, not 130: {first_line(done)}")
            return
        self.ended(done, "run")
        if done.code not in (0, 1, 2):
            raise Fault(f"run: exit {done.code}: {first_line(done)}")
        if done.code == 1 and not any(word in done.err for word in ASKED_FOR):
            raise Fault(f"run: exit 1: {first_line(done)}")

    def check_files(self, case, output, recorded=False):
        folder = self.folder / output
        if not (folder / "result.json").exists():
            return
        ramp = any(name in RAMPS for sections in (case["jobs"] or (),) for _, chosen in sections for name, _ in chosen) or case["named"] is not None
        try:
            for fault in itertools.chain(faults_of(folder, ramp, recorded), check_trims(case["jobs"], folder), check_logs(case["jobs"], folder)):
                raise Fault(fault)
        except (KeyError, ValueError, ZeroDivisionError, StopIteration) as e:
            raise Fault(f"files: cannot be read: {type(e).__name__} {e}") from e

    def run(self, case):
        """The whole of it in a folder of its own."""
        with tempfile.TemporaryDirectory(prefix="wide-") as scratch:
            self.folder = pathlib.Path(scratch)
            changed = copy.deepcopy(case)
            accepted = True
            try:
                done = self.accepted(changed)
                accepted = done is not None
                if accepted:
                    getattr(self, "after_" + case["scenario"])(changed, done)
            except Fault as fault:
                self.found.append(str(fault))
            return Outcome(self.found, changed, self.runs, accepted)

    def after_plain(self, case, done):
        if done.code == 0:
            self.check_files(case, "out")

    def again(self, words, what):
        done = self.start(words)
        self.ended(done, what)
        if done.code == 2:
            raise Fault(f"{what}: is refused: {first_line(done)}")
        if done.code == 1 and not any(word in done.err for word in ASKED_FOR):
            raise Fault(f"{what}: exit 1: {first_line(done)}")
        return done

    def after_recorded(self, case, done):
        if done.code != 0:
            return
        self.check_files(case, "out")
        self.again(cases.run_words(case, "recorded", "--timeline"), "with a timeline")
        self.check_files(case, "recorded", recorded=True)
        self.same("out", "recorded", but=("trace.json", "result.json"))

    def same(self, one, other, but=()):
        a, b = ({p.name for p in (self.folder / f).iterdir()} - {"wall_clock.json", *but} for f in (one, other))
        if a != b:
            raise Fault(f"files: {other} has other files than {one}: {', '.join(sorted(a ^ b))}")
        for name in sorted(a):
            if (self.folder / one / name).read_bytes() != (self.folder / other / name).read_bytes():
                raise Fault(f"files: {name} of {other} is another than that of {one}")

    def after_saved(self, case, done):
        if done.code != 0:
            return
        self.check_files(case, "out")
        saved = self.start(cases.run_words(case, "saving", "--save-drive", "drive"))
        self.ended(saved, "run that saves the drive")
        if saved.code == 2 and not self.has_run("saving"):
            return  # refused in time
        if saved.code != 0:
            raise Fault(f"run that saves the drive: exit {saved.code}: {first_line(saved)}")
        later = copy.deepcopy(case)
        for key in [k for k in later["device"] if k.startswith("precondition.")]:
            del later["device"][key]
        later["before"] = None
        # A device file has still its own caches to fill, which go with a state of its own.
        start = {"precondition.from": "drive", "precondition.fill_caches": "false", "run.seed": "77"}
        self.again(cases.run_words(later, "later", **start), "run on a saved drive")
        self.check_files(later, "later")

    def after_twice(self, case, done):
        """Whatever an earlier run has left, the folder holds what it would hold without."""
        if done.code != 0:
            return
        self.again(cases.run_words(case, "twice", *case["recordings"]), "with recordings")
        self.again(cases.run_words(case, "twice"), "in the same folder")
        self.same("out", "twice")

    def after_full(self, case, done):
        """Files that may not grow: the run says which one, and why in the system's words; none is left under its name that is not whole."""
        if done.code != 0:
            return
        done = execute([self.program, *cases.run_words(case, "full")], self.folder, room=case["room"])
        self.runs += 1
        if done.code in (2, 74):
            if "File too large" not in done.err:
                raise Fault(f"full disk: no reason: {first_line(done)}")
        elif done.code != 0:
            raise Fault(f"full disk: exit {done.code}: {first_line(done)}")
        whole = {p.name: p.read_bytes() for p in (self.folder / "out").iterdir()}
        for p in (self.folder / "full").glob("*") if (self.folder / "full").exists() else ():
            if p.suffix == ".part" or (p.name in ("latency.csv", "timeseries.csv", "fio.json") and p.read_bytes() != whole.get(p.name)):
                raise Fault(f"full disk: {p.name} is left, and is not whole")

    def after_signal(self, case, done):
        folder = self.folder / "out"
        if done.after_s is None:
            return self.after_plain(case, done)
        if not folder.exists():
            return None
        for part in folder.glob("*.part"):
            raise Fault(f"signal: {part.name} is left")
        try:
            if (folder / "result.json").exists():
                result = strict_json(folder / "result.json")
                for fault in check_books(result):
                    raise Fault(f"signal: {fault}")
                for fault in check_latency(result, folder):
                    raise Fault(f"signal: {fault}")
        except (ValueError, KeyError, FileNotFoundError) as e:
            raise Fault(f"signal: files cannot be read: {type(e).__name__} {e}") from e
        return None


def first_line(done):
    lines = [line for line in (done.err.strip() or done.out.strip()).splitlines() if "the results so far are in" not in line and line]
    return lines[0] if lines else "no message"
