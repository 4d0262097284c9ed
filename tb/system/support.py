# SPDX-License-Identifier: Apache-2.0
"""The program under test, run as a user runs it, and readers for what it writes.

SSDTLM names the binary, SSDTLM_SOURCE the source tree; ctest sets both. SSDTLM_SET="key=value ..." is added to the
configuration of every run: the same tests with another implementation of an organ.
"""
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest

BINARY = str(pathlib.Path(os.environ["SSDTLM"]).resolve())
SOURCE = pathlib.Path(os.environ.get("SSDTLM_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
JOBS = SOURCE / "configs" / "workload"
TRACES = JOBS / "traces"
PRESETS = sorted(p.stem for p in (SOURCE / "configs" / "device").glob("*.toml"))

SETTINGS = [word for setting in os.environ.get("SSDTLM_SET", "").split() for word in ("--set", setting)]

OK, CHECK_FAILED, USER_ERROR, STALLED, INTERNAL, NOT_WRITTEN, INTERRUPTED = 0, 1, 2, 3, 70, 74, 130

# Sanitizers take memory of their own, more than most runs do.
SANITIZED = b"__asan_init" in pathlib.Path(BINARY).read_bytes()

# A run says now and then how far it is; how often depends on the machine.
PROGRESS = re.compile(r"\d+\.\d{6} s simulated +\d+\.\d %  \d+ commands/s  ETA \d+ s\n")

# Different in each run by nature.
WALL_CLOCK = "wall_clock.json"


class Result:
    """A result directory."""

    def __init__(self, path):
        self.path = pathlib.Path(path)

    def json(self, name="result.json"):
        return json.loads((self.path / name).read_text())

    def rows(self, name):
        with open(self.path / name, newline="") as f:
            return list(csv.DictReader(f))

    def files(self):
        """Name -> bytes of everything that may not differ between equal runs."""
        return {
            str(p.relative_to(self.path)): p.read_bytes()
            for p in sorted(self.path.rglob("*"))
            if p.is_file() and p.name != WALL_CLOCK
        }


class SystemTest(unittest.TestCase):
    """A scratch directory that is the current directory of the program."""

    maxDiff = 4000

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="ssdtlm-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def write(self, name, text):
        (self.dir / name).write_text(text)
        return name

    def job(self, name, *lines):
        """A fio file with one job of these lines, on all of iodepth's queue."""
        return self.write(name + ".fio", "\n".join([f"[{name}]", "ioengine=libaio", "direct=1", *lines, ""]))

    def ssdtlm(self, *args, binary=BINARY, timeout=600, stdin=None):
        words = [str(a) for a in args]
        if words[:1] == ["run"]:
            words[1:1] = SETTINGS
        elif words[:2] == ["config", "show"]:
            words[2:2] = SETTINGS
        done = subprocess.run(
            [binary, *words], cwd=self.dir, capture_output=True, text=True, errors="replace", timeout=timeout, input=stdin
        )
        done.stderr = PROGRESS.sub("", done.stderr)
        return done

    def simulate(self, device, workload, *args, output="out", binary=BINARY, timeout=600):
        """A run that must succeed quietly; its results."""
        devices = [device] if isinstance(device, str) else device
        done = self.ssdtlm("run", *devices, "-w", workload, "-o", output, "-q", *args, binary=binary, timeout=timeout)
        self.assertEqual((done.returncode, done.stderr, done.stdout), (OK, "", ""))
        return Result(self.dir / output)

    def let_run(self, program, cpu_seconds=1.0):
        """Until it has computed for that long: a busy machine makes it later, not earlier in the run."""
        end = time.monotonic() + 120
        while time.monotonic() < end:
            self.assertIsNone(program.poll(), "the run was too short")
            fields = pathlib.Path(f"/proc/{program.pid}/stat").read_text().rpartition(")")[2].split()
            if (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") >= cpu_seconds:  # utime, stime
                return
            time.sleep(0.02)
        self.fail(f"not {cpu_seconds} s of computing in 120 s")

    def assert_right(self, result):
        """What every run promises: no error status, books that balance, no lost command."""
        j = result.json()
        self.assertEqual(j["error_status"], 0)
        self.assertTrue(j["books"])
        for line in j["books"]:
            self.assertEqual(line["left"], line["right"], line["line"])
        return j


def fio_job_total(job):
    """I/Os and bytes of one job of fio.json, over its directions."""
    directions = [job[d] for d in ("read", "write", "trim")]
    return sum(d["total_ios"] for d in directions), sum(d["io_bytes"] for d in directions)
