# SPDX-License-Identifier: Apache-2.0
"""`ssdtlm compare`: what it finds is computed here from the results once more."""
import json
import math
import re
import shutil
import statistics
import sys
import unittest

from support import CHECK_FAILED, OK, SOURCE, USER_ERROR, Result, SystemTest

sys.path.insert(0, str(SOURCE / "python"))
from ssdtlm.comparison.statistics import interval, t_quantile  # noqa: E402  pylint: disable=wrong-import-position

# Two-sided 95 % and 99 % points of Student's t: Abramowitz and Stegun, table 26.10.
T_TABLE = {(0.95, 1): 12.706, (0.95, 2): 4.303, (0.95, 3): 3.182, (0.95, 9): 2.262, (0.95, 30): 2.042, (0.95, 120): 1.980,
           (0.99, 1): 63.657, (0.99, 5): 4.032, (0.99, 20): 2.845}


class Statistics(unittest.TestCase):
    def test_table_of_student(self):
        for (confidence, degrees), t in T_TABLE.items():
            self.assertAlmostEqual(t_quantile(confidence, degrees), t, delta=6e-4, msg=f"{confidence} {degrees}")
        self.assertTrue(T_TABLE[0.95, 3] > t_quantile(0.95, 3.5) > t_quantile(0.95, 4))

    def test_intervals(self):
        before, after = [10.0, 12.0, 17.0], [11.0, 14.0, 18.0]
        low, high = interval(before, after, paired=True)  # differences 1, 2, 1: mean 4/3, deviation 1/sqrt(3)
        half = 4.303 / 3
        self.assertAlmostEqual(low, 4 / 3 - half, delta=1e-3)
        self.assertAlmostEqual(high, 4 / 3 + half, delta=1e-3)
        # Welch: variances 13 and 37/3, so the error is sqrt(76/9) / ... and just under 4 degrees of freedom.
        low, high = interval(before, after, paired=False)
        error = math.sqrt(statistics.variance(before) / 3 + statistics.variance(after) / 3)
        self.assertTrue(2.776 * error <= (high - low) / 2 < 2.79 * error)
        self.assertIsNone(interval([1.0], [2.0, 3.0], paired=False))
        self.assertEqual(interval([1.0, 2.0], [2.0, 3.0], paired=True), (1.0, 1.0))


