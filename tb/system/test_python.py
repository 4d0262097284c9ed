# SPDX-License-Identifier: Apache-2.0
"""The commands that are written in Python: which interpreter, which package, which version; and the package from Python."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib
import types
import unittest
import unittest.mock

from support import BINARY, JOBS, OK, SOURCE, USER_ERROR, SystemTest

sys.path.insert(0, str(SOURCE / "python"))
os.environ["SSDTLM_BINARY"] = BINARY
import ssdtlm  # noqa: E402  pylint: disable=wrong-import-position
from ssdtlm import extras  # noqa: E402  pylint: disable=wrong-import-position
from ssdtlm.__main__ import COMMANDS, parser  # noqa: E402  pylint: disable=wrong-import-position

JOB = JOBS / "qd1_4k_randread.fio"
BUILD_TREE_PYTHON = SOURCE / "build" / "python" / "bin" / "python3"


class Dispatch(SystemTest):
    def setUp(self):
        super().setUp()
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.dir / "home")}

    def interpreter(self, path):
        """One that says where it is, and what it was given."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#!/bin/sh\necho "{path}" "$@" "$PYTHONPATH" "$SSDTLM_BINARY_VERSION"\nexit 42\n')
        path.chmod(0o755)
        return path

    def compare(self, binary=BINARY, **environment):
        return subprocess.run([binary, "compare", "a b", "c"], cwd=self.dir, capture_output=True, text=True,
                              env={**self.environment, **environment})

    def installed(self):
        """The program and its package as a wheel brings them into an environment."""
        environment = self.dir / "env"
        package = environment / "lib" / "python3.11" / "site-packages" / "ssdtlm"
        shutil.copytree(SOURCE / "python" / "ssdtlm", package)
        (package / "bin").mkdir()
        shutil.copy(BINARY, package / "bin" / "ssdtlm")
        (environment / "pyvenv.cfg").write_text("")
        return environment, package / "bin" / "ssdtlm"

    def test_search_order(self):
        """From the last place to the first: each one that is added goes before those that are there."""
        environment, binary = self.installed()
        package = environment / "lib" / "python3.11" / "site-packages"
        places = (("path/python3", {"PATH": f"{self.dir / 'path'}:/bin"}),
                  ("home/.local/share/ssdtlm/python/bin/python3", {}),
                  ("data/ssdtlm/python/bin/python3", {"XDG_DATA_HOME": str(self.dir / "data")}),
                  ("env/bin/python3", {}),
                  ("named", {"SSDTLM_PYTHON": str(self.dir / "named")}))
        settings = {}
        for place, added in places:
            python = self.interpreter(self.dir / place)
            settings.update(added)
            if BUILD_TREE_PYTHON.exists() and place.startswith(("path", "home", "data")):
                continue  # the build tree's goes before these
            done = self.compare(binary, **settings)
            self.assertEqual(done.stdout, f"{python} -m ssdtlm compare a b c {package} {ssdtlm.__version__}\n")
            self.assertEqual((done.returncode, done.stderr), (42, ""))

    def test_package_of_the_source_tree(self):
        named = self.interpreter(self.dir / "named")
        done = self.compare(SSDTLM_PYTHON=str(named), PYTHONPATH="/other")
        self.assertEqual(done.stdout, f"{named} -m ssdtlm compare a b c {SOURCE / 'python'}:/other {ssdtlm.__version__}\n")

    def test_without_python(self):
        done = self.compare(SSDTLM_PYTHON="/nowhere/python3")
        self.assertEqual((done.returncode, done.stdout), (USER_ERROR, ""))
        self.assertRegex(done.stderr, r"^ssdtlm compare: is written in Python, and /nowhere/python3 cannot be started: No such file.*; "
                                      r"Python 3.11 or later; apt-get install python3, or name an interpreter in SSDTLM_PYTHON\n$")
        done = subprocess.run([BINARY, "run", "tiny-test", "-w", JOB, "-q", "-o", "out"], cwd=self.dir, capture_output=True, text=True,
                              env={"PATH": "/nowhere"})
        self.assertEqual((done.returncode, done.stderr), (OK, ""))

    def test_unequal_versions(self):
        _, binary = self.installed()
        version = binary.parents[1] / "version.py"
        version.write_text(version.read_text().replace(ssdtlm.__version__, "9.9.9"))
        done = self.compare(binary, SSDTLM_PYTHON=sys.executable)
        self.assertEqual((done.returncode, done.stdout), (USER_ERROR, ""))
        self.assertRegex(done.stderr, rf"^{binary}: is version {ssdtlm.__version__}, the Python package in .* is 9.9.9; equal versions; ")
        # And from Python's side: the program that is started by a script.
        code = "import ssdtlm; ssdtlm.run('tiny-test', 'x.fio')"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                              env={**self.environment, "PYTHONPATH": str(binary.parents[2])})
        self.assertIn(f"{binary}: is version {ssdtlm.__version__}, the Python package", done.stderr)

    def test_a_folder_of_the_same_name(self):
        (self.dir / "ssdtlm").mkdir()
        (self.dir / "ssdtlm" / "__init__.py").write_text("raise SystemExit(77)")
        done = self.compare()
        self.assertEqual(done.returncode, USER_ERROR)
        self.assertIn("a b: holds no result.json", done.stderr)

    def test_options_are_those_of_the_help(self):
        found = self.check_options((), parser())
        self.assertEqual(set(found), {(name,) for name in COMMANDS})

    def check_options(self, path, of_path):
        """Of all commands below; returns those one level down."""
        below = {(*path, name): sub for group in of_path._subparsers._group_actions for name, sub in group.choices.items()}  # pylint: disable=protected-access
        for words, sub in below.items():
            page = self.ssdtlm("help", *words).stdout
            documented = set(re.findall(r"^  (?:-\w, )?(--[a-z][\w-]*)", page, re.M))
            known = {o for action in sub._actions for o in action.option_strings if o.startswith("--")}  # pylint: disable=protected-access
            self.assertEqual(documented, known, words)
            if sub._subparsers:  # pylint: disable=protected-access
                self.check_options(words, sub)
        return below


    def test_values_that_begin_with_a_dash(self):
        """Each option with a value takes it in one word and in two, whatever it begins with."""
        values = {"choices": lambda action: next(iter(action.choices)), int: lambda _: "-3", float: lambda _: "-0.5", None: lambda _: "--timeline"}
        seen = 0
        for words, sub in self.leaves((), parser()):
            for action in sub._actions:  # pylint: disable=protected-access
                if not action.option_strings or action.nargs is not None:
                    continue
                value = values["choices" if action.choices else action.type if action.type in (int, float) else None](action)
                for option in action.option_strings:
                    two, one = ([option, value], [f"{option}={value}" if option.startswith("--") else option + value])
                    self.assertEqual(sub._joined([*two, "x"]), ([*one, "x"] if value.startswith("-") else [*two, "x"]), (words, option))  # pylint: disable=protected-access
                    seen += 1
        self.assertGreater(seen, 60)
        found = parser().parse_args(["guest", "tiny-test", "--serve", "--timeline", "--with", "-x", "-o", "-out"])
        self.assertEqual((found.serve, found.words, found.output, found.device), ("--timeline", "-x", "-out", ["tiny-test"]))
        found = parser().parse_args(["compare", "--fail-if", "-a > 3", "--json", "--", "one", "--two"])
        self.assertEqual((found.fail_if, found.json, found.run), (["-a > 3"], True, ["one", "--two"]))
        for words in (["--serve", "--report"], ["--serve=--report"]):
            done = self.ssdtlm("guest", "tiny-test", "--with", "true", "--parts", "nowhere", *words)
            self.assertEqual((done.returncode, done.stdout), (USER_ERROR, ""))
            self.assertRegex(done.stderr, r"^ssdtlm guest: nowhere has no QEMU, kernel and tools; ")

    def leaves(self, path, of_path):
        """(words, parser) of each command without commands of its own."""
        groups = of_path._subparsers._group_actions if of_path._subparsers else []  # pylint: disable=protected-access
        if not groups:
            yield path, of_path
        for group in groups:
            for name, sub in group.choices.items():
                yield from self.leaves((*path, name), sub)


