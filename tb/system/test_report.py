# SPDX-License-Identifier: Apache-2.0
"""`ssdtlm report`: its numbers are those of the result files, and the page is opened in headless Chromium."""
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tomllib
import unittest

from browser import CUT, OVERLAPS, STRUCK, Browser, program
from reports import PYTHON, ReportTest
from support import BINARY, OK, SOURCE, USER_ERROR, Result, SystemTest

sys.path.insert(0, str(SOURCE / "python"))
os.environ["SSDTLM_BINARY"] = BINARY
import ssdtlm  # noqa: E402  pylint: disable=wrong-import-position
from ssdtlm import extras  # noqa: E402  pylint: disable=wrong-import-position
from ssdtlm.reporting import data, scales  # noqa: E402  pylint: disable=wrong-import-position

WAYS = {"read": 0, "write": 1}


def ssdtlm_toml(device, table):
    """That table of the preset, as the program writes it."""
    shown = subprocess.run([BINARY, "config", "show", device], capture_output=True, text=True, check=True).stdout
    return re.search(rf"^\[{re.escape(table)}\]\n(.*?)(?=^\[|\Z)", shown, re.MULTILINE | re.DOTALL)[1]


class Numbers(SystemTest):
    """What is computed for the charts, without a browser."""

    def setUp(self):
        super().setUp()
        job = self.job("mix", "rw=randrw", "bs=4k", "iodepth=8", "number_ios=4000", "norandommap", "io_size=100m")
        self.simulate("tiny-test", job, "--set", "precondition.state=sequential", "--set", "gc.soft_free_blocks=12")
        self.result = ssdtlm.Result(self.dir / "out")

    def test_bands(self):
        for op in ("read", "write"):
            bands = data.bands(self.result, op)
            exact = self.result.json["latency_us"][op]
            count = exact["total"]["count"]
            self.assertGreater(len(bands), 3)
            self.assertEqual(sum(b["commands"] for b in bands), count)
            for b in bands:
                self.assertAlmostEqual(sum(b["stages"].values()), b["mean"], places=9)
                self.assertTrue(b["from"] - 0.001 <= b["mean"] <= b["below"], b)
            for stage, row in exact.items():
                if stage != "total":
                    mean = sum(b["commands"] * b["stages"].get(stage, 0) for b in bands) / count
                    self.assertAlmostEqual(mean, row["mean"], places=9)
            # Bands end where the percentiles of result.json are.
            ends = {b["band"]: b for b in bands}
            self.assertTrue(ends["0–50 %"]["below"] * 0.98 <= exact["total"]["p50"] <= ends["0–50 %"]["below"])
            self.assertGreaterEqual(ends["0–50 %"]["commands"], count / 2)
            self.assertEqual([b["from"] for b in bands], sorted(b["from"] for b in bands))
            points = data.cdf(self.result, op)
            self.assertLessEqual(len(points), 300)
            self.assertEqual(points[-1][1], 100)
            self.assertEqual(points, sorted(points))

    def test_shares_by_nines(self):
        """The line of the distribution reaches as far as the number of commands allows, 99.999 % at most."""
        for count, end in ((9, 1), (999, 3), (99_999, 5), (10_000_000, 5)):
            rows = [{"op": "read", "from_ns": 1000 * i, "below_ns": 1000 * (i + 1), "count": count // 9} for i in range(9)]
            fake = type("Fake", (), {"latency_bins": rows, "latency_us": {"read": {"total": {"max": 8.5}}}})()
            points = data.cdf(fake, "read")
            self.assertAlmostEqual(points[-1][2], end, places=3)
            for i, (us, percent, nines) in enumerate(points):
                below = i * (count // 9)
                self.assertAlmostEqual(us, max(i, 0.001))
                self.assertAlmostEqual(percent, 100 * i / 9, places=3)
                self.assertAlmostEqual(1 - 10 ** -nines, min(0.99999, below / (9 * (count // 9) + 1)), places=9)

    def test_units_of_times(self):
        for us, name in ((0.5, "us"), (1999, "us"), (2000, "ms"), (1.999e6, "ms"), (2e6, "s"), (1e9, "s")):
            self.assertEqual(scales.unit_of(us)[0], name, us)

    def test_ticks_of_powers(self):
        self.assertEqual(scales.log_ticks(3, 120_000), [10, 100, 1000, 10_000, 100_000])
        self.assertEqual(scales.log_ticks(0.9, 6), [1, 2, 5])
        self.assertEqual(scales.log_ticks(3.4, 5.6), [3.5, 4, 4.5, 5, 5.5])
        self.assertEqual(scales.log_ticks(30, 3000), [50, 100, 200, 500, 1000, 2000])

    def test_scales_by_powers(self):
        """Where the largest is more than 30 times the smallest, and none is 0."""
        for values, span in (([1, 30], [0, 30]), ([1, 31], [1, 31]), ([0, 31], [0, 31]), ([5, 5], [0, 5]), ([0, 0], [0, 1])):
            self.assertEqual(scales.span(values), span)
        self.assertEqual(scales.span([9, 12], from_zero=False), [9, 12])
        for value, wide, share in ((1, True, 0), (10, True, 0.5), (100, True, 1), (1, False, 0), (50.5, False, 0.5)):
            self.assertAlmostEqual(scales.share_of_scale(value, [1, 100], wide), share)

    def test_numbers_in_cells(self):
        """Three digits, at most five characters."""
        for value, text in ((0, "0"), (0.04449, "0.044"), (0.5, "0.5"), (3.14159, "3.14"), (99.96, "100"), (999.4, "999"), (999.6, "1k"), (1234, "1.23k"),
                            (178123, "178k"), (999_600, "1M"), (2.5e6, "2.5M"), (-12.34, "-12.3")):
            self.assertEqual(scales.brief(value), text)
            self.assertLessEqual(len(text), 5)

    def test_series_keep_extremes(self):
        rows = [{"start_ms": 10.0 * i, "interval_ms": 10.0, "v": (i * 7919) % 1000} for i in range(1234)]
        points = data.series(rows, lambda row: row["v"])
        self.assertLessEqual(len(points), 151)
        self.assertEqual(max(p["high"] for p in points), max(r["v"] for r in rows))
        self.assertEqual(min(p["low"] for p in points), min(r["v"] for r in rows))
        groups = [rows[i:i + 9] for i in range(0, 1233, 9)]
        groups[-1].append(rows[-1])  # a single row is no point beside those of nine
        self.assertEqual([(p["ms"], p["low"], p["high"]) for p in points[:-1]],
                         [(g[0]["start_ms"], min(r["v"] for r in g), max(r["v"] for r in g)) for g in groups])
        self.assertEqual(points[-1]["ms"], 12340)

    def test_a_rest_is_no_spike(self):
        """A last row of a moment, with a rate of a moment, whatever the number of rows; the integral keeps what happened in it, and the
        longest latency stays."""
        for count in (2, 100, 150, 151, 1234):
            rows = [{"start_ms": 10.0 * i, "interval_ms": 10.0, "v": 100.0, "longest": 7} for i in range(count)]
            rows.append({"start_ms": 10.0 * count, "interval_ms": 0.001, "v": 90_000.0, "longest": 50})
            points = data.series(rows, lambda row: row["v"])
            self.assertLess(max(p["high"] for p in points), 110, count)
            integral = sum(p["mean"] * (q["ms"] - p["ms"]) for p, q in zip(points, points[1:]))
            self.assertAlmostEqual(integral, 1000 * count + 90, places=6)
            self.assertEqual(points[-1]["ms"], 10 * count + 0.001)
            self.assertEqual(max(p["high"] for p in data.series(rows, lambda row: row["v"], lambda row: row["longest"])), 50)

    def test_write_amplification(self):
        causes = {row["cause"]: row["bytes"] for row in data.write_amplification(self.result)}
        self.assertAlmostEqual(sum(causes.values()), self.result.json["ftl"]["waf"], places=9)
        self.assertGreater(causes["moved by garbage collection"], 0)

    def test_drive_at_start(self):
        rows = data.drive_at_start(self.result)
        self.assertEqual(rows["asked for"], "state sequential, fill 1")
        self.assertEqual(rows["mapped"], "100 % of 3,072 units")  # tiny-test: 12 MiB
        self.assertNotIn("overwrites", rows)
        bars = data.full_by_valid(self.result)
        self.assertEqual([row["valid"] for row in bars], [*(f"{n}–{n + 10}" for n in range(0, 100, 10)), "100"])
        self.assertEqual([row["percent"] for row in bars], [0] * 10 + [100])
        self.assertEqual((data.drive_at_start(type("Earlier", (), {"json": {}})), data.full_by_valid(type("Earlier", (), {"json": {}}))), ({}, []))

    def test_wear_in_steps(self):
        """Every block is in one bar, however many counts of erases there are."""
        for counts in ({0: 128}, {0: 120, 1: 8}, {5: 3, 44: 1}, {5: 3, 45: 1}, {i * i: i + 1 for i in range(100)}):
            rows = [{"erases": e, "blocks": n} for e, n in counts.items()]
            fake = type("Fake", (), {"json": {"wear": {"blocks_by_erases": rows}}})()
            bars = data.blocks_by_erases(fake)
            if counts == {0: 128}:
                self.assertEqual(bars, [], "nothing was erased")
                continue
            self.assertLessEqual(len(bars), 40)
            self.assertEqual(sum(b["blocks"] for b in bars), sum(counts.values()))
            self.assertEqual((bars[0]["erases"], bars[-1]["below"] > max(counts)), (min(counts), True))
            self.assertTrue(all(a["below"] == b["erases"] for a, b in zip(bars, bars[1:])))
            self.assertEqual(len({b["below"] - b["erases"] for b in bars}), 1)

    def test_outstanding_by_littles_law(self):
        rows = data.with_outstanding(self.result.time_series)
        busy = sum(row["outstanding"] * row["interval_ms"] for row in rows) / sum(row["interval_ms"] for row in rows)
        self.assertAlmostEqual(busy, 8, delta=0.1)  # a closed loop at depth 8
        self.assertLess(max(row["outstanding"] for row in rows), 1.25 * 8)

    def test_outstanding_of_commands_longer_than_a_row(self):
        """Against the count of commands at random times, of which each row knows the number, mean and maximum."""
        draw = random.Random("outstanding")
        for longest in (0.5, 5, 50, 500):
            ended = [(t := draw.uniform(longest + 10, 1000), draw.uniform(0.9, 1) * longest) for _ in range(20_000)]
            rows = []
            for begin in range(0, 1000, 10):
                took = [latency * 1000 for t, latency in ended if begin <= t < begin + 10]
                rows.append({"start_ms": float(begin), "interval_ms": 10.0, "read_ios": len(took), "read_mean_us": statistics.fmean(took) if took else None,
                             "read_max_us": max(took, default=None), "write_ios": 0, "write_mean_us": None, "write_max_us": None})
            found = data.with_outstanding(rows)
            self.assertAlmostEqual(sum(row["outstanding"] * 10 for row in found), sum(latency for _, latency in ended), delta=1)
            for row in found:
                begin = row["start_ms"]
                true = sum(max(0, min(t, begin + 10) - max(t - latency, begin)) for t, latency in ended) / 10
                self.assertAlmostEqual(row["outstanding"], true, delta=0.2 * 20 * longest)  # 20 or more begin in each millisecond

    def test_outstanding_over_a_loss_of_power(self):
        """Never more than the job's depth, although commands that waited for the power complete in a row that is short beside them."""
        for depth in (8, 64):
            self.simulate("tiny-test", "random_mix", "--number_ios=4k", f"--iodepth={depth}", "--set", 'host.power_cut_at=["3ms", "0.6s"]',
                          "--set", "host.power_off_time=500ms", output=f"cut{depth}")
            result = ssdtlm.Result(self.dir / f"cut{depth}")
            rows = data.with_outstanding(result.time_series)
            self.assertGreater(max(max(row["read_max_us"] or 0, row["write_max_us"] or 0) for row in rows), 500_000)
            most = max(row["outstanding"] for row in rows)
            self.assertTrue(0.8 * depth < most < 1.25 * depth, most)
            idle = [row for row in rows if row["interval_ms"] > 500]
            self.assertTrue(idle and all(row["outstanding"] > 0.6 * depth for row in idle), idle)

    def test_no_line_where_there_is_no_value(self):
        """A gap for each stretch of rows without a value; none at the ends."""
        values = [None, 5, 5, None, None, 7, None]
        rows = [{"start_ms": 10.0 * i, "interval_ms": 10.0, "v": v} for i, v in enumerate(values)]
        points = [(p["ms"], p["mean"]) for p in data.series(rows, lambda row: row["v"])]
        self.assertEqual(points, [(10, 5), (20, 5), (30, 5), (30, None), (50, 7), (60, 7)])
        self.assertEqual([p["mean"] for p in data.series(rows[:-1], lambda row: row["v"])], [5, 5, 5, None, 7, 7])
        self.assertEqual(data.series(rows[:1], lambda row: row["v"]), [])

    def test_whole_ticks(self):
        for low, high, ticks in ((0, 2, [0, 1, 2]), (0, 5, [0, 1, 2, 3, 4, 5]), (3, 4, [3, 4]), (0, 128, [0, 50, 100]), (7, 47, [10, 20, 30, 40]), (0, 1, [0, 1])):
            self.assertEqual(scales.whole_ticks(low, high), ticks)

    def test_marked_percentiles(self):
        self.assertTrue(data.few_above(9_999, 99.9))
        self.assertFalse(data.few_above(11_000, 99.9))

    def test_extras_are_those_of_the_package(self):
        project = tomllib.loads((SOURCE / "python" / "pyproject.toml").read_text())["project"]
        self.assertEqual(project["optional-dependencies"], {extra: extras.requirements(extra) for extra in extras.EXTRAS})
        self.assertNotIn("dependencies", project)

    def test_without_the_extra(self):
        done = subprocess.run([BINARY, "report", "out"], cwd=self.dir, capture_output=True, text=True,
                              env={**os.environ, "SSDTLM_PYTHON": "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable})
        if done.returncode == OK:
            self.skipTest("this Python has altair")
        self.assertEqual((done.returncode, done.stdout), (USER_ERROR, ""))
        self.assertRegex(done.stderr, r"^ssdtlm report: needs altair and vl_convert, which .* does not have; unset SSDTLM_PYTHON and run `ssdtlm python setup`, or ")


@unittest.skipUnless(PYTHON.exists(), "make python")
class Parameters(ReportTest):
    def test_read_as_in_toml(self):
        """What is set and what the preset says, for each kind of value."""
        settings = {"nand.independent_plane_read": "true", "gc.soft_free_blocks": "11", "nand.t_erase": '"2ms"', "gc.policy": '"fifo"'}
        job = self.job("mix", "rw=randread", "bs=4k", "number_ios=10")
        self.simulate("tiny-test", job, *(a for k, v in settings.items() for a in ("--set", f"{k}={v}")))
        text = self.report("out").read_text()
        rows = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row) for row in re.findall(r"<tr>(.*?)</tr>", text, re.DOTALL)]
        cells = {c[1]: c[2:4] for c in rows if len(c) == 5}
        for key, value in settings.items():
            self.assertEqual(cells[key][0], value.strip('"'), key)
            own = re.search(rf"^{key.rpartition('.')[2]} = (\S+)", ssdtlm_toml("tiny-test", key.rpartition(".")[0]), re.MULTILINE)
            self.assertEqual(cells[key][1], own[1].strip('"'), key)


@unittest.skipUnless(PYTHON.exists(), "make python")
class Page(ReportTest):
    def test_mistakes(self):
        done = subprocess.run([BINARY, "report", "a", "b"], cwd=self.dir, capture_output=True, text=True,
                              env={**os.environ, "SSDTLM_PYTHON": str(PYTHON)})
        self.assertEqual((done.returncode, done.stdout), (USER_ERROR, ""))
        self.assertEqual(len(done.stderr.splitlines()), 2)

    def test_a_result_is_not_replaced_by_the_page(self):
        result = self.simulate("tiny-test", self.job("read", "rw=read", "bs=4k", "number_ios=10"))
        before = result.files()
        done = subprocess.run([BINARY, "report", "out", "-o", "out/result.json"], cwd=self.dir, capture_output=True, text=True,
                              env={**os.environ, "SSDTLM_PYTHON": str(PYTHON)})
        self.assertEqual((done.returncode, done.stdout), (USER_ERROR, ""))
        self.assertIn("-o out/result.json: is a file of a run that the report is about", done.stderr)
        self.assertEqual(result.files(), before)

    def test_charts_by_themselves(self):
        self.simulate("tiny-test", self.job("mix", "rw=randrw", "bs=4k", "iodepth=8", "number_ios=2000", "norandommap", "io_size=100m"))
        page = self.report("out").read_text()
        code = ("import json, ssdtlm\ncharts = ssdtlm.charts('out')\n"
                "print(json.dumps({n: [c.name, c.spec, c._repr_mimebundle_()['image/svg+xml']] for n, c in charts.items()}))")
        done = subprocess.run([PYTHON, "-c", code], cwd=self.dir, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(SOURCE / "python")})
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        charts = json.loads(done.stdout)
        specs = json.loads(re.search(r'id="specs">(.*?)</script>', page, re.S)[1])
        self.assertEqual({name: spec for name, (_, spec, _) in charts.items()}, specs)
        for name, (own, _, svg) in charts.items():
            self.assertEqual(name, own)
            self.assertTrue(svg.startswith("<svg "))
            self.assertNotIn("currentColor", svg, "a picture has no page whose colour it could take")

    @unittest.skipUnless(program(), "no chromium")
    def test_in_a_browser(self):
        job = self.job("mix", "rw=randrw", "bs=4k", "iodepth=8", "number_ios=4000", "norandommap", "io_size=100m", "numjobs=2")
        for i, soft in enumerate((4, 6, 8, 12)):
            self.simulate("tiny-test", job, "--set", "precondition.state=sequential", "--set", f"gc.soft_free_blocks={soft}", output=f"run {i} <b>&")
        names = [f"run {i} <b>&" for i in range(4)]
        one, four = self.report(names[0]), self.report(*names, "-o", "four.html")
        self.assertEqual(one, self.dir / names[0] / "report.html")
        browser = Browser(self.dir / "profile")
        self.addCleanup(browser.close)
        for path, runs in ((one, names[:1]), (four, names)):
            self.assertLess(path.stat().st_size, 1_500_000)
            browser.open(path, "window.drawn")
            self.assertEqual(browser.complaints(path), [])
            self.check_values(browser, runs)
            self.assertEqual(browser.evaluate(OVERLAPS) + browser.evaluate(CUT) + browser.evaluate(STRUCK), [])
            self.check_schemes(browser)
            browser.open(path, "window.drawn", width=360, height=800)
            self.assertLessEqual(browser.evaluate("document.documentElement.scrollWidth"), 360)
            self.assertEqual(browser.evaluate(OVERLAPS) + browser.evaluate(CUT) + browser.evaluate(STRUCK), [])
            self.screenshots(browser, path)
            print(f"{path.name}: {path.stat().st_size} bytes, {browser.evaluate('Object.keys(views).length')} charts", file=sys.stderr)

    @unittest.skipUnless(program(), "no chromium")
    def test_lines_and_ticks_in_a_browser(self):
        """Lines end while the drive is without power; ticks are whole numbers where counts are shown, and small numbers have no prefix."""
        self.simulate("tiny-test", "random_mix", "--number_ios=4k", "--set", 'host.power_cut_at=["3ms", "0.6s"]', "--set", "host.power_off_time=500ms")
        rows = Result(self.dir / "out").rows("timeseries.csv")
        self.assertTrue(any(not row["read_mean_us"] and float(row["interval_ms"]) > 1000 for row in rows[1:-1]))
        browser = Browser(self.dir / "profile")
        self.addCleanup(browser.close)
        path = self.report("out")
        browser.open(path, "window.drawn")
        self.assertEqual(browser.complaints(path), [])
        parts = lambda chart: [path.count("M") for path in browser.evaluate(f"[...document.querySelectorAll('#{chart}-0 svg .mark-line path')].map(p => p.getAttribute('d'))")]
        has = lambda column: [bool(row[column]) for row in rows]
        stretches = lambda column: sum(there and not before for before, there in zip([False, *has(column)], has(column)))
        self.assertEqual(parts("latency"), [stretches("read_mean_us"), stretches("write_mean_us")])
        self.assertEqual(parts("waf"), [stretches("waf")])
        self.assertEqual(parts("iops"), [1, 1])
        self.assertLess(max(float(row["high"]) for row in self.rows(browser, "outstanding-0")), 1.25 * 64)
        texts = lambda chart, role: browser.evaluate(f"[...document.querySelectorAll('#{chart}-0 svg .{role} text')].map(t => t.textContent)")
        axes = browser.evaluate("[...document.querySelectorAll('#wear-0 svg .role-axis')].map(a => [...a.querySelectorAll('.role-axis-label text')].map(t => t.textContent))")
        labels = [of_one for of_one in axes if of_one]
        self.assertEqual(len(labels), 2)
        for of_one in labels:
            self.assertEqual(len(set(of_one)), len(of_one))
            for text in of_one:
                self.assertRegex(text, r"^\d+$")
        for chart in ("worn", "queues"):
            found = texts(chart, "role-legend-label")
            self.assertGreaterEqual(len(found), 2)
            for text in found:
                self.assertRegex(text, r"^\d+(\.\d+)?$")

    def check_values(self, browser, names):
        results = {name: Result(self.dir / name).json() for name in names}
        for i, (name, result) in enumerate(results.items()):
            rows = {row["resource"]: row for row in self.rows(browser, f"busy-{i}")}
            marks = {mark["resource"]: mark for mark in self.drawn(browser, f"busy-{i}", "bar")}
            self.assertEqual(set(rows), set(result["resources"]))
            for resource, r in result["resources"].items():
                self.assertAlmostEqual(rows[resource]["busy"], 100 * r["busy_mean"], delta=1e-4 * 100 * r["busy_mean"])
                self.assertAlmostEqual(float(marks[resource]["busy (%)"]), 100 * r["busy_mean"], delta=1e-3 * 100 * r["busy_mean"] + 1e-6)
                self.assertAlmostEqual(rows[resource]["busiest"], 100 * r["busy_max"], delta=1e-4 * 100 * r["busy_max"])
            dies = self.rows(browser, f"dies-{i}")
            busy = result["resources"]["die"]["busy"]
            self.assertEqual([(d["channel"], d["die"]) for d in dies], [(0, 0), (1, 0)])  # tiny-test: two channels, one die each
            for d, share in zip(dies, busy):
                self.assertAlmostEqual(d["busy"], 100 * share, delta=0.01)
            self.assertEqual([d["text"] for d in dies], [scales.brief(100 * share) for share in busy])
            drawn = browser.evaluate(f"[...document.querySelectorAll('#dies-{i} svg .mark-text.role-mark text')].map(t => t.textContent)")
            self.assertEqual(sorted(drawn), sorted(d["text"] for d in dies))
            queues = self.rows(browser, f"queues-{i}")
            self.assertEqual([(q["channel"], q["die"], q["most"]) for q in queues], [(c, 0, m) for c, m in enumerate(result["die_queue"]["max"])])
            valid = self.rows(browser, f"valid-{i}")
            self.assertAlmostEqual(sum(row["percent"] for row in valid), 100, delta=0.1)
            self.assertEqual(len(self.drawn(browser, f"valid-{i}", "bar")), 11)
            worn, histogram = self.rows(browser, f"worn-{i}"), self.rows(browser, f"wear-{i}")
            for d, waiting, mean in zip(range(2), result["die_queue"]["mean"], result["wear"]["erases_mean"]):
                self.assertAlmostEqual(queues[d]["waiting"], waiting, delta=1e-4 * waiting + 1e-9)
                self.assertAlmostEqual(worn[d]["erases"], mean, delta=1e-4 * mean)
            self.assertEqual(sum(row["blocks"] for row in histogram), 128)  # of two dies
            bars = self.drawn(browser, f"wear-{i}", "bar")
            self.assertEqual(len(bars), len(histogram))
            ios = {op: 0.0 for op in WAYS}
            points = self.rows(browser, f"iops-{i}")
            for op in WAYS:
                line = [p for p in points if p["line"] == op]
                self.assertLessEqual(len(line), 300)
                ios[op] = sum(p["mean"] * (q["ms"] - p["ms"]) / 1000 for p, q in zip(line, line[1:]))
                self.assertAlmostEqual(ios[op], result[op]["ios"], delta=1e-3 * result[op]["ios"])
            for op in WAYS:
                self.check_bands(self.rows(browser, f"bands-{op}-{i}"), result, op)
        for op in WAYS:
            rows = self.rows(browser, f"mean-{op}")
            self.assertEqual({row["bar"] for row in rows}, set(names))
            for name, result in results.items():
                stages = {row["stage"]: row["us"] for row in rows if row["bar"] == name}
                exact = result["latency_us"][op]
                self.assertAlmostEqual(sum(stages.values()), exact["total"]["mean"], delta=1e-4 * exact["total"]["mean"])
                for stage, us in stages.items():
                    if stage != "other":
                        self.assertAlmostEqual(us, exact.get(stage, {"mean": 0})["mean"], delta=1e-4 * us + 1e-9)
            bars = self.drawn(browser, f"mean-{op}", "bar")
            self.assertGreaterEqual(len(bars), 4 * len(names))
        text = browser.evaluate("document.body.innerText")
        for name, result in results.items():
            self.assertIn(name, text)
            self.assertIn(result["limiting"], text)
            self.assertIn(f"gc.soft_free_blocks", text)
        self.assertEqual(browser.evaluate("document.querySelectorAll('b').length"), 0, "names are text, not markup")
        sizes = browser.evaluate("Object.keys(views).map(n => document.getElementById(n).querySelector('svg').getBoundingClientRect().height)")
        self.assertTrue(all(size > 20 for size in sizes), sizes)

    def check_bands(self, rows, result, op):
        of_band = {}
        for row in rows:
            of_band[row["bar"]] = of_band.get(row["bar"], 0) + row["us"]
        means = list(of_band.values())
        self.assertGreaterEqual(len(means), 3)
        self.assertEqual(means, sorted(means))
        total = result["latency_us"][op]["total"]
        self.assertLessEqual(means[0], total["p50"])
        self.assertTrue(total["p50"] * 0.98 <= means[1] <= total["p90"] * 1.02)
        self.assertLessEqual(means[-1], total["max"] * 1.0001)

    def check_schemes(self, browser):
        """Text stands out against the paper in light, dark and print: contrast of at least 4.5 (WCAG 2.1, AA)."""
        for dark, media in ((False, ""), (True, ""), (True, "print")):
            browser.scheme(dark, media)
            colours = browser.evaluate("[getComputedStyle(document.querySelector('.chart svg text')).fill, getComputedStyle(document.body).color, "
                                       "getComputedStyle(document.body).backgroundColor]")
            light = [luminance(colour) for colour in colours]
            for text in light[:2]:
                self.assertGreater((max(text, light[2]) + 0.05) / (min(text, light[2]) + 0.05), 4.5, (dark, media, colours))
            self.assertEqual(light[2] < 0.5, dark and media != "print", colours)
        browser.scheme(False)


def luminance(colour):
    """Of WCAG 2.1, of "rgb(r, g, b)"."""
    parts = [int(n) / 255 for n in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


if __name__ == "__main__":
    unittest.main()
