# SPDX-License-Identifier: Apache-2.0
"""The report of several jobs, tenants and write streams: its numbers are those of latency_by_job.csv, and the page is opened in
headless Chromium. SSDTLM_SCREENSHOTS=FOLDER keeps pictures."""
import json
import os
import sys
import unittest

from browser import CUT, OVERLAPS, Browser, program
from reports import PYTHON, ReportTest
from support import BINARY, SOURCE, Result, SystemTest

sys.path.insert(0, str(SOURCE / "python"))
os.environ["SSDTLM_BINARY"] = BINARY
import ssdtlm  # noqa: E402  pylint: disable=wrong-import-position
from ssdtlm.reporting import owners  # noqa: E402  pylint: disable=wrong-import-position

# Two clones, a name that must be quoted in a CSV and escaped on a page, and each write in a stream.
JOBS = """[global]
ioengine=libaio
bs=4k
size=2m
io_size=100m
norandommap
number_ios={ios}
[reader]
rw=randread
iodepth=4
[a <b>, "c"]
rw=randrw
iodepth=8
write_hint=long
numjobs={clones}
[log]
rw=write
iodepth=2
write_hint=short
"""
TENANTS = ("--set", "host.tenants=by_job", "--set", "nvme.streams=4", "--set", "host.streams=true")
HEADING = "Whose commands wait"
KINDS = ("job", "tenant", "stream")
NAMES = {("job", 0): "0 reader", ("job", 1): '1 a <b>, "c"', ("job", 2): '2 a <b>, "c"', ("job", 3): "3 log", ("tenant", 1): "1 reader",
         ("tenant", 2): '2 a <b>, "c"', ("tenant", 3): "3 log", ("stream", 1): "1 short", ("stream", 3): "3 long"}


def expected(result):
    """Rows of latency_by_job.csv: {(of, number, op): {"count", "mean_us", ..., stage: us}}, stages without time left out."""
    found = {}
    for row in result.rows("latency_by_job.csv"):
        numbers = {k: float(v) for k, v in row.items() if k not in ("of", "number", "name", "op")}
        summary = ("count", "mean_us", "p50_us", "p99_us", "p99.9_us", "max_us")
        found[row["of"], int(row["number"]), row["op"]] = {**{k: numbers[k] for k in summary},
                                                           "stages": {k[:-3]: v for k, v in numbers.items() if k not in summary and v}}
    return found


class Jobs:
    """Runs of JOBS, for a SystemTest."""

    def simulate_jobs(self, output, *more, clones=2, ios=1000):
        job = self.write("jobs.fio", JOBS.format(clones=clones, ios=ios))
        return self.simulate("tiny-test", job, "--set", "precondition.state=sequential", *TENANTS, *more, output=output)

    def without_breakdown(self, folder):
        """As a version wrote it that had none."""
        file = self.dir / folder / "result.json"
        file.write_text(json.dumps({k: v for k, v in json.loads(file.read_text()).items() if not k.startswith("latency_us_by_")}))
        (self.dir / folder / "latency_by_job.csv").unlink()


