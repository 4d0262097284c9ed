# SPDX-License-Identifier: Apache-2.0
"""What is built on sweeps: latency against load, sensitivity, and search."""
import json
import signal
import subprocess
import sys
import unittest

import sweeps
from support import BINARY, OK, USER_ERROR, SystemTest


@unittest.skipUnless(sweeps.can_sweep(), "make python")
class Studies(SystemTest):
    def ssdtlm_json(self, *words, code=OK):
        quiet = ["-q"] if words[1] not in ("status", "collect", "report") else []
        form = ["--json"] if words[1] not in ("report", "run") else []
        done = subprocess.run([BINARY, *map(str, words), *form, *quiet], cwd=self.dir, env=sweeps.ENVIRONMENT, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return json.loads(done.stdout) if code == OK else done.stderr

    def ssdtlm_html(self, *words):
        done = subprocess.run([BINARY, "sweep", "report", *words], cwd=self.dir, env=sweeps.ENVIRONMENT, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual((done.returncode, done.stdout), (OK, f"report in {words[-1]}\n"), done.stderr)

    def test_load(self):
        """Below the knee the device does what is offered, at the latency of an idle drive for little load."""
        self.job("reads", "rw=randread", "bs=4k", "iodepth=1", "norandommap", "io_size=1g", "number_ios=6000")
        self.write("s.toml", 'device = "tiny-test"\nworkload = "reads.fio"\noutput = "out"\n[load]\nlevels = 5\nrefine = 2\n')
        found = self.ssdtlm_json("sweep", "load", "s.toml", "--workers", 2)
        levels = found["levels"]
        self.assertEqual(len(levels), 7)
        offered = [level["offered_iops"] for level in levels]
        self.assertEqual(offered, sorted(set(offered)))
        self.assertAlmostEqual(offered[-1], found["capacity_iops"], delta=1)
        # Two dies that read for 75 us each can do no more than this.
        self.assertTrue(0.8 * 2 / 75e-6 < found["capacity_iops"] < 2 / 75e-6)
        knee = max(levels, key=lambda level: level["achieved_iops"] / level["mean_us"])
        self.assertEqual(found["knee_iops"], knee["offered_iops"])
        for level in levels:
            # 6000 Poisson arrivals: standard error 1.3 %.
            self.assertLess(level["achieved_iops"], 1.06 * level["offered_iops"])
            if level["offered_iops"] <= knee["offered_iops"]:
                self.assertGreater(level["achieved_iops"], 0.94 * level["offered_iops"])
        idle = self.simulate("tiny-test", "reads.fio").json()["latency_us"]["read"]["total"]["mean"]
        # Two dies, each a queue M/D/1 with the service time that the capacity shows: waits rho / (2 (1 - rho)) of it.
        service_us = 2e6 / found["capacity_iops"]
        for level in levels[:3]:
            rho = level["offered_iops"] / found["capacity_iops"]
            self.assertAlmostEqual(level["mean_us"], idle + service_us * rho / (2 * (1 - rho)), delta=0.06 * idle)
        means = [level["mean_us"] for level in levels]
        self.assertEqual(means, sorted(means))
        self.assertGreater(means[-1], 2 * knee["mean_us"])
        print(f"load: {[(round(l['offered_iops']), round(l['achieved_iops']), round(l['mean_us'], 1)) for l in levels]}, knee at {found['knee_iops']:.0f}", file=sys.stderr)

    def test_sensitivity(self):
        """One read at a time: the mean is tR plus what does not depend on it."""
        self.job("reads", "rw=randread", "bs=4k", "iodepth=1", "number_ios=200")
        self.write("s.toml", 'device = "tiny-test"\nworkload = "reads.fio"\noutput = "out"\n[sensitivity]\nmetric = "read.total.mean"\n'
                             'keys = ["nand.t_erase", "nand.t_read", "ftl.user_capacity", "nand.geometry.channels"]\n')
        rows = self.ssdtlm_json("sweep", "sensitivity", "s.toml", "--workers", 1)["keys"]
        idle = self.simulate("tiny-test", "reads.fio").json()["latency_us"]["read"]["total"]["mean"]
        self.assertEqual(rows[0]["key"], "nand.t_read")
        self.assertEqual((rows[0]["lower"], rows[0]["higher"]), ("67.5us", "82.5us"))
        for name, sign in (("lower", -1), ("higher", 1)):
            self.assertAlmostEqual(rows[0][f"effect_{name}"], sign * 7.5 / idle, delta=1e-3)
        by_key = {row["key"]: row for row in rows}
        self.assertEqual((by_key["nand.t_erase"]["effect_lower"], by_key["nand.t_erase"]["effect_higher"]), (0, 0), "nothing is erased")
        self.assertEqual((by_key["nand.geometry.channels"]["lower"], by_key["nand.geometry.channels"]["higher"]), ("1", "3"), "whole numbers stay whole")
        refused = [row for row in rows if row["effect_higher"] is None]
        self.assertTrue(all(row["why_higher"] for row in refused))
        print(f"sensitivity: {[(r['key'], r['effect_lower'], r['effect_higher']) for r in rows]}", file=sys.stderr)

    def test_search(self):
        """Killed in the middle and started again: all trials are there, none hangs; the front is what a comparison of all gives."""
        self.job("reads", "rw=randread", "bs=4k", "norandommap", "io_size=1g", "number_ios=3000")
        self.write("s.toml", 'device = "tiny-test"\nworkload = "reads.fio"\noutput = "out"\nwhere = ["fio.iodepth != 3"]\n'
                             '[grid]\nfio.iodepth = [1, 2, 3, 4, 8]\n[random.values]\nnand.t_read = { from = "40us", to = "90us" }\n'
                             '[search]\nminimize = ["read.total.mean"]\nmaximize = ["read.iops"]\ntrials = 24\n')
        driver = subprocess.Popen([BINARY, "search", "s.toml", "-q", "--workers", "2"], cwd=self.dir, env=sweeps.ENVIRONMENT, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
        sweeps.wait_for(lambda: sweeps.count_ended(self.dir / "out") >= 8, driver)
        driver.send_signal(signal.SIGKILL)
        driver.communicate()
        self.assertTrue(sweeps.no_orphans(self.dir / "out"))
        found = self.ssdtlm_json("search", "s.toml", "--workers", 2)
        trials = found["trials"]
        self.assertEqual([t["state"] for t in trials], ["complete"] * 24)
        records = sweeps.records(self.dir / "out")
        for t in trials:
            result = json.loads((self.dir / "out" / "runs" / t["runs"][0] / "result.json").read_text())
            self.assertEqual(t["values"], {"read.total.mean": result["latency_us"]["read"]["total"]["mean"], "read.iops": result["read"]["iops"]})
            self.assertEqual(records[t["runs"][0]]["point"], t["point"])
            self.assertNotEqual(t["point"]["fio.iodepth"], 3)
        self.assertEqual(len(records), len({t["runs"][0] for t in trials} | set(records)), "nothing ran that no trial asked for")
        better = lambda a, b: (a["values"]["read.total.mean"] <= b["values"]["read.total.mean"] and a["values"]["read.iops"] >= b["values"]["read.iops"]
                               and a["values"] != b["values"])
        self.assertEqual({t["trial"] for t in trials if not any(better(o, t) for o in trials)}, {t["trial"] for t in trials if t["best"]})
        self._commands_of_sweeps_show_it(trials)
        again = self.ssdtlm_json("search", "s.toml")
        self.assertEqual(again, found)
        self.write("other.toml", (self.dir / "s.toml").read_text().replace("maximize", "# "))
        self.assertIn("is a search for minimize read.total.mean, maximize read.iops", self.ssdtlm_json("search", "other.toml", "--trials", 30, code=USER_ERROR))
        print(f"search: {len(trials)} trials, {sum(t['best'] for t in trials)} on the front", file=sys.stderr)

    def _commands_of_sweeps_show_it(self, trials):
        """status, collect and report of the same specification: the points that were tried, and a chart of the front."""
        points = {json.dumps(t["point"]): t for t in trials}
        status = self.ssdtlm_json("sweep", "status", "s.toml")
        self.assertEqual((status["runs"], status["done"], status["failed"], status["to_do"]), (len(points), len(points), 0, 0))
        rows = self.ssdtlm_json("sweep", "collect", "s.toml", "--sql", 'SELECT "read.iops" FROM results')
        self.assertEqual(sorted(row["read.iops"] for row in rows), sorted(t["values"]["read.iops"] for t in points.values()))
        self.ssdtlm_html("s.toml", "-o", "front.html")
        page = (self.dir / "front.html").read_text()
        self.assertIn("Pareto front", page)
        self.assertIn("read.iops against read.total.mean", page)
        self.assertIn("holds a search", self.ssdtlm_json("sweep", "run", "s.toml", code=USER_ERROR))

    def test_sensitivity_makes_values_that_are_possible(self):
        """A tenth of 2 MiB is no whole number of bytes, of 512 KiB no power of two, of 5 % no whole percent: the next value is taken."""
        self.job("writes", "rw=randwrite", "bs=4k", "iodepth=4", "number_ios=200")
        self.write("s.toml", 'device = "tiny-test"\nworkload = "writes.fio"\noutput = "out"\n[set]\nbuffer.flush_start = "5%"\n'
                             '[sensitivity]\nkeys = ["buffer.size", "nvme.max_transfer", "buffer.flush_start"]\n')
        rows = {row["key"]: row for row in self.ssdtlm_json("sweep", "sensitivity", "s.toml", "--workers", 1)["keys"]}
        self.assertEqual((rows["buffer.size"]["lower"], rows["buffer.size"]["higher"]), (f"{round(2 * 2**20 * 0.9)}B", f"{round(2 * 2**20 * 1.1)}B"))
        self.assertEqual((rows["nvme.max_transfer"]["lower"], rows["nvme.max_transfer"]["higher"]), ("256KiB", "1024KiB"))
        self.assertEqual((rows["buffer.flush_start"]["lower"], rows["buffer.flush_start"]["higher"]), ("4%", "6%"))
        for row in rows.values():
            self.assertNotIn("why_lower", row)
            self.assertNotIn("why_higher", row)

    def test_mistakes(self):
        self.write("s.toml", 'device = "tiny-test"\n[fio]\nrw = "read"\nrate_iops = 5\n[grid]\nnand.t_read = ["40us"]\n[load]\nlevel = 3\n'
                             '[sensitivity]\nkeys = []\nchange = "3"\n[search]\ntrials = 0\nbest = 1\n')
        for words, count in ((("sweep", "load"), 3), (("sweep", "sensitivity"), 3), (("search",), 3)):
            self.assertEqual(len(self.ssdtlm_json(*words, "s.toml", code=USER_ERROR).splitlines()), count, words)


if __name__ == "__main__":
    unittest.main()
