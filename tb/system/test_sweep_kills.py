# SPDX-License-Identifier: Apache-2.0
"""`ssdtlm sweep run` while workers and driver are killed: no result is lost, none is there twice, only what was under way is run
again. SSDTLM_SWEEP_POINTS is the size of the sweep, SSDTLM_SWEEP_IOS of a point."""
import json
import os
import signal
import sys
import time
import unittest

import sweeps
from support import INTERRUPTED, OK, SystemTest

POINTS = int(os.environ.get("SSDTLM_SWEEP_POINTS", "60"))
IOS = int(os.environ.get("SSDTLM_SWEEP_IOS", "10000"))
WORKERS = 2
# (wall time x workers - time in simulators) / points; starting and ending counts, so only of a large sweep, and only where nobody
# else uses the machine: the simulators have their cores for themselves.
MOST_OVERHEAD_S, LARGE, ALONE = 0.020, 1000, 0.8


@unittest.skipUnless(sweeps.can_sweep(), "make python")
class Kills(SystemTest):
    def setUp(self):
        super().setUp()
        self.job("mix", *sweeps.JOB, f"number_ios={IOS}")
        self.write("s.toml", 'device = "tiny-test"\nworkload = "mix.fio"\noutput = "out"\n'
                             f"[grid]\nrun.integrity = [true]\n[random]\npoints = {POINTS}\n"
                             '[random.values]\nnand.t_read = { from = "20us", to = "90us" }\nhost.submit_time = { from = "0.1us", to = "2us" }\n')
        self.output = self.dir / "out"

    def finish(self, process):
        out, err = process.communicate(timeout=3600)
        self.assertEqual(process.returncode, OK, out + err)
        return out

    def check(self, kills):
        """`kills`: how many runs may have been under way at all kills together."""
        records, attempts = sweeps.records(self.output), sweeps.attempts(self.output)
        self.assertEqual(len(records), POINTS)
        self.assertTrue(all(r["state"] == "done" for r in records.values()))
        self.assertEqual(set(attempts), set(records))
        self.assertEqual(len({str(r["point"]) for r in records.values()}), POINTS, "each point has a result of its own")
        repeated = {key: lines for key, lines in attempts.items() if sum(line["event"] == "start" for line in lines) > 1}
        self.assertLessEqual(len(repeated), kills)
        for key, lines in attempts.items():
            ended = [line["attempt"] for line in lines if line["event"] == "end"]
            self.assertEqual(ended, [records[key]["attempt"]], "one attempt gave the result")
            began = [line["attempt"] for line in lines if line["event"] == "start"]
            self.assertTrue(len(began) == 1 or set(began) - set(ended), "what had ended is not begun again")
        self.assertEqual(list((self.output / "runs").glob(".*")), [], "nothing is left of attempts")
        return repeated

    def test_worker_and_driver_killed(self):
        began = time.monotonic()
        driver = sweeps.start(self.dir, "run", "s.toml", "--workers", WORKERS, "-q")
        sweeps.wait_for(lambda: sweeps.count_ended(self.output) >= 0.3 * POINTS, driver, 1800)
        pid, worker = sweeps.kill_a_worker(self.output, driver)
        sweeps.wait_for(lambda: pid not in sweeps.simulators(self.output), driver, 5)
        sweeps.wait_for(lambda: sweeps.count_ended(self.output) >= 0.6 * POINTS, driver, 1800)
        sweeps.wait_for(lambda: sweeps.simulators(self.output), driver)
        driver.send_signal(signal.SIGKILL)
        driver.communicate()
        self.assertTrue(sweeps.no_orphans(self.output), "a simulator outlived its driver")
        kept = sweeps.count_ended(self.output)
        before = {key: (r["attempt"], (self.output / "runs" / key / "result.json").stat().st_mtime_ns) for key, r in sweeps.records(self.output).items()}
        out = self.finish(sweeps.start(self.dir, "run", "s.toml", "--workers", WORKERS, "-q"))
        wall = time.monotonic() - began
        self.assertIn(f"{POINTS} runs of {POINTS} points: {POINTS} done, 0 failed ({kept} of them earlier)\n", out)
        repeated = self.check(1 + WORKERS)
        after = {key: (r["attempt"], (self.output / "runs" / key / "result.json").stat().st_mtime_ns) for key, r in sweeps.records(self.output).items()}
        self.assertEqual(before, {key: after[key] for key in before})
        simulated = sum(r["seconds"] for r in sweeps.records(self.output).values())
        overhead = (wall * WORKERS - simulated) / POINTS
        print(f"{POINTS} results, {len(repeated)} runs started again, no orphan; worker {worker} killed at 30 %, driver at {kept} results; "
              f"{wall:.1f} s on {WORKERS} workers, {simulated / POINTS:.3f} s a simulation, overhead {1000 * overhead:.1f} ms a point", file=sys.stderr)
        walls = [json.loads(path.read_text()) for path in (self.output / "runs").glob("*/wall_clock.json")]
        alone = sum(w["cpu_s"] for w in walls) / sum(w["wall_s"] for w in walls)
        print(f"the simulators had {100 * alone:.0f} % of a core each", file=sys.stderr)
        if POINTS >= LARGE and alone >= ALONE:
            self.assertLessEqual(overhead, MOST_OVERHEAD_S)

    def test_interrupted(self):
        driver = sweeps.start(self.dir, "run", "s.toml", "--workers", WORKERS, "-q")
        sweeps.wait_for(lambda: sweeps.count_ended(self.output) >= 0.2 * POINTS and sweeps.simulators(self.output), driver, 600)
        driver.send_signal(signal.SIGINT)
        out, err = driver.communicate(timeout=60)
        self.assertEqual((driver.returncode, err), (INTERRUPTED, ""))
        self.assertEqual(out, f"interrupted; what is done is in {self.output}, and the same command goes on from there\n")
        self.assertTrue(sweeps.no_orphans(self.output))
        self.assertLess(sweeps.count_ended(self.output), POINTS)


if __name__ == "__main__":
    unittest.main()
