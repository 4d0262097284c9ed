# SPDX-License-Identifier: Apache-2.0
"""The result files: what sums up must sum up, and a printed configuration is a configuration."""
import collections
import json
import unittest

from support import OK, SystemTest

STAGES = {"op", "stage", "count", "share_pct", "mean_us", "p50_us", "p90_us", "p99_us", "p99.9_us", "p99.99_us", "max_us"}
KEYS = {
    "ssdtlm": str, "device": str, "workload": str, "seed": int, "interrupted": bool, "ended_by": str, "simulated_s": float,
    "measured_window_s": float, "bring_up_s": float, "commands": int, "commands_including_ramp": int,
    "integrity_checked_blocks": int, "error_status": int, "read": dict, "write": dict, "trim": dict, "flush": dict,
    "limiting": str, "resources": dict, "ftl": dict, "counters": dict, "books": list, "latency_us": dict, "notes": list,
    "config_toml": str,
}


class Results(SystemTest):
    def setUp(self):
        super().setUp()
        job = self.write("all.fio", """[global]
ioengine=libaio
norandommap
bs=4k
io_size=100m
number_ios=10k
[mix]
rw=randrw
iodepth=16
fsync=100
[trims]
rw=randtrim
number_ios=500
rate_iops=1000
""")
        self.job_file = job
        self.result = self.simulate("tiny-test", job)
        self.json = self.assert_right(self.result)

    def test_result_json(self):
        for key, kind in KEYS.items():
            self.assertIsInstance(self.json[key], kind, key)
        for op in ("read", "write", "trim"):
            d = self.json[op]
            self.assertGreater(d["ios"], 0, op)
            self.assertEqual(d["bytes"], d["ios"] * 4096)
            self.assertAlmostEqual(d["iops"], d["ios"] / self.json["measured_window_s"], delta=1e-6 * d["iops"])
            self.assertAlmostEqual(d["MB_per_s"], d["iops"] * 4096e-6, delta=1e-6 * d["MB_per_s"])
        self.assertGreater(self.json["flush"]["ios"], 0)
        self.assertEqual(self.json["commands"], sum(self.json[op]["ios"] for op in ("read", "write", "trim", "flush")))
        for name, r in self.json["resources"].items():
            self.assertTrue(0 <= r["busy_mean"] <= r["busy_max"] <= 1, name)
        self.assertEqual(json.loads((self.result.path / "wall_clock.json").read_text()).keys() & {"wall_s"}, {"wall_s"})

    def test_stages_sum_to_the_total(self):
        by_op = collections.defaultdict(dict)
        rows = self.result.rows("latency.csv")
        self.assertEqual(set(rows[0]), STAGES)
        for row in rows:
            by_op[row["op"]][row["stage"]] = row
        self.assertEqual(set(by_op), {"read", "write", "trim", "flush"})
        for op, stages in by_op.items():
            total = stages.pop("total")
            # Printed to 1e-6 us, so each is off by half of that at most.
            off = (len(stages) + 1) * 0.5e-6 + 1e-9
            self.assertAlmostEqual(sum(float(s["mean_us"]) for s in stages.values()), float(total["mean_us"]), delta=off)
            self.assertAlmostEqual(sum(float(s["share_pct"]) for s in stages.values()), 100, delta=0.01)
            self.assertEqual(int(total["count"]), self.json[op]["ios"])
            for s in [*stages.values(), total]:
                values = [float(s[k]) for k in ("p50_us", "p90_us", "p99_us", "p99.9_us", "p99.99_us", "max_us")]
                self.assertEqual(values[:-1], sorted(values[:-1]))
                self.assertLessEqual(values[-2], values[-1] + 0.5e-3)
                self.assertEqual(int(s["count"]), int(total["count"]))
            exact = self.json["latency_us"][op]
            parts = sum(s["mean"] for name, s in exact.items() if name != "total")
            self.assertAlmostEqual(parts, exact["total"]["mean"], delta=1e-9 * exact["total"]["mean"])

    def test_timeseries_sums_to_the_totals(self):
        rows = self.result.rows("timeseries.csv")
        self.assertGreater(len(rows), 5)
        time = 0.0
        for row in rows:
            self.assertAlmostEqual(float(row["time_ms"]) - time, float(row["interval_ms"]), delta=2e-6)
            time = float(row["time_ms"])
        self.assertAlmostEqual(time, self.json["simulated_s"] * 1e3, delta=1e-6)
        for op in ("read", "write"):
            seconds = [float(r["interval_ms"]) * 1e-3 for r in rows]
            # Rates are printed to 0.1 per second and 0.001 MB/s.
            ios = sum(float(r[f"{op}_iops"]) * s for r, s in zip(rows, seconds))
            self.assertAlmostEqual(ios, self.json[op]["ios"], delta=0.05 * sum(seconds) + 0.01)
            mb = sum(float(r[f"{op}_MBps"]) * s for r, s in zip(rows, seconds))
            self.assertAlmostEqual(mb, self.json[op]["bytes"] * 1e-6, delta=0.0005 * sum(seconds) + 1e-5)
        for column, name in (("erased_blocks", "blocks_erased"), ("moved_pages", "gc_pages"), ("host_pages", "host_pages")):
            self.assertEqual(sum(int(r[column]) for r in rows), self.json["ftl"][name], name)
        self.assertGreater(self.json["ftl"]["blocks_erased"], 0)

    def test_summary_and_json_on_standard_output(self):
        text = self.ssdtlm("run", "tiny-test", "-w", self.job_file, "-o", "text")
        self.assertEqual((text.returncode, text.stderr), (OK, ""))
        self.assertIn(f"WAF {self.json['ftl']['waf']:.3f}", text.stdout)
        self.assertIn(self.json["limiting"], text.stdout)
        as_json = self.ssdtlm("run", "tiny-test", "-w", self.job_file, "-o", "json", "--json")
        self.assertEqual(json.loads(as_json.stdout), self.json)

    def test_printed_configuration_repeats_the_run(self):
        shown = self.ssdtlm("config", "show", "--resolved", "tiny-test", "--set", "gc.policy=d_choices", "--set",
                            "firmware.clock=400MHz")
        self.assertEqual((shown.returncode, shown.stderr), (OK, ""))
        self.write("shown.toml", shown.stdout)
        first = self.simulate("tiny-test", self.job_file, "--set", "gc.policy=d_choices", "--set", "firmware.clock=400MHz",
                              output="first").json()
        # result.json carries the same text.
        self.write("carried.toml", first.pop("config_toml"))
        for device in ("shown.toml", "carried.toml"):
            again = self.simulate(device, self.job_file, output=device + ".out").json()
            echo = again.pop("config_toml")
            self.assertEqual(again, first, device)
            # The values are the same; only the comments that say where they come from have changed.
            values = [line.split(" # ")[0].rstrip() for line in echo.splitlines()]
            self.assertEqual(values, [line.split(" # ")[0].rstrip() for line in shown.stdout.splitlines()])
        self.assertNotEqual(first["latency_us"], self.json["latency_us"])


if __name__ == "__main__":
    unittest.main()
