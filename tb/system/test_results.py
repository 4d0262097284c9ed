# SPDX-License-Identifier: Apache-2.0
"""The result files: what sums up must sum up, and a printed configuration is a configuration."""
import collections
import decimal
import json
import subprocess
import unittest

from support import OK, SystemTest

STAGES = {"op", "stage", "count", "share_pct", "mean_us", "p50_us", "p90_us", "p99_us", "p99.9_us", "p99.99_us", "max_us"}
KEYS = {
    "ssdtlm": str, "device": str, "workload": str, "workload_digest": str, "seed": int, "interrupted": bool, "ended_by": str, "simulated_s": float,
    "measured_window_s": float, "bring_up_s": float, "commands": int, "commands_including_ramp": int,
    "integrity_checked_blocks": int, "error_status": int, "read": dict, "write": dict, "trim": dict, "flush": dict,
    "precondition": dict, "limiting": str, "limit": dict, "resources": dict, "ftl": dict, "wear": dict, "die_queue": dict, "counters": dict, "books": list, "latency_us": dict, "latency_us_by_job": list, "notes": list,
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
            self.assertAlmostEqual(d["iops"], d["ios"] / d["active_s"], delta=1e-6 * d["iops"])
            self.assertAlmostEqual(d["MB_per_s"], d["iops"] * 4096e-6, delta=1e-6 * d["MB_per_s"])
        self.assertGreater(self.json["flush"]["ios"], 0)
        self.assertEqual(self.json["commands"], sum(self.json[op]["ios"] for op in ("read", "write", "trim", "flush")))
        for name, r in self.json["resources"].items():
            self.assertTrue(0 <= r["busy_mean"] <= r["busy_max"] <= 1, name)
        self.assertEqual(json.loads((self.result.path / "wall_clock.json").read_text()).keys() & {"wall_s"}, {"wall_s"})

    def test_wear(self):
        """Every erase of the flash is in the count of a block, seen by die and over the device."""
        wear, geometry = self.json["wear"], {"dies": 2, "blocks of a die": 64}  # tiny-test
        self.assertEqual({len(wear[k]) for k in ("erases_min", "erases_mean", "erases_max")}, {geometry["dies"]})
        erases = sum(row["erases"] * row["blocks"] for row in wear["blocks_by_erases"])
        self.assertEqual(sum(row["blocks"] for row in wear["blocks_by_erases"]), geometry["dies"] * geometry["blocks of a die"])
        self.assertEqual(erases, self.json["counters"]["flash_block_erases"])
        self.assertGreater(erases, 100)
        self.assertAlmostEqual(sum(wear["erases_mean"]) * geometry["blocks of a die"], erases, places=6)
        counts = [row["erases"] for row in wear["blocks_by_erases"]]
        self.assertEqual((counts[0], counts[-1]), (min(wear["erases_min"]), max(wear["erases_max"])))
        self.assertEqual(counts, sorted(set(counts)))
        for least, mean, most in zip(wear["erases_min"], wear["erases_mean"], wear["erases_max"]):
            self.assertTrue(least <= mean <= most)

    def test_queues_of_dies(self):
        """By Little's law: the mean number of transactions that wait for dies is their rate times their mean wait."""
        for depth, order in ((32, "rw=randread"), (4, "rw=randread"), (1, "rw=randread")):
            job = self.job("reads", order, "bs=4k", f"iodepth={depth}", "number_ios=20k", "norandommap", "io_size=1g")
            j = self.simulate("tiny-test", job, "--set", "run.timeseries_interval=97us", "--set", "precondition.state=sequential").json()
            stages = j["latency_us"]["read"]
            wait = sum(row["mean"] for stage, row in stages.items() if stage.startswith("die_wait") or stage in ("scheduler", "channel_wait"))
            expected = j["read"]["ios"] / j["simulated_s"] * wait * 1e-6
            seen = sum(j["die_queue"]["mean"])
            print(f"depth {depth}: {expected:.3f} by Little's law, {seen:.3f} seen in {j['die_queue']['looks']} looks, at most {j['die_queue']['max']}", flush=True)
            self.assertAlmostEqual(seen, expected, delta=0.05 + 0.05 * expected)
            self.assertEqual(j["die_queue"]["looks"], int(j["simulated_s"] / 97e-6))
            self.assertLessEqual(max(j["die_queue"]["max"]), depth)

    def test_bins_are_the_breakdown(self):
        """The sums over latency_bins.csv are those of latency.csv, and each bin's mean lies in it."""
        rows = self.result.rows("latency_bins.csv")
        by_op = collections.defaultdict(list)
        for row in rows:
            by_op[row["op"]].append(row)
        self.assertEqual(set(by_op), set(self.json["latency_us"]))
        stages = [name for name in rows[0] if name.endswith("_ps")]
        for op, bins in by_op.items():
            exact = self.json["latency_us"][op]
            count = sum(int(b["count"]) for b in bins)
            self.assertEqual(count, exact["total"]["count"])
            for stage in stages:
                mean = exact.get(stage[:-3], {"mean": 0})["mean"]
                self.assertAlmostEqual(sum(int(b[stage]) for b in bins) / count * 1e-6, mean, delta=1e-12 + 1e-12 * mean)
            for b in bins:
                mean_ns = sum(int(b[stage]) for stage in stages) / int(b["count"]) / 1000
                self.assertLessEqual(int(b["from_ns"]) - 0.5, mean_ns)
                self.assertLessEqual(mean_ns, int(b["below_ns"]) - 0.5)
            # fio's rule: the bin at which the cumulative count reaches the percentile; printed is its middle.
            for p in (50, 90, 99):
                cumulative = 0
                for b in bins:
                    cumulative += int(b["count"])
                    if cumulative * 100 >= p * count:
                        break
                self.assertLessEqual(int(b["from_ns"]) / 1000, exact["total"][f"p{p}"])
                self.assertLessEqual(exact["total"][f"p{p}"], int(b["below_ns"]) / 1000)

    def test_jobs_and_tenants_are_the_breakdown(self):
        """Counts and sums over the jobs, and over the tenants, are those of latency.csv; a tenant is its jobs."""
        text = "[global]\nioengine=libaio\nbs=4k\nsize=2m\nnumber_ios=400\n[a, b]\nrw=randread\niodepth=4\nnumjobs=3\n[c]\nrw=randrw\niodepth=8\nwrite_hint=long\n"
        job = self.write("tenants.fio", text)
        result = self.simulate("tiny-test", job, "--set", "host.tenants=by_job", "--set", "precondition.state=sequential",
                               "--set", "nvme.streams=4", "--set", "host.streams=true")
        exact, rows = result.json()["latency_us"], result.rows("latency_by_job.csv")
        stages = [k for k in rows[0] if k.endswith("_us") and k not in ("mean_us", "p50_us", "p99_us", "p99.9_us", "max_us")]
        self.assertEqual([(r["number"], r["name"], r["op"]) for r in rows if r["of"] == "job"],
                         [("0", "a, b", "read"), ("1", "a, b", "read"), ("2", "a, b", "read"), ("3", "c", "read"), ("3", "c", "write")])
        self.assertEqual([(r["number"], r["op"]) for r in rows if r["of"] == "tenant"], [("1", "read"), ("2", "read"), ("2", "write")])
        for of in ("job", "tenant"):
            for op in ("read", "write"):
                own = [r for r in rows if r["of"] == of and r["op"] == op]
                count = sum(int(r["count"]) for r in own)
                self.assertEqual(count, exact[op]["total"]["count"])
                self.assertEqual(max(float(r["max_us"]) for r in own), round(exact[op]["total"]["max"], 6))
                for stage in stages:
                    mean = sum(int(r["count"]) * float(r[stage]) for r in own) / count
                    self.assertAlmostEqual(mean, exact[op].get(stage[:-3], {"mean": 0})["mean"], delta=1e-6)
                for r in own:
                    self.assertAlmostEqual(sum(float(r[s]) for s in stages), float(r["mean_us"]), delta=len(stages) * 1e-6)
        together = [r for r in rows if r["of"] == "tenant" and r["number"] == "1"][0]
        self.assertEqual(int(together["count"]), 1200)
        long = [r for r in rows if r["of"] == "stream"]
        self.assertEqual([(r["number"], r["op"], r["count"]) for r in long], [("3", "write", str(exact["write"]["total"]["count"]))])
        listed = result.json()
        self.assertEqual(listed["latency_us_by_stream"][0]["mean"], exact["write"]["total"]["mean"])
        self.assertEqual([(j["name"], j["tenant"]) for j in listed["latency_us_by_job"]], [("a, b", 1)] * 3 + [("c", 2)] * 2)
        self.assertEqual([t["tenant"] for t in listed["latency_us_by_tenant"]], [1, 2, 2])

    def test_hits_in_the_cache_of_the_map_by_tenant(self):
        """Of two tenants that ask for as much, one whose part of the cache holds all that it asks for misses each entry once; all hits and misses are those of one of them."""
        text = "[global]\nioengine=libaio\nbs=4k\nsize=1m\nio_size=40m\nnumber_ios=10000\nrw=randread\nnorandommap\niodepth=2\n[a]\n[b]\noffset=1m\n"
        job = self.write("map.fio", text)
        dftl = ("host.tenants=by_job", "precondition.state=sequential", "ftl.mapping=dftl", "map.cache=2KiB", "nvme.max_transfer=16KiB")
        misses = {}
        for quotas in ("[]", "[75]", "[25]"):
            j = self.simulate("tiny-test", job, *(part for s in (*dftl, f"map.quotas={quotas}") for part in ("--set", s))).json()
            by = {m["tenant"]: m for m in j["map_by_tenant"]}
            self.assertEqual([by[1]["hits"] + by[1]["misses"], by[2]["hits"] + by[2]["misses"]], [10000, 10000])
            for what in ("hits", "misses"):
                self.assertEqual(sum(m[what] for m in by.values()), j["counters"][f"map_{what}"])
            misses[quotas] = by[1]["misses"], by[2]["misses"]
        # There is room for 256 entries; fio draws the same 256 units of 256 again and again, so (1 - 1/e) x 256 = 162 different ones (deviation 5), less than 192.
        for tenant, quotas in ((0, "[75]"), (1, "[25]")):
            self.assertAlmostEqual(misses[quotas][tenant], 162, delta=16)
            self.assertGreater(misses[quotas][1 - tenant], 5000)
            self.assertGreater(misses["[]"][tenant], 4000)

    def test_a_ramp_does_not_count(self):
        """Figures of the flash and utilisation are of the measured window; the counters and books are of the whole run."""
        job = self.job("ramped", "rw=randwrite", "bs=4k", "iodepth=8", "norandommap", "time_based", "ramp_time=1200ms", "runtime=300ms")
        j = self.simulate("tiny-test", job, "--set", "buffer.mode=write_through", "--set", "precondition.state=random").json()
        self.assertGreater(j["commands_including_ramp"], 4 * j["commands"])
        self.assertAlmostEqual(j["ftl"]["host_units"], j["write"]["ios"], delta=16)
        self.assertLess(j["ftl"]["blocks_erased"], 0.3 * j["counters"]["flash_block_erases"])
        for line in j["books"]:
            self.assertEqual(line["left"], line["right"], line["line"])
        # All of a saturated die's time, not five times as much of a fifth.
        self.assertGreater(j["resources"]["die"]["busy_max"], 0.9)
        self.assertLessEqual(j["resources"]["die"]["busy_max"], 1.0)

    def test_members_of_resources(self):
        for name, r in self.json["resources"].items():
            self.assertEqual(len(r["busy"]), r["members"], name)
            self.assertAlmostEqual(sum(r["busy"]) / r["members"], r["busy_mean"], places=12)
            self.assertEqual(max(r["busy"]), r["busy_max"])

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
        time = decimal.Decimal(0)
        for row in rows:
            self.assertEqual(decimal.Decimal(row["start_ms"]), time)
            time += decimal.Decimal(row["interval_ms"])
        self.assertAlmostEqual(float(time), self.json["simulated_s"] * 1e3, delta=1e-6)
        for op in ("read", "write", "trim", "flush"):
            self.assertEqual(sum(int(r[f"{op}_ios"]) for r in rows), self.json[op]["ios"])
        for op in ("read", "write"):
            self.assertEqual(sum(int(r[f"{op}_bytes"]) for r in rows), self.json[op]["bytes"])
        for column, name in (("erased_blocks", "blocks_erased"), ("moved_pages", "gc_pages"), ("host_units", "host_units"),
                             ("flash_units", "flash_units")):
            self.assertEqual(sum(int(r[column]) for r in rows), self.json["ftl"][name], name)
        self.assertGreater(self.json["ftl"]["blocks_erased"], 0)

    def test_the_log_of_garbage_collection_follows_each_victim(self):
        logged = self.simulate("tiny-test", self.job_file, "--set", "run.gc_log=true", "--set", "wear.most_spread=1", "--set", "wear.each=2",
                               output="logged")
        result, rows = logged.json(), logged.rows("gc.csv")
        open_victims, times, chosen = {}, [], {"space": 0, "wear": 0}
        for row in rows:
            times.append(float(row["time_us"]))
            valid, invalid = int(row["valid_units"]), int(row["invalid_units"])
            if row["event"] == "chosen":
                self.assertNotIn(row["group"], open_victims, "one victim of a group at a time")
                self.assertTrue(invalid > 0 or row["reason"] == "wear")
                open_victims[row["group"]] = row
                chosen[row["reason"]] += 1
            else:
                first = open_victims.pop(row["group"])
                self.assertEqual(first["superblock"], row["superblock"])
                self.assertEqual((valid, int(row["erases"])), (0, int(first["erases"]) + 1))
                self.assertEqual(invalid, int(first["valid_units"]) + int(first["invalid_units"]))
        self.assertEqual(times, sorted(times))
        self.assertGreater(chosen["space"], 10)
        self.assertGreater(chosen["wear"], 0)
        self.assertEqual(sum(chosen.values()), result["counters"]["gc_victims"])
        # The counts of the FTL are those of the workload's time.
        during = [row for row in rows if 0 <= float(row["time_us"]) <= result["simulated_s"] * 1e6]
        self.assertEqual(sum(row["event"] == "chosen" and row["reason"] == "wear" for row in during), result["ftl"]["wear_blocks_collected"])
        self.assertEqual(sum(row["event"] == "ended" for row in during), result["ftl"]["blocks_erased"])
        self.assertFalse((self.result.path / "gc.csv").exists(), "only when it is asked for")

    def test_timeseries_rates_and_waf_follow_from_their_row(self):
        # Many intervals are shorter than a program: what is written in one ends in another.
        fine = self.simulate("tiny-test", self.job_file, "--set", "run.timeseries_interval=100us", output="fine")
        self.assertEqual(fine.json()["latency_us"], self.json["latency_us"], "looking changes nothing")
        factors = []
        for row in [*fine.rows("timeseries.csv"), *self.result.rows("timeseries.csv")]:
            seconds = float(row["interval_ms"]) * 1e-3
            for op in ("read", "write"):
                self.assertAlmostEqual(float(row[f"{op}_iops"]), int(row[f"{op}_ios"]) / seconds, delta=0.051)
                self.assertAlmostEqual(float(row[f"{op}_MBps"]), int(row[f"{op}_bytes"]) / seconds * 1e-6, delta=0.00051)
            if int(row["host_units"]) == 0:
                self.assertEqual(row["waf"], "")
                continue
            self.assertAlmostEqual(float(row["waf"]), int(row["flash_units"]) / int(row["host_units"]), delta=0.000051)
            factors.append(float(row["waf"]))
        self.assertGreater(len(factors), 100)
        self.assertGreaterEqual(min(factors), 1)
        self.assertGreaterEqual(self.json["ftl"]["waf"], 1)

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


class HostQueue(SystemTest):
    """A queue pair that is full: what waits in the host is part of the latency, in all reports alike."""

    def test_total_is_fios_latency(self):
        job = self.job("deep", "rw=randrw", "bs=4k", "iodepth=1023", "number_ios=20000", "norandommap")
        result = self.simulate("mqsim-table3", job, "--set", "host.queue_entries=4", "--timeline", "--timeline-to", "10ms")
        j = self.assert_right(result)
        fio = result.json("fio.json")["jobs"][0]
        rows = {(r["op"], r["stage"]): float(r["mean_us"]) for r in result.rows("latency.csv")}
        for op in ("read", "write"):
            us = j["latency_us"][op]
            # fio cuts each time to whole nanoseconds.
            self.assertAlmostEqual(fio[op]["lat_ns"]["mean"] * 1e-3, us["total"]["mean"], delta=0.001)
            self.assertAlmostEqual(fio[op]["slat_ns"]["mean"] * 1e-3, us["host_queue"]["mean"], delta=0.001)
            self.assertAlmostEqual(rows[op, "total"], us["total"]["mean"], delta=1e-6)
            self.assertGreater(us["host_queue"]["share"], 0.95)
            self.assertAlmostEqual(sum(s["mean"] for n, s in us.items() if n != "total"), us["total"]["mean"], places=6)
            print(f"{op}: total {us['total']['mean']:.1f} us, host_queue {us['host_queue']['mean']:.1f} us; "
                  f"fio lat {fio[op]['lat_ns']['mean'] * 1e-3:.1f} us")
        events = json.loads((result.path / "trace.json").read_text(), parse_float=decimal.Decimal)
        names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
        by_command = collections.defaultdict(dict)
        for e in events:
            if e["ph"] == "X" and names[e["tid"]].startswith("queue "):
                by_command[e["args"]["command"]]["wait" if e["name"] == "host_queue" else "slot"] = e
        both = [c for c in by_command.values() if len(c) == 2]
        self.assertGreater(len(both), 100)
        for c in both:
            # Where the wait ends, the slot begins; and the slot's stages are its length.
            self.assertEqual(c["wait"]["ts"] + c["wait"]["dur"], c["slot"]["ts"])
            self.assertEqual(sum(v for k, v in c["slot"]["args"].items() if k.endswith("_us")), c["slot"]["dur"])
        self.assertEqual({n for n in names.values() if " slot " in n}, {f"queue 1 slot {i}" for i in range(3)})

    def test_nothing_while_slots_suffice(self):
        job = self.job("deep", "rw=randrw", "bs=4k", "iodepth=1023", "number_ios=20000", "norandommap")
        j = self.assert_right(self.simulate("mqsim-table3", job))
        for op in ("read", "write"):
            self.assertNotIn("host_queue", j["latency_us"][op])


class Rates(SystemTest):
    def compare_with_fio(self, ours):
        real = subprocess.run(["fio", "--output-format=json", "rates.fio", "--ioengine=null"], cwd=self.dir,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(real.returncode, 0, real.stderr)
        theirs = json.loads(real.stdout[real.stdout.index("{"):])["jobs"]
        self.assertEqual([j["jobname"] for j in ours], [j["jobname"] for j in theirs])
        for a, b in zip(ours, theirs):
            for op in ("read", "write"):
                self.assertEqual(a[op]["total_ios"], b[op]["total_ios"])
                # fio lives in real time: it cannot be early, but its start and end take a few milliseconds, and a busy
                # machine holds it up.
                self.assertGreater(b[op]["runtime"], a[op]["runtime"] - 40)
                for j in (a[op], b[op]):
                    # runtime is in whole milliseconds.
                    self.assertAlmostEqual(j["iops"] * j["runtime"], 1000 * j["total_ios"], delta=j["iops"])

    def test_a_direction_is_divided_by_the_time_of_its_jobs(self):
        """A reader of 1 s beside a writer of 3 s, one of them grouped and one alone, against fio's own figures."""
        lines = ["[global]", "ioengine=libaio", "bs=4k", "size=8m", "rate_iops=100", "GROUP", "[r]", "rw=randread",
                 "number_ios=100", "[w]", "rw=randwrite", "number_ios=300", "[later]", "stonewall", "rw=randread",
                 "number_ios=50", ""]
        for group in ("group_reporting=0", "group_reporting"):
            job = self.write("rates.fio", "\n".join(lines).replace("GROUP", group))
            result = self.simulate("tiny-test", job, output=group)
            ours = result.json("fio.json")["jobs"]
            self.compare_with_fio(ours)
            # The last of n requests starts (n - 1) / 100 s after the first; a group takes the time of its slowest job.
            runtimes = [(j["read"]["runtime"], j["write"]["runtime"]) for j in ours]
            self.assertEqual(runtimes, [(990, 2990), (490, 0)] if group == "group_reporting" else [(990, 0), (0, 2990), (490, 0)])
            j = result.json()
            # 0.99 s of the first group, and 0.49 s behind it.
            self.assertAlmostEqual(j["read"]["active_s"], 0.99 + 0.49, delta=0.002)
            self.assertAlmostEqual(j["write"]["active_s"], 2.99, delta=0.002)
            self.assertAlmostEqual(j["read"]["iops"], 150 / j["read"]["active_s"], delta=1e-6)
            self.assertAlmostEqual(j["measured_window_s"], 2.99 + 0.49, delta=0.003)


if __name__ == "__main__":
    unittest.main()
