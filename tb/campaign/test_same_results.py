# SPDX-License-Identifier: Apache-2.0
"""A program gives the same results as itself, with every part at work; and a program with other results is found, file by file."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def same_results(before, after, *arguments):
    command = [sys.executable, "-B", HERE / "same_results.py", "--before", before, "--after", after, *arguments]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)


class SameResults(unittest.TestCase):
    def test_itself(self):
        done = same_results(PROGRAM, PROGRAM)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("12 of 12 pairs are the same", done.stdout)

    def test_another(self):
        with tempfile.TemporaryDirectory() as folder:
            other = pathlib.Path(folder) / "ssdtlm"
            other.write_text(f'#!/bin/sh\nexec {PROGRAM} "$@" --set nand.t_erase=3801us\n')
            other.chmod(0o755)
            done = same_results(PROGRAM, other, "--only", "block_resets")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        for name in ("latency.csv", "timeseries.csv", "fio.json", "result.json"):
            self.assertIn(f"{name}: line ", done.stdout)

    def test_part_that_does_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            other = pathlib.Path(folder) / "ssdtlm"
            other.write_text(f'#!/bin/sh\nexec {PROGRAM} "$@" --set host.reset_at=[]\n')
            other.chmod(0o755)
            done = same_results(other, other, "--only", "block_resets")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("counters.controller_resets is 0", done.stdout)


if __name__ == "__main__":
    PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