class Numbers(Jobs, SystemTest):
    def fake(self, p99, op="read"):
        """A result whose jobs have these percentiles."""
        rows = [{"job": i, "name": "j", "op": op, "count": 1, "mean": 1, "p50": 1, "p99": value, "p99.9": 1, "max": 1, "stages": {"array": 1}}
                for i, value in enumerate(p99)]
        return type("Fake", (), {"latency_of": lambda _, kind: rows if kind == "job" else []})()

    def test_rows(self):
        exact = expected(self.simulate_jobs("out"))
        result = ssdtlm.Result(self.dir / "out")
        rows = {(kind, row["number"], row["op"]): row for kind in KINDS for row in owners.rows(result, kind)}
        self.assertEqual(rows.keys(), exact.keys())
        for key, row in rows.items():
            self.assertEqual(row["label"], NAMES[key[:2]])
            self.assertEqual(row["count"], exact[key]["count"])
            for name in ("mean", "p50", "p99", "p99.9", "max"):
                self.assertAlmostEqual(row[name], exact[key][f"{name}_us"], delta=1e-3)
            self.assertAlmostEqual(sum(row["stages"].values()), row["mean"], places=9)
            # A metric of the same name is what a comparison and a sweep find.
            name = ".".join(map(str, key))
            self.assertEqual(result.metrics[f"{name}.total.p99"], row["p99"])
            self.assertEqual(result.metrics[f"{name}.ios"], row["count"])
            self.assertEqual({k: v for k, v in row["stages"].items() if result.metrics[f"{name}.{k}.mean"] == v}, row["stages"])
        for kind in KINDS:
            self.assertGreaterEqual(len({key[1] for key in rows if key[0] == kind}), 2, kind)

    def test_nothing_to_compare(self):
        job = self.job("alone", "rw=randrw", "bs=4k", "number_ios=200", "size=2m", "write_hint=long")
        self.simulate("tiny-test", job, output="alone")
        self.simulate("tiny-test", job, "--set", "host.tenants=by_job", output="tenant")
        self.simulate("tiny-test", job, "--set", "nvme.streams=4", "--set", "host.streams=true", output="stream")
        self.simulate_jobs("old")
        self.without_breakdown("old")
        for name, kinds in (("alone", []), ("tenant", []), ("stream", ["stream"]), ("old", [])):
            result = ssdtlm.Result(self.dir / name)
            self.assertEqual([kind for kind in KINDS if owners.rows(result, kind)], kinds, name)
            self.assertEqual({metric.split(".")[0] for metric in result.metrics} & set(KINDS), set(kinds), name)
            self.assertEqual(owners.parts([result], "write"), [], "one bar compares nothing")

    def test_the_slowest_are_drawn(self):
        numbers = lambda lists: [[row["number"] for row in rows] for rows in lists]
        few, many = self.fake([5, 9, 7]), self.fake([(i * 37) % 64 for i in range(64)])
        self.assertEqual(numbers(owners.drawn([few], "job", "read")), [[0, 1, 2]])
        self.assertEqual(numbers(owners.drawn([self.fake([5] * owners.MOST_BARS)], "job", "read")), [list(range(owners.MOST_BARS))])
        slowest = sorted(range(64), key=lambda i: -((i * 37) % 64))[:owners.MOST_BARS]
        self.assertEqual(numbers(owners.drawn([many], "job", "read")), [slowest])
        self.assertEqual(owners.drawn([many], "job", "write"), [[]])
        # Of several runs the same jobs: those that are slow in any, as far as a run has them.
        other = self.fake([1000 if i == 3 else 0 for i in range(20)])
        shown = numbers(owners.drawn([many, other], "job", "read"))
        self.assertEqual(shown[0], [3] + [i for i in slowest if i != 3][:owners.MOST_BARS - 1])
        self.assertEqual(shown[1], [i for i in shown[0] if i < 20])


