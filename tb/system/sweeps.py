# SPDX-License-Identifier: Apache-2.0
"""Sweeps for tests: how they are started, killed, and looked at from outside."""
import collections
import json
import os
import pathlib
import signal
import subprocess
import time

from support import BINARY, SOURCE

PYTHON = SOURCE / "build" / "python" / "bin" / "python3"
ENVIRONMENT = {**os.environ, "SSDTLM_PYTHON": str(PYTHON)}
JOB = ("rw=randrw", "bs=4k", "iodepth=4", "norandommap", "io_size=1g")


def can_sweep():
    return PYTHON.exists() and subprocess.run([PYTHON, "-c", "import distributed, duckdb, dask_jobqueue"], capture_output=True).returncode == 0


def start(folder, *words):
    """A sweep in the background."""
    return subprocess.Popen([BINARY, "sweep", *map(str, words)], cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def records(output):
    """Key -> point.json of all that have ended."""
    found = {}
    for path in pathlib.Path(output, "runs").glob("[!.]*/point.json"):
        found[path.parent.name] = json.loads(path.read_text())
    return found


def count_ended(output):
    try:
        return sum(not entry.name.startswith(".") for entry in os.scandir(pathlib.Path(output, "runs")))
    except FileNotFoundError:
        return 0


def attempts(output):
    """Key -> lines of its attempts log, in order."""
    found = collections.defaultdict(list)
    for path in pathlib.Path(output, "attempts").glob("*"):
        found[path.name] = [json.loads(line) for line in path.read_text().splitlines()]
    return found


def simulators(output):
    """Processes that write into the sweep's folder: {pid: pid of the process that started it}."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if b"run" in words[1:2] and any(str(output).encode() in word for word in words):
                    found[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                pass  # it has ended
    return found


def wait_for(condition, process=None, seconds=120):
    """What the condition gives, as soon as it is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        if process is not None and process.poll() is not None:
            raise AssertionError(f"ended with {process.returncode}: {process.communicate()}")
        time.sleep(0.002)
    raise AssertionError("it did not happen")


def kill_a_worker(output, process):
    """SIGKILL to a worker in the middle of a run; returns the simulators under way just before."""
    flying = wait_for(lambda: simulators(output), process)
    pid, parent = next(iter(flying.items()))
    os.kill(parent, signal.SIGKILL)
    return pid, parent


def no_orphans(output, seconds=5):
    """Whether all simulators of the sweep have gone."""
    end = time.monotonic() + seconds
    while simulators(output) and time.monotonic() < end:
        time.sleep(0.01)
    return not simulators(output)
