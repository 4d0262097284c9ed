# SPDX-License-Identifier: Apache-2.0
"""The wheel and the Debian package, unpacked where nothing else of the project is. SSDTLM_PACKAGES names a folder with both
(make wheel deb)."""
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from support import JOBS, OK, SOURCE, USER_ERROR, SystemTest

PACKAGES = pathlib.Path(os.environ.get("SSDTLM_PACKAGES", SOURCE / "build" / "packages"))
JOB = JOBS / "qd1_4k_randread.fio"


class Packages(SystemTest):
    def package(self, pattern):
        found = sorted(PACKAGES.glob(pattern))
        if not found:
            self.skipTest(f"no {pattern} in {PACKAGES}: make wheel deb")
        size = found[-1].stat().st_size
        print(f"{found[-1].name}: {size} bytes", file=sys.stderr)
        self.assertLess(size, 30_000_000)
        return found[-1]

    def must(self, *command, **environment):
        done = subprocess.run([str(c) for c in command], cwd=self.dir, capture_output=True, text=True, env={"HOME": str(self.dir), **environment})
        self.assertEqual(done.returncode, OK, done.stdout + done.stderr)
        return done.stdout

    def check(self, program, python):
        """A run without Python, a comparison with the standard library, and what a report says that lacks its extra."""
        self.must(program, "run", "tiny-test", "-w", JOB, "-o", "a", "-q", PATH="/nowhere")
        self.must(program, "run", "tiny-test", "-w", JOB, "-o", "b", "-q", "--set", "nand.t_read=100us", PATH="/nowhere")
        self.assertIn("read.array.mean", self.must(program, "compare", "a", "b", PATH="/usr/bin:/bin", SSDTLM_PYTHON=python))
        done = subprocess.run([program, "report", "a"], cwd=self.dir, capture_output=True, text=True,
                              env={"PATH": "/usr/bin:/bin", "HOME": str(self.dir), "SSDTLM_PYTHON": python})
        self.assertEqual((done.returncode, done.stdout), (USER_ERROR, ""))
        self.assertIn("run `ssdtlm python setup`", done.stderr)
        presets = self.must(program, "config", "presets", PATH="/nowhere")
        self.assertIn("mqsim-table3", presets)

    def test_wheel(self):
        wheel = self.package("ssdtlm-*.whl")
        environment = self.dir / "env"
        self.must(sys.executable, "-m", "venv", environment, PATH=os.environ["PATH"])
        self.must(environment / "bin" / "pip", "install", "--no-index", "--disable-pip-version-check", wheel, PATH="/usr/bin:/bin")
        package = next(environment.glob("lib/python3*/site-packages/ssdtlm"))
        self.check(package / "bin" / "ssdtlm", "")
        # The command of the environment becomes the program, which comes back to the environment's Python.
        self.must(environment / "bin" / "ssdtlm", "run", "tiny-test", "-w", JOB, "-o", "c", "-q", PATH="/nowhere")
        self.assertIn("The results are equal.", self.must(environment / "bin" / "ssdtlm", "compare", "a", "c", PATH="/nowhere"))
        code = f"import ssdtlm; print(ssdtlm.run('tiny-test', {str(JOB)!r}, output='d').path)"
        self.assertEqual(self.must(environment / "bin" / "python", "-c", code, PATH="/nowhere"), "d\n")
        linked = self.must("/usr/bin/ldd", package / "bin" / "ssdtlm", PATH="/usr/bin:/bin")
        libraries = [line for line in linked.splitlines() if "libsystemc" in line or "libfmt" in line]
        self.assertEqual(len(libraries), 2, linked)
        for line in libraries:
            self.assertIn("ssdtlm.libs", line, "bundled, not the system's")

    @unittest.skipUnless(shutil.which("dpkg-deb"), "no dpkg")
    def test_deb(self):
        deb = self.package("ssdtlm_*.deb")
        root = self.dir / "root"
        self.must("dpkg-deb", "-x", deb, root, PATH=os.environ["PATH"])
        for name in ("usr/share/man/man1/ssdtlm.1", "usr/share/bash-completion/completions/ssdtlm", "usr/share/doc/ssdtlm/README.md",
                     "usr/share/ssdtlm/configs/device/tiny-test.toml", "usr/share/ssdtlm/python/ssdtlm/__main__.py"):
            self.assertTrue((root / name).is_file() or (root / (name + ".gz")).is_file(), name)
        self.assertFalse(list(root.rglob("*.h")) + list(root.rglob("*.a")), "what programs of one's own need is no part of it")
        depends = self.must("dpkg-deb", "-f", deb, "Depends", PATH=os.environ["PATH"])
        self.assertIn("libsystemc", depends)
        self.check(root / "usr" / "bin" / "ssdtlm", "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable)


if __name__ == "__main__":
    unittest.main()