@unittest.skipUnless(PYTHON.exists() and program(), "make python; no chromium")
class Page(Jobs, ReportTest):
    def setUp(self):
        super().setUp()
        self.browser = Browser(self.dir / "profile")
        self.addCleanup(self.browser.close)

    def open(self, path, width=1200):
        self.browser.open(path, "window.drawn", width=width)
        self.assertEqual(self.browser.complaints(path), [])
        self.assertLessEqual(self.browser.evaluate("document.documentElement.scrollWidth"), width)
        self.assertEqual(self.browser.evaluate(OVERLAPS) + self.browser.evaluate(CUT), [])
        return self.browser.evaluate("document.body.innerText")

    def charts(self):
        """Those of jobs, tenants and streams: {(kind, op)}."""
        return {tuple(name.split("-")[:2]) for name in self.browser.evaluate("Object.keys(views)") if name.split("-")[0] in KINDS}

    def cells(self):
        """The table's rows: {(label, run, operation): [text]}."""
        found = self.browser.evaluate("[...document.querySelectorAll('table')].filter(t => t.tHead.textContent.includes('p99.9'))"
                                      ".map(t => [...t.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.textContent)))")
        self.assertEqual(len(found), 1)
        return {tuple(row[:3]): row[3:] for row in found[0]}

    def check_charts(self, exact, run):
        """All bars of a run, as data and as drawn; `exact`: of expected()."""
        for kind, op in self.charts():
            own = {NAMES[kind, number]: row for (of, number, of_op), row in exact.items() if (of, of_op) == (kind, op)}
            chart = f"{kind}-{op}-{run}"
            rows, marks = self.rows(self.browser, chart), self.drawn(self.browser, chart, "bar")
            self.assertEqual({row["bar"] for row in rows}, set(own))
            for label, values in own.items():
                stages = {row["stage"]: row["us"] for row in rows if row["bar"] == label}
                self.assertAlmostEqual(sum(stages.values()), values["mean_us"], delta=1e-4 * values["mean_us"])
                for stage, us in stages.items():
                    if stage != "other":
                        self.assertAlmostEqual(us, values["stages"].get(stage, 0), delta=1e-4 * us + 1e-6)
                widths = [float(mark["latency (us)"].replace(",", "")) for mark in marks if mark["bar"] == label]
                self.assertAlmostEqual(sum(widths), values["mean_us"], delta=2e-3 * values["mean_us"])
                self.assertGreaterEqual(len(widths), 5)

    def test_jobs_tenants_and_streams(self):
        exact = {name: expected(self.simulate_jobs(name, "--set", f"nand.t_read={t_read}")) for name, t_read in (("fast", "50us"), ("slow", "100us"))}
        for runs, path in ((["fast"], self.report("fast")), (["fast", "slow"], self.report("fast", "slow", "-o", "both.html"))):
            text = self.open(path)
            self.assertIn(HEADING, text)
            self.assertNotIn("longest p99 are drawn", text)
            self.assertEqual(self.charts(), {("job", "read"), ("job", "write"), ("tenant", "read"), ("tenant", "write"), ("stream", "write")})
            cells = self.cells()
            self.assertEqual(len(cells), sum(len(exact[name]) for name in runs))
            self.assertEqual(len({(label, op) for label, _, op in list(cells)[:len(runs)]}), 1, "runs are beside each other")
            for i, name in enumerate(runs):
                self.check_charts(exact[name], i)
                for (kind, number, op), row in exact[name].items():
                    label = ("write stream" if kind == "stream" else kind) + " " + NAMES[kind, number]
                    count, *times = cells[label, name if len(runs) > 1 else "", op]
                    self.assertEqual(int(count.replace(",", "")), row["count"])
                    for shown, column in zip(times, ("mean_us", "p50_us", "p99_us", "p99.9_us", "max_us"), strict=True):
                        self.assertAlmostEqual(float(shown.rstrip(" †").replace(",", "")), row[column], delta=1e-3 * row[column])
                    self.assertEqual([shown.endswith("†") for shown in times], [False, False, row["count"] < 1000, True, False])
            self.assertEqual(self.browser.evaluate("document.querySelectorAll('b').length"), 0, "names are text, not markup")
            self.open(path, width=390)
            self.screenshots(self.browser, path)

    def test_many_jobs(self):
        """Bars have a bound, tables are folded, and it is said which jobs are drawn."""
        exact = expected(self.simulate_jobs("many", clones=62, ios=100))
        path = self.report("many")
        text = self.open(path)
        self.assertIn(f"Of 63 jobs that read and of 63 jobs that write the {owners.MOST_BARS} with the longest p99 are drawn", text)
        for op in ("read", "write"):
            p99 = sorted((-row["p99_us"], number) for (kind, number, of_op), row in exact.items() if (kind, of_op) == ("job", op))
            order = list(dict.fromkeys(row["bar"] for row in self.rows(self.browser, f"job-{op}-0")))
            self.assertEqual([int(label.split()[0]) for label in order], [number for _, number in p99[:owners.MOST_BARS]])
            marks = self.drawn(self.browser, f"job-{op}-0", "bar")
            self.assertEqual({mark["bar"] for mark in marks}, set(order))
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('details[open]').length"), 0)
        self.assertEqual(len(self.cells()), len(exact))
        closed = self.browser.evaluate("document.documentElement.scrollHeight")
        self.browser.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        self.assertLess(closed + 2 * 64 * 15, self.browser.evaluate("document.documentElement.scrollHeight"), "what was folded is there")
        self.open(path, width=390)
        self.screenshots(self.browser, path)

    def test_no_section(self):
        job = self.job("alone", "rw=randrw", "bs=4k", "number_ios=200", "size=2m")
        self.simulate("tiny-test", job, "--set", "host.tenants=by_job", output="alone")
        self.simulate_jobs("old")
        self.without_breakdown("old")
        for paths in (["alone"], ["old"], ["alone", "old"]):
            text = self.open(self.report(*paths))
            self.assertNotIn(HEADING, text)
            self.assertEqual(self.charts(), set())
            self.assertIn("Where the time goes", text)
        self.simulate_jobs("new")
        exact = expected(Result(self.dir / "new"))
        self.assertIn(HEADING, self.open(self.report("old", "new")))
        self.check_charts(exact, 1)
        self.assertEqual(len(self.cells()), len(exact))


if __name__ == "__main__":
    unittest.main()
