# SPDX-License-Identifier: Apache-2.0
"""A steady state that was asked for is one: the first tenth of random writes runs like the rest, and the run says that it was steady."""
import csv
import json

from support import OK, SystemTest

# Eight dies of MLC, 12 GB less most of its blocks; a write buffer that takes a fifth of the first tenth.
DEVICE = ("nand.geometry.channels=2", "nand.geometry.ways=4", "nand.geometry.dies_per_chip=1", "nand.geometry.planes_per_die=1", "nand.geometry.blocks_per_plane=96",
          "nand.geometry.pages_per_block=128", "ftl.user_capacity=640MiB", "buffer.size=8MiB", "run.timeseries_interval=1ms", "precondition.overwrite=300%")
WRITES = 100_000
SEEDS = range(1, 6)


class SteadyStart(SystemTest):
    def speeds(self, name, seed, *settings):
        """(writes a second of the first tenth, of the rest, verdict)."""
        words = [word for s in (*DEVICE, *settings) for word in ("--set", s)]
        done = self.ssdtlm("run", "mqsim-table3", "--ioengine=libaio", "--rw=randwrite", "--bs=4k", "--iodepth=32", f"--number_ios={WRITES}", "--norandommap", f"--seed={seed}", "-o", name, "-q", *words)
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        with open(self.dir / name / "timeseries.csv", newline="", encoding="utf-8") as file:
            ends = [(float(row["start_ms"]) + float(row["interval_ms"]), int(row["write_ios"])) for row in csv.DictReader(file)]
        total = at = count = 0
        tenth = None
        for at, ios in ends:
            count += ios
            if tenth is None and count >= WRITES / 10:
                tenth = count / at
                total, begin = count, at
        return tenth, (count - total) / (at - begin), json.loads((self.dir / name / "result.json").read_text())["steadiness"]

    def test_first_tenth_is_like_the_rest(self):
        for depth in (1, 32):
            self.write(f"before{depth}.fio", f"[before]\nioengine=libaio\nrw=randwrite\nbs=4k\niodepth={depth}\nnorandommap\nsize=640m\nio_size=4g\n")
        states = {"random": ("precondition.state=random",), "analytic": ("precondition.state=analytic",),
                  "played": ("precondition.state=sequential", "precondition.overwrite=0%", "precondition.workload=before32.fio"),
                  "played one by one": ("precondition.state=random", "precondition.overwrite=100%", "precondition.workload=before1.fio")}
        for name, state in states.items():
            ratios = []
            for seed in SEEDS:
                first, rest, steadiness = self.speeds(f"{name}{seed}", seed, *state)
                print(f"{name}, seed {seed}: first tenth {1000 * first:,.0f} writes/s, rest {1000 * rest:,.0f} ({100 * (first / rest - 1):+.1f} %); {steadiness['verdict']}: {steadiness['reason']}")
                # A tenth is 40 blocks of the host; how full the open ones are is chance.
                self.assertAlmostEqual(first / rest, 1, delta=0.07, msg=f"{name} {seed}")
                self.assertEqual(steadiness["verdict"], "steady", steadiness["reason"])
                ratios.append(first / rest)
            self.assertAlmostEqual(sum(ratios) / len(ratios), 1, delta=0.04, msg=name)

    def test_empty_caches(self):
        first, rest, _ = self.speeds("empty", 1, "precondition.state=random", "precondition.fill_caches=false")
        print(f"empty caches: {100 * (first / rest - 1):+.1f} %")
        self.assertGreater(first / rest, 1.15)

    def test_where_it_is_not_possible(self):
        """auto leaves them empty, and result.json says so; true is refused."""
        for setting in ("buffer.mode=write_through", "buffer.quotas=[50]"):
            words = ("--set", "precondition.state=random", "--set", setting, "--set", "host.tenants=by_job")
            run = ("run", "tiny-test", "--ioengine=libaio", "--rw=randread", "--bs=4k", "--number_ios=20", "-o", "out", *words)
            done = self.ssdtlm(*run)
            self.assertEqual(done.returncode, OK, done.stderr)
            self.assertFalse(json.loads((self.dir / "out" / "result.json").read_text())["precondition"]["asked"]["fill_caches"])
            self.assertIn("precondition.fill_caches", self.ssdtlm(*run, "--set", "precondition.fill_caches=true").stderr)

    def test_reads_of_far_more_than_the_cache_holds(self):
        """Random reads over the whole drive find next to nothing in the cache, full or not. Over 64 MiB, or in some streams, they may."""
        for name, options, verdict in (("wide", ("--rw=randread",), "steady"), ("narrow", ("--rw=randread", "--size=64m"), "too short to say"),
                                       ("streams", ("--rw=read", "--numjobs=8", "--offset_increment=50g"), "too short to say")):
            with self.subTest(name):
                done = self.ssdtlm("run", "s4500", "--ioengine=libaio", "--bs=4k", "--iodepth=4", f"--number_ios={4000 if name != 'streams' else 500}", "-o", name, *options)
                self.assertEqual((done.returncode, done.stderr), (OK, ""))
                found = json.loads((self.dir / name / "result.json").read_text())["steadiness"]
                self.assertEqual(found["verdict"], verdict, found["reason"])
                self.assertEqual(verdict == "steady", "read cache" not in [t["of"] for t in found["turnover"]])

    def test_too_short_to_say(self):
        """A window that turns nothing over is never called steady, however level it is."""
        for name, options, of in (("short", ("--number_ios=2000",), "write buffer"), ("fresh", ("--number_ios=20000",), "free blocks")):
            state = "random" if name == "short" else "fresh"
            words = [word for s in (*DEVICE[:-1], f"precondition.state={state}") for word in ("--set", s)]
            done = self.ssdtlm("run", "mqsim-table3", "--ioengine=libaio", "--rw=randwrite", "--bs=4k", "--iodepth=32", "--norandommap", "-o", name, *options, *words)
            self.assertEqual((done.returncode, done.stderr), (OK, ""))
            found = json.loads((self.dir / name / "result.json").read_text())["steadiness"]
            self.assertEqual(found["verdict"], "too short to say")
            self.assertFalse(next(t for t in found["turnover"] if t["of"] == of)["enough"])
            self.assertIn(f"too short to say: {found['reason']}", done.stdout)
        self.assertIn("nothing was erased", found["reason"])
