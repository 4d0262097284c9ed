# SPDX-License-Identifier: Apache-2.0
"""Sweeps: what a specification means, what is run of it, what becomes of failures, and the table of all results."""
import fractions
import json
import math
import os
import pathlib
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tomllib
import unittest

import sweeps
from support import BINARY, JOBS, OK, SOURCE, TRACES, USER_ERROR, SystemTest

sys.path.insert(0, str(SOURCE / "python"))
os.environ["SSDTLM_BINARY"] = BINARY
import ssdtlm  # noqa: E402  pylint: disable=wrong-import-position
from ssdtlm.sweeping import build_id, driver, expressions, points, progress, spec, workloads  # noqa: E402  pylint: disable=wrong-import-position
from ssdtlm.sweeping.commands import Sweep  # noqa: E402  pylint: disable=wrong-import-position
from ssdtlm.sweeping.plan import Plan  # noqa: E402  pylint: disable=wrong-import-position

BASE = {"device": "tiny-test", "fio": {"rw": "randread", "bs": "4k", "number_ios": 100}}


def read(**tables):
    return spec.spec_of(pathlib.Path("s"), {**BASE, **tables})


def values(**tables):
    return points.points(read(**tables), lambda device: {"nand.t_read": "75us", "nand.geometry.channels": 2})


class Expressions(unittest.TestCase):
    def value(self, text, **keys):
        return expressions.Expression(text).value({k.replace("__", "."): v for k, v in keys.items()})

    def test_arithmetic(self):
        self.assertEqual(self.value("2 + 3 * 4 // 5"), 4)
        self.assertEqual(self.value("1 if a.b > 2 else 'x'", a__b=3), 1)
        self.assertEqual(self.value("a in ['x', 'y'] and not b", a="x", b=False), True)
        self.assertEqual(self.value("min(8, max(a, 3)) ** 2", a=5), 25)
        self.assertIs(self.value("a / 2", a=4).__class__, int)

    def test_quantities(self):
        """Exact: in binary floating point 3 x 0.1 us is no 0.3 us."""
        self.assertEqual(self.value("quantity(n.t * 3, 'us')", n__t="0.1us"), "0.3us")
        self.assertEqual(self.value("n.t * 3 == 0.0000003", n__t="0.1us"), True)
        self.assertEqual(self.value("quantity(n.size / 2, 'KiB')", n__size="1MiB"), "512KiB")
        self.assertEqual(self.value("n.rate", n__rate="333MT/s"), 333_000_000)
        self.assertEqual(self.value("fio.bs * fio.iodepth", fio__bs="4k", fio__iodepth=8), 32768)
        for unit, factor in expressions.UNITS.items():
            self.assertEqual(expressions.in_base_units("a.b", "7" + unit), 7 * factor)
        self.assertEqual(expressions.join_quantity(fractions.Fraction(135, 2), "us"), "67.5us")

    def test_nothing_but_computing(self):
        for text in ("__import__('os')", "().__class__", "[x for x in y]", "lambda: 1", "f'{1}'", "a[0]", "open('x')", "1 +", "print(1)", "9 << 9", "a := 1"):
            with self.assertRaises(ValueError, msg=text):
                expressions.Expression(text).value({"a": 1, "().__class__": 1})
        with self.assertRaises(ValueError):
            self.value("9 ** 9 ** 9")
        with self.assertRaises(ValueError):
            self.value("1 / a", a=0)


