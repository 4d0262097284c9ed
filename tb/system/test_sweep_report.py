# SPDX-License-Identifier: Apache-2.0
"""`ssdtlm sweep report`: its numbers are those of the runs, and the page is opened in headless Chromium.
SSDTLM_SCREENSHOTS=FOLDER keeps pictures."""
import collections
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import unittest

import sweeps
from browser import CUT, OVERLAPS, STRUCK, Browser, program
from support import BINARY, OK, SOURCE, USER_ERROR, SystemTest

sys.path.insert(0, str(SOURCE / "python"))
from ssdtlm.reporting import sweep_data  # noqa: E402  pylint: disable=wrong-import-position


def fake(points, **more):
    rows = [{"point": i, "seed": 1, "state": "done", "message": "", **p, **more} for i, p in enumerate(points)]
    return sweep_data.Sweep(rows, [k for k in points[0] if k.startswith("a.")], ["read.iops", "read.total.p99"])


class Numbers(unittest.TestCase):
    def test_levels(self):
        few = fake([{"a.x": v, "read.iops": 1, "read.total.p99": 1} for v in ("100us", "9us", "1ms", "20us")])
        self.assertEqual(few.levels("a.x")[0], ["9us", "20us", "100us", "1ms"])
        many = fake([{"a.x": v, "read.iops": 1, "read.total.p99": 1} for v in range(100)])
        names, place = many.levels("a.x")
        self.assertEqual((len(names), names[0], names[-1]), (8, "0 – 11", "87 – 99"))
        counts = collections.Counter(place(v) for v in range(100))
        self.assertTrue(all(12 <= n <= 13 for n in counts.values()))
        mixed = fake([{"a.x": v, "read.iops": 1, "read.total.p99": 1} for v in ("random", 3, True, "greedy", None)])
        self.assertEqual(mixed.levels("a.x")[0], ["true", "3", "None", "greedy", "random"])

    def test_effect_and_seeds(self):
        rows = [{"point": x * 2 + y, "seed": s, "state": "done", "message": "", "a.x": x, "a.y": y, "m": 100 + 10 * x + y + (s - 1.5)} for x in (0, 1) for y in (0, 1) for s in (1, 2)]
        found = sweep_data.Sweep(rows, ["a.x", "a.y", "a.z"], ["m"])
        self.assertEqual((found.axes, len(found.points), found.runs), (["a.x", "a.y"], 4, 8))
        self.assertAlmostEqual(found.effect("a.x", "m"), 10 / 105.5)
        self.assertAlmostEqual(found.effect("a.y", "m"), 1 / 105.5)
        self.assertEqual(found.strongest("m"), ["a.x", "a.y"])
        self.assertEqual({(c["x"], c["y"]): c["value"] for c in found.cells("a.y", "a.x", "m")}, {(str(y), str(x)): 100 + 10 * x + y for x in (0, 1) for y in (0, 1)})

    def test_followers(self):
        """Zipped with another key, or derived from it: no axis of its own. Values that stand in one point each say nothing."""
        rows = [{"point": i, "seed": 1, "state": "done", "message": "", "a.depth": d, "a.ramp": 9 if d < 3 else 1, "a.twice": 2 * d, "a.policy": p, "m": i}
                for i, (d, p) in enumerate((d, p) for d in (1, 2, 3) for p in "abc")]
        found = sweep_data.Sweep(rows, ["a.ramp", "a.depth", "a.twice", "a.policy"], ["m"])
        self.assertEqual((found.axes, found.followers), (["a.depth", "a.policy"], {"a.ramp": "a.depth", "a.twice": "a.depth"}))
        self.assertEqual(found.points[0]["label"], "a.depth=1, a.policy=a")
        alone = sweep_data.Sweep(rows[:3], ["a.policy", "m"], ["m"])
        self.assertEqual((alone.axes, alone.followers), (["a.policy", "m"], {}))

    def test_front(self):
        source = random.Random(1)
        points = [{"a.x": i, "read.iops": source.randrange(30), "read.total.p99": source.randrange(30)} for i in range(300)]
        found = fake(points).front("read.iops", "read.total.p99")
        for p, shown in zip(points, found):
            beaten = any(q["read.iops"] >= p["read.iops"] and q["read.total.p99"] <= p["read.total.p99"]
                         and (q["read.iops"], q["read.total.p99"]) != (p["read.iops"], p["read.total.p99"]) for q in points)
            self.assertEqual(shown["front"], "no" if beaten else "yes")

    def test_lines(self):
        """A line over one key for each value of another, means over the third."""
        points = [{"a.x": x, "a.y": y, "a.z": z, "read.iops": 1000 * x + 10 * y + z, "read.total.p99": 1} for x in (1, 2, 4) for y in (3, 5) for z in (0, 8)]
        found = fake(points)
        rows = found.lines("a.x", "a.y", "read.iops")
        self.assertEqual({(r["x"], r["by"]): r["value"] for r in rows}, {(str(x), str(y)): 1000 * x + 10 * y + 4 for x in (1, 2, 4) for y in (3, 5)})
        self.assertEqual({r["points"] for r in rows}, {2})
        self.assertEqual({r["x"]: r["value"] for r in found.lines("a.x", None, "read.iops")}, {str(x): 1000 * x + 44 for x in (1, 2, 4)})
        self.assertEqual(found.pair("read.iops"), ("a.x", "a.y"))
        self.assertEqual(found.pair("read.iops", "a.z"), ("a.z", "a.x"))
        self.assertEqual(found.pair("read.iops", None, "a.x"), ("a.y", "a.x"))
        self.assertEqual(found.pair("read.iops", "a.y", "a.z"), ("a.y", "a.z"))
        one = fake([{"a.x": x, "read.iops": x, "read.total.p99": 1} for x in (1, 2)])
        self.assertEqual(one.pair("read.iops"), ("a.x", None))

    def test_parallel(self):
        found = fake([{"a.x": f"{v}us", "a.y": "yes" if v % 2 else "no", "read.iops": v, "read.total.p99": 7} for v in range(10, 1010)])
        lines, names = found.parallel()
        self.assertEqual([n["name"] for n in names], ["a.x: 10us … 1009us", "a.y: no … yes", "read.iops: 10 … 1,009", "read.total.p99: 7"])
        drawn = collections.defaultdict(dict)
        for row in lines:
            drawn[row["line"]][row["row"]] = row["at"]
        self.assertEqual(len(drawn), 300)
        self.assertEqual(sorted({at for line in drawn.values() for row, at in line.items() if row == 1}), [0, 1])
        self.assertTrue(all(abs(line[0] - line[2]) < 1e-9 and line[3] == 0.5 for line in drawn.values()))
        self.assertEqual((min(line[0] for line in drawn.values()), max(line[0] for line in drawn.values())), (0, 1))


