# SPDX-License-Identifier: Apache-2.0
"""timeseries.csv of runs of which most is idle, and its columns that only some drives fill."""
from support import SANITIZED, SystemTest


class Columns(SystemTest):
    def test_hits_of_a_map_on_the_flash(self):
        job = self.job("mix", "rw=randrw", "bs=4k", "iodepth=16", "number_ios=10k", "io_size=100m", "norandommap")
        cached = self.simulate("tiny-test", job, "--set", "ftl.mapping=dftl", "--set", "map.cache=4KiB",
                               "--set", "run.timeseries_interval=1ms", output="cached")
        rows, counters = cached.rows("timeseries.csv"), self.assert_right(cached)["counters_whole_run"]
        for name in ("map_hits", "map_misses"):
            # The series ends with the workload; what is still in the buffer asks the map afterwards.
            during = sum(int(r[name]) for r in rows)
            self.assertLessEqual(during, counters[name])
            self.assertGreater(during, 0.9 * counters[name])
            self.assertGreater(during, 100)
        in_memory = self.simulate("tiny-test", job, output="in_memory").rows("timeseries.csv")
        self.assertEqual({r["map_hits"] + r["map_misses"] + r["slc_free_blocks"] for r in in_memory}, {""})


    def test_free_blocks_over_a_loss_of_power(self):
        job = self.job("mix", "rw=randrw", "bs=4k", "iodepth=16", "number_ios=10k", "io_size=100m", "norandommap")
        for more in ((), ("--set", "slc.blocks=4", "--set", "ftl.user_capacity=8MiB")):
            with self.subTest(more=more):
                result = self.simulate("tiny-test", job, *more, "--set", "run.timeseries_interval=1ms", "--set", 'host.power_cut_at=["30ms"]', "--set", "host.power_off_time=50ms")
                rows, cut = result.rows("timeseries.csv"), result.json()["power_cuts"][0]
                begin, end = 30, 30 + 50 + 1e3 * cut["scan_s"]
                for row in rows:
                    at = float(row["start_ms"]) + float(row["interval_ms"])
                    self.assertEqual(row["free_blocks"] == "", begin <= at < end, row)
                    self.assertEqual(row["slc_free_blocks"] == "", more == () or begin <= at < end, row)
                    self.assertLess(int(row["free_blocks"] or 0), 64, "half of the flash")
                self.assertIn("", [row["free_blocks"] for row in rows])


class LongIdle(SystemTest):
    """Runs of which most is idle: rows, bytes and memory follow the commands, not the time."""

    def trace(self, name, seconds):
        rows = [f"{128166372000000000 + round(t * 1e7)},host,0,{'Read' if i % 2 else 'Write'},{(i * 7919 * 4096) % (400 << 30)},4096,0"
                for i, t in enumerate(seconds)]
        return self.write(name, "\n".join(rows) + "\n")

    def test_two_days(self):
        trace = self.trace("days.csv", [i * 25.92 for i in range(6000)])
        result = self.simulate("mqsim-table3", trace, "--set", "run.watchdog=1000s")
        j = self.assert_right(result)
        self.assertEqual(j["commands"], 6000)
        self.assertGreater(j["simulated_s"], 1.79 * 86400)
        rows = result.rows("timeseries.csv")
        size = (result.path / "timeseries.csv").stat().st_size
        memory = result.json("wall_clock.json")["peak_memory_bytes"]
        print(f"{j['simulated_s'] / 86400:.2f} days: {len(rows)} rows, {size} bytes, peak memory {memory >> 20} MiB")
        self.assertLessEqual(len(rows), 6 * 6000)
        self.assertLess(size, 2 << 20)
        self.assertLess(memory, (300 if SANITIZED else 100) << 20)
        self.assertEqual(sum(int(r["read_ios"]) + int(r["write_ios"]) for r in rows), 6000)

    def test_memory_is_the_run_s_own(self):
        parent = bytearray((600 if SANITIZED else 300) << 20)  # the kernel counts it for what this process starts
        result = self.simulate("tiny-test", self.trace("one.csv", [0]))
        memory = result.json("wall_clock.json")["peak_memory_bytes"]
        self.assertLess(memory, (300 if SANITIZED else 100) << 20, f"the parent has {len(parent)} bytes")
        self.assertGreater(memory, 4 << 20)

    def test_three_reads_an_hour_apart(self):
        trace = self.trace("hours.csv", [0, 3600, 7200, 10800])
        result = self.simulate("mqsim-table3", trace, "--set", "run.watchdog=1000s")
        self.assertEqual(self.assert_right(result)["commands"], 4)
        rows = result.rows("timeseries.csv")
        self.assertLess(len(rows), 16)
        self.assertEqual(sum(float(r["interval_ms"]) > 3_500_000 for r in rows), 3)