class Points(unittest.TestCase):
    def test_all_ways(self):
        found, excluded = values(grid={"nand.t_read": ["40us", "60us"], "fio.iodepth": [1, 2, 4]},
                                 zip=[{"nand.geometry.channels": [2, 4], "nand.geometry.ways": [2, 1]}],
                                 list=[{"gc.policy": "greedy"}, {"gc.policy": "random", "gc.soft_free_blocks": 8}])
        self.assertEqual((len(found), excluded), (2 * 3 * 2 * 2, 0))
        self.assertEqual(len({json.dumps(p) for p in found}), 24)
        self.assertEqual(found[0], {"nand.t_read": "40us", "fio.iodepth": 1, "nand.geometry.channels": 2, "nand.geometry.ways": 2, "gc.policy": "greedy"})
        self.assertTrue(all(p["nand.geometry.channels"] * p["nand.geometry.ways"] == 4 for p in found))

    def test_derived_and_constraints(self):
        found, excluded = values(grid={"nand.geometry": {"channels": [1, 2, 4, 8], "ways": [1, 2, 4]}},
                                 derive={"nand.geometry.blocks_per_plane": "256 // (nand.geometry.channels * nand.geometry.ways)",
                                         "gc.hard_free_blocks": "nand.geometry.blocks_per_plane // 16"},
                                 where=["nand.geometry.channels * nand.geometry.ways <= 16", "nand.t_read == 0.000075"])
        self.assertEqual((len(found), excluded), (11, 1))
        for p in found:
            self.assertEqual(p["nand.geometry.blocks_per_plane"] * p["nand.geometry.channels"] * p["nand.geometry.ways"], 256)
            self.assertEqual(p["gc.hard_free_blocks"], p["nand.geometry.blocks_per_plane"] // 16)

    def test_random(self):
        ranges = {"nand.t_read": {"from": "40us", "to": "80us"}, "fio.iodepth": {"from": 1, "to": 64, "log": True}, "gc.policy": ["greedy", "random"]}
        drawn, _ = values(random={"points": 400, "seed": 3, "values": ranges})
        self.assertEqual(drawn, values(random={"points": 400, "seed": 3, "values": ranges})[0], "repeatable")
        self.assertNotEqual(drawn, values(random={"points": 400, "seed": 4, "values": ranges})[0])
        fewer, _ = values(random={"points": 400, "seed": 3, "values": {k: ranges[k] for k in ("nand.t_read",)}})
        self.assertEqual([p["nand.t_read"] for p in fewer], [p["nand.t_read"] for p in drawn], "an axis more changes no other")
        times = [float(p["nand.t_read"].removesuffix("us")) for p in drawn]
        self.assertTrue(all(40 <= t <= 80 for t in times))
        self.assertAlmostEqual(statistics.fmean(times), 60, delta=3)  # 400 of a uniform: standard error 0.58
        depths = [p["fio.iodepth"] for p in drawn]
        self.assertTrue(all(isinstance(d, int) and 1 <= d <= 64 for d in depths))
        self.assertAlmostEqual(statistics.fmean(map(math.log2, depths)), 3, delta=0.5)  # even over the logarithm
        self.assertEqual({p["gc.policy"] for p in drawn}, {"greedy", "random"})

    def test_the_documented_specification(self):
        text = re.search(r"```toml\n(.*?)```", (SOURCE / "docs" / "sweeps.md").read_text(), re.S)[1]
        found = spec.spec_of(pathlib.Path("s.toml"), tomllib.loads(text))
        self.assertEqual((found.time_limit_s, found.memory_limit, found.seeds), (600, 2 << 30, list(range(1, 11))))
        shared = sorted({option for option in spec.RUN_OPTIONS})
        run = subprocess.run([BINARY, "help", "run"], capture_output=True, text=True).stdout
        self.assertEqual([option for option in shared if f"--{option}" not in run], [])

    def test_mistakes_all_at_once(self):
        with self.assertRaises(ssdtlm.UserError) as caught:
            spec.spec_of(pathlib.Path("s.toml"), {
                "gird": {}, "grid": {"nand.t_read": "40us", "devise": ["x"], "run.seed": [1], "option.output": ["x"]}, "derive": {"a.b": "1 +"},
                "zip": [{"a.b": [1, 2], "a.c": [1]}], "random": {"points": 3}, "limits": {"time": "3 parsecs", "memory": 5}, "seeds": [1, 1],
                "replicate": {"metric": "", "half_width": "2", "at_least": 1}})
        text = str(caught.exception)
        self.assertIn("gird: is not known; one of device", text)
        self.assertIn("did you mean 'grid'?", text)
        for part in ("grid.nand.t_read: is '40us'; a list", "did you mean 'device'?", "run.seed: is of the sweep", "'--output' is no option", "a.b: '1 +' is no expression",
                     "lists of 2 (a.b), 1 (a.c) values", "has 3 points and 0 keys", "limits.time", "limits.memory", "seeds", "replicate.metric", "replicate.half_width",
                     "at_least is 1", "names no device", "names no workload"):
            self.assertIn(part, text)
        for table, part in (({"derive": {"a.b": "c.d"}}, "c.d is neither a key of the point nor a parameter"), ({"where": ["1 > 2"]}, "all 1 points are excluded"),
                            ({"derive": {"a.b": "a.c", "a.c": "1"}}, "derived after it")):
            with self.assertRaises(ssdtlm.UserError) as caught:
                values(**table)
            self.assertIn(part, str(caught.exception))


class Workloads(SystemTest):
    def test_options_count_in_every_job(self):
        self.write("inner.inc", "bs=8k\n")
        path = pathlib.Path(self.dir / "j.fio")
        path.write_text("; two jobs\n[global]\nrw=randread\niodepth=2\n[a]\niodepth=1\ninclude inner.inc\n[b]\nnumber_ios=20\n")
        made = workloads.Workload(path, {"iodepth": 4, "number_ios": 50, "norandommap": True})
        self.assertEqual(made.text, "; two jobs\n[global]\nrw=randread\niodepth=2\n[a]\niodepth=1\nbs=8k\niodepth=4\nnumber_ios=50\nnorandommap=1\n"
                                    "[b]\nnumber_ios=20\niodepth=4\nnumber_ios=50\nnorandommap=1\n")
        made.write(self.dir / "w")
        result = self.simulate("tiny-test", made.file(self.dir / "w")).json("fio.json")
        for job in result["jobs"]:
            self.assertEqual(job["job options"]["iodepth"], "4")
            self.assertEqual(job["read"]["total_ios"], 50)

    def test_by_content(self):
        names = []
        for name, text in (("a", "[j]\nrw=read\n"), ("b", "[j]\nrw=read\n"), ("c", "[j]\nrw=write\n")):
            (self.dir / name).write_text(text)
            names.append(workloads.Workload(self.dir / name, {}).digest)
        self.assertEqual(names[0], names[1])
        self.assertNotEqual(names[0], names[2])
        trace = workloads.Workload(TRACES / "msr.csv", {})
        self.assertEqual((trace.text, trace.file(self.dir)), (None, (TRACES / "msr.csv").resolve()))
        for path in [*JOBS.glob("*.fio"), *TRACES.iterdir()]:
            self.assertEqual(workloads.Workload(path, {}).text is not None, path.suffix == ".fio", path)
        with self.assertRaises(ssdtlm.UserError):
            workloads.Workload(TRACES / "msr.csv", {"bs": "4k"})

    @unittest.skipUnless(shutil.which("readelf"), "no readelf")
    def test_build_identifier(self):
        notes = subprocess.run(["readelf", "-n", BINARY], capture_output=True, text=True).stdout
        self.assertEqual(build_id.build_identifier(BINARY), re.search(r"Build ID: (\w+)", notes)[1])
        (self.dir / "script").write_text("#!/bin/sh\n")
        self.assertEqual(len(build_id.build_identifier(self.dir / "script")), 64)


class Keys(SystemTest):
    def keys(self, **tables):
        return [run.key for point in Plan(spec.spec_of(self.dir / "s", {**BASE, **tables}, self.dir / "out")).points for run in point.runs]

    def test_what_counts(self):
        """Equal runs have one key however they are written; anything that can change a number gives another."""
        base = self.keys()
        self.assertEqual(self.keys(set={"nand.t_read": "75us"}), base, "the device's own value")
        self.assertEqual(self.keys(set={"nand.t_read": "75000ns"}), base, "in another unit")
        self.assertEqual(self.keys(set={"nand.t_read": "75us"}, limits={"time": "5s", "memory": "1GiB"}), base)
        shutil.copy(SOURCE / "configs" / "device" / "tiny-test.toml", self.dir / "mine.toml")
        self.assertEqual(self.keys(device="mine.toml"), base, "a file with the same values")
        others = [self.keys(set={"nand.t_read": "76us"}), self.keys(seed=2), self.keys(fio={**BASE["fio"], "bs": "8k"}), self.keys(option={"stop-after-commands": 50}),
                  self.keys(device=["tiny-test", "mqsim-table3"])]
        self.assertEqual(len({k for keys in [base, *others] for k in keys}), 6)
        self.assertEqual(self.keys(seeds=[1, 2]), base + self.keys(seed=2), "seeds are common to all points")

    def test_workloads_by_name(self):
        """Those that come with the program: a job file takes options, one that the program makes has keys."""
        tables = {"device": "tiny-test", "grid": {"workload": ["tpcc", "qd1_4k_randread"], "workload.tpcc.warehouses": [1, 2]}}
        plan = Plan(spec.spec_of(self.dir / "s", tables, self.dir / "out"))
        commands = [point.runs[0].task["command"] for point in plan.points]
        self.assertEqual([c[c.index("-w") + 1] for c in commands if "workload.tpcc.warehouses=2" in c and "tpcc" in c], ["tpcc"])
        self.assertEqual([point.runs[0].task["files"] for point in plan.points], [[]] * 4)
        self.assertEqual(len({point.runs[0].key for point in plan.points}), 4)
        plan.prepare()
        jobs = {c[c.index("-w") + 1] for c in commands} - {"tpcc"}
        self.assertEqual([pathlib.Path(job).read_text() for job in jobs], [(JOBS / "qd1_4k_randread.fio").read_text()])
        self.assertEqual(len(self.keys(workload="qd1_4k_randread", fio={"iodepth": 4})), 1)
        for workload, part in (("tpcc", "has no option iodepth; fio.NAME with a job file; its parameters are workload.tpcc.KEY"),
                               ("tcpp", "cannot be read")):
            with self.assertRaises(ssdtlm.UserError) as caught:
                self.keys(workload=workload, fio={"iodepth": 4})
            self.assertIn(part, str(caught.exception))

    def test_what_preconditioning_plays(self):
        """It is found as the workload is, and counts by its content."""
        played = {"precondition.workload": "before"}
        for name, text in (("before", "[j]\nrw=randwrite\nsize=1m\n"), ("same", "[j]\nrw=randwrite\nsize=1m\n"), ("other", "[j]\nrw=write\nsize=1m\n")):
            (self.dir / name).write_text(text)
        base = self.keys(set=played)
        self.assertEqual(self.keys(set={"precondition.workload": "same"}), base)
        others = [self.keys(), self.keys(set={"precondition.workload": "other"}), self.keys(set={"precondition.workload": "tpcc"}), self.keys(set={"precondition.workload": "random_mix"})]
        (self.dir / "before").write_text("[j]\nrw=randwrite\nsize=2m\n")
        others.append(self.keys(set=played))
        self.write("mine.toml", f'[precondition]\nworkload = "{self.dir / "before"}"\n')
        self.assertEqual(self.keys(device=["tiny-test", "mine.toml"]), others[-1], "named by a device")
        self.assertEqual(len({k for keys in [base, *others] for k in keys}), 6)
        trace = TRACES / "msr.csv"
        plan = Plan(spec.spec_of(self.dir / "s", {**BASE, "grid": {"precondition.workload": ["", "before", str(trace)]}}, self.dir / "out"))
        plan.prepare()
        commands = [point.runs[0].task["command"] for point in plan.points]
        named = [word.partition("=")[2] for command in commands for word in command if word.startswith("precondition.workload=")]
        self.assertEqual([named[0], named[2]], ["", str(trace.resolve())])
        self.assertEqual(pathlib.Path(named[1]).read_text(), (self.dir / "before").read_text())
        self.assertEqual([len(point.runs[0].task["files"]) for point in plan.points], [0, 0, 1])
        with self.assertRaises(ssdtlm.UserError) as caught:
            self.keys(set={"precondition.workload": "bfore"})
        self.assertIn("cannot be read", str(caught.exception))

    def test_all_refused_values_at_once(self):
        with self.assertRaises(ssdtlm.UserError) as caught:
            self.keys(grid={"nand.t_read": ["1parsec", "75us"], "gc.polcy": ["greedy"]})
        self.assertIn("1parsec", str(caught.exception))
        self.assertIn("unknown key 'gc.polcy'", str(caught.exception))
        self.assertIn("gc.policy", str(caught.exception))

    def test_another_build(self):
        base = self.keys()
        other = self.dir / "ssdtlm"
        image = bytearray(pathlib.Path(BINARY).read_bytes())
        at = image.find(bytes.fromhex(build_id.build_identifier(BINARY)))
        image[at] ^= 1
        other.write_bytes(image)
        other.chmod(0o755)
        os.environ["SSDTLM_BINARY"] = str(other)
        self.addCleanup(os.environ.update, {"SSDTLM_BINARY": BINARY})
        self.assertNotEqual(self.keys(), base)


class Helpers(unittest.TestCase):
    def test_half_width(self):
        self.assertIsNone(driver.half_width([1.0]))
        self.assertEqual(driver.half_width([5.0, 5.0]), 0)
        self.assertAlmostEqual(driver.half_width([9, 10, 11]), 4.302652730 / math.sqrt(3) / 10, places=8)  # t of 2 degrees of freedom

    def test_progress(self):
        now = [100.0]
        shown = type("Stream", (), {"isatty": lambda self: False, "write": lambda self, text: lines.append(text), "flush": lambda self: None})()
        lines = []
        p = progress.Progress(stream=shown, clock=lambda: now[0])
        p.show(10, 100, 0, 10)
        self.assertEqual(lines, [])
        now[0] += 12
        p.show(30, 100, 1, 10)
        self.assertEqual(lines, ["[#######.................] 30/100 runs   30.0 %  1 failed  1.7 runs/s  ETA 42 s\n"])


@unittest.skipUnless(sweeps.can_sweep(), "make python")
class Runs(SystemTest):
    """One sweep after another: workers take a second to start."""

    def sweep(self, *words, code=OK):
        with socket.socket() as taken:
            try:
                taken.bind(("127.0.0.1", 8787))  # Dask's own choice
            except OSError:
                pass  # somebody else's sweep, for example
            done = subprocess.run([BINARY, "sweep", *map(str, words)], cwd=self.dir, env=sweeps.ENVIRONMENT, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        if code != USER_ERROR:
            self.assertEqual(done.stderr, "")
        return done.stdout if code in (OK, 1) else done.stderr

    def test_from_the_file_to_the_table(self):
        """Results are those of single runs; failures stay with their message; the table holds all; what is done is not run again."""
        self.job("mix", *sweeps.JOB, "number_ios=300")
        # A device that has no room for the second block size; and a third that would take long.
        self.write("s.toml", 'device = "tiny-test"\nworkload = "mix.fio"\noutput = "out"\nseeds = [1, 2]\n[limits]\ntime = "1.5s"\nmemory = "1GiB"\n'
                             '[[list]]\nnand.t_read = "40us"\n[[list]]\nnand.t_read = "60us"\n[[list]]\nfio.size = "1g"\n[[list]]\nfio.number_ios = 100000000\nfio.io_size = "1t"\n')
        plan = json.loads(self.sweep("plan", "s.toml", "--json"))
        self.assertEqual([r["state"] for r in plan["runs"]], ["to do"] * 8)
        out = self.sweep("run", "s.toml", "-q", "--workers", 2, code=1)
        self.assertIn("8 runs of 4 points: 4 done, 4 failed\n", out)
        self.assertRegex(out, r"failed: fio.size=1g, seed 2: .*\n")
        self.assertIn("failed: fio.number_ios=100000000, fio.io_size=1t, seed 1: was not done within limits.time (1.5 s)\n", out)
        self.assertTrue(sweeps.no_orphans(self.dir / "out"))
        for run in plan["runs"]:
            record = json.loads((self.dir / "out" / "runs" / run["key"] / "point.json").read_text())
            self.assertEqual((record["seed"], record["point"], record["command"]), (run["seed"], run["values"], run["command"]))
        single = self.simulate("tiny-test", "mix.fio", "--set", "nand.t_read=60us", "--seed", 2)
        swept = sweeps.pathlib.Path(self.dir / "out" / "runs" / plan["runs"][3]["key"])
        for name in ("latency.csv", "timeseries.csv"):
            self.assertEqual((single.path / name).read_bytes(), (swept / name).read_bytes())
        self.table(ssdtlm.Result(swept))
        again = self.sweep("run", "s.toml", "-q", code=1)
        self.assertIn("8 runs of 4 points: 4 done, 4 failed (8 of them earlier)\n", again)
        self.assertNotIn("in simulators", again)
        self.assertIn("8 runs: 4 done, 4 failed, 0 to do\n", self.sweep("status", "s.toml"))
        self.assertIn("failed 2 times: was not done within limits.time", self.sweep("status", "s.toml"))

    def test_a_link_of_serial_ata(self):
        """Parameters of a host side and a front end are axes like others: bandwidth follows the link's rate."""
        self.job("read", "rw=read", "bs=128k", "iodepth=32", "number_ios=100", "size=8m", "io_size=1g")
        self.write("s.toml", 'device = "tiny-test"\nworkload = "read.fio"\noutput = "out"\n[set]\nfrontend.kind = "sata"\nnand.t_read = "1us"\n'
                             '[grid]\nfrontend.sata.rate = ["1.5Gbps", "3Gbps"]\nhost.sata.queue_depth = [1, 32]\n')
        self.sweep("run", "s.toml", "-q", "--workers", 1)
        rows = json.loads(self.sweep("collect", "s.toml", "--json", "--sql", 'SELECT * FROM results ORDER BY point'))
        found = {(r["frontend.sata.rate"], r["host.sata.queue_depth"]): r["read.MB_per_s"] for r in rows}
        self.assertEqual(len(found), 4)
        self.assertAlmostEqual(found["3Gbps", 32] / found["1.5Gbps", 32], 2, delta=0.3)
        self.assertLess(found["3Gbps", 1], found["3Gbps", 32])

    def table(self, result):
        self.sweep("collect", "s.toml")
        self.assertGreater((self.dir / "out" / "results.parquet").stat().st_size, 1000)
        rows = json.loads(self.sweep("collect", "s.toml", "--json", "--sql", "SELECT * FROM results ORDER BY point, seed"))
        self.assertEqual([(r["point"], r["seed"], r["state"]) for r in rows],
                         [(p, s, state) for p, state in enumerate(("done", "done", "failed", "failed")) for s in (1, 2)])
        row = rows[3]
        for name, value in result.metrics.items():
            self.assertAlmostEqual(row[name], value, delta=1e-12 * abs(value))
        self.assertEqual((row["nand.t_read"], row["fio.size"]), ("60us", None))
        self.assertIsNone(rows[4]["read.iops"])
        parquet = self.sweep("collect", "s.toml", "--sql", f"SELECT count(*) AS n, sum(\"read.ios\") AS ios FROM '{self.dir}/out/results.parquet'")
        self.assertEqual(parquet.split()[:3], ["n", "ios", "8"])
        error = self.sweep("collect", "s.toml", "--sql", "SELECT nonsense FROM results", code=USER_ERROR)
        self.assertTrue(error.startswith("--sql: "))
        self.assertIn("'.xls'; .parquet, .csv, .json", self.sweep("collect", "s.toml", "--table", "a.xls", code=USER_ERROR))

    def test_memory_replication_and_retry(self):
        """Within one call each: a limit that is too low is a failure that more memory repairs; seeds until the interval is small."""
        table = {**BASE, "device": "mqsim-table3", "output": str(self.dir / "out"), "limits": {"memory": "64MiB"}}
        code = ("import json, sys, ssdtlm\n"
                "low, high, many = map(json.loads, sys.argv[1:])\n"
                "def main():\n"
                "    ssdtlm.sweep(low, workers=1)\n"
                "    print(json.dumps([ssdtlm.sweep(high).rows(), ssdtlm.sweep(high, workers=1, retry_failed=True).rows(),\n"
                "                      ssdtlm.sweep(many, workers=2).rows()]))\n"
                "if __name__ == '__main__':\n    main()\n")
        (self.dir / "script.py").write_text(code)
        high = {**table, "limits": {"memory": "4GiB"}}
        many = {**BASE, "output": str(self.dir / "many"), "fio": {**BASE["fio"], "ioengine": "libaio", "number_ios": 60},
                "grid": {"fio.iodepth": [1, 16]}, "replicate": {"metric": "read.total.mean", "half_width": "2%", "at_least": 3, "at_most": 9}}
        done = subprocess.run([sweeps.PYTHON, "script.py", *map(json.dumps, (table, high, many))], cwd=self.dir, capture_output=True, text=True, timeout=300,
                              env={**os.environ, "PYTHONPATH": str(SOURCE / "python"), "SSDTLM_BINARY": BINARY})
        self.assertEqual(done.returncode, OK, done.stderr)
        second, third, replicated = json.loads(done.stdout)
        self.assertEqual((len(second), second[0]["state"]), (1, "failed"))
        self.assertIn("limits.memory is 67108864 B", second[0]["message"])
        self.assertEqual(third[0]["state"], "done")
        by_depth = {}
        for row in replicated:
            by_depth.setdefault(row["fio.iodepth"], []).append(row)
        for rows in by_depth.values():
            self.assertEqual([r["seed"] for r in rows], list(range(1, len(rows) + 1)), "common seeds, from the first on")
            means = [r["read.total.mean"] for r in rows]
            wide = [n for n in range(3, len(means)) if driver.half_width(means[:n]) <= 0.02]
            self.assertEqual(wide, [], "no seed after the interval was small enough")
            self.assertTrue(driver.half_width(means) <= 0.02 or len(rows) == 9)
        self.assertEqual(len(by_depth[1]), 3, "an idle drive has one latency")
        self.assertGreater(len(by_depth[16]), 3)
        print({depth: (len(rows), f"{100 * driver.half_width([r['read.total.mean'] for r in rows]):.2f} %") for depth, rows in by_depth.items()}, file=sys.stderr)

    def test_files_that_change_and_two_drivers(self):
        shutil.copy(SOURCE / "configs" / "device" / "tiny-test.toml", self.dir / "mine.toml")
        made = Sweep({**BASE, "device": str(self.dir / "mine.toml"), "output": str(self.dir / "out")})
        made.plan.prepare()
        from ssdtlm.sweeping import worker  # pylint: disable=import-outside-toplevel
        task = made.plan.points[0].runs[0].task
        (self.dir / "mine.toml").write_text((self.dir / "mine.toml").read_text() + "\n# x\n")
        answer = worker.simulate(task)
        self.assertEqual((answer["state"], "mine.toml: has changed since the sweep began" in answer["message"]), ("stop", True))
        answer = worker.simulate({**task, "files": [], "build": "0"})
        self.assertIn("is another build", answer["message"])
        self.assertEqual(worker.simulate({**task, "files": []})["state"], "done")
        with driver.locked(made.path):
            with self.assertRaises(ssdtlm.UserError) as caught:
                made.run()
        self.assertIn("a sweep is running in it", str(caught.exception))


class Without(SystemTest):
    def test_plan_needs_no_extra(self):
        self.job("mix", *sweeps.JOB, "number_ios=100")
        self.write("s.toml", 'device = "tiny-test"\nworkload = "mix.fio"\n[grid]\nnand.t_read = ["40us", "60us"]\n')
        done = self.ssdtlm("sweep", "plan", "s.toml")
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        self.assertIn("2 points, 1 seed each: 2 runs, 0 of them ended, in ", done.stdout)
        self.assertIn("2 runs: 0 done, 0 failed, 2 to do\n", self.ssdtlm("sweep", "status", "s.toml").stdout)
        self.assertFalse((self.dir / "sweeps").exists(), "to look leaves nothing behind")

    def refused(self, text):
        """The lines of `sweep plan`."""
        self.write("bad.toml", text)
        done = self.ssdtlm("sweep", "plan", "bad.toml")
        self.assertEqual((done.returncode, done.stdout), (USER_ERROR, ""), done.stderr)
        return done.stderr.splitlines()

    def check_refused(self, text, *parts):
        """Each of the parts is in one line; there is no other line."""
        lines = self.refused(text)
        for part in parts:
            self.assertEqual(sum(part in line for line in lines), 1, (part, lines))
        self.assertEqual(len(lines), len(parts), lines)

    def test_mistakes_of_all_stages_at_once(self):
        """Of the specification, devices, parameters, job files and options of fio."""
        self.write("bad.fio", "[a]\nrw=randrd\nbs=4k\n")
        fio = '[fio]\nnumber_iso = "2k"\niodepth = "x"\n'
        of_fio = ("'number_iso' is not a fio option", "'iodepth=x'")
        self.check_refused('foo = 3\n[limits]\ntyme = "3s"\n[grid]\ndevice = ["tiny-test", "tiny-tst"]\nnand.t_raed = ["40us"]\nworkload = ["bad.fio", "random_mx"]\n' + fio,
                           "foo: is not known", "limits.tyme: is not known", "no device 'tiny-tst'", "unknown key 'nand.t_raed'", "random_mx: cannot be read", "'rw=randrd'", *of_fio)
        # Without a device that is known, or without the job file.
        self.check_refused('device = "tiny-tst"\nworkload = "random_mix"\n' + fio, "no device 'tiny-tst'", *of_fio)
        self.check_refused('device = "tiny-test"\nworkload = "random_mx"\n' + fio, "random_mx: cannot be read", *of_fio)
        # Each value of a parameter and of an option.
        self.check_refused('device = "tiny-test"\nworkload = "random_mix"\n[grid]\nnand.t_read = ["40us", "60"]\nfio.iodepth = [1, 0, "y"]\n',
                           "60 has no unit", "'iodepth=0'", "'iodepth=y'")
        # A mistake in an axis: what the points are is not known.
        self.check_refused('device = "tiny-tst"\nworkload = "random_mix"\n[grid]\nnand.t_read = "40us"\n', "grid.nand.t_read: is '40us'")

    def test_job_files_that_include_themselves(self):
        self.write("a.fio", "[a]\nrw=read\ninclude b.fio\n")
        self.write("b.fio", "include a.fio\n")
        self.check_refused('device = "tiny-test"\nworkload = "a.fio"\n', "b.fio: includes itself: ")
        self.write("b.fio", "include b.fio\n")
        self.check_refused('device = "tiny-test"\nworkload = "a.fio"\n', "b.fio: includes itself: ")

    def test_mistakes(self):
        for words, part in ((("run", "none.toml"), "none.toml: cannot be read"), (("rnu", "x"), "did you mean 'run'?"), (("run", "s.toml", "--workers", "x"), "--workers"),
                            (("run", "s.toml", "--cluster", "pbs"), "pbs")):
            done = self.ssdtlm("sweep", *words)
            self.assertEqual((done.returncode, done.stdout), (USER_ERROR, ""), words)
            self.assertIn(part, done.stderr)


if __name__ == "__main__":
    unittest.main()
