# SPDX-License-Identifier: Apache-2.0
"""`ssdtlm study` with a small study of its own: points, runs that are kept, table, charts, trends, and what a failure says."""
import csv
import importlib.util
import json
import os
import pathlib
import re
import signal
import subprocess
import time
import unittest

import sweeps
from support import BINARY, INTERRUPTED, OK, SOURCE, USER_ERROR, SystemTest

STUDY = '''
from ssdtlm.studying import Figure, Point, Study, Trend, check


class Small(Study):
    title = "Reads of tiny-test against tR"
    source = "nobody has published this"

    def points(self, quick):
        job = ("reads", "[reads]\\nrw=randread\\nbs=4k\\nnumber_ios=50\\n")
        return [Point({"t_read": us}, "tiny-test", (job,), {"nand.t_read": f"{us}us"}, ("--seed", "3")) for us in ((50, 100) if quick else (50, 75, 100))]

    def rows(self, ended):
        return [{**point.axes, "mean": result.json["latency_us"]["read"]["total"]["mean"]} for point, result in ended]

    def figures(self, rows):
        return [Figure("bars", "Latency", "bars", rows, "t_read", "mean", unit="us"), Figure("lines", "Latency again", "lines", rows, "t_read", "mean", unit="us")]

    def trends(self, rows):
        steps = [b["mean"] - a["mean"] for a, b in zip(rows, rows[1:])]
        return [Trend("latency rises with tR", min(steps) > 0, f"by at least {min(steps):.3f} us"),
                check("latency falls with tR", max(steps) < 0, "it does not", expected=EXPECTED, why="it is the other way round")]


STUDY = Small()
'''


