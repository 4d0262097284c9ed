# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C: the run ends in order, says so, and its results so far are whole."""
import signal
import subprocess
import time
import unittest

from support import BINARY, INTERRUPTED, SETTINGS, Result, SystemTest, fio_job_total


class Interrupt(SystemTest):
    def interrupted(self, *args, send=signal.SIGINT, wait=1.0):
        job = self.job("long", "rw=randrw", "bs=4k", "iodepth=32", "runtime=1000", "time_based", "write_iops_log=long")
        program = subprocess.Popen(
            [BINARY, "run", *SETTINGS, "femu-4g", "-w", job, "-o", "out", *args],
            cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        time.sleep(wait)
        self.assertIsNone(program.poll(), "the run was too short to interrupt")
        program.send_signal(send)
        sent = time.monotonic()
        out, err = program.communicate(timeout=120)
        self.assertEqual((program.returncode, err), (INTERRUPTED, ""))
        return Result(self.dir / "out"), out, time.monotonic() - sent

    def assert_whole(self, result):
        j = self.assert_right(result)
        self.assertIs(j["interrupted"], True)
        self.assertEqual(j["commands"], j["read"]["ios"] + j["write"]["ios"])
        self.assertGreater(j["commands"], 0)
        books = {b["line"]: b["left"] for b in j["books"]}
        self.assertEqual(books["requests issued = completed"], j["commands_including_ramp"])
        fio = result.json("fio.json")["jobs"]
        self.assertEqual(fio_job_total(fio[0]), (j["commands"], j["read"]["bytes"] + j["write"]["bytes"]))
        self.assertLess(j["simulated_s"], 1000)
        self.assertAlmostEqual(float(result.rows("timeseries.csv")[-1]["time_ms"]) * 1e-3, j["simulated_s"], places=6)
        self.assertTrue(list(result.path.glob("long_iops*.log")))

    def test_interrupt(self):
        result, out, took = self.interrupted()
        self.assert_whole(result)
        self.assertIn("interrupted", out.splitlines()[0])
        self.assertIn("results in out", out)
        self.assertLess(took, 30)

    def test_terminate_and_json(self):
        result, out, _ = self.interrupted("--json", send=signal.SIGTERM)
        self.assert_whole(result)
        self.assertEqual(out, (result.path / "result.json").read_text())

    def test_lockstep(self):
        result, _, _ = self.interrupted("--set", "run.agenda=lockstep")
        self.assert_whole(result)


if __name__ == "__main__":
    unittest.main()
