# SPDX-License-Identifier: Apache-2.0
"""The wheel and the Debian package, each in a clean Debian 12 of its own, as a user with nothing else: what goes without Python,
what goes with a bare one, and that the lines that are printed repair what is missing.
SSDTLM_PACKAGES names a folder with both (make wheel deb), SSDTLM_CHROOT one that keeps the untouched system."""
import os
import pathlib
import re
import sys
import time
import unittest
import zipfile

import chroot
from support import JOBS, OK, SOURCE, USER_ERROR

PACKAGES = pathlib.Path(os.environ.get("SSDTLM_PACKAGES", SOURCE / "build" / "packages"))
UNTOUCHED = pathlib.Path(os.environ.get("SSDTLM_CHROOT", SOURCE / "build" / "chroot"))
VERSION = re.search(r'^VERSION = "(.*)"$', (SOURCE / "python/ssdtlm/version.py").read_text(), re.M)[1]
SKIPPED = 77  # CMakeLists.txt: SKIP_RETURN_CODE
SPEC = """device = "tiny-test"
workload = "job.fio"
output = "sweep"
[grid]
fio.iodepth = [1, 2, 4, 8]
"""


def setUpModule():
    try:
        chroot.base(UNTOUCHED)
    except chroot.NotPossible as why:
        print(f"skipped: no clean system can be made: {why}", file=sys.stderr)
        sys.exit(SKIPPED)


def say(what, size):
    print(f"  {what}: {size / 1e6:.1f} MB", file=sys.stderr)


class InACleanSystem(unittest.TestCase):
    def setUp(self):
        self.system = chroot.Chroot(UNTOUCHED / "root")
        self.addCleanup(self.system.remove)
        self.must = self.system.must
        self.system.put(JOBS / "qd1_4k_randread.fio", self.system.home)
        (self.system.root / "home" / chroot.USER / "job.fio").write_text("[j]\nioengine=libaio\nrw=randrw\nbs=4k\niodepth=8\nnumber_ios=2000\nnorandommap\nio_size=100m\n")
        (self.system.root / "home" / chroot.USER / "spec.toml").write_text(SPEC)

    def package(self, pattern):
        found = sorted(PACKAGES.glob(pattern))
        self.assertTrue(found, f"no {pattern} in {PACKAGES}: make wheel deb")
        say(found[-1].name, found[-1].stat().st_size)
        return found[-1]

    def refused(self, *command, pattern, **environment):
        """A command that ends with the exit code of a mistake and one line; returns what the pattern found in it."""
        done = self.system.run(*command, **environment)
        self.assertEqual((done.returncode, done.stdout), (USER_ERROR, ""), done.stderr)
        found = re.search(pattern, done.stderr)
        self.assertTrue(found, done.stderr)
        return found

    def follow(self, *command):
        """Runs the line that a command prints which lacks its extra, and then the command."""
        line = self.refused(*command, pattern=r"^ssdtlm \w+: needs .*, which .* does not have; run `([^`]+)`\n$")[1]
        self.must("sh", "-c", line)
        return self.must(*command)

    def without_python(self, program):
        self.assertEqual(self.system.run("python3", "--version").returncode, 127, "the system is not clean")
        self.assertEqual(self.must(program, "version"), f"ssdtlm {VERSION}\n")
        self.must(program, "run", "tiny-test", "-w", "job.fio", "-o", "a", "-q")
        self.must(program, "run", "tiny-test", "-w", "job.fio", "-o", "b", "-q", "--set", "nand.t_read=100us")
        self.assertIn("mqsim-table3", self.must(program, "config", "presets"))
        self.refused(program, "run", "tiny-test", "-w", "job.fio", "-o", "c", "-q", "--report", pattern="is written in Python, and python3 cannot be started")
        self.assertFalse((self.system.root / "home" / chroot.USER / "c").exists(), "it was refused too late")
        return self.refused(program, "compare", "a", "b", pattern=r"; Python 3\.11 or later; (apt-get install python3),")[1]

    def with_a_bare_python(self, program):
        self.assertIn("read.array.mean", self.must(program, "compare", "a", "b"))
        self.assertRegex(self.must(program, "explain", "a", "--slowest", "1", "--op", "read"), r"(?m)^read \d+ of job 0: .*\n(.*\n)* +[\d.]+  together$")

    def with_extras(self, program):
        page = (self.system.root / "home" / chroot.USER / "a" / "report.html").read_text()
        self.assertGreater(len(page), 500_000)
        self.must(program, "run", "tiny-test", "-w", "job.fio", "-o", "d", "-q", "--report")
        self.assertTrue((self.system.root / "home" / chroot.USER / "d" / "report.html").is_file())
        self.assertIn("4 runs: 4 done, 0 failed, 0 to do\n", self.must(program, "sweep", "status", "spec.toml"))
        self.must(program, "sweep", "collect", "spec.toml")
        self.must(program, "sweep", "report", "spec.toml")

    def unequal_versions(self, program, package):
        """`package`: folder of the Python package, as seen inside."""
        file = self.system.root / str(package).lstrip("/") / "version.py"
        text = file.read_text()
        self.write_later(file, text.replace(VERSION, "9.9.9"), 10)
        self.refused(program, "compare", "a", "b", pattern=rf"is version {re.escape(VERSION)}, the Python package in .* is 9\.9\.9; equal versions; ")
        self.write_later(file, text, 20)
        self.must(program, "compare", "a", "b")

    @staticmethod
    def write_later(file, text, seconds):
        """Python takes compiled code for current when its source has the same second and size."""
        file.write_text(text)
        stamp = time.time() + seconds
        os.utime(file, (stamp, stamp))


