# SPDX-License-Identifier: Apache-2.0
"""Runs that end badly (the device's scheduler fails on demand): what is said, what is kept, what is not left behind."""
import json
import os
import resource
import subprocess
import unittest
import unittest.mock

from support import CHECK_FAILED, INTERNAL, STALLED, USER_ERROR, SystemTest
from vcd import Vcd

FAULTY = os.environ["SSDTLM_FAULTY"]
MIX = ("rw=randrw", "bs=4k", "iodepth=8", "number_ios=4000", "io_size=100m", "norandommap")
KINDS = {"stall": ("stalled", STALLED), "panic": ("internal error", INTERNAL), "check": ("check failed", CHECK_FAILED)}


class Failures(SystemTest):
    def faulty(self, fault, job, *args, device="tiny-test", output="out"):
        return subprocess.run([FAULTY, "run", device, "--set", "scheduler.policy=faulty", "-w", job, "-o", output, *args],
                              cwd=self.dir, capture_output=True, text=True, timeout=300, env={**os.environ, "SSDTLM_FAULT": fault})

    def test_what_is_kept(self):
        job = self.job("mix", *MIX)
        out = self.dir / "out"
        for fault, (kind, code) in KINDS.items():
            good = self.faulty("none", job)
            self.assertEqual(good.returncode, 0, good.stderr)
            whole = json.loads((out / "result.json").read_text())
            self.assertEqual((whole["commands"], whole["ended_by"]), (4000, "workload"))
            done = self.faulty(f"{fault}:1000", job, "--timeline", "--wave", "--set", "run.timeseries_interval=1ms")
            self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
            self.assertIn("the results so far are in out/failed.json", done.stderr)
            self.assertFalse((out / "result.json").exists(), "the previous run's result")
            self.assertFalse((out / "fio.json").exists(), "the previous run's result")
            self.assertEqual(list(out.glob("*.part")), [])
            j = json.loads((out / "failed.json").read_text())
            failure = j["failure"]
            self.assertEqual((failure["kind"], failure["exit_code"], j["ended_by"]), (kind, code, "failure"))
            self.assertIn(failure["reason"], done.stderr)
            self.assertTrue(any(line.startswith("host: ") for line in failure["state"]))
            # Numbers up to the failure, in the same shape.
            self.assertEqual(set(whole) - {"books"}, set(j) - {"failure"})
            self.assertTrue(0 < j["commands"] < 4000, j["commands"])
            self.assertEqual(j["commands"], j["read"]["ios"] + j["write"]["ios"])
            self.assertGreater(j["counters_whole_run"]["flash_operations"], 0)
            self.assertGreater(j["resources"]["die"]["busy_mean"], 0)
            with open(out / "timeseries.csv") as f:
                self.assertGreater(len(f.readlines()), 2)
            self.assertGreater(len((out / "latency.csv").read_text().splitlines()), 5)
            self.assertTrue(json.loads((out / "trace.json").read_text()))
            self.assertGreater(Vcd(out / "wave.vcd")["ssd.host.outstanding"].values[-1], 0)
            print(f"{kind}: exit {code}, {j['commands']} of 4000 commands, {len(failure['state'])} lines of state; {failure['reason']}",
                  flush=True)
            # The next run that ends in order takes the mark away.
            self.assertEqual(self.faulty("none", job).returncode, 0)
            self.assertFalse((out / "failed.json").exists())

    def test_no_report(self):
        """Of a run that failed there is none, and none of an earlier run beside its results."""
        job = self.job("mix", *MIX)
        python = self.dir / "python"  # says that it is ready, and what it is to do
        python.write_text(f'#!/bin/sh\necho "$3" >> "{self.dir}/asked"\n')
        python.chmod(0o755)
        with unittest.mock.patch.dict(os.environ, SSDTLM_PYTHON=str(python)):
            self.assertEqual(self.faulty("none", job, "--report").returncode, 0)
            self.assertEqual((self.dir / "asked").read_text().split(), ["python", "report"])
            for fault, (_, code) in KINDS.items():
                (self.dir / "out" / "report.html").write_text("of the run before")
                done = self.faulty(f"{fault}:1000", job, "--report")
                self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
                self.assertIn("ssdtlm: no report was written, because the run failed\n", done.stderr)
                self.assertFalse((self.dir / "out" / "report.html").exists())
        self.assertEqual((self.dir / "asked").read_text().split(), ["python", "report"] + 3 * ["python"])

    def test_wave_trigger_error(self):
        job = self.job("mix", *MIX)
        for fault in KINDS:
            done = self.faulty(f"{fault}:1500", job, "--wave", "--wave-trigger", "error", "--wave-before", "3ms", output=fault)
            self.assertEqual(done.returncode, KINDS[fault][1], done.stderr)
            vcd = Vcd(self.dir / fault / "wave.vcd")
            times = vcd["ssd.die_0_0.state"].times + vcd["ssd.die_1_0.state"].times
            length = vcd.end - min(times)
            # What led to it, not the silence of the watchdog's second.
            self.assertLessEqual(length, 3_000_000_000)
            self.assertGreater(len(times), 10)
            self.assertGreater(vcd["ssd.host.outstanding"].values[-1], 0)
            print(f"{fault}: {len(times)} changes of die states in the last {length * 1e-9:.3f} ms", flush=True)
        done = self.faulty("none", job, "--wave", "--wave-trigger", "error", output="good")
        self.assertEqual(done.returncode, 0)
        self.assertIn("no waveform: the trigger error never came", done.stdout)

    def test_words(self):
        # The flash has work and does not begin it.
        done = self.faulty("stall:100", self.job("mix", *MIX))
        self.assertRegex(done.stderr, r"stalled: nothing has happened for 1(\.\d+)? s of simulated time \(run\.watchdog\).*"
                                      r"the oldest of 8 commands, a (read|write) of .*transactions wait in the flash back end\n")
        # The same while others go on: half the address space is not written, its reads need no flash.
        job = self.write("two.fio", """[global]
ioengine=libaio
bs=4k
[lost]
rw=randread
size=1m
[others]
rw=randread
offset=6m
size=4m
norandommap
time_based
runtime=100
""")
        half = ("--set", "precondition.state=sequential", "--set", "precondition.fill=50%", "--set", "run.watchdog=10ms")
        done = self.faulty("stall:10", job, *half)
        self.assertEqual(done.returncode, STALLED, done.stderr)
        self.assertRegex(done.stderr, r"stalled: the flash has had work for 0\.01\d* s of simulated time \(run\.watchdog\) and done none of it")

    def test_a_request_that_is_lost_while_others_go_on(self):
        # Nothing tells it from one that waits while the flash works; the end of the workload does.
        job = self.job("mix", "rw=randread", "bs=4k", "iodepth=8", "number_ios=2000", "io_size=100m", "norandommap")
        done = self.faulty("lose:100", job)
        self.assertEqual(done.returncode, STALLED, done.stderr)
        self.assertIn("the oldest of 1 commands, a read of", done.stderr)
        j = json.loads((self.dir / "out" / "failed.json").read_text())
        self.assertEqual(j["commands"], 1999)

    def test_device_that_does_not_fit_into_memory(self):
        job = self.job("few", "rw=read", "bs=4k", "number_ios=100")
        self.assertEqual(self.faulty("none", job).returncode, 0)
        limit = 600 << 20
        done = subprocess.run([FAULTY, "run", "mqsim-table3", "-w", job, "-o", "out"], cwd=self.dir, capture_output=True, text=True,
                              timeout=300, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        if "AddressSanitizer" in done.stderr:
            self.skipTest("a sanitizer needs more address space than that")
        self.assertEqual((done.returncode, done.stdout), (USER_ERROR, ""))
        self.assertIn("memory", done.stderr)
        self.assertFalse((self.dir / "out" / "result.json").exists())
        j = json.loads((self.dir / "out" / "failed.json").read_text())
        self.assertEqual((j["failure"]["kind"], j["device"], j["commands"]), ("refused", "mqsim-table3", 0))

    def test_json(self):
        done = self.faulty("panic:1000", self.job("mix", *MIX), "--json")
        self.assertEqual(done.returncode, INTERNAL)
        self.assertEqual(done.stdout, (self.dir / "out" / "failed.json").read_text())
        self.assertIn("This is a mistake of the program", done.stderr)
        self.assertIn("State:\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
