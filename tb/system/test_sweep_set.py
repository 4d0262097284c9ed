# SPDX-License-Identifier: Apache-2.0
"""`--set` of the commands of sweeps: as in the specification, and in place of it."""
import json
import subprocess
import sys
import unittest

import sweeps
from support import BINARY, OK, SOURCE, USER_ERROR, SystemTest

sys.path.insert(0, str(SOURCE / "python"))
from ssdtlm.errors import UserError  # noqa: E402  pylint: disable=wrong-import-position
from ssdtlm.sweeping import settings  # noqa: E402  pylint: disable=wrong-import-position

SPEC = """device = "tiny-test"
output = "out"
[set]
nand.t_read = "75us"
nand.t_program = "600us"
[fio]
rw = "randread"
bs = "4k"
number_ios = 20
[grid]
fio.iodepth = [1, 2]
[derive]
gc.soft_free_blocks = "gc.hard_free_blocks + 3"
"""


class Tables(unittest.TestCase):
    def test_where_they_go(self):
        table = {"device": "a", "set": {"nand": {"t_read": "1us", "t_erase": "2ms"}}, "fio": {"bs": "4k"}}
        found = settings.with_settings("s", table, ["nand.t_read=9us", "nand.t_read=8us", "fio.iodepth=16", "fio.norandommap=true", "option.replay=closed", "device=b", "a.b=[1, 2]"])
        self.assertEqual(found, {"device": "b", "set": {"nand.t_read": "8us", "nand.t_erase": "2ms", "a.b": "[1, 2]"},
                                 "fio": {"bs": "4k", "iodepth": 16, "norandommap": True}, "option": {"replay": "closed"}})
        self.assertEqual(table["set"]["nand"]["t_read"], "1us", "the table that was given stays")

    def test_keys_that_differ_between_points(self):
        tables = {"grid": {"a": {"x": [1, 2]}}, "zip": [{"a.y": [1, 2]}], "list": [{"a": {"z": 1}}], "random": {"points": 1, "values": {"a.r": {"from": 1, "to": 2}}}, "derive": {"a.d": "1"}}
        with self.assertRaises(UserError) as caught:
            settings.with_settings("s", tables, ["a.x=1", "a.y=1", "a.z=1", "a.r=1", "a.d=1", "nothing", "=1", "a="])
        found = [str(problem) for problem in caught.exception.problems]
        self.assertEqual(len(found), 8)
        for text, place in zip(found, ("[grid]", "[zip]", "[list]", "[random.values]", "[derive]")):
            self.assertIn(place, text)


@unittest.skipUnless(sweeps.can_sweep(), "make python")
class Commands(SystemTest):
    def sweep(self, *words, code=OK):
        done = subprocess.run([BINARY, "sweep", *map(str, words)], cwd=self.dir, env=sweeps.ENVIRONMENT, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == OK else done.stderr

    def test_the_same_runs_as_of_the_file(self):
        """Other keys of runs than without, the same as when the file says it; expressions count with the value."""
        self.write("s.toml", SPEC)
        self.write("t.toml", SPEC.replace('"75us"', '"50us"').replace('number_ios = 20', "number_ios = 30").replace("[set]\n", "[set]\ngc.hard_free_blocks = 3\n"))
        words = ("--set", "nand.t_read=50us", "--set", "fio.number_ios=30", "--set", "gc.hard_free_blocks=3")
        planned = lambda *w: {row["key"]: row["values"] for row in json.loads(self.sweep("plan", *w, "--json"))["runs"]}
        plain, here, there = planned("s.toml"), planned("s.toml", *words), planned("t.toml")
        self.assertEqual(here, there)
        self.assertFalse(plain.keys() & here.keys())
        self.assertEqual({row["gc.soft_free_blocks"] for row in here.values()}, {6})
        self.sweep("run", "s.toml", *words, "-q")
        self.assertEqual(sweeps.records(self.dir / "out").keys(), here.keys())
        for key in here:
            result = json.loads((self.dir / "out" / "runs" / key / "result.json").read_text())
            self.assertEqual((result["read"]["ios"], result["latency_us"]["read"]["array"]["max"]), (30, 50))
        self.assertIn("2 done", self.sweep("status", "s.toml", *words))
        self.assertIn("2 to do", self.sweep("status", "s.toml"))
        rows = json.loads(self.sweep("collect", "s.toml", *words, "--sql", "SELECT * FROM results", "--json"))
        self.assertEqual(len(rows), 2)

    def test_mistakes(self):
        self.write("s.toml", SPEC)
        said = self.sweep("plan", "s.toml", "--set", "fio.iodepth=4", "--set", "nand.t_reed=4us", code=USER_ERROR)
        self.assertIn("take it out of [grid]", said)
        self.assertIn("nand.t_read", self.sweep("plan", "s.toml", "--set", "nand.t_reed=4us", code=USER_ERROR))
        self.assertIn("seed", self.sweep("plan", "s.toml", "--set", "run.seed=4", code=USER_ERROR))


if __name__ == "__main__":
    unittest.main()