class DebianPackage(InACleanSystem):
    def test_it(self):
        deb = self.system.put(self.package("ssdtlm_*.deb"), "/root")
        say("installed, with the libraries it needs", self.system.install(str(deb)))
        say("itself", 1024 * int(self.must("dpkg-query", "-W", "-f", "${Installed-Size}", "ssdtlm")))
        line = self.without_python("ssdtlm")
        say("Python", self.system.install(*line.split()[2:]))
        self.with_a_bare_python("ssdtlm")
        # Debian's Python knows the package too.
        code = "import ssdtlm; print(ssdtlm.run('tiny-test', 'job.fio', output='e').metrics['commands'])"
        self.assertEqual(self.must("python3", "-c", code), "2000\n")
        self.refused("ssdtlm", "report", "a", pattern=r"; run `ssdtlm python setup`\n$")
        package = self.refused("ssdtlm", "python", "setup", pattern=r"Debian: apt-get install (python3-venv); else look at what it printed\n$")[1]
        say("python3-venv", self.system.install(package))
        self.follow("ssdtlm", "report", "a")
        shm = self.system.root / "dev" / "shm"
        shm.chmod(0o755)
        self.refused("ssdtlm", "sweep", "run", "spec.toml", "-q", "--workers", "2", pattern=r"^sweep: 2 workers cannot be started on this machine: .*Permission denied; ")
        shm.chmod(0o1777)
        self.must("ssdtlm", "sweep", "run", "spec.toml", "-q", "--workers", "2")
        self.with_extras("ssdtlm")
        environment = self.system.home / ".local/share/ssdtlm/python"
        say("what `ssdtlm python setup` made", self.system.size(str(environment).lstrip("/")))
        # So does the environment that was made.
        self.must(environment / "bin" / "python3", "-c", "import ssdtlm; ssdtlm.report('b')")
        self.unequal_versions("ssdtlm", "/usr/share/ssdtlm/python/ssdtlm")
        # Root, too, leaves what Python compiles; all of it goes with the package.
        self.must("ssdtlm", "compare", "/home/user/a", "/home/user/b", root=True)
        self.must("apt-get", "remove", "-y", "-q", "ssdtlm", root=True)
        left = [str(p) for name in ("usr/bin", "usr/share", "usr/lib/python3") for p in (self.system.root / name).rglob("ssdtlm*")]
        self.assertEqual(left, [])


class Wheel(InACleanSystem):
    def test_it(self):
        wheel = self.package("ssdtlm-*.whl")
        unpacked = self.system.root / "opt" / "wheel"
        with zipfile.ZipFile(wheel) as files:
            files.extractall(unpacked)
        say("unpacked", self.system.size("opt/wheel"))
        program = "/opt/wheel/ssdtlm/bin/ssdtlm"
        (unpacked / "ssdtlm" / "bin" / "ssdtlm").chmod(0o755)  # which pip does
        line = self.without_python(program)
        say("Python", self.system.install(*line.split()[2:]))
        self.with_a_bare_python(program)
        say("python3-venv", self.system.install("python3-venv"))
        environment = self.system.home / "env"
        self.must("python3", "-m", "venv", environment)
        before = self.system.size(str(environment).lstrip("/"))
        self.must(environment / "bin" / "pip", "install", "--no-index", self.system.put(wheel, "/opt"))
        say("in an environment", self.system.size(str(environment).lstrip("/")) - before)
        program = environment / "bin" / "ssdtlm"
        self.with_a_bare_python(program)
        before = self.system.size(str(environment).lstrip("/"))
        self.follow(program, "report", "a")
        say("extra report", self.system.size(str(environment).lstrip("/")) - before)
        before = self.system.size(str(environment).lstrip("/"))
        self.follow(program, "sweep", "run", "spec.toml", "-q", "--workers", "2")
        say("extra sweep", self.system.size(str(environment).lstrip("/")) - before)
        self.with_extras(program)
        # An environment of its own would not be looked for.
        self.refused(program, "python", "setup", pattern=r"env/bin/python3? is found first; run `")
        self.unequal_versions(program, environment / "lib/python3.11/site-packages/ssdtlm")


del InACleanSystem  # it has no test of its own

if __name__ == "__main__":
    unittest.main()