@unittest.skipUnless(sweeps.can_sweep(), "make python")
class StudyCommand(SystemTest):
    def place(self, expected="False", text=STUDY, name="small"):
        folder = pathlib.Path(self.dir) / "published" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "study.py").write_text(text.replace("EXPECTED", expected), encoding="utf-8")

    def study(self, *words):
        environment = {**sweeps.ENVIRONMENT, "SSDTLM_STUDIES": str(pathlib.Path(self.dir) / "published")}
        done = subprocess.run([BINARY, "study", *words], cwd=self.dir, env=environment, capture_output=True, text=True, timeout=300, check=False)
        return done.returncode, done.stdout, done.stderr

    def test_a_study(self):
        self.place()
        code, said, errors = self.study("small", "-o", "out", "--pictures", "pictures")
        self.assertEqual((code, errors), (OK, ""))
        self.assertIn("met     latency rises with tR", said)
        self.assertIn("NOT MET latency falls with tR: it does not\n          it is the other way round\n", said)
        self.assertIn("1 of 2 trends are met. 2 charts", said)
        out = pathlib.Path(self.dir) / "out" / "small"
        rows = list(csv.DictReader((out / "rows.csv").read_text(encoding="utf-8").splitlines()))
        self.assertEqual([row["t_read"] for row in rows], ["50", "75", "100"])
        # One read at a time: what is beside tR is the same.
        rests = [float(row["mean"]) - float(row["t_read"]) for row in rows]
        self.assertLess(max(rests) - min(rests), 0.001)
        self.assertEqual([trend["met"] for trend in json.loads((out / "trends.json").read_text())], [True, False])
        self.assertIn("nobody has published this", (out / "study.html").read_text(encoding="utf-8"))
        self.assertEqual(sorted(os.listdir(pathlib.Path(self.dir) / "pictures")), ["bars.svg", "lines.svg"])
        heights = [float(height) for height in re.findall(r'aria-roledescription="bar" d="M[^,]+,[\d.]+h[\d.]+v([\d.]+)', (pathlib.Path(self.dir) / "pictures" / "bars.svg").read_text(encoding="utf-8"))]
        for row, height in zip(rows, heights, strict=True):
            self.assertAlmostEqual(height / heights[0], float(row["mean"]) / float(rows[0]["mean"]), places=4)

    def test_a_chart_over_time_and_files(self):
        """The largest and the smallest value are marked, but for those in a band; files stand in the study's folder."""
        text = STUDY.replace('"lines", "Latency again", "lines", rows, "t_read", "mean", unit="us")', '"time", "Latency again", "time", rows, "t_read", "mean", '
                             'unit="us", bands=((50, 60, "layout"),), points=True, digits=3, colour="#8B0000")')
        self.place(text=text.replace("    def trends(", '    def files(self, ended):\n        return {"more/t.csv": "\\n".join(str(p.axes["t_read"]) for p, _ in ended)}\n\n    def trends('))
        code, _, errors = self.study("small", "-o", "out", "--pictures", "pictures")
        self.assertEqual((code, errors), (OK, ""))
        out = pathlib.Path(self.dir) / "out" / "small"
        self.assertEqual((out / "more" / "t.csv").read_text(encoding="utf-8"), "50\n75\n100")
        rows = list(csv.DictReader((out / "rows.csv").read_text(encoding="utf-8").splitlines()))
        picture = (pathlib.Path(self.dir) / "pictures" / "time.svg").read_text(encoding="utf-8")
        self.assertIn(f"Max: {float(rows[2]['mean']):,.3f}", picture)
        self.assertIn(f"Min: {float(rows[1]['mean']):,.3f}", picture)
        self.assertIn(">layout<", picture)

    def test_a_study_that_this_machine_cannot_run(self):
        """Alone it is refused with the reason; among all it is left out, which is no mistake."""
        self.place()
        self.place(name="other", text=STUDY.replace('    source =', '    def lacks(self):\n        return "no machine for it"\n\n    source ='))
        code, _, errors = self.study("other", "--quick", "-o", "out")
        self.assertEqual(code, USER_ERROR)
        self.assertIn("no machine for it", errors)
        code, said, errors = self.study("all", "--quick", "-o", "out")
        self.assertEqual((code, errors), (OK, ""))
        self.assertIn("other is left out: no machine for it", said)
        self.assertIn("no machine for it", (pathlib.Path(self.dir) / "out" / "index-quick.html").read_text(encoding="utf-8"))

    def test_runs_are_kept(self):
        """What has ended is not run again; what is new is."""
        self.place()
        self.study("small", "-o", "out")
        runs = pathlib.Path(self.dir) / "out" / "small" / "runs"
        before = {run.name: (run / "result.json").stat().st_mtime_ns for run in runs.iterdir()}
        self.assertEqual(len(before), 3)
        self.place(text=STUDY.replace("(50, 75, 100)", "(50, 75, 100, 125)"))
        self.assertEqual(self.study("small", "-o", "out")[0], OK)
        after = {run.name: (run / "result.json").stat().st_mtime_ns for run in runs.iterdir()}
        self.assertEqual(len(after), 4)
        self.assertEqual(before, {name: time for name, time in after.items() if name in before})

    def test_a_changed_device_is_run_again(self):
        """Its values count, its name and comments do not; so does the content of what is played before."""
        fill = "[fill]\nrw=write\nbs=4k\nnumber_ios={}\n"
        self.write("fill.fio", fill.format(20))
        text = STUDY.replace('"tiny-test"', f'"{self.dir / "device.toml"}"').replace('{"nand.t_read": f"{us}us"}', f'{{"nand.t_read": f"{{us}}us", "precondition.workload": "{self.dir / "fill.fio"}"}}')
        self.place(text=text)
        runs = pathlib.Path(self.dir) / "out" / "small-quick" / "runs"
        preset = (SOURCE / "configs" / "device" / "tiny-test.toml").read_text(encoding="utf-8")
        for device, file, count in ((preset, 20, 2), ("# again\n" + preset.replace('name = "tiny-test"', 'name = "another"'), 20, 2), (preset, 30, 4), (preset + "\n[run]\nseed = 7\n", 30, 6)):
            self.write("device.toml", device)
            self.write("fill.fio", fill.format(file))
            code, _, errors = self.study("small", "--quick", "-o", "out")
            self.assertEqual((code, errors), (OK, ""))
            self.assertEqual(len(os.listdir(runs)), count)
        self.write("device.toml", preset + "\n[nonsense]\n")
        code, _, errors = self.study("small", "--quick", "-o", "out")
        self.assertEqual(code, USER_ERROR)
        self.assertIn("nonsense", errors)

    def test_interrupted(self):
        """The page of all has what ended, and says of the rest that it did not."""
        self.place(name="a")
        self.place(name="b", text=STUDY.replace("number_ios=50", "time_based\\nruntime=1000s"))
        self.place(name="c")
        environment = {**sweeps.ENVIRONMENT, "SSDTLM_STUDIES": str(pathlib.Path(self.dir) / "published")}
        program = subprocess.Popen([BINARY, "study", "all", "-j", "1", "-o", "out"], cwd=self.dir, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        out = pathlib.Path(self.dir) / "out"
        for _ in range(1200):
            if list(out.glob("b/runs/.*/*.fio")):
                break
            time.sleep(0.1)
        program.send_signal(signal.SIGINT)
        said, errors = program.communicate(timeout=60)
        self.assertEqual((program.returncode, errors), (INTERRUPTED, ""))
        self.assertIn("interrupted; what is done is in out", said)
        page = (out / "index.html").read_text(encoding="utf-8").split("<script")[0]
        self.assertIn("1 studies: 1 of 2 trends are met", page)
        for name in ("b", "c"):
            self.assertIn(f"{name} did not end: interrupted", page)
        self.assertEqual(list(out.glob("b/runs/*")), [])

    def test_a_trend_that_is_lost_is_a_failure(self):
        self.place(expected="True")
        self.assertEqual(self.study("small", "--quick", "-o", "out")[0], 1)

    def test_an_index_of_all(self):
        """Names of charts are of each study's own; a study that ends badly does not stop the others."""
        self.place()
        self.place(name="strict", expected="True")
        self.place(name="broken", text=STUDY.replace('f"{us}us"', '"1 parsec"'))
        code, _, errors = self.study("all", "--quick", "-o", "out", "--pictures", "pictures")
        self.assertEqual(code, USER_ERROR)
        self.assertIn("1 parsec", errors)
        page = (pathlib.Path(self.dir) / "out" / "index-quick.html").read_text(encoding="utf-8").split("<script")[0]
        self.assertIn("2 studies: 2 of 4 trends are met (2 published, 2 checks of our own), 1 are missed as expected, 1 are lost. 4 charts", page)
        self.assertEqual(page.count('<td class="text missed">NOT\u00a0MET</td>'), 1)
        self.assertEqual((page.count('<td class="text missed">LOST</td>'), page.count('<td class="text met">met</td>'), page.count('<td class="text">our own</td>')), (1, 2, 2))
        self.assertRegex(page, "broken did not end: t_read (50|100): the run ended with exit code 2")
        self.assertIn('<a href="strict-quick/study.html">', page)
        self.assertEqual(sorted(os.listdir(pathlib.Path(self.dir) / "pictures")), [f"{name}-{kind}.svg" for name in ("small", "strict") for kind in ("bars", "lines")])
        code, said, errors = self.study("small", "strict", "--quick", "-o", "out")
        self.assertEqual((code, errors), (1, ""))
        self.assertIn("2 of 4 trends are met (2 published, 2 checks of our own), 1 are missed as expected, 1 are lost. 4 charts in out/index-quick.html\n  small: 1 of 2 trends are met\n  strict: 1 of 2 trends are met, 1 LOST\n", said)

    def test_kinds_of_charts(self):
        """Each is drawn, and what a kind promises is in the picture."""
        kinds = {"stacked": "", "lines": ', log="y", dashed=("even",)', "curves": ', log="xy", extremes=True', "map": ""}
        figures = ", ".join(f'Figure("{kind}", "Chart", "{kind}", parts, "t_read", "mean", "part", "us"{more})' for kind, more in kinds.items())
        text = STUDY.replace("        return [Figure(", '        parts = [{**row, "part": part, "mean": row["mean"] * times} for row in rows for part, times in (("even", 1), ("double", 2))]\n'
                             f"        return [{figures}]\n        return [Figure(")
        self.place(text=text)
        code, said, errors = self.study("small", "--quick", "-o", "out", "--pictures", "pictures")
        self.assertEqual((code, errors), (OK, ""), said)
        drawn = {kind: (pathlib.Path(self.dir) / "pictures" / f"{kind}.svg").read_text(encoding="utf-8") for kind in kinds}
        rows = list(csv.DictReader((pathlib.Path(self.dir) / "out" / "small-quick" / "rows.csv").read_text(encoding="utf-8").splitlines()))
        self.assertIn("stroke-dasharray", drawn["lines"])
        for least, most in ((1, 1), (2, 2)):
            self.assertIn(f"Min : {least * float(rows[0]['mean']):g}", drawn["curves"])
            self.assertIn(f"Max : {most * float(rows[1]['mean']):g}", drawn["curves"])
        self.assertEqual(re.findall(r"by: double; text: ([\d.]+)", drawn["map"]), [f"{2 * float(row['mean']):.3g}" for row in rows])
        # The upper bar of a stack is twice the lower one, and stands on it.
        bars = {(x, part): (float(top), float(height)) for part, x, top, height in
                re.findall(r'by: (\w+); [^"]*x: (\d+); [^>]*d="M[^,]+,([\d.]+)h[\d.]+v([\d.]+)', drawn["stacked"])}
        for row in rows:
            (low_top, low), (top, height) = (bars[row["t_read"], part] for part in ("even", "double"))
            self.assertAlmostEqual(height, 2 * low, places=1)
            self.assertAlmostEqual(top + height, low_top, places=1)

    def test_list_and_names(self):
        self.place()
        self.assertEqual(self.study("list"), (OK, "small: Reads of tiny-test against tR\n", ""))
        code, _, errors = self.study("smal")
        self.assertEqual(code, USER_ERROR)
        self.assertIn("no study 'smal'", errors)
        self.assertIn("small", errors)

    def test_a_run_that_fails(self):
        self.place(text=STUDY.replace('f"{us}us"', '"1 parsec"'))
        code, _, errors = self.study("small", "-o", "out")
        self.assertEqual(code, USER_ERROR)
        self.assertRegex(errors, "^t_read (50|75|100): the run ended with exit code 2")
        self.assertIn("1 parsec", errors)
        self.assertIn("try it alone: ssdtlm run tiny-test", errors)

    def test_measured_curves(self):
        """A line between two of our points is one of ours; what lies outside is left out and said."""
        self.place()
        self.write("drive.csv", "t_read,mean\n50,100\n62.5,200\n200,50\n")
        code, said, errors = self.study("small", "-o", "out", "--measured", "drive.csv")
        self.assertEqual((code, errors), (OK, ""))
        out = pathlib.Path(self.dir) / "out" / "small"
        ours = {float(row["t_read"]): float(row["mean"]) for row in csv.DictReader((out / "rows.csv").read_text(encoding="utf-8").splitlines())}
        found = list(csv.DictReader((out / "errors.csv").read_text(encoding="utf-8").splitlines()))
        expected = [abs(ours[50] - 100) / 100, abs((ours[50] + ours[75]) / 2 - 200) / 200]
        for row, error in zip(found, expected):
            self.assertAlmostEqual(float(row["error"]), error, places=9)
        self.assertEqual(found[2]["ours"], "")
        self.assertIn(f"mean error {100 * sum(expected) / 2:.1f} %, worst {100 * max(expected):.1f} %, 2 points, 1 outside of ours", said)

    def test_measured_curves_that_are_none(self):
        self.place()
        for text, what in (("t_reed,mean\n1,2\n", "column 't_reed'"), ("t_read,mean\n1,slow\n", "drive.csv:2: mean = slow; a number"), ("t_read,mean\n1,0\n", "more than 0"),
                           ("", "has no curve")):
            self.write("drive.csv", text)
            code, _, errors = self.study("small", "-o", "out", "--measured", "drive.csv")
            self.assertEqual(code, USER_ERROR, text)
            self.assertIn(what, errors)

    def test_traces(self):
        """A study that takes traces runs them as flows; another one says that it has no use for them."""
        trace = str(pathlib.Path(os.environ["SSDTLM_SOURCE"]) / "configs" / "workload" / "traces" / "mqsim.trace")
        self.place()
        self.assertIn("small has no use for traces", self.study("small", "--trace", trace)[2])
        self.place(text=STUDY.replace('source = ', 'takes_traces = True\n    source = ').replace(
            "for us in ((50, 100) if quick else (50, 75, 100))]",
            'for us in (50, 100)] + [Point({"t_read": 1}, "tiny-test", (), {}, ("--trace-beyond", "fold"), (t,)) for t in self.traces]'))
        code, said, errors = self.study("small", "-o", "out", "--trace", trace)
        self.assertEqual((code, errors), (OK, ""))
        self.assertIn("3 runs", said)
        self.assertIn("is not there", self.study("small", "--trace", "nowhere.csv")[2])

    def test_drives_drawn_for_extract_are_plausible(self):
        spec = importlib.util.spec_from_file_location("held_out", SOURCE / "studies" / "extract" / "held_out.py")
        held_out = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(held_out)
        for which in held_out.SEEDS:
            for name, (preset, settings, _) in held_out.drives(which).items():
                text = lambda value: json.dumps(value) if isinstance(value, (bool, list)) else str(value)
                done = self.ssdtlm("config", "check", preset, *(word for key, value in settings.items() for word in ("--set", f"{key}={text(value)}")))
                self.assertEqual((done.returncode, done.stderr), (OK, ""), name)
                self.assertNotIn("implausible", done.stdout, name)

    def test_those_that_come_with_the_program(self):
        """Each is complete: a source, points in both sizes, and a README."""
        folder = pathlib.Path(os.environ["SSDTLM_SOURCE"]) / "studies"
        environment = {**sweeps.ENVIRONMENT, "PYTHONPATH": str(folder.parent / "python"), "SSDTLM_BINARY": str(BINARY)}
        for name in sorted(file.parent.name for file in folder.glob("*/study.py")):
            self.assertTrue((folder / name / "README.md").is_file(), name)
            code = (f"from ssdtlm.studying import study\ns = study.load({name!r})\nquick, whole = s.points(True), s.points(False)\n"
                    "assert s.title and s.source and 0 < len(quick) <= len(whole)\nassert all((p.jobs or p.traces or p.guest or '-w' in p.options) and p.device for p in whole)\n")
            done = subprocess.run([str(sweeps.PYTHON), "-c", code], env=environment, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
