# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C and its like: the run ends in order, says so, and its results so far are whole. How far it is, on request."""
import signal
import subprocess
import time
import unittest

from support import BINARY, INTERRUPTED, PROGRESS, SETTINGS, Result, SystemTest, fio_job_total


class Interrupt(SystemTest):
    def interrupted(self, *args, send=signal.SIGINT):
        job = self.job("long", "rw=randrw", "bs=4k", "iodepth=32", "runtime=1000", "time_based", "write_iops_log=long")
        program = subprocess.Popen(
            [BINARY, "run", *SETTINGS, "femu-4g", "-w", job, "-o", "out", *args],
            cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        self.let_run(program)
        program.send_signal(send)
        sent = time.monotonic()
        out, err = program.communicate(timeout=120)
        self.assertEqual((program.returncode, PROGRESS.sub("", err)), (INTERRUPTED, ""))
        return Result(self.dir / "out"), out, time.monotonic() - sent

    def assert_whole(self, result):
        j = self.assert_right(result)
        self.assertIs(j["interrupted"], True)
        self.assertEqual(j["ended_by"], "interrupt")
        self.assertEqual(j["commands"], j["read"]["ios"] + j["write"]["ios"])
        self.assertGreater(j["commands"], 0)
        books = {b["line"]: b["left"] for b in j["books"]}
        self.assertEqual(books["requests issued = completed"], j["commands_including_ramp"])
        fio = result.json("fio.json")["jobs"]
        self.assertEqual(fio_job_total(fio[0]), (j["commands"], j["read"]["bytes"] + j["write"]["bytes"]))
        self.assertLess(j["simulated_s"], 1000)
        last = result.rows("timeseries.csv")[-1]
        self.assertAlmostEqual((float(last["start_ms"]) + float(last["interval_ms"])) * 1e-3, j["simulated_s"], places=6)
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

    def test_hangup(self):
        result, out, _ = self.interrupted(send=signal.SIGHUP)
        self.assert_whole(result)
        self.assertIn("interrupted", out.splitlines()[0])

    def started(self, name, *args, **options):
        job = self.job("long", "rw=randrw", "bs=4k", "iodepth=32", "runtime=100000", "time_based")
        program = subprocess.Popen([BINARY, "run", *SETTINGS, "tiny-test", "-w", job, "-o", name, *args], cwd=self.dir, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self.addCleanup(program.kill)
        return program

    def test_hangup_of_a_terminal_that_is_gone(self):
        # Nobody reads: the results are saved all the same.
        program = self.started("out")
        self.let_run(program)
        program.stdout.close()
        program.stderr.close()
        for _ in range(2):  # from the kernel and from the shell
            program.send_signal(signal.SIGHUP)
            time.sleep(0.01)
        self.assertIn(program.wait(timeout=120), (INTERRUPTED, -signal.SIGPIPE))
        self.assert_right(Result(self.dir / "out"))

    def test_nohup(self):
        program = self.started("out", "--stop-after-commands", "1000k",
                               preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.let_run(program, 0.3)
        program.send_signal(signal.SIGHUP)
        _, err = program.communicate(timeout=120)
        self.assertEqual(program.returncode, 0, err)
        self.assertEqual(Result(self.dir / "out").json()["commands"], 1_000_000)

    def test_progress_without_a_terminal(self):
        quiet = self.started("quiet", "-q")
        program = self.started("out")
        begin = time.monotonic()
        lines = [program.stderr.readline() for _ in range(2)]
        took = time.monotonic() - begin
        for program_ in (program, quiet):
            program_.send_signal(signal.SIGINT)
        _, rest = program.communicate(timeout=120)
        self.assertEqual(quiet.communicate(timeout=120), ("", ""))
        for line in lines:
            self.assertRegex(line, PROGRESS)
        self.assertLess(rest.count("\n"), 2)
        self.assertTrue(18 < took < 60, took)
        print(f"2 lines in {took:.1f} s: {lines[1].strip()}", flush=True)

    def test_lockstep(self):
        result, _, _ = self.interrupted("--set", "run.agenda=lockstep")
        self.assert_whole(result)


if __name__ == "__main__":
    unittest.main()