class Version(SystemTest):
    """One place says it; what is built from it agrees. (Packages: test_packages.py.)"""

    def test_all_say_the_same(self):
        self.assertEqual(self.ssdtlm("version").stdout, f"ssdtlm {ssdtlm.__version__}\n")
        self.assertIn(f'"ssdtlm {ssdtlm.__version__}"', self.ssdtlm("manual").stdout.splitlines()[1])
        self.assertEqual(self.simulate("tiny-test", JOB).json()["ssdtlm"], ssdtlm.__version__)
        releases = re.findall(r"^## \[(.*?)\] - (.*)$", (SOURCE / "CHANGELOG.md").read_text(), re.M)
        self.assertEqual(releases[0][0], ssdtlm.__version__)
        for number, date in releases:
            self.assertRegex(number, r"^\d+\.\d+\.\d+$")
            self.assertRegex(date, r"^\d{4}-\d\d-\d\d$" if number != releases[0][0] else r"^(Unreleased|\d{4}-\d\d-\d\d)$")

    def test_nobody_else_says_it(self):
        """A second place would be forgotten at the next release."""
        named = re.compile(rf"^[^#/\n]*version\W+{re.escape(ssdtlm.__version__)}\b", re.I | re.M)
        files = [p for pattern in ("CMakeLists.txt", "cmake/**/*", "tools/*", "python/**/*.py", "python/*.toml", "model/**/*.h", "model/**/*.cpp", "Dockerfile", "README.md")
                 for p in SOURCE.glob(pattern) if p.is_file() and p.name != "version.py"]
        self.assertGreater(len(files), 100)
        self.assertEqual([str(p) for p in files if named.search(p.read_text(encoding="utf-8"))], [])


