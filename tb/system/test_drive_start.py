# SPDX-License-Identifier: Apache-2.0
"""What result.json says of the drive when the run began, and preconditioning until it is steady."""
import json
import random
import re

from support import OK, USER_ERROR, SystemTest


class DriveStart(SystemTest):
    def at_start(self, *settings, output="out"):
        words = [word for s in settings for word in ("--set", s)]
        done = self.ssdtlm("run", "tiny-test", "-o", output, "--ioengine=libaio", "--rw=randread", "--bs=4k", "--number_ios=20", *words)
        self.assertEqual(done.returncode, OK, done.stderr)
        result = json.loads((self.dir / output / "result.json").read_text())
        return result["precondition"], result["notes"], done.stderr

    def test_drive_at_start(self):
        units = 12 * 1024 * 1024 // 4096  # tiny-test
        for state, asked in {
            "fresh": {"state": "fresh"},
            "sequential": {"state": "sequential", "fill": 0.5},
            "random": {"state": "random", "fill": 0.5, "until": "amount", "overwrite": 3.0, "fill_caches": True},
            "analytic": {"state": "analytic", "fill": 0.5, "fill_caches": True},
        }.items():
            start, notes, said = self.at_start(f"precondition.state={state}", "precondition.fill=50%", "precondition.overwrite=300%")
            reached = start["reached"]
            # What a fresh drive has no use for is named.
            self.assertEqual((start["asked"], said), (asked, ""))
            idle = {"fresh": ("fill", "overwrite"), "sequential": ("overwrite",), "random": (), "analytic": ("overwrite",)}[state]
            self.assertEqual([key for key in ("fill", "overwrite") if any(f"precondition.{key}=" in note for note in notes)], list(idle), notes)
            mapped = 0 if state == "fresh" else units // 2
            self.assertEqual((reached["mapped_units"], reached["logical_units"], reached["occupancy"]), (mapped, units, mapped / units))
            free = reached["free_superblocks"]
            self.assertTrue(free["min"] <= free["mean"] <= free["max"])
            self.assertEqual("overwrites" in reached, state in ("random", "analytic"))
            if state == "fresh":
                self.assertEqual((free["min"], reached["full_superblocks"], "full_by_valid" in reached), (64, 0, False))
                continue
            self.assertEqual([row["valid_from"] for row in reached["full_by_valid"]], [n / 10 for n in range(11)])
            self.assertAlmostEqual(sum(row["share"] for row in reached["full_by_valid"]), 1)
            if state == "random":
                done = reached["overwrites"]
                self.assertEqual((done["units"], done["round_units"], len(done["waf_by_round"])), (units // 2 * 3, units // 20, 30))
                self.assertAlmostEqual(sum(done["waf_by_round"]) / 30, done["waf"], delta=0.02)

    def test_workload(self):
        units = 12 * 1024 * 1024 // 4096
        fill = self.job("fill", "rw=randwrite", "bs=4k", "size=6m", "loops=4", "iodepth=8", "norandommap=1")
        start, notes, said = self.at_start("precondition.state=fresh", f"precondition.workload={fill}")
        self.assertEqual(start["asked"], {"state": "fresh", "workload": str(fill), "load": "full", "fill_caches": True})
        played = start["reached"]["workload"]
        self.assertEqual((played["writes"], played["units_written"], played["reads"]), (4 * 1536, 4 * 1536, 0))
        # 1536 are drawn among 1536, the same ones in each pass: all but a share of exp(-1).
        self.assertAlmostEqual(start["reached"]["mapped_units"] / 1536, 1 - 0.368, delta=0.03)
        self.assertEqual(said, "")
        # Reads that find nothing but what was written, on a drive that is half empty, with a trace.
        trace = self.dir / "trace.csv"
        lines = [f"{i},h,0,{'Read' if i % 3 == 2 else 'Write'},{4096 * (37 * i % units)},4096,0" for i in range(1, 3001)]
        trace.write_text("\n".join(lines) + "\n")
        for load in ("full", "light"):
            for filled in ("true", "false"):
                start, _, said = self.at_start("precondition.state=fresh", f"precondition.workload={trace}", f"precondition.load={load}",
                                               f"precondition.fill_caches={filled}", "run.check_waiters=true", output=f"{load}-{filled}")
                played = start["reached"]["workload"]
                self.assertEqual((played["reads"], played["writes"], said), (1000, 2000, ""))
                self.assertEqual(played["reads_passed_over"], 0 if filled == "true" else 1000)
                self.assertEqual(start["reached"]["mapped_units"], len({37 * i % units for i in range(1, 3001) if i % 3 != 2}))

    def test_workload_of_requests_that_are_several_commands(self):
        """As many as nvme.max_transfer says, of which a cached map has the entries together."""
        mix = self.job("mix", "rw=randrw", "bs=64k", "size=6m", "iodepth=4", "loops=10", "norandommap=1")
        for load in ("full", "light"):
            start, _, said = self.at_start("precondition.state=fresh", f"precondition.workload={mix}", f"precondition.load={load}", "precondition.fill_caches=true", "nvme.max_transfer=8KiB",
                                           "ftl.mapping=dftl", "map.entry_size=256B", "map.cache=1536B", "run.check_waiters=true", output=load)
            played = start["reached"]["workload"]
            self.assertEqual((played["reads"] + played["writes"], played["units_written"], said), (96 * 10 * 8, 2 * played["writes"], ""))

    def test_traffic_of_workload(self):
        """Pages by class, of which write amplification is the sum. Of the three pages of the map one may be dirty, so each write for another one programs it."""
        order = random.Random(5)
        units = [order.randrange(3072) for _ in range(9000)]
        trace = self.dir / "writes.csv"
        trace.write_text("".join(f"{i},h,0,Write,{4096 * unit},4096,0\n" for i, unit in enumerate(units, 1)))
        programmed = sum(a // 1024 != b // 1024 for a, b in zip(units, units[1:])) + 1
        workload = (f"precondition.workload={trace}", "precondition.state=sequential", "buffer.merge_writes=false", "precondition.fill_caches=false")  # all that was written is programmed
        drive = ("ftl.mapping=dftl", "map.granularity=page", "map.cache=12KiB", "map.gc_updates=found", "map.power_protected=34%")
        for load in ("full", "light"):
            start, _, said = self.at_start(*workload, *drive, f"precondition.load={load}", output=load)
            played = start["reached"]["workload"]
            traffic = played["traffic"]
            self.assertEqual((said, traffic["user_pages"]), ("", 9000))
            # What is in several dies at once ends in an order of its own, which changes a few of thousands.
            self.assertAlmostEqual(traffic["mapping_pages"], programmed, delta=0 if load == "light" else 10)
            self.assertGreater(traffic["gc_user_pages"], 1000)
            self.assertEqual(sum(traffic.values()), round(played["unit_write_amplification"] * played["units_programmed"]))
        start, _, _ = self.at_start(*workload, output="in_dram")
        self.assertNotIn("traffic", start["reached"]["workload"])

    def test_trace_larger_than_the_drive(self):
        units = 12 * 256
        trace = self.dir / "large.csv"
        lines = [f"{i},h,0,Write,{4096 * (53 * i % (3 * units))},4096,0" for i in range(1, 2001)]
        trace.write_text("\n".join(lines) + "\n")
        run = ("run", "tiny-test", "-o", self.dir / "large", "--rw=randread", "--bs=4k", "--number_ios=20", "--set", "precondition.state=fresh", "--set", f"precondition.workload={trace}")
        refused = self.ssdtlm(*run)
        self.assertEqual(refused.returncode, USER_ERROR)
        self.assertIn("beyond the device", refused.stderr)
        # What the advice names works.
        advised = re.search(r"--set '(precondition.trace_options=[^']*)'", refused.stderr).group(1)
        self.assertEqual(self.ssdtlm(*run, "--set", advised).returncode, 0)
        result = json.loads((self.dir / "large" / "result.json").read_text())
        self.assertEqual(result["precondition"]["reached"]["mapped_units"], len({53 * i % (3 * units) % units for i in range(1, 2001)}))
        # So do the others, and what is none of them is refused.
        for options, reason in (("--trace-volume=1", "volume"), ("--quiet", '"--quiet"'), ("--trace-beyond sideways", "sideways"), ("--trace-beyond fold more", '"more"')):
            wrong = self.ssdtlm(*run, "--set", f'precondition.trace_options="{options}"')
            self.assertEqual((wrong.returncode, reason in wrong.stderr), (USER_ERROR, True), wrong.stderr)
        job = self.job("job", "rw=randwrite", "io_size=1m")
        wrong = self.ssdtlm("run", "tiny-test", "-o", "none", "--rw=randread", "--number_ios=20", "--set", f"precondition.workload={job}", "--set", 'precondition.trace_options="--trace-spread"')
        self.assertEqual(wrong.returncode, USER_ERROR)
        self.assertIn("no block trace", wrong.stderr)

    def test_workload_refused(self):
        for name, options, reason in (
            ("timed", ("rw=randwrite", "time_based", "runtime=1"), "which no time ends here"),
            ("wrong", ("rw=sideways",), "sideways"),
        ):
            refused = self.ssdtlm("run", "tiny-test", "-o", "none", "--rw=randread", "--number_ios=20", "--set", f"precondition.workload={self.job(name, *options)}")
            self.assertEqual(refused.returncode, USER_ERROR)
            self.assertIn(reason, refused.stderr)
        refused = self.ssdtlm("run", "tiny-test", "-o", "none", "--rw=randread", "--number_ios=20", "--set", "precondition.workload=nothing")
        self.assertEqual(refused.returncode, USER_ERROR)
        self.assertIn("precondition.workload: no workload 'nothing'", refused.stderr)

    def test_until_steady(self):
        steady = ("precondition.state=random", "precondition.until=steady", "ftl.user_capacity=14MiB")
        start, notes, said = self.at_start(*steady)
        self.assertEqual((start["asked"]["until"], start["asked"]["most_rounds"], notes, said), ("steady", 100, [], ""))
        done = start["reached"]["overwrites"]
        last, waf = done["last_rounds"], done["waf_by_round"][-5:]
        mean = sum(waf) / 5
        self.assertTrue(done["steady"])
        self.assertAlmostEqual(last["waf_mean"], mean)
        self.assertAlmostEqual(last["excursion"], (max(waf) - min(waf)) / mean)
        self.assertAlmostEqual(last["slope"], sum((i - 2) * x for i, x in enumerate(waf)) / 10)
        self.assertAlmostEqual(last["drift"], abs(last["slope"]) * 4 / mean)
        self.assertTrue(last["excursion"] <= 0.2 and last["drift"] <= 0.1)
        cut, notes, said = self.at_start(*steady, f"precondition.most_rounds={len(done['waf_by_round']) - 1}")
        self.assertFalse(cut["reached"]["overwrites"]["steady"])
        self.assertEqual(said, f"warning: {notes[0]}\n")
        self.assertIn("without a steady state", notes[0])
        job = self.job("reads", "rw=randread", "bs=4k", "number_ios=20")
        refused = self.ssdtlm("run", "tiny-test", "-w", job, "--set", "precondition.until=steady")
        self.assertEqual(refused.returncode, USER_ERROR)
        self.assertIn("precondition.until", refused.stderr)
