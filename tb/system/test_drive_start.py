# SPDX-License-Identifier: Apache-2.0
"""What result.json says of the drive when the run began, and preconditioning until it is steady."""
import json

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
            "random": {"state": "random", "fill": 0.5, "until": "amount", "overwrite": 3.0, "fill_caches": False},
            "analytic": {"state": "analytic", "fill": 0.5, "fill_caches": False},
        }.items():
            start, notes, said = self.at_start(f"precondition.state={state}", "precondition.fill=50%", "precondition.overwrite=300%")
            reached = start["reached"]
            self.assertEqual((start["asked"], notes, said), (asked, [], ""))
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
