# SPDX-License-Identifier: Apache-2.0
"""Sweeps of ten thousand points: how long a plan takes, and what is said meanwhile."""
import json
import os
import pathlib
import pty
import re
import subprocess
import sys
import time
import unittest

import sweeps
from support import BINARY, OK, SOURCE, SystemTest

sys.path.insert(0, str(SOURCE / "python"))
from ssdtlm.sweeping import progress  # noqa: E402  pylint: disable=wrong-import-position

# A machine of its own plans in 2 s; tests share theirs, and some run a program that checks itself.
MOST_SECONDS = 20
SPEC = """device = "tiny-test"
output = "out"
[fio]
rw = "randread"
bs = "4k"
[grid]
fio.iodepth = {depths}
fio.number_ios = {counts}
nand.t_read = ["60us", "61us", "62us", "63us", "64us", "65us", "66us", "67us", "68us", "69us"]
nand.t_program = ["600us", "610us", "620us", "630us", "640us", "650us", "660us", "670us", "680us", "690us"]
"""


class Text(unittest.TestCase):
    def shown(self, terminal):
        now, lines = [100.0], []
        stream = type("Stream", (), {"isatty": lambda self: terminal, "write": lambda self, text: lines.append(text), "flush": lambda self: None})()
        begin = time.mktime((2026, 3, 2, 13, 0, 0, 0, 0, -1))
        return progress.Progress(stream=stream, clock=lambda: now[0], now=lambda: begin + now[0] - 100), now, lines

    def test_from_the_first_second(self):
        p, now, lines = self.shown(terminal=False)
        p.note("10000 points")
        self.assertEqual(lines, ["10000 points\n"])
        p.show(0, 10000, 0, 0)
        self.assertEqual(len(lines), 1)
        now[0] += 1
        p.show(0, 10000, 0, 0)
        self.assertEqual(lines[1], f"[{24 * '.'}] 0/10000 runs    0.0 %  ETA ?\n")
        now[0] += 9.9
        p.show(50, 10000, 0, 0, run_s=0.4)
        self.assertEqual(len(lines), 2)
        now[0] += 0.1
        p.show(50, 10000, 0, 0, run_s=0.4)
        # 50 in 11 s: 4.5 runs/s, and 9950 more take 2189 s, until 13:36:40.
        self.assertEqual(lines[2], f"[{24 * '.'}] 50/10000 runs    0.5 %  4.5 runs/s  0.4 s a run  ETA 36:29 (at 13:36)\n")

    def test_on_a_terminal_at_once(self):
        p, _, lines = self.shown(terminal=True)
        p.show(0, 10000, 0, 0)
        self.assertEqual(lines, [f"\r[{24 * '.'}] 0/10000 runs    0.0 %  ETA ?\033[K"])

    def test_the_end(self):
        begin = time.mktime((2026, 3, 2, 13, 0, 0, 0, 0, -1))  # a Monday
        self.assertEqual([progress.end_at(s, begin) for s in (60, 10 * 3600, 12 * 3600, 30 * 86400)], ["13:01", "23:00", "Tue 01:00", "2026-04-01 13:00"])


class Large(SystemTest):
    def test_plan(self):
        self.write("s.toml", SPEC.format(depths=list(range(1, 11)), counts=list(range(100, 110))))
        began = time.monotonic()
        done = subprocess.run([BINARY, "sweep", "plan", "s.toml", "--json"], cwd=self.dir, env=sweeps.ENVIRONMENT, capture_output=True, text=True)
        took = time.monotonic() - began
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        runs = json.loads(done.stdout)["runs"]
        self.assertEqual((len(runs), len({run["key"] for run in runs})), (10000, 10000))
        values = {tuple(run["values"].values()) for run in runs}
        self.assertEqual(len(values), 10000)
        print(f"10,000 points planned in {took:.1f} s", file=sys.stderr)
        self.assertLess(took, MOST_SECONDS)

    def test_each_point_has_its_own_configuration(self):
        """Plans are made by several processes: each point has what the program makes of its own assignments."""
        self.write("s.toml", SPEC.format(depths=[1], counts=[100]).replace("number_ios = [100]", "number_ios = [100, 100]"))
        planned = json.loads(subprocess.run([BINARY, "sweep", "plan", "s.toml", "--json"], cwd=self.dir, env=sweeps.ENVIRONMENT, capture_output=True, text=True, check=True).stdout)["runs"]
        keys = {(run["values"]["nand.t_read"], run["values"]["nand.t_program"]): run["key"] for run in planned}
        self.assertEqual((len(planned), len(keys), len(set(keys.values()))), (200, 100, 100))
        for one in (("60us", "600us"), ("64us", "690us"), ("69us", "690us")):
            self.write("one.toml", SPEC.format(depths=[1], counts=[100]).split("nand.t_read")[0] + f'nand.t_read = ["{one[0]}"]\nnand.t_program = ["{one[1]}"]\n')
            alone = json.loads(subprocess.run([BINARY, "sweep", "plan", "one.toml", "--json"], cwd=self.dir, env=sweeps.ENVIRONMENT, capture_output=True, text=True, check=True).stdout)["runs"]
            self.assertEqual([run["key"] for run in alone], [keys[one]])

    @unittest.skipUnless(sweeps.can_sweep(), "make python")
    def test_said_at_once(self):
        """On a terminal: what is planned, what is started, and then how far it is, which the end clears away."""
        self.write("s.toml", SPEC.format(depths=list(range(1, 5)), counts=list(range(10, 13))).replace("number_ios = [10, 11, 12]", "number_ios = [1, 2, 3]"))
        us, program = pty.openpty()
        with subprocess.Popen([BINARY, "sweep", "run", "s.toml", "--workers", "2"], cwd=self.dir, env=sweeps.ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=program) as process:
            os.close(program)
            said, end = "", time.monotonic() + 120
            while time.monotonic() < end and not re.search(r" runs +0\.[1-9].*ETA \d", said):
                said += os.read(us, 4096).decode()
            process.terminate()
            process.wait(60)
        os.close(us)
        place = [said.find(text) for text in ("planning 1200 points", "1200 points, 1200 runs: starting workers", "0/1200 runs    0.0 %  ETA ?")]
        self.assertEqual((place, -1 in place), (sorted(place), False), said)
        self.assertRegex(said, r"runs/s  [\d.e-]+ s a run  ETA \d")
        self.assertTrue(pathlib.Path(self.dir, "out", "runs").is_dir())


if __name__ == "__main__":
    unittest.main()
