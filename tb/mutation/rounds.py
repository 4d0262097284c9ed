# SPDX-License-Identifier: Apache-2.0
"""Runs tests with one mutant of a build active, cheapest first, until one fails."""
import concurrent.futures
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

MEMORY_BYTES = 6 << 30  # of each process of a mutant, which may allocate without end
NUMBER = "SSDTLM_MUTANT"


class Stopped(Exception):
    """By a signal: what a test that was killed says about a mutant is nothing."""


class Test:
    def __init__(self, name, command, folder, environment=()):
        self.name, self.command, self.folder, self.environment = name, command, folder, dict(environment)
        self.seconds = None  # without a mutant

    def patience(self):
        return 10 * self.seconds + 20


def tests_of(build, select=()):
    """Name -> Test, of the tests that ctest knows and `select` chooses, as its options do."""
    shown = subprocess.run(["ctest", "--show-only=json-v1", *select], cwd=build, check=True, capture_output=True, text=True).stdout
    tests = {}
    for test in json.loads(shown)["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", ())}
        environment = (e.split("=", 1) for e in properties.get("ENVIRONMENT", ()))
        if "command" in test:  # of a program that is not built there is none
            tests[test["name"]] = Test(test["name"], test["command"], properties.get("WORKING_DIRECTORY", str(build)), environment)
    return tests


def campaign(tree, build, runs, parts=6):
    """The runs in several tests: most mutants that runs find are found by the first few."""
    edges = sorted({runs * part // parts for part in range(parts + 1)})
    for first, end in zip(edges, edges[1:]):
        command = [sys.executable, "-B", str(tree / "tb/campaign/campaign.py"), "--binary", str(build / "ssdtlm"),
                   "--first", str(first), "--runs", str(end - first), "--jobs", "1"]
        yield Test(f"campaign {first}-{end - 1}", command, str(build))


class Runner:
    def __init__(self, jobs):
        self.jobs, self.running, self.stopped = jobs, set(), False

    def passes(self, test, number, seconds, memory=MEMORY_BYTES):
        """Whether the test passes with this mutant (0: none) and ends in time. `timeout` kills what the test started as well,
        and does so even when this program has been killed."""
        limit = ["sh", "-c", f'ulimit -v {memory >> 10} && exec "$@"', "sh"] if memory else []
        if self.stopped:
            raise Stopped
        with tempfile.TemporaryDirectory(prefix="ssdtlm-mutant-", ignore_cleanup_errors=True) as scratch:  # the killed leave files
            # A program of GoogleTest need not go on after its first failure.
            environment = {**os.environ, **test.environment, NUMBER: str(number), "GTEST_FAIL_FAST": "1", "TMPDIR": scratch}
            process = subprocess.Popen(["timeout", "-s", "KILL", f"{seconds:.0f}", *limit, *test.command], cwd=test.folder,
                                       env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, start_new_session=True)
            self.running.add(process.pid)
            if self.stopped:  # since then
                kill(process.pid)
            passed = process.wait() == 0
            self.running.discard(process.pid)
            kill(process.pid)  # what a test left running would take time from others
        if self.stopped:
            raise Stopped
        return passed

    def measure(self, tests, memory=MEMORY_BYTES):
        """Gives each test its time, and returns those that fail without a mutant."""

        def one(test):
            begin = time.monotonic()
            passed = self.passes(test, 0, 3600, memory)
            test.seconds = time.monotonic() - begin
            return passed

        with self.pool() as pool:
            return [test for test, passed in zip(tests, pool.map(one, tests)) if not passed]

    def finder(self, number, tests):
        """The first of the tests, one after the other, that fails with this mutant; None: all pass."""
        for test in sorted(tests, key=lambda t: t.seconds):
            if not self.passes(test, number, test.patience()):
                return test
        return None

    def finder_of_many(self, number, tests):
        """The same with tests at a time and without a limit of memory, which browsers and DuckDB do not bear."""
        with self.pool() as pool:
            ordered = iter(sorted(tests, key=lambda t: t.seconds))
            pending = {}
            while True:
                while len(pending) < self.jobs and (test := next(ordered, None)) is not None:
                    pending[pool.submit(self.passes, test, number, test.patience(), None)] = test
                if not pending:
                    return None
                done, _ = concurrent.futures.wait(pending, return_when=concurrent.futures.FIRST_COMPLETED)
                for future in done:
                    test = pending.pop(future)
                    if not future.result():
                        return test

    def pool(self):
        return concurrent.futures.ThreadPoolExecutor(self.jobs)

    def stop(self, *_):
        """Ends all tests; for a signal too."""
        self.stopped = True
        for pid in list(self.running):
            kill(pid)


def kill(group):
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass
