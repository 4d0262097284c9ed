# SPDX-License-Identifier: Apache-2.0
"""The colours of stages: each has one for good, in every report, and can be told from its neighbours."""
import csv
import itertools
import json
import math
import pathlib
import re
import sys
import unittest

from reports import PYTHON, ReportTest
from support import SOURCE

sys.path.insert(0, str(SOURCE / "python"))
from ssdtlm.reporting import stage_colours  # noqa: E402  pylint: disable=wrong-import-position

# Of CIE 1976: 2.3 is just noticeable side by side; a legend wants much more.
NEIGHBOURS, NEIGHBOURS_WITHOUT_GREEN, ANY_TWO = 45, 25, 18
# A surface against the paper and the ink, of a bar that has an edge too.
CONTRAST = 1.35
# Of lines (Okabe and Ito's orange and sky blue are light), and of colours that a study names: what WCAG 2 asks of graphics.
CONTRAST_OF_LINES, CONTRAST_OF_NAMED, LINES_APART = 2.2, 3.0, 16


def linear(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]


def contrast(one, other):
    """By WCAG 2."""
    light = [sum(a * b for a, b in zip((0.2126, 0.7152, 0.0722), linear(colour))) + 0.05 for colour in (one, other)]
    return max(light) / min(light)


def without_green(rgb):
    """Deuteranopia by Machado, Oliveira and Fernandes (2009), linear RGB."""
    rows = ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881))
    return [max(0, sum(a * b for a, b in zip(row, rgb))) for row in rows]


def lab(rgb):
    """CIE L*a*b* of linear sRGB, white D65."""
    rows = ((0.4124, 0.3576, 0.1805, 0.95047), (0.2126, 0.7152, 0.0722, 1.0), (0.0193, 0.1192, 0.9505, 1.08883))
    x, y, z = (sum(a * b for a, b in zip(row, rgb)) / row[3] for row in rows)
    f = lambda t: t ** (1 / 3) if t > (6 / 29) ** 3 else t / (3 * (6 / 29) ** 2) + 4 / 29
    return 116 * f(y) - 16, 500 * (f(x) - f(y)), 200 * (f(y) - f(z))


class Table(unittest.TestCase):
    def test_neighbours_can_be_told_apart(self):
        colours = list(stage_colours.COLOURS.items())
        for (a, x), (b, y) in zip(colours, colours[1:]):
            self.assertGreater(math.dist(lab(linear(x)), lab(linear(y))), NEIGHBOURS, (a, b))
            self.assertGreater(math.dist(lab(without_green(linear(x))), lab(without_green(linear(y)))), NEIGHBOURS_WITHOUT_GREEN, (a, b))
        for (a, x), (b, y) in itertools.combinations(colours, 2):
            self.assertGreater(math.dist(lab(linear(x)), lab(linear(y))), ANY_TWO, (a, b))

    def test_on_white_and_on_dark_paper(self):
        for stage, colour in stage_colours.COLOURS.items():
            for paper in self.papers():
                self.assertGreater(contrast(colour, paper), CONTRAST, (stage, paper))

    def papers(self):
        style = (SOURCE / "python" / "ssdtlm" / "reporting" / "page.css").read_text()
        papers = {("#" + "".join(2 * c for c in p[1:]) if len(p) == 4 else p) for p in re.findall(r"--paper: (#\w+)", style)}
        self.assertGreaterEqual(len(papers), 2)
        return papers

    def test_lines(self):
        """Of charts with many of them, and the colours that studies name: as sources have them, since charts need Altair."""
        text = (SOURCE / "python" / "ssdtlm" / "reporting" / "charts.py").read_text()
        lines = [colour for name in ("LINES", "MORE_LINES") for colour in re.findall(r"#\w{6}", re.search(rf"^{name} = \[(.*)\]", text, re.M)[1])]
        self.assertEqual(len(lines), 10)
        for x, y in itertools.combinations(lines, 2):
            self.assertGreater(math.dist(lab(linear(x)), lab(linear(y))), LINES_APART, (x, y))
        named = [colour for file in (SOURCE / "studies").glob("*/study.py") for colour in re.findall(r'"(#\w{6})"', file.read_text())]
        self.assertGreaterEqual(len(named), 4)
        for colour, least in [(colour, CONTRAST_OF_LINES) for colour in lines] + [(colour, CONTRAST_OF_NAMED) for colour in named]:
            for paper in self.papers():
                self.assertGreater(contrast(colour, paper), least, (colour, paper))

    def test_unknown_stages(self):
        """By CRC-32 of the name: the same in every process, which a hash of Python is not."""
        self.assertEqual(stage_colours.colour("of_a_later_version"), stage_colours.REST[0x403FA64E % 8])
        self.assertFalse(set(stage_colours.REST) & set(stage_colours.COLOURS.values()))


@unittest.skipUnless(PYTHON.exists(), "make python")
class Reports(ReportTest):
    def colours_of(self, path):
        """Chart -> {stage: colour}, of all charts with stages."""
        specs = json.loads(re.search(r'id="specs">(.*?)</script>', path.read_text(), re.S)[1])
        return {name: dict(zip(c["scale"]["domain"], c["scale"]["range"])) for name, spec in specs.items()
                for c in [spec.get("encoding", {}).get("color", {})] if c.get("field") == "stage"}

    def test_the_same_in_all_reports(self):
        reads = self.job("reads", "rw=randread", "bs=4k", "iodepth=1", "number_ios=300")
        mixed = self.job("mixed", "rw=randrw", "bs=4k", "iodepth=16", "number_ios=3000", "norandommap", "io_size=100m")
        self.simulate("tiny-test", reads, "--set", "precondition.state=sequential", output="reads")
        self.simulate("tiny-test", mixed, "--set", "precondition.state=sequential", "--set", "gc.soft_free_blocks=12", output="mixed")
        with open(pathlib.Path(self.dir) / "reads" / "latency_bins.csv", newline="") as file:
            stages = [name.removesuffix("_ps") for name in csv.DictReader(file).fieldnames if name.endswith("_ps")]
        self.assertEqual(list(stage_colours.COLOURS), stages, "all stages of the program, in its order")
        shown = []
        for name in ("reads", "mixed"):
            charts = self.colours_of(self.report(name))
            self.assertTrue(charts)
            for chart, of_chart in charts.items():
                self.assertEqual(of_chart, {stage: stage_colours.colour(stage) for stage in of_chart}, chart)
            shown.append(set().union(*charts.values()))
        self.assertNotEqual(*shown, "two reports with different stages")
        self.assertGreater(len(shown[0] & shown[1]), 3)


if __name__ == "__main__":
    unittest.main()
