# SPDX-License-Identifier: Apache-2.0
"""Waits for the flash of small random runs with several flows, by flow and in all."""
import collections
import csv
import json
import random

OK = 0
WAITS = [f"die_wait_{k}" for k in ("host_read", "host_write", "gc", "mapping", "erase", "rmw", "fold", "relocation", "merge", "journal", "parity", "padding",
                                   "checkpoint")] + ["channel_wait"]


def bins(folder):
    """Lines of latency_bins.csv: {"count": n, "stages": {stage: ps}}."""
    with open(folder / "latency_bins.csv", newline="") as f:
        return [{"count": int(row["count"]), "stages": {k.removesuffix("_ps"): int(v) for k, v in row.items() if k.endswith("_ps")}} for row in csv.DictReader(f)]


def random_flow(r):
    rw = r.choice(["randread", "randwrite", "randrw", "read", "write", "randtrim", "randread"])
    lines = ["[job]", "ioengine=libaio", f"rw={rw}", f"bs={r.choice(['2k', '4k', '4k', '16k', '64k'])}", f"iodepth={r.choice([1, 4, 16, 64])}",
             f"number_ios={r.choice([100, 300, 800])}", "size=8m", "io_size=400m", "norandommap"]
    if "w" in rw and r.random() < 0.3:
        lines.append("fsync=7")
    return "\n".join([*lines, ""])


def random_settings(r):
    """What makes work of every kind, and every way in which a die, a plane or its registers are waited for."""
    settings = ["buffer.size=" + r.choice(["128KiB", "512KiB"]), "precondition.state=" + r.choice(["random", "random", "sequential", "fresh"])]
    several = [["nand.independent_plane_read=true"], ["nand.cache_program=true"], ["ftl.mapping=dftl", "map.cache=8KiB", "map.entry_size=64B", "nvme.max_transfer=64KiB"],
               ["scheduler.suspend=for_reads"], ["nand.unit_size=4KiB"], ["scheduler.policy=fifo"], ["scheduler.policy=weighted"], ["buffer.mode=write_through"],
               ["nand.t_program=2ms", "nand.t_erase=8ms"], ["refresh.reads=10"], ["buffer.quotas=[40]"], ["nand.planes"], ["scheduler.bus_order=data_first"], ["bits"]]
    for some in several:
        if r.random() < 0.25:
            settings += {"nand.planes": ["nand.geometry.planes_per_die=2", "nand.geometry.blocks_per_plane=16"], "bits": ["nand.bits_per_cell=3", "slc.blocks=4"],
                         "nand.unit_size=4KiB": ["nand.geometry.unit_size=4KiB"]}.get(some[0], some)
    return settings


def flow_waits(test, runs, first=1):
    """A run that the device refuses says so with exit 2 and is drawn again; any other end is an error."""
    found, waited, drawn = collections.Counter(), collections.Counter(), first
    done_runs = 0
    while done_runs < runs:
        r = random.Random(drawn)
        drawn += 1
        test.assertLess(drawn - first, 20 * runs + 20, "most draws are refused")
        flows = r.choice([2, 2, 3, 5])
        words = [w for i in range(flows) for w in ("-w", test.write(f"f{i}.fio", random_flow(r)))]
        settings = random_settings(r)
        done = test.ssdtlm("run", "tiny-test", "-q", "-o", "waits", *words, *[w for s in settings for w in ("--set", s)])
        if done.returncode == 2:
            continue
        test.assertEqual(done.returncode, OK, (drawn - 1, settings, done.stderr[-3000:]))
        done_runs += 1
        result = json.loads((test.dir / "waits" / "result.json").read_text())
        by_stage, by_flow = collections.Counter(), collections.defaultdict(collections.Counter)
        for row in result.get("flow_waits", []):
            test.assertEqual(row["total_ps"], sum(row["stages_ps"].values()))
            by_stage.update(row["stages_ps"])
            by_flow[row["flow"]].update(row["stages_ps"])
            found[row["flow"] == row["for"], row["for"] == "nobody"] += row["total_ps"]
        sums = collections.Counter()
        for row in bins(test.dir / "waits"):
            sums.update({s: row["stages"][s] for s in WAITS if row["stages"][s]})
        test.assertEqual(by_stage, sums, (drawn - 1, settings))
        waited.update(sums)
        # Means by tenant, printed as the nearest double of us.
        means = collections.defaultdict(collections.Counter)
        for tenant in result["latency_us_by_tenant"]:
            for stage in WAITS:
                if us := tenant["stages"].get(stage, 0):
                    means[result["flows"][tenant["tenant"] - 1]["name"]][stage] += us * tenant["count"] * 1e6
        for flow in means.keys() | by_flow.keys():
            for stage in WAITS:
                test.assertAlmostEqual(by_flow[flow][stage], means[flow][stage], delta=1 + 1e-9 * by_flow[flow][stage])
    print(f"{done_runs} of {drawn - first} drawn; ps by stage {dict(waited)}; (own, nobody's) {dict(found)}")
    test.assertGreater(found[False, False], 0)
    test.assertGreater(found[True, False], 0)
