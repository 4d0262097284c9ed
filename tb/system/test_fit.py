# SPDX-License-Identifier: Apache-2.0
"""`ssdtlm fit` on a small drive: one hidden parameter, what the folder holds, going on, and what mistakes say."""
import csv
import json
import os
import pathlib
import re
import signal
import subprocess
import time
import tomllib
import unittest

import fits
import sweeps
from support import BINARY, INTERRUPTED, OK, USER_ERROR, SystemTest

CELLS = (("one", "randread", "4k", 1, ""), ("deep", "randread", "4k", 4, ""), ("large", "randread", "16k", 1, ""))
TIMES = {"runtime": "10ms", "ramp": "1ms"}
PROGRESS = re.compile(r"^(\d+ of \d+ trials|step \d+)(, weighted error [\d.]+ %)?\n", re.M)


def can_fit():
    """Whether it is there: to import it would take longer than a fit."""
    words = [sweeps.PYTHON, "-c", "import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, ('optuna', 'altair', 'duckdb', 'distributed', 'dask_jobqueue'))))"]
    return sweeps.PYTHON.exists() and subprocess.run(words, check=False).returncode == 0


@unittest.skipUnless(can_fit(), "make python")
class Fit(SystemTest):
    def fit(self, *words):
        done = subprocess.run([BINARY, "fit", *map(str, words)], cwd=self.dir, env=sweeps.ENVIRONMENT, capture_output=True, text=True, timeout=300, check=False)
        # On a slow machine it says now and then how far it is.
        return done.returncode, done.stdout, PROGRESS.sub("", done.stderr)

    def interrupt(self, words, out):
        """Ctrl-C in the middle: ends at once, with the best of what was tried."""
        run = subprocess.Popen([BINARY, "fit", *map(str, words)], cwd=self.dir, env=sweeps.ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        # 11 runs say what the cells are and how they vary, 18 screen the parameters, 8 are Optuna's. Half as many again follow.
        sweeps.wait_for(lambda: (out / "runs").is_dir() and sum(path.suffix == ".json" for path in (out / "runs").iterdir()) >= 40, run)
        began = time.monotonic()
        os.killpg(run.pid, signal.SIGINT)
        said, errors = run.communicate(timeout=60)
        self.assertEqual((run.returncode, PROGRESS.sub("", errors)), (INTERRUPTED, ""))
        print(f"interrupted, it ended in {time.monotonic() - began:.2f} s", flush=True)
        self.assertEqual([path.name for path in (out / "runs").iterdir() if path.name.startswith(".")], [])
        self.assertIn("interrupted; what is done is in out, and the same command goes on from there", said)
        found = json.loads((out / "fit.json").read_text())
        self.assertTrue(found["interrupted"])
        self.assertIn(found["parameters"][0]["value"], said)
        self.assertLess(abs(float(found["parameters"][0]["value"].removesuffix("us")) / 71 - 1), 0.2)
        self.assertEqual(self.ssdtlm("config", "check", "out/fitted.toml").returncode, OK)
        self.assertFalse((out / "fit.html").exists())

    def test_a_hidden_parameter(self):
        drive = fits.measure(self, "tiny-test", {"nand.t_read": "71us"}, CELLS, **TIMES)
        words = ("tiny-test", "--measured", drive, "--free", "nand.t_read=40us..100us", "nand.t_erase=1ms..5ms", "--trials", "4", "--runtime", "10ms", "--ramp", "1ms", "-o", "out")
        out = pathlib.Path(self.dir) / "out"
        self.interrupt(words, out)
        before = {path.name: path.stat().st_mtime_ns for path in (out / "runs").iterdir()}
        code, said, errors = self.fit(*words)
        self.assertEqual((code, errors), (OK, ""))
        # It went on: no run was made again.
        self.assertEqual(before, {path.name: path.stat().st_mtime_ns for path in (out / "runs").iterdir() if path.name in before})
        found = json.loads((out / "fit.json").read_text())
        t_read, t_erase = found["parameters"]
        self.assertAlmostEqual(float(t_read["value"].removesuffix("us")), 71, delta=0.05 * 71)
        self.assertTrue(t_read["known"])
        # Reads erase nothing.
        self.assertEqual((t_erase["value"], t_erase["known"]), (None, False))
        self.assertIn("no figure of the fitted cells changes with it", said)
        # One of three runs was held out.
        self.assertEqual([cell["use"] for cell in found["cells"]].count("held out"), 1)
        self.assertLess(found["mean_error"]["held_out_after"], 0.5 * found["mean_error"]["held_out_before"])
        fitted = tomllib.loads((out / "fitted.toml").read_text())
        self.assertEqual(fitted["name"], "tiny-test-fitted")
        nanoseconds = float(fitted["nand"]["t_read"].removesuffix("ns")) if fitted["nand"]["t_read"].endswith("ns") else 1e3 * float(fitted["nand"]["t_read"].removesuffix("us"))
        self.assertAlmostEqual(nanoseconds, 1e3 * float(t_read["value"].removesuffix("us")), places=3)
        self.assertEqual(self.ssdtlm("config", "check", "out/fitted.toml").returncode, OK)
        # Each figure is there, with the deviation that its numbers have.
        figures = list(csv.DictReader((out / "cells.csv").read_text().splitlines()))
        self.assertEqual({row["cell"] for row in figures}, {"one", "deep", "large"})
        self.assertLessEqual({"iops", "bandwidth", "mean", "p50", "p90"}, {row["figure"] for row in figures})
        self.assertIn("profile-nand.t_read", (out / "fit.html").read_text())

    def test_mistakes(self):
        drive = fits.measure(self, "tiny-test", {}, CELLS[:1], **TIMES)
        fits.without_options(drive, pathlib.Path(self.dir) / "old.json")
        self.write("text.json", "no results")
        code, _, errors = self.fit("tiny-test", "--measured", drive, "--free", "nand.t_raed=1us..2us", "nand.t_read=9us..9us", "nand.t_program=1us", "nand.t_erase=1parsec..2parsec")
        self.assertEqual(code, USER_ERROR)
        for said in ("unknown key 'nand.t_raed'; a parameter (docs/parameters.md); did you mean 'nand.t_read'?", "--free nand.t_read=9us..9us: is an empty range",
                     "--free nand.t_program=1us: is no range; KEY=LOW..HIGH", "no number with a known unit"):
            self.assertIn(said, errors)
        code, _, errors = self.fit("tiny-test", "--measured", "old.json", "text.json", "--free", "nand.t_read=1us..2us")
        self.assertEqual(code, USER_ERROR)
        self.assertIn("old.json: job 'one': has no options; 'job options' beside the figures", errors)
        self.assertIn("text.json: is no JSON", errors)
        code, _, errors = self.fit("tiny-test", "--measured", drive, "--free", "nand.t_erase=1ms..5ms", "--held-out", "0", "--runtime", "5ms")
        self.assertEqual(code, USER_ERROR)
        self.assertIn("--free nand.t_erase=1ms..5ms: no figure of the fitted cells changes between the ends of this range", errors)


if __name__ == "__main__":
    unittest.main()
