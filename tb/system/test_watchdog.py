# SPDX-License-Identifier: Apache-2.0
"""Slow is not stalled: idle gaps, commands in flight when the watchdog looks, long array times, long flushes."""
import unittest

from support import USER_ERROR, SystemTest

HOUR = 3600.0


class Slow(SystemTest):
    def msr(self, name, seconds, step=4096):
        """A trace of 4 KiB reads at these times."""
        rows = [f"{128166372000000000 + round(t * 1e7)},usr,0,Read,{i * step},4096,100" for i, t in enumerate(seconds)]
        return self.write(name + ".csv", "\n".join(rows) + "\n")

    def test_three_reads(self):
        for gap in (2.0, 60.0, HOUR, 24 * HOUR):
            for watchdog in ("1s", "1000000s") + (("10ms",) if gap < HOUR else ()):  # it looks every 2.5 ms
                result = self.simulate("tiny-test", self.msr("gap", (0, gap, 2 * gap)), "--trace-format", "msr", "--set",
                                       f"run.watchdog={watchdog}", "--set", "run.timeseries_interval=100s")
                j = self.assert_right(result)
                self.assertEqual(j["commands"], 3)
                self.assertAlmostEqual(j["simulated_s"], 2 * gap, delta=1e-3)
                self.assertEqual(j["ended_by"], "workload")
            print(f"3 reads {gap:g} s apart: {j['commands']} done in {j['simulated_s']:.6f} s", flush=True)

    def test_in_flight_whenever_it_looks(self):
        # Reads 10 ms long that begin at every phase of the watchdog's period, after gaps longer than it.
        times = [i * 3.001 for i in range(400)]
        result = self.simulate("tiny-test", self.msr("phases", times), "--trace-format", "msr", "--set", "nand.t_read=10ms",
                               "--set", "run.watchdog=20ms")
        self.assertEqual(self.assert_right(result)["commands"], 400)

    def test_long_array_times(self):
        job = self.job("few", "rw=read", "bs=4k", "number_ios=20")
        result = self.simulate("tiny-test", job, "--set", "nand.t_read=50ms", "--set", "run.watchdog=1ms")
        self.assertGreater(self.assert_right(result)["latency_us"]["read"]["total"]["mean"], 50_000)
        job = self.job("writes", "rw=randwrite", "bs=4k", "iodepth=64", "number_ios=6000", "norandommap", "io_size=100m")
        slow = ["--set", "nand.t_program=100ms", "--set", "nand.t_erase=100ms", "--set", "run.watchdog=1ms"]
        result = self.simulate("tiny-test", job, *slow)
        j = self.assert_right(result)
        self.assertGreater(j["ftl"]["gc_pages"], 0)
        print(f"watchdog 1 ms, longest write {j['latency_us']['write']['total']['max'] * 1e-3:.0f} ms", flush=True)

    def test_slow_flush(self):
        job = self.job("flush", "rw=randwrite", "bs=4k", "iodepth=32", "number_ios=300", "fsync=100", "norandommap", "io_size=100m")
        result = self.simulate("tiny-test", job, "--set", "nand.t_program=100ms", "--set", "run.watchdog=20ms")
        j = self.assert_right(result)
        longest = j["latency_us"]["flush"]["total"]["max"] * 1e-6
        self.assertGreater(longest, 1.0)
        print(f"watchdog 20 ms, longest flush {longest:.2f} s", flush=True)

    def test_waiting_for_the_hosts_own_delays(self):
        job = self.job("few", "rw=read", "bs=4k", "number_ios=5")
        result = self.simulate("tiny-test", job, "--set", "run.watchdog=1ms", "--set", "nvme.interrupt_coalescing_time=25500us", "--set",
                               "nvme.interrupt_coalescing_threshold=9")
        self.assertGreater(self.assert_right(result)["latency_us"]["read"]["completion"]["mean"], 25_000)

    def test_limits(self):
        job = self.job("few", "rw=read", "bs=4k", "number_ios=1")
        done = self.ssdtlm("run", "tiny-test", "-w", job, "--set", "run.watchdog=1000001s")
        self.assertEqual(done.returncode, USER_ERROR)
        self.assertRegex(done.stderr, r"run\.watchdog.*1ms\.\.1000000s")


if __name__ == "__main__":
    unittest.main()
