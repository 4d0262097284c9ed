# SPDX-License-Identifier: Apache-2.0
"""What result.json says of a run with a ramp is of the measured window: each ratio is computed once more from the run's timeline, time series and log of victims."""
import collections
import json

from support import OK, SystemTest

JOB = """[global]
ioengine=libaio
norandommap
time_based
ramp_time=150ms
runtime=150ms
bs=4k
[reads]
rw=randread
size=1m
iodepth=4
[writes]
rw=randwrite
iodepth=4
"""
RAMP_US = 150e3
PAGE = 4096
# What is called a ratio: shares of time, of commands, of look-ups, of bytes.
RATIOS = {"share", "busy_mean", "busy_max", "busy", "hit_ratio", "waf", "unit_write_amplification"}


def ratios(value, path=()):
    """(path, value) of every ratio in a JSON document, that of preconditioning left out."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in RATIOS:
                yield path + (key,), inner
            elif key != "precondition":
                yield from ratios(inner, path + (key,))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from ratios(inner, path + (i,))


class MeasuredWindow(SystemTest):
    def setUp(self):
        super().setUp()
        settings = ("host.tenants=by_job", "precondition.state=random", "ftl.mapping=dftl", "map.cache=4KiB", "buffer.size=64KiB", "run.gc_log=true", "run.timeseries_interval=100us")
        done = self.ssdtlm("run", "tiny-test", "-w", self.write("ramped.fio", JOB), "-o", "out", "--timeline", *(word for s in settings for word in ("--set", s)))
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        self.result = json.loads((self.dir / "out" / "result.json").read_text())
        events = json.loads((self.dir / "out" / "trace.json").read_text())
        groups = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
        names = {e["tid"]: f"{groups[e['pid']]}/{e['args']['name']}" for e in events if e["name"] == "thread_name"}
        self.tracks = {name: [] for name in names.values()}
        for e in events:
            if e["ph"] == "X":
                self.tracks[names[e["tid"]]].append((e["ts"], e["ts"] + e["dur"], e["name"], e.get("args", {})))
        start = self.result["bring_up_s"] * 1e6
        ended = [s for name, slices in self.tracks.items() if name.startswith("queues/") for s in slices]
        self.commands = [s for s in ended if s[1] - start >= RAMP_US]
        self.before = len(ended) - len(self.commands)
        # From the first measured completion to the end of the workload.
        self.begin, self.end, self.start = min(s[1] for s in self.commands), start + self.result["simulated_s"] * 1e6, start

    def busy(self, group):
        """Busy shares of the tracks of a group."""
        length = self.end - self.begin
        return [sum(max(0, min(b, self.end) - max(a, self.begin)) for a, b, *_ in slices) / length for name, slices in self.tracks.items() if name.startswith(group)]

    def held(self):
        """Busy shares of the dies, each the only one of its channel: while the array works, and while its command, address or data are on the bus."""
        shares = []
        for channel in range(2):
            slices = sorted((a, b) for name, of in self.tracks.items() for a, b, *_ in of if name.startswith((f"channels/channel {channel}", f"dies/die {channel}.0")))
            held, until = 0, self.begin
            for a, b in slices:
                held += max(0, min(b, self.end) - max(a, until))
                until = max(until, b)
            shares.append(held / (self.end - self.begin))
        return shares

    def programs(self):
        """Of the dies, that ended in the window."""
        return sum(name.endswith("_program") and self.begin <= b <= self.end for group, slices in self.tracks.items() if group.startswith("dies/") for _, b, name, _ in slices)

    def sums(self):
        """Of the time series, over the rows behind the ramp."""
        lines = (self.dir / "out" / "timeseries.csv").read_text().splitlines()
        names = lines[0].split(",")
        rows = [dict(zip(names, line.split(","))) for line in lines[1:]]
        kept = [row for row in rows if self.start + float(row["start_ms"]) * 1e3 >= self.begin]
        return {name: sum(int(row[name] or 0) for row in kept) for name in ("map_hits", "map_misses", "host_units", "flash_units", "write_bytes", "nand_bytes", "erased_blocks")}

    def test_every_ratio(self):
        r = self.result
        self.assertEqual((len(self.commands), self.before), (r["commands"], r["commands_including_ramp"] - r["commands"]))
        self.assertGreater(self.before, 1000)
        found = {}  # path -> (computed here, tolerance)
        for resource, group in (("die", "dies/"), ("channel bus", "channels/"), ("firmware core", "firmware/"), ("link to host", "link/to host"), ("link to device", "link/to device"), ("DRAM port", "DRAM")):
            shares = self.held() if resource == "die" else self.busy(group)
            if not shares:
                continue
            path = ("resources", resource)
            found[path + ("busy_mean",)] = sum(shares) / len(shares), 0.01
            found[path + ("busy_max",)] = max(shares), 0.01
            self.assertEqual(len(r["resources"][resource]["busy"]), len(shares))
            for mine, its in zip(sorted(shares), sorted(r["resources"][resource]["busy"])):
                self.assertAlmostEqual(mine, its, delta=0.01, msg=resource)
        stages = collections.defaultdict(lambda: collections.defaultdict(float))
        for a, b, op, args in self.commands:
            stages[op]["total"] += b - a
            for key, us in args.items():
                if key.endswith("_us"):
                    stages[op][key.removesuffix("_us")] += us
        for op, of in stages.items():
            for stage, us in of.items():
                found["latency_us", op, stage, "share"] = us / of["total"], 1e-4
        sums = self.sums()
        written = PAGE * sum(op == "write" for _, _, op, _ in self.commands)
        programmed = PAGE * self.programs()
        found["ftl", "waf"] = programmed / written, 0.02 * programmed / written
        found["ftl", "unit_write_amplification"] = sums["flash_units"] / sums["host_units"], 0.02 * sums["flash_units"] / sums["host_units"]
        self.assertAlmostEqual(sums["nand_bytes"] / sums["write_bytes"], r["ftl"]["waf"], delta=0.02 * r["ftl"]["waf"])
        # Of two tenants only the sum is in the time series; the one that writes looks up each unit twice, before and behind the change, the other one each once.
        by = r["map_by_tenant"]
        for what in ("hits", "misses"):
            self.assertAlmostEqual(sum(row[what] for row in by), sums[f"map_{what}"], delta=0.01 * sums[f"map_{what}"] + 20)
        reads = sum(op == "read" for _, _, op, _ in self.commands)
        reader = next(i for i, row in enumerate(by) if row["tenant"] == 1)
        self.assertAlmostEqual(by[reader]["hits"] + by[reader]["misses"], reads, delta=8)
        for i, row in enumerate(by):
            found["map_by_tenant", i, "hit_ratio"] = row["hits"] / (row["hits"] + row["misses"]), 1e-12
        # Each job is a tenant and a flow. Its name is on its commands in the timeline.
        for i, flow in enumerate(r["flows"]):
            row = next(row for row in by if row["tenant"] == i + 1)
            found["flows", i, "map", "hit_ratio"] = row["hits"] / (row["hits"] + row["misses"]), 1e-12
            if flow["name"] == "reads":
                without = sum(op == "read" and not args.get("array_us", 0) > 0 for _, _, op, args in self.commands)
                found["flows", i, "reads", "hit_ratio"] = without / reads, 1e-12
        # All that are there, and no others but zeros.
        for path, value in ratios(r):
            if path[0] == "limit":  # looked at random instants, and judged by what doubling does (tb/limits)
                continue
            if path[-1] == "busy" or path[1] == "DRAM port" or (  # the timeline has no track of the DRAM
                    path[0] == "latency_us" and path[2] not in stages[path[1]]):
                continue
            with self.subTest(path=path):
                self.assertIn(path, found, "nothing says what it should be")
                mine, tolerance = found.pop(path)
                self.assertAlmostEqual(mine, value, delta=tolerance)
        self.assertEqual({path for path, (mine, _) in found.items() if mine > 0}, set())

    def test_counters(self):
        r = self.result
        in_window = collections.Counter(name for group, slices in self.tracks.items() if group.startswith("dies/") for _, b, name, _ in slices if self.begin <= b <= self.end)
        all_of_them = collections.Counter(name for group, slices in self.tracks.items() if group.startswith("dies/") for *_, name, _ in slices)
        for slices, counter in (("host_read", "flash_host_page_reads"), ("host_program", "flash_host_page_programs"), ("gc_program", "flash_gc_page_programs"), ("erase", "flash_block_erases")):
            self.assertAlmostEqual(r["counters"][counter], in_window[slices], delta=20, msg=counter)
            self.assertEqual(r["counters_whole_run"][counter], all_of_them[slices], counter)
        lines = [line.split(",") for line in (self.dir / "out" / "gc.csv").read_text().splitlines()[1:]]
        chosen = [self.start + float(line[0]) for line in lines if line[1] == "chosen"]
        self.assertAlmostEqual(r["counters"]["gc_victims"], sum(self.begin <= t <= self.end for t in chosen), delta=2)
        self.assertAlmostEqual(r["ftl"]["blocks_erased"], self.sums()["erased_blocks"], delta=2)
        # States are no counts of a window.
        self.assertNotIn("map_most_entries", r["counters"])
        self.assertIn("map_most_entries", r["counters_whole_run"])

    def test_bytes_by_cause(self):
        """Both breakdowns of what was programmed sum to the whole: by what it was for, and what the dies count by the same."""
        ftl, counters = self.result["ftl"], self.result["counters_whole_run"]
        self.assertEqual(sum(ftl["nand_bytes_by_cause"].values()), ftl["nand_bytes"])
        self.assertEqual(ftl["waf"], ftl["nand_bytes"] / ftl["host_bytes"])
        self.assertEqual(ftl["host_bytes"], PAGE * sum(op == "write" for _, _, op, _ in self.commands))
        self.assertIn("translation", ftl["nand_bytes_by_cause"])
        programs = sum(name.endswith("_program") for group, slices in self.tracks.items() if group.startswith("dies/") for *_, name, _ in slices)
        self.assertEqual(programs, sum(n for name, n in counters.items() if name.endswith("_page_programs") and "multi_plane" not in name))


class WafInBytes(SystemTest):
    def test_small_writes_on_large_units(self):
        """Random writes of 4 KiB on mapping units of 16 KiB without room to join them: four bytes for each, and what collection moves."""
        for size, factor in ((4, 4), (16, 1)):
            done = self.ssdtlm("run", "tiny-test", "--ioengine=libaio", "--rw=randwrite", f"--bs={size}k", "--iodepth=1", "--number_ios=500", "--norandommap", "-o", "out", "--set", "nand.geometry.page_size=16KiB",
                               "--set", "nand.geometry.unit_size=16KiB", "--set", "ftl.user_capacity=48MiB", "--set", "buffer.mode=write_through")
            self.assertEqual((done.returncode, done.stderr), (OK, ""))
            ftl = json.loads((self.dir / "out" / "result.json").read_text())["ftl"]
            self.assertEqual((ftl["unit_write_amplification"], ftl["waf"]), (1, factor))
            self.assertIn(f"WAF {factor}.000", done.stdout)

    def test_what_is_written_again_in_the_buffer(self):
        """One unit, again and again: the buffer programs it a few times."""
        done = self.ssdtlm("run", "tiny-test", "--ioengine=libaio", "--rw=randwrite", "--bs=4k", "--size=4k", "--iodepth=1", "--number_ios=1000", "--norandommap", "-o", "out")
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        ftl = json.loads((self.dir / "out" / "result.json").read_text())["ftl"]
        self.assertEqual(ftl["waf"], ftl["nand_bytes"] / (1000 * 4096))
        self.assertLess(ftl["waf"], 1)
