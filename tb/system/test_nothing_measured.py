# SPDX-License-Identifier: Apache-2.0
"""Runs that measured nothing, because they ended or were interrupted within their ramp: every command that reads results says so."""
import os
import signal
import subprocess
import unittest

from reports import PYTHON
from support import BINARY, INTERRUPTED, OK, SETTINGS, USER_ERROR, Result, SystemTest

NOTHING = "nothing was measured"
ENVIRONMENT = {**os.environ, "SSDTLM_PYTHON": str(PYTHON)}


@unittest.skipUnless(PYTHON.exists(), "make python")
class NothingMeasured(SystemTest):
    def run_it(self, *args, code=OK, error=""):
        done = subprocess.run([BINARY, *map(str, args)], cwd=self.dir, capture_output=True, text=True, env=ENVIRONMENT)
        self.assertEqual((done.returncode, done.stderr), (code, error), done.stdout)
        return done.stdout

    def check(self, folder):
        """All that can be asked of the results in `folder`."""
        self.assertEqual(Result(self.dir / folder).json()["commands"], 0)
        self.run_it("report", folder, "-o", "one.html")
        page = (self.dir / "one.html").read_text()
        self.assertIn('<p class="warning">Nothing was measured', page)
        self.assertNotIn("Distribution of latency", page)
        self.run_it("explain", folder, code=USER_ERROR, error=f"{folder}: {NOTHING}, so no command is among the slowest; a run that measured commands; "
                                                              "shorten ramp_time, or let the run last longer\n")

    def beside(self, folder, other):
        """The same beside a run that measured `other`."""
        self.run_it("report", other, folder, "-o", "two.html")
        page = (self.dir / "two.html").read_text()
        self.assertIn(f'<p class="warning">{folder}: Nothing was measured', page)
        self.assertNotIn(f'<p class="warning">{other}: Nothing', page)
        self.assertIn("Distribution of latency", page)
        for runs in ((other, folder), (folder, other)):
            said = self.run_it("compare", *runs)
            self.assertIn(f"warning: {folder}: {NOTHING}, so its metrics count as 0\n", said)
            self.assertNotIn(f"{other}: {NOTHING}", said)
            self.run_it("compare", *runs, "--fail-if", "read.total.p99 > +5%", code=USER_ERROR,
                        error=f"--fail-if 'read.total.p99 > +5%': metric 'read.total.p99': {folder} has none; metrics of commands that all runs have\n")

    def test_a_run_shorter_than_its_ramp(self):
        for way in ("randread", "randrw", "randtrim"):
            with self.subTest(rw=way):
                job = self.job("short", f"rw={way}", "bs=4k", "ramp_time=10s", "number_ios=100")
                said = self.run_it("run", *SETTINGS, "tiny-test", "-w", job, "-o", way, "--report")
                self.assertIn(f"-> {NOTHING}\n", said)
                self.assertTrue(said.endswith(f"report in {way}/report.html\n"))
                self.check(way)
        self.simulate("tiny-test", self.job("whole", "rw=randrw", "bs=4k", "number_ios=100"), output="whole")
        self.beside("randrw", "whole")

    def test_interrupted_in_the_ramp(self):
        job = self.job("long", "rw=randrw", "bs=4k", "iodepth=8", "ramp_time=100000s", "runtime=100000s", "time_based")
        program = subprocess.Popen([BINARY, "run", *SETTINGS, "tiny-test", "-w", job, "-o", "out", "-q", "--report"], cwd=self.dir,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
        self.addCleanup(program.kill)
        self.let_run(program, 0.5)
        program.send_signal(signal.SIGINT)
        self.assertEqual((program.communicate(timeout=120), program.returncode), (("", ""), INTERRUPTED))
        self.check("out")

    def test_a_sweep_of_loads(self):
        """It needs the rate of each of its runs, and says which has none."""
        self.job("short", "rw=randread", "bs=4k", "ramp_time=10s", "number_ios=100")
        self.write("load.toml", 'output = "swept"\ndevice = "tiny-test"\nworkload = "short.fio"\n')
        done = subprocess.run([BINARY, "sweep", "load", "load.toml", "-q"], cwd=self.dir, capture_output=True, text=True, env=ENVIRONMENT)
        self.assertEqual((done.returncode, done.stdout), (USER_ERROR, ""), done.stderr)
        self.assertRegex(done.stderr, r"\A[^\n]*measured nothing \(results in [^\n]*\); a workload that outlasts its ramp_time; "
                                      r"shorten ramp_time, or give the jobs more to do\n\Z")


if __name__ == "__main__":
    unittest.main()