@unittest.skipUnless(sweeps.can_sweep(), "make python")
class Page(SystemTest):
    def sweep(self, *words, code=OK):
        done = subprocess.run([BINARY, "sweep", *map(str, words)], cwd=self.dir, env=sweeps.ENVIRONMENT, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == OK else done.stderr

    @unittest.skipUnless(program(), "no chromium")
    def test_in_a_browser(self):
        self.job("mix", *sweeps.JOB, "number_ios=2000")
        self.write("s <b>&.toml", 'device = "tiny-test"\nworkload = "mix.fio"\noutput = "out"\n[set]\nprecondition.state = "sequential"\n[grid]\nfio.iodepth = [1, 4, 16, 64]\n'
                                  'gc.policy = ["greedy", "random"]\nftl.user_capacity = ["9MiB", "11MiB", "12MiB"]\n')
        self.assertIn("has no results", self.sweep("report", "s <b>&.toml", code=USER_ERROR))
        self.sweep("run", "s <b>&.toml", "-q")
        self.assertIn("did you mean 'read.iops'?", self.sweep("report", "s <b>&.toml", "--metric", "read.iopz", code=USER_ERROR))
        self.assertIn("did you mean 'fio.iodepth'?", self.sweep("report", "s <b>&.toml", "--x", "fio.iodepht", code=USER_ERROR))
        self.assertIn("two keys", self.sweep("report", "s <b>&.toml", "--x", "gc.policy", "--by", "gc.policy", code=USER_ERROR))
        self.sweep("report", "s <b>&.toml", "--x", "ftl.user_capacity", "--by", "fio.iodepth", "--metric", "write.total.p99", "--html", "asked.html", "--pictures", "drawn")
        self.assertEqual({p.name for p in (self.dir / "drawn").iterdir()}, {"map-write.total.p99.svg", "line-write.total.p99.svg", "parallel.svg"})
        self.sweep("report", "s <b>&.toml")
        path = self.dir / "out" / "report.html"
        self.assertLess(path.stat().st_size, 3_000_000)
        results = [(r["point"], json.loads((self.dir / "out" / "runs" / key / "result.json").read_text())) for key, r in sweeps.records(self.dir / "out").items()]
        self.assertEqual(len(results), 24)
        browser = Browser(self.dir / "profile")
        self.addCleanup(browser.close)
        browser.open(path, "window.drawn")
        self.assertEqual(browser.complaints(path), [])
        self.check_values(browser, results)
        self.assertEqual(browser.evaluate(OVERLAPS) + browser.evaluate(CUT) + browser.evaluate(STRUCK), [])
        self.assertIn("s <b>&", browser.evaluate("document.querySelector('h1').innerText"))
        charts = browser.evaluate("Object.keys(views)")
        browser.open(self.dir / "asked.html", "window.drawn")
        self.assertEqual(browser.evaluate(OVERLAPS) + browser.evaluate(CUT) + browser.evaluate(STRUCK), [])
        rows = self.table(browser, "line-write.total.p99")
        self.assertEqual({(r["x"], r["by"]) for r in rows}, {(c, d) for c in ("9MiB", "11MiB", "12MiB") for d in ("1", "4", "16", "64")})
        for row in rows:
            members = [r["latency_us"]["write"]["total"]["p99"] for point, r in results if (point["ftl.user_capacity"], str(point["fio.iodepth"])) == (row["x"], row["by"])]
            self.assertEqual(len(members), 2)
            self.assertAlmostEqual(row["value"], statistics.fmean(members), delta=1e-4 * row["value"])
        self.assertEqual(browser.evaluate("document.querySelectorAll('[id=\"line-write.total.p99\"] svg .mark-line path').length"), 4)
        for dark in (False, True):
            browser.open(path, "window.drawn", width=360, height=800, dark=dark)
            self.assertLessEqual(browser.evaluate("document.documentElement.scrollWidth"), 360)
            self.assertEqual(browser.evaluate(OVERLAPS) + browser.evaluate(CUT) + browser.evaluate(STRUCK), [])
        folder = os.environ.get("SSDTLM_SCREENSHOTS")
        for name, width, dark in (("light", 1200, False), ("dark", 1200, True), ("narrow", 360, False)) if folder else ():
            browser.open(path, "window.drawn", width=width, dark=dark)
            browser.screenshot(pathlib.Path(folder) / f"sweep-{name}.png")
        print(f"{path.stat().st_size} bytes, charts {', '.join(charts)}", file=sys.stderr)

    def table(self, browser, chart):
        found = browser.evaluate(f"views[{json.dumps(chart)}].data('table').map(row => ({{...row}}))")
        return [{k: v if k in ("x", "y", "label", "front", "name", "mark", "by", "text", "ink") else float(v) for k, v in row.items()} for row in found]

    def check_values(self, browser, results):
        metrics = {"read.iops": lambda r: r["read"]["iops"], "read.total.p99": lambda r: r["latency_us"]["read"]["total"]["p99"],
                   "write.iops": lambda r: r["write"]["iops"], "write.total.p99": lambda r: r["latency_us"]["write"]["total"]["p99"], "ftl.waf": lambda r: r["ftl"]["waf"]}
        keys = ("fio.iodepth", "gc.policy", "ftl.user_capacity")
        for metric, value in metrics.items():
            cells = self.table(browser, f"map-{metric}")
            x, y = browser.evaluate(f"(s => [s.layer[0].encoding.x.title, s.layer[0].encoding.y.title])(JSON.parse(document.getElementById('specs').textContent)['map-{metric}'])")
            self.assertTrue({x, y} < set(keys))
            for cell in cells:
                members = [value(r) for point, r in results if (str(point[x]), str(point[y])) == (cell["x"], cell["y"])]
                self.assertEqual(len(members), cell["points"])
                unsteady = [r["steadiness"]["verdict"] != "steady" for point, r in results if (str(point[x]), str(point[y])) == (cell["x"], cell["y"])]
                self.assertEqual(cell["mark"], "×" if any(unsteady) else "")
                self.assertAlmostEqual(cell["value"], statistics.fmean(members), delta=1e-4 * abs(cell["value"]))
            drawn = browser.evaluate(f"document.querySelectorAll('[id=\"map-{metric}\"] svg [aria-roledescription=\"rect\"], [id=\"map-{metric}\"] svg .mark-rect path').length")
            self.assertGreaterEqual(drawn, len(cells))
        front = self.table(browser, "front-0")
        both = [(metrics["read.iops"](r), metrics["read.total.p99"](r)) for _, r in results]
        self.assertEqual(len(front), len(both))
        best = {(a, b) for a, b in both if not any(c >= a and d <= b and (c, d) != (a, b) for c, d in both)}
        self.assertEqual(sum(row["front"] == "yes" for row in front), sum(pair in best for pair in both))
        lines = self.table(browser, "parallel")
        self.assertEqual(sum(row["line"] >= 0 for row in lines), len(results) * (len(keys) + len(metrics)))
        depth = [row["at"] for row in lines if row["row"] == 0 and row["line"] >= 0]
        self.assertEqual(sorted(collections.Counter(round(at, 3) for at in depth).items()), [(0, 6), (0.048, 6), (0.238, 6), (1, 6)])  # (n - 1) / 63


if __name__ == "__main__":
    unittest.main()