class Repair(unittest.TestCase):
    """The line that a command prints which lacks its extra brings it to where the next call looks (model/sim/app/python_commands.cpp).
    The packages in clean systems follow it: test_packages_chroot.py."""

    def line(self, prefix, base, wheel=False, **environment):
        with unittest.mock.patch.multiple(sys, prefix=prefix, base_prefix=base, executable=f"{prefix}/bin/python3"), \
                unittest.mock.patch.dict(os.environ, {"HOME": "/home/me", **environment}, clear=True), \
                unittest.mock.patch.object(extras, "PACKAGE", pathlib.Path("/") if wheel else pathlib.Path("/nowhere")):
            return extras.repair("report")

    def test_lines(self):
        by_program = {"SSDTLM_BINARY_VERSION": ssdtlm.__version__}
        pip = "run `/v/bin/python3 -m pip install 'altair>=6,<7' 'vl-convert-python>=1.9,<2'`"
        # An environment is found first, whatever `ssdtlm python setup` makes.
        self.assertEqual(self.line("/v", "/usr", **by_program), pip)
        self.assertEqual(self.line("/v", "/usr"), pip)
        self.assertEqual(self.line("/v", "/v", wheel=True, SSDTLM_PYTHON="/v/bin/python3", **by_program), pip)
        # Its own environment, made by an older version, is made again.
        self.assertEqual(self.line("/home/me/.local/share/ssdtlm/python", "/usr", **by_program), "run `ssdtlm python setup`")
        self.assertEqual(self.line("/usr", "/usr", **by_program), "run `ssdtlm python setup`")
        self.assertEqual(self.line("/usr", "/usr", wheel=True, **by_program), "run `ssdtlm python setup`")
        self.assertEqual(self.line("/v", "/v", SSDTLM_PYTHON="/v/bin/python3", **by_program), "unset SSDTLM_PYTHON and run `ssdtlm python setup`, or " + pip)
        self.assertEqual(self.line("/usr", "/usr"), "run `ssdtlm python setup`, and this by /home/me/.local/share/ssdtlm/python/bin/python3")