class Compare(SystemTest):
    def setUp(self):
        super().setUp()
        self.read = self.job("read", "rw=randread", "bs=4k", "iodepth=1", "number_ios=300", "norandommap")
        self.mix = self.job("mix", "rw=randrw", "bs=4k", "iodepth=8", "number_ios=1500", "norandommap", "io_size=100m")

    def compared(self, *args, code=OK):
        done = self.ssdtlm("compare", *args)
        self.assertEqual((done.returncode, done.stderr), (code, ""), done.stdout)
        return done.stdout

    def refused(self, *args):
        done = self.ssdtlm("compare", *args)
        self.assertEqual((done.returncode, done.stdout), (USER_ERROR, ""))
        return done.stderr

    def test_equal_results(self):
        self.simulate("tiny-test", self.mix, output="a")
        self.simulate("tiny-test", self.mix, output="b")
        text = self.compared("a", "b", "--fail-if", "read.total.p99 > +0%")
        self.assertIn("The configurations are equal.\nThe results are equal.\n", text)
        self.assertIn("ok: b: read.total.p99 > +0%: +0.00 % (one seed: no interval)", text)
        (found,) = json.loads(self.compared("a", "b", "--json"))["runs"]
        self.assertEqual((found["equal"], found["configuration"], found["headlines"]), (True, [], []))

    def test_what_differs(self):
        """A slower tR: the array's stage takes just that longer, and the other stages' changes fill up the total's."""
        a = self.simulate("tiny-test", self.read, "--set", "nand.t_read=75us", output="a").json()
        b = self.simulate("tiny-test", self.read, "--set", "nand.t_read=100us", output="b").json()
        (found,) = json.loads(self.compared("a", "b", "--json"))["runs"]
        self.assertEqual(found["configuration"], [{"key": "nand.t_read", "before": "75us", "after": "100us"}])
        stages = found["stages"]["read"]
        self.assertEqual(stages[0]["metric"], "read.array.mean")
        self.assertAlmostEqual(stages[0]["difference"], 25, places=9)
        sizes = [abs(s["difference"]) for s in stages]
        self.assertEqual(sizes, sorted(sizes, reverse=True))
        total = b["latency_us"]["read"]["total"]["mean"] - a["latency_us"]["read"]["total"]["mean"]
        self.assertAlmostEqual(sum(s["difference"] for s in stages), total, places=9)
        headlines = {c["metric"]: c for c in found["headlines"]}
        self.assertAlmostEqual(headlines["read.iops"]["relative"], b["read"]["iops"] / a["read"]["iops"] - 1, places=12)
        self.assertEqual({c["metric"] for c in found["resources"]} & {"resources.die.busy_mean"}, {"resources.die.busy_mean"})
        text = self.compared("a", "b")
        self.assertRegex(text, r"nand.t_read +75us +100us\n")
        self.assertRegex(text, r"stages of read, difference of the mean\n.*\n  read.array.mean \(us\) +75 +100 +\+25 +\+33.33 %\n")
        self.assertIn("| nand.t_read | 75us | 100us |\n", self.compared("a", "b", "--markdown"))

    def test_jobs_tenants_and_streams(self):
        """Each number that result.json has of a job, a tenant or a stream is found, and may be a condition."""
        job = self.write("whose.fio", "[global]\nioengine=libaio\nbs=4k\nsize=2m\nnumber_ios=300\nnorandommap\niodepth=4\n[a]\nrw=randread\n"
                                      "[b]\nrw=randrw\nwrite_hint=long\n[c]\nrw=write\nwrite_hint=short\n")
        lists = {}
        for name, t_read in (("a", "75us"), ("b", "100us")):
            result = self.simulate("tiny-test", job, "--set", f"nand.t_read={t_read}", "--set", "precondition.state=sequential", "--set", "host.tenants=by_job",
                                   "--set", "nvme.streams=4", "--set", "host.streams=true", output=name).json()
            lists[name] = {(kind, row[kind], row["op"]): row for kind in ("job", "tenant", "stream") for row in result[f"latency_us_by_{kind}"]}
        (found,) = json.loads(self.compared("a", "b", "--json"))["runs"]
        changes = {c["metric"]: c for of_kind in found["by"].values() for list_ in of_kind.values() for c in list_}
        self.assertEqual(list(found["by"]), ["job", "tenant", "stream"])
        expected, names = {}, ["a", "b", "c"]
        for (kind, number, op), row in lists["a"].items():
            other = lists["b"][kind, number, op]
            pairs = {"ios": (row["count"], other["count"])}
            pairs |= {f"total.{key}": (row[key], other[key]) for key in ("mean", "p50", "p99", "p99.9", "max")}
            pairs |= {f"{stage}.mean": (row["stages"].get(stage, 0), other["stages"].get(stage, 0)) for stage in row["stages"] | other["stages"]}
            whose = names[number] if kind == "job" else number
            expected |= {f"{kind}.{whose}.{op}.{key}": pair for key, pair in pairs.items() if pair[0] != pair[1]}
        self.assertGreater(len(expected), 50)
        self.assertEqual({metric: (c["before"], c["after"]) for metric, c in changes.items()}, expected)
        for of_kind in found["by"].values():
            sizes = [abs(c["difference"]) for c in of_kind["stages"]]
            self.assertEqual(sizes, sorted(sizes, reverse=True))
        text = self.compared("a", "b", "--lines", "0")
        for kind in found["by"]:
            self.assertIn(f"\nresults by {kind}\n", text)
            self.assertIn(f"\nstages by {kind}, difference of the mean\n", text)
        before, after = expected["job.a.read.array.mean"]
        share = 100 * (after / before - 1)
        for job_of in ("job.0", "job.a"):
            for bound, code in ((share - 0.01, CHECK_FAILED), (share + 0.01, OK)):
                self.compared("a", "b", "--fail-if", f"{job_of}.read.array.mean > {bound:+.6f}%", code=code)
        self.assertIn("did you mean 'tenant.1.read.total.p99'?", self.refused("a", "b", "--fail-if", "tenant.1.read.totl.p99 > 1"))
        self.assertNotIn("results by", self.compared("a", "a"))

    def test_jobs_are_matched_by_name(self):
        """A job that runs alone in one run and behind another in the other keeps its name, not its number."""
        job = self.write("two.fio", "[global]\nioengine=libaio\nbs=4k\nsize=2m\nnorandommap\n[writer]\nrw=randwrite\niodepth=16\nnumber_ios=400\n"
                                    "[reader]\nrw=randread\niodepth=2\nnumber_ios=400\n[clones]\nrw=randread\nnumjobs=2\nnumber_ios=20\n")
        alone = self.simulate("tiny-test", job, "--section", "reader", output="alone").json()
        both = self.simulate("tiny-test", job, output="both").json()
        p99 = [next(row["p99"] for row in result["latency_us_by_job"] if row["name"] == "reader") for result in (alone, both)]
        self.assertEqual([next(row["job"] for row in result["latency_us_by_job"] if row["name"] == "reader") for result in (alone, both)], [0, 1])
        self.assertGreater(p99[1], p99[0])
        share = 100 * (p99[1] / p99[0] - 1)
        for metric in ("job.reader.read.total.p99", "job.0.read.total.p99"):
            for bound, code in ((share - 0.01, CHECK_FAILED), (share + 0.01, OK)):
                text = self.compared("alone", "both", "--fail-if", f"{metric} > {bound:+.6f}%", code=code)
                self.assertIn(f"{share:+.2f} %", text)
        (found,) = json.loads(self.compared("alone", "both", "--json"))["runs"]
        change = {c["metric"]: c for c in found["by"]["job"]["headlines"]}["job.reader.read.total.p99"]
        self.assertEqual([change["before"], change["after"]], p99)
        self.assertIn("job.clones[1].read.ios", {c["metric"] for c in found["by"]["job"]["headlines"]})
        self.assertNotIn("tenant", found["by"])
        self.assertIn("alone has no job 'writer'; jobs that all runs have, matched by name: reader", self.refused("alone", "both", "--fail-if", "job.writer.write.total.p99 > 1"))
        self.assertIn("did you mean 'reader'?", self.refused("alone", "both", "--fail-if", "job.raeder.read.total.p99 > 1"))
        self.assertIn("metric 'write.iops': alone has none", self.refused("alone", "both", "--fail-if", "write.iops < 1"))

    def test_why(self):
        """The stage and the resource with the largest part, recomputed from the results."""
        a, b = (self.simulate("tiny-test", self.mix, "--set", f"nand.t_read={t}", output=name).json() for name, t in (("a", "75us"), ("b", "300us")))
        (found,) = json.loads(self.compared("a", "b", "--json"))["runs"]
        mean = lambda result, op, stage: result["latency_us"][op].get(stage, {}).get("mean", 0)
        change = lambda op, stage: mean(b, op, stage) - mean(a, op, stage)
        op = max(("read", "write"), key=lambda name: abs(change(name, "total")) * b[name]["ios"])
        stage = max((set(a["latency_us"][op]) | set(b["latency_us"][op])) - {"total"}, key=lambda name: change(op, name))
        busy = lambda result, name: result["resources"][name]["busy_mean"]
        resource = max(a["resources"], key=lambda name: abs(busy(b, name) - busy(a, name)))
        self.assertEqual(found["why"], f"{op} takes {change(op, 'total'):.2f} us more on average ({100 * change(op, 'total') / mean(a, op, 'total'):+.1f} %); the largest part is "
                                       f"{stage}, {change(op, stage):+.2f} us ({100 * change(op, stage) / change(op, 'total'):.0f} %); of the resources {resource} changes most, "
                                       f"from {100 * busy(a, resource):.1f} % busy to {100 * busy(b, resource):.1f} %.")
        self.assertIn(f"\nwhy: {found['why']}\n", self.compared("a", "b"))

    def test_parts_that_cancel_each_other(self):
        """Two runs whose means hardly differ while stages do: the parts are named, and none has a share of next to nothing."""
        self.simulate("tiny-test", self.mix, output="a")
        for name, change in (("b", 0.1), ("same", 0.0)):
            shutil.copytree(self.dir / "a", self.dir / name)
            path = self.dir / name / "result.json"
            result = json.loads(path.read_text())
            for of in ("read", "write"):
                for stage, by in (("firmware_wait", 15.26), ("array", change - 15.26), ("total", change)):
                    result["latency_us"][of].setdefault(stage, {**result["latency_us"][of]["total"], "mean": 0})["mean"] += by
            path.write_text(json.dumps(result))
        (found,) = json.loads(self.compared("a", "b", "--json"))["runs"]
        self.assertIn("takes 0.10 us more on average", found["why"])
        self.assertIn("; parts cancel each other, the largest are firmware_wait, +15.26 us, and array, -15.16 us.", found["why"])
        self.assertNotRegex(found["why"], r"us \(\d+ %\)")
        (found,) = json.loads(self.compared("a", "same", "--json"))["runs"]
        self.assertNotRegex(found["why"], r"us \(\d+ %\)")

    def test_what_cannot_be_trusted(self):
        """Fewer than ten samples above a percentile; writes that met no collection; what the runs say of their steadiness."""
        for name, count, t_read in (("few", 300, "75us"), ("many", 1000, "100us")):
            job = self.job(name, "rw=randread", "bs=4k", "iodepth=4", f"number_ios={count}", "norandommap", "io_size=100m")
            self.simulate("tiny-test", job, "--set", f"nand.t_read={t_read}", output=name)
        text = self.compared("few", "many")
        self.assertIn("warning: few: p99, p99.9, p99.99 of read have fewer than 10 of 300 commands above them\n", self._sorted_percentiles(text))
        self.assertIn("warning: many: p99.9, p99.99 of read have fewer than 10 of 1000 commands above them\n", self._sorted_percentiles(text))  # p99 has just ten
        writes = self.job("writes", "rw=write", "bs=4k", "number_ios=64")
        self.simulate("tiny-test", writes, "--set", "precondition.state=fresh", output="fresh")
        self.simulate("tiny-test", writes, "--set", "precondition.state=fresh", "--set", "nand.t_program=1ms", output="slow")
        self.assertIn("warning: slow: nothing was erased, so the writes met no garbage collection\n", self.compared("fresh", "slow"))
        for name, verdict in (("few", "too short to say"), ("many", "not steady")):
            path = self.dir / name / "result.json"
            path.write_text(json.dumps({**json.loads(path.read_text()), "steadiness": {"verdict": verdict, "reason": "rounds of 3 commands"}}))
        text = self.compared("few", "many")
        self.assertIn("few: too short to say: rounds of 3 commands\nmany: not steady: rounds of 3 commands\n", text)

    @staticmethod
    def _sorted_percentiles(text):
        """Percentiles stand in the order of the table, largest change first."""
        order = lambda found: ", ".join(sorted(found[1].split(", "), key=lambda p: float(p[1:])))
        return re.sub(r"(?<=: )(p[\d.]+(?:, p[\d.]+)*)(?= of )", order, text)

    def test_thresholds_of_garbage_collection(self):
        """A drive with a quarter of its blocks free: with the higher threshold garbage collection begins within the run."""
        job = self.job("writes", "rw=randrw", "bs=4k", "iodepth=8", "number_ios=2500", "norandommap", "io_size=100m")
        for name, blocks in (("a", 4), ("b", 12)):
            self.simulate("tiny-test", job, "--set", "precondition.state=sequential", "--set", f"gc.soft_free_blocks={blocks}", output=name)
        (found,) = json.loads(self.compared("a", "b", "--json"))["runs"]
        self.assertEqual([c["key"] for c in found["configuration"]], ["gc.soft_free_blocks"])
        stages = {c["metric"]: c for list_ in found["stages"].values() for c in list_}
        self.assertEqual(stages["read.die_wait_gc.mean"]["before"], 0)
        self.assertGreater(stages["read.die_wait_gc.mean"]["after"], 0)
        self.assertIn("read.die_wait_gc.mean", [c["metric"] for c in found["stages"]["read"][:2]])
        self.assertEqual(found["stages"]["write"][0]["metric"], "write.buffer.mean")
        counters = {c["metric"]: c for c in found["counters"]}
        self.assertEqual(counters["ftl.gc_pages"]["before"], 0)
        self.assertGreater(counters["ftl.gc_pages"]["after"], 0)

    def test_exit_codes(self):
        self.simulate("tiny-test", self.read, "--set", "nand.t_read=75us", output="a")
        self.simulate("tiny-test", self.read, "--set", "nand.t_read=100us", output="b")
        for condition, code in (("read.array.mean > +33%", CHECK_FAILED), ("read.array.mean > +34%", OK),
                                ("read.array.mean > +24.9", CHECK_FAILED), ("read.array.mean > +25.1", OK),
                                ("read.array.mean > 99.9", CHECK_FAILED), ("read.array.mean < 100.1", CHECK_FAILED),
                                ("read.iops < -10%", CHECK_FAILED), ("read.iops < -50%", OK), ("read.iops>+0%", OK)):
            text = self.compared("a", "b", "--fail-if", condition, code=code)
            self.assertIn(("FAIL" if code else "ok") + f": b: {condition}: ", text)
        both = ("--fail-if", "read.iops < -50%", "--fail-if", "read.iops < -10%")
        self.assertEqual([v["failed"] for v in json.loads(self.compared("a", "b", "--json", *both, code=CHECK_FAILED))["conditions"]],
                         [False, True])
        self.compared("b", "a", "a", *both)

    def test_several_seeds(self):
        seeds = (1, 2, 3, 4)
        runs = {}
        for side, pages in (("before", 8), ("after", 2)):
            runs[side] = [self.simulate("tiny-test", self.mix, "--set", f"buffer.flush_depth_per_die={pages}", "--seed", seed,
                                        output=f"{side}/{seed}").json() for seed in seeds]
        means = {side: [r["latency_us"]["write"]["total"]["mean"] for r in runs[side]] for side in runs}
        changes = [b - a for a, b in zip(means["before"], means["after"])]
        self.assertGreater(statistics.stdev(changes), 0)
        half = T_TABLE[0.95, 3] * statistics.stdev(changes) / 2
        (found,) = json.loads(self.compared("before", "after", "--json"))["runs"]
        self.assertEqual(found["seeds"], [1, 2, 3, 4])
        (change,) = [c for c in found["headlines"] if c["metric"] == "write.total.mean"]
        self.assertAlmostEqual(change["difference"], statistics.fmean(changes), places=9)
        self.assertAlmostEqual(change["low"], statistics.fmean(changes) - half, delta=1e-3 * half)
        self.assertAlmostEqual(change["high"], statistics.fmean(changes) + half, delta=1e-3 * half)
        # The condition holds only when the whole interval lies beyond the bound.
        for bound, code in ((change["low"] - 0.01 * half, CHECK_FAILED), (change["low"] + 0.01 * half, OK), (change["difference"] - 1e-6, OK)):
            text = self.compared("before", "after", "--fail-if", f"write.total.mean > {bound:+.9f}", code=code)
            self.assertIn("95 % interval", text)
        # Other seeds: not paired, and said.
        shutil.rmtree(self.dir / "after" / "4")
        self.assertIn("the seeds differ (1, 2, 3, 4 and 1, 2, 3): runs are not paired", self.compared("before", "after"))

    def test_warnings(self):
        for name, job in (("a", self.mix), ("b", self.read)):
            self.simulate("tiny-test", job, output=name)
        file = self.dir / "b" / "result.json"
        file.write_text(json.dumps({**Result(self.dir / "b").json(), "ssdtlm": "0.0.9"}))
        text = self.compared("a", "b")
        for warning in (r"the workloads differ: mix.fio and read.fio", r"the versions differ: \S+ and 0.0.9",
                        r"the measured windows differ: 1500 commands in \S+ s and 300 in \S+ s"):
            self.assertRegex(text, "warning: " + warning + "\n")
        self.assertNotIn("warning", self.compared("a", "a"))

    def test_workloads_are_told_apart_by_content(self):
        text = (self.dir / self.read).read_text()
        (self.dir / "other").mkdir()
        self.write("copy.fio", "; the same\n" + text)
        self.write("other/read.fio", text.replace("randread", "read"))
        trace = "".join(f"{128166372000000000 + i * 1000},usr,0,Read,{i * 4096},4096,1\n" for i in range(50))
        self.write("t.csv", trace)
        self.write("copy.csv", trace)
        for name, words in (("a", [self.read]), ("b", ["copy.fio"]), ("c", ["other/read.fio"]), ("t", ["t.csv"]), ("u", ["copy.csv"]),
                            ("v", ["t.csv", "--replay", "closed"]), ("w", ["t.csv", "--replay", "closed", "--replay-depth", "2"])):
            self.simulate("tiny-test", *words, output=name)
        self.simulate("tiny-test", self.read, "--set", "ftl.user_capacity=9MiB", output="smaller")
        for same in (("a", "b"), ("t", "u"), ("a", "smaller")):
            self.assertNotIn("the workloads differ", self.compared(*same))
        self.assertIn("warning: the workloads differ: both are called read.fio, with other content\n", self.compared("a", "c"))
        for other in (("t", "v"), ("v", "w")):
            self.assertIn("warning: the workloads differ: both are called t.csv, with other content\n", self.compared(*other))
        self.assertIn("warning: the workloads differ: read.fio and t.csv\n", self.compared("a", "t"))
        # Runs that are taken for one but for their seed must have one workload.
        (self.dir / "seeds").mkdir()
        self.simulate("tiny-test", self.read, output="seeds/1")
        self.simulate("tiny-test", "other/read.fio", "--seed", 2, output="seeds/2")
        self.assertIn("2 and 1 differ in workload", self.refused("a", "seeds"))
        # Of a version that kept no digest: by name.
        for name in ("a", "c"):
            file = self.dir / name / "result.json"
            file.write_text(json.dumps({k: v for k, v in Result(self.dir / name).json().items() if k != "workload_digest"}))
        self.assertNotIn("the workloads differ", self.compared("a", "c"))

    def test_mistakes(self):
        self.simulate("tiny-test", self.read, output="a")
        (self.dir / "empty").mkdir()
        text = self.refused("a", "empty", "nowhere", "--fail-if", "p99 up", "--fail-if", "read.iops >= 5")
        self.assertEqual(len(text.splitlines()), 4, text)
        self.assertIn("empty: holds no result.json; the folder of a run", text)
        self.assertRegex(self.refused("a", "a", "--fail-if", "read.totl.p99 > 1"), "no run has it.*did you mean 'read.total.p99'")
        self.assertIn("only one run is given", self.refused("a"))
        self.assertIn("did you mean '--json'?", self.refused("a", "a", "--jsn"))
        shutil.copytree(self.dir / "a", self.dir / "twice" / "1")
        shutil.copytree(self.dir / "a", self.dir / "twice" / "2")
        self.assertIn("twice: holds two runs with one seed (1, 1)", self.refused("a", "twice"))
        self.simulate("tiny-test", self.read, "--seed", "2", "--set", "nand.t_read=80us", output="twice/2")
        self.assertIn("2 and 1 differ in nand.t_read", self.refused("a", "twice"))
        (self.dir / "a" / "result.json").rename(self.dir / "a" / "failed.json")
        self.assertIn("a: holds a run that failed", self.refused("a", "a"))
        (self.dir / "a" / "result.json").write_text("{")
        self.assertIn("result.json: cannot be read", self.refused("a", "a"))


if __name__ == "__main__":
    unittest.main()
