# SPDX-License-Identifier: Apache-2.0
"""A program that is tried, and the table of cases."""
import json
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

INPUTS = pathlib.Path(__file__).resolve().parent / "inputs"
LIBAIO = ["--ioengine=libaio"]
CASES = {}  # name -> (function, long)


def case(name, long=False):
    def add(function):
        CASES[name] = (function, long)
        return function
    return add


class Program:
    """A program in an empty folder with the inputs."""

    def __init__(self, binary):
        self.binary = binary
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="ssdtlm-case-"))
        shutil.copytree(INPUTS, self.dir, dirs_exist_ok=True)

    def close(self):
        shutil.rmtree(self.dir, ignore_errors=True)

    def __call__(self, *words, timeout=300):
        """(exit code, all that was printed)"""
        try:
            done = subprocess.run([self.binary, *map(str, words)], cwd=self.dir, capture_output=True, text=True, errors="replace", timeout=timeout)
            return done.returncode, done.stdout + done.stderr
        except subprocess.TimeoutExpired:
            return None, "no end"

    def terminated(self, words, after, number=signal.SIGTERM, patience=20):
        """Sends a signal; (exit code, seconds until it ended)."""
        process = subprocess.Popen([self.binary, *map(str, words)], cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(after)
        began = time.monotonic()
        process.send_signal(number)
        try:
            code = process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return None, patience
        return code, time.monotonic() - began

    def results(self, folder="o", name="result.json"):
        path = self.dir / folder / name
        return json.loads(path.read_text()) if path.exists() else {}

    def write(self, name, text):
        (self.dir / name).write_text(text)
        return name


def sets(*assignments):
    return [word for a in assignments for word in ("--set", a)]


def last_line(text):
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1][:110] if lines else ""