class Api(SystemTest):
    def test_run(self):
        result = ssdtlm.run("tiny-test", JOB, output=self.dir / "out", seed=3, set={"nand.t_read": "80us"}, nand__independent_plane_read=True)
        self.assertEqual(result.path, self.dir / "out")
        self.assertEqual((result.seed, result.config["nand.t_read"], result.origins["nand.t_read"]), (3, "80us", "--set nand.t_read=80us"))
        self.assertIs(result.config["nand.independent_plane_read"], True)
        self.assertEqual(result.metrics["read.array.mean"], 80)
        self.assertEqual({r["op"] for r in result.latency}, {"read"})
        self.assertAlmostEqual(sum(r["share"] for r in result.latency if r["stage"] != "total"), 1, places=9)
        self.assertEqual(sum(r["read_ios"] for r in result.time_series), result.json["read"]["ios"])
        self.assertEqual({r["resource"] for r in result.resources} & {"die", "channel bus"}, {"die", "channel bus"})
        self.assertTrue(ssdtlm.compare(result.path, result.path).differences[0].equal)

    def test_data_frame(self):
        """pandas is none of our requirements: with a stand-in of the one call, and without."""
        rows = [{"op": "read", "mean_us": 91.0}, {"op": "write", "mean_us": 780.0}]
        pandas = types.ModuleType("pandas")
        pandas.DataFrame = lambda given: ("frame of", given)
        with unittest.mock.patch.dict(sys.modules, pandas=pandas):
            self.assertEqual(ssdtlm.data_frame(rows), ("frame of", rows))
        with unittest.mock.patch.dict(sys.modules, pandas=None), self.assertRaisesRegex(ssdtlm.UserError, "^data_frame: needs pandas; pip install pandas"):
            ssdtlm.data_frame(rows)

    def test_workload_as_text(self):
        text = "[j]\nioengine=libaio\nrw=randread\nbs=4k\nnumber_ios=100\nnorandommap\n"
        result = ssdtlm.run("tiny-test", text)
        self.addCleanup(shutil.rmtree, result.path)
        self.assertEqual(result.json["read"]["ios"], 100)

    def test_mistakes(self):
        with self.assertRaises(ssdtlm.UserError) as caught:
            ssdtlm.run("tiny-test", JOB, output=self.dir / "out", nand__t_raed="80us", host__queue_pairs=0)
        self.assertEqual(len(caught.exception.problems), 2)
        self.assertIn("did you mean", str(caught.exception))
        with unittest.mock.patch("tempfile.tempdir", str(self.dir)), self.assertRaises(ssdtlm.UserError):
            ssdtlm.run("tiny-tset", JOB)
        self.assertEqual(list(self.dir.iterdir()), [], "no folder is left of a run that was refused")
        with self.assertRaisesRegex(ssdtlm.UserError, "holds no result.json"):
            ssdtlm.Result(self.dir)

    def test_configuration_reads_back(self):
        """Values with the mark of a comment in them, and keys of all tables."""
        self.write("odd # name.toml", 'description = "a # b"\n')
        result = ssdtlm.run(["tiny-test", self.dir / "odd # name.toml"], JOB, output=self.dir / "out")
        listed = tomllib.loads(result.json["config_toml"])
        for key, value in result.config.items():
            found = listed
            for part in key.split("."):
                found = found[part]
            self.assertEqual(found, value, key)
        self.assertEqual(listed["description"], "a # b")
        self.assertNotIn("description", result.config)


if __name__ == "__main__":
    unittest.main()
